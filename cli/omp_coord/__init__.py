"""The command `omp-coord`."""
