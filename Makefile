# Two commands do all the set-up: `make demo` shows the main job, `make test` runs every check.
# Everything they need is made inside this checkout: .venv, and .tox for the checks.

VENV := .venv
PIP := $(VENV)/bin/python -m pip install --quiet --disable-pip-version-check
TOX := $(VENV)/bin/python -m tox

.PHONY: help demo harness-demo test bench fuzz dev clean

help:
	@echo "make demo    one whole turn with the built-in model: an answer, a permission, a command, a file, a cancel"
	@echo "make harness-demo  a client with one fault is caught by the client harness; prints the report's path"
	@echo "make test    every check: tests, lint, types, generated files, a minute of fuzzing (what CI runs)"
	@echo "make bench   measure against the SDKs of others; prints a Markdown table"
	@echo "make fuzz    look for inputs that break an invariant of ours; TIME=600 says for how many seconds"
	@echo "make dev     a virtual environment to work in: . $(VENV)/bin/activate"
	@echo "make clean   remove what these commands made"
	@echo "PYTHON=/path/to/python3 names the Python (3.11 or newer) to use instead of the one that is found."

demo: $(VENV)/.runs
	@$(VENV)/bin/python -m acp_agent.client.demo

harness-demo: $(VENV)/.runs
	@$(VENV)/bin/python -m acp_agent.harness.demo

# The checks that need little run side by side; then the tests, which use both cores by themselves, with what they
# print in sight, and a minute of fuzzing. The schemas come first because the tests and a fuzz target compare with the
# official file that they fetch. What fails stops nothing, so that one run shows everything.
test: $(VENV)/.develops
	@failed=0; \
	$(TOX) run-parallel --parallel 2 -e lint,types,schemas,diagrams || failed=1; \
	$(TOX) run -e py || failed=1; \
	$(TOX) run -e fuzz || failed=1; \
	exit $$failed

bench: $(VENV)/.runs
	$(VENV)/bin/python bench/run.py $(ARGS)

fuzz: $(VENV)/.develops
	$(TOX) run -e fuzz -- --time $(or $(TIME),60)

dev: $(VENV)/.develops
	@echo "Ready: . $(VENV)/bin/activate"

clean:
	rm -rf $(VENV) .tox .cache bench/.peers build dist .mypy_cache .ruff_cache .hypothesis .fuzz .coverage

# One stamp a stage, touched when it is complete: what was interrupted is done again.
$(VENV)/.made:
	@python=$$(.ci/find-python) && echo "Making $(VENV) with $$python" && $$python -m venv --clear $(VENV)
	@touch $@

$(VENV)/.runs: $(VENV)/.made pyproject.toml
	@echo "Installing acp-agent and what it needs into $(VENV)"
	@$(PIP) --editable .
	@touch $@

$(VENV)/.develops: $(VENV)/.runs
	@echo "Installing the tools of the checks into $(VENV)"
	@$(PIP) --editable ".[dev]"
	@touch $@
