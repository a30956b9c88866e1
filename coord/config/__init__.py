"""The configuration of a project: `.omp-coord.json` found, validated, cached, and what it means for a run.

`find` and `load` are on the runner's path and read a cached result; all that needs pydantic is entered once
per edit of the file.
"""
