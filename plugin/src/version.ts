// The plugin's version, which the bridge holds against its own. (package.json says the same; omp loads only sources.)

export const VERSION = "0.1.0";
