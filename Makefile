# `make run` and `make test` need only Python 3.11 or later and make; everything else is set up in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(CURDIR)/$(VENV)/bin
JOBS ?= 4

.PHONY: run test check bench chaos clean host setup

setup: $(VENV)/.ready

$(VENV)/.ready: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("omp-coord needs Python 3.11 or later, this is " + sys.version.split()[0] + "; name one: make PYTHON=python3.12") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable . --group dev
	@touch $@

# The main job on real input: this repository's lint queue, then the board.
run: setup
	@$(BIN)/python -m compileall -q coord cli
	PATH="$(BIN):$$PATH" omp-coord run lint -- ruff check .
	PATH="$(BIN):$$PATH" omp-coord status

test: setup
	@$(BIN)/python -m compileall -q coord cli
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal

# The real omp for tests/host, some 600 MB in the user's cache folder; needs npm.
host: setup
	$(BIN)/python -m tests.host.install

# Everything that CI checks.
check: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(MAKE) test

# The speed table, with the peers in the same run; no test.
bench: setup
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --group bench
	@$(BIN)/python -m compileall -q coord cli
	$(BIN)/python -m bench

# Random kills, stops and flushes; OMP_COORD_CHAOS_SECONDS=600 for a soak.
chaos: setup
	$(BIN)/python -m pytest tests/chaos

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis dist build
