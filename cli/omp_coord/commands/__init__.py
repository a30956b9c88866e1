"""The commands, one file per group; `omp_coord.app` puts them together."""
