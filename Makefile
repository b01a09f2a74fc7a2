VENV ?= .venv
PY := $(VENV)/bin/python
STAMP := $(VENV)/.installed

.PHONY: demo test lint eval bench fuzz clean

$(STAMP): pyproject.toml $(wildcard loopscan/_scanner/*)
	python3 -m venv $(VENV)
	$(PY) -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	$(PY) -m pip install --quiet --disable-pip-version-check --editable '.[all]' --group dev
	$(PY) -m compileall -q loopscan # as pip does with what it copies: else each start may compile anew
	touch $@

demo: $(STAMP)
	$(VENV)/bin/loopscan audit sample_traces --p-in 3 --p-out 15

lint: $(STAMP)
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy

test: lint
	$(PY) -m pytest

eval: $(STAMP)
	$(PY) -m tests.eval

bench: $(STAMP)
	$(PY) -m tests.bench

fuzz: $(STAMP)
	FUZZ_SECONDS=$${FUZZ_SECONDS:-600} $(PY) -m tests.fuzz

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis
