# What there is to run: `make help`. Each target sets up what it needs by itself: Python 3.11 or newer and make are enough.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

# The newest Python here that the code is tested on; `make PYTHON=…` takes another one.
PYTHON ?= $(shell for name in python3.14 python3.13 python3.12 python3.11 python3 python; do \
	"$$name" -c 'import sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo "$$name"; break; }; done)

BIN := .venv/bin
TOOLS := .tools
DYNAMODB_LOCAL_PORT ?= 8127
SAM := $(or $(shell command -v sam),$(TOOLS)/sam/bin/sam)
LOCK := pip-compile --quiet --strip-extras --allow-unsafe --generate-hashes \
	--no-emit-index-url --no-emit-find-links --no-emit-trusted-host

# $(call install,folder,requirements): a virtual environment with exactly these packages, and its stamp.
define install
	@if [ -z "$(PYTHON)" ]; then echo "Python 3.11 or newer is needed: make PYTHON=/path/to/python" >&2; exit 1; fi
	@echo "Setting up $(1) …"
	@[ -x $(1)/bin/python ] || "$(PYTHON)" -m venv $(1)
	@# --no-deps: the file lists everything, and pip does not take a pin for one that was asked for with extras.
	@$(1)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r $(2)
	@touch $(1)/.installed
endef

.PHONY: help
help: ## Show this
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9-]+):.*## (.*)/  \1\t\2/' | expand -t 18

.venv/.installed: requirements-dev.txt
	$(call install,.venv,requirements-dev.txt)

$(TOOLS)/sam/.installed: requirements-sam.txt
	$(call install,$(TOOLS)/sam,requirements-sam.txt)

$(TOOLS)/emulator/.installed: requirements-emulator.txt
	$(call install,$(TOOLS)/emulator,requirements-emulator.txt)

$(TOOLS)/runtime/.installed: requirements-runtime.txt
	$(call install,$(TOOLS)/runtime,requirements-runtime.txt)

$(TOOLS)/dynamodb-local/.installed: local/dynamodb_local/pom.xml
	@command -v java >/dev/null && command -v mvn >/dev/null || { echo "Java 17 and Maven are needed." >&2; exit 1; }
	@echo "Fetching DynamoDB Local …"
	@mvn -q -B -f $< dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$(CURDIR)/$(@D)"
	@touch $@

.PHONY: run
run: .venv/.installed ## Run the whole service here, with a simulated QuickBooks (PORT=3000, QUICKBOOKS=off …)
	@exec $(BIN)/python -m local.run

.PHONY: simulate
simulate: .venv/.installed ## Run a simulated Web Connector against make run QUICKBOOKS=off (ARGS="--once -v", ARGS="--script FILE" …)
	@state=$(or $(STATE_DIR),.)/.local/env; [ -f "$$state" ] || { echo "$$state is not there: start make run QUICKBOOKS=off first." >&2; exit 1; }
	@set -a; . $(or $(STATE_DIR),.)/.local/env; exec $(BIN)/python -m simulator --qwc "$$QWC_FILE" $(or $(ARGS),--every 1)

.PHONY: dynamodb
dynamodb: .venv/.installed $(TOOLS)/dynamodb-local/.installed ## Run a database that keeps its data, for make run DYNAMODB_ENDPOINT=… (Java, Maven; DYNAMODB_LOCAL_PORT=8127)
	@exec $(BIN)/python -m local.dynamodb_local $(TOOLS)/dynamodb-local $(DYNAMODB_LOCAL_PORT) --keep $(or $(STATE_DIR),.)/.local/dynamodb

.PHONY: command
command: .venv/.installed ## Run the operator's command: make command DO="create-app Shop"
	@exec $(BIN)/python -m local.command $(DO)

.PHONY: test
test: .venv/.installed ## Run all tests that need nothing but Python
	$(BIN)/python -m pytest -q --numprocesses auto --dist loadfile

.PHONY: e2e
e2e: .venv/.installed ## Run the end-to-end tests alone (STACK=credentials.json of a running stack; else one of their own)
	$(BIN)/python -m pytest -q tests/e2e

.PHONY: test-dynamodb
test-dynamodb: .venv/.installed $(TOOLS)/dynamodb-local/.installed ## Run the tests of the data layer on DynamoDB Local (Java, Maven)
	$(BIN)/python -m local.dynamodb_local $(TOOLS)/dynamodb-local 0 \
		$(BIN)/python -m pytest -q tests/contract tests/e2e

.PHONY: prove
prove: .venv/.installed ## Run the long proofs: two cuts of a session, random steps, 20 connectors at once (ARGS="interleavings connectors", DYNAMODB_ENDPOINT=…)
	$(BIN)/python -m tests.proofs $(ARGS)

.PHONY: build
build: .venv/.installed $(if $(filter $(TOOLS)/%,$(SAM)),$(TOOLS)/sam/.installed) ## Build for AWS: sam build, then bytecode (ARGS="--use-container …" for sam build)
	$(SAM) build $(ARGS)
	@$(BIN)/python -m local.bytecode

.PHONY: deploy-local
deploy-local: .venv/.installed $(TOOLS)/sam/.installed $(TOOLS)/emulator/.installed ## Deploy template.yaml with SAM into an AWS emulator here and run the end-to-end tests on it
	$(BIN)/python -m local.deploy $(TOOLS) $(BIN)/python -m pytest -q tests/e2e

.PHONY: test-runtime
test-runtime: .venv/.installed $(TOOLS)/sam/.installed $(TOOLS)/emulator/.installed $(TOOLS)/runtime/.installed ## Build with SAM and run every function under Lambda's own runtime; shows cold starts
	$(BIN)/python -m local.runtime $(TOOLS) $(BIN)/python -m pytest -q tests/runtime

.PHONY: lint
lint: .venv/.installed ## Check style and the template
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/cfn-lint template.yaml

.PHONY: types
types: .venv/.installed ## Check types
	$(BIN)/mypy

.PHONY: format
format: .venv/.installed ## Format the code
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .

.PHONY: bench
bench: .venv/.installed ## Measure: imports of each handler, calls to the local stack with 10,000 records, how fast a session drains, a session that drains a queue
	$(BIN)/python -m benchmarks.import_times
	$(BIN)/python -m benchmarks.local_stack
	$(BIN)/python -m benchmarks.draining

.PHONY: openapi
openapi: .venv/.installed ## Write docs/openapi.json from the handlers
	PYTHONPATH=src $(BIN)/python -m tools.openapi

.PHONY: lock
lock: .venv/.installed ## Write the hashed requirements files from the .in files
	env -u PIP_FIND_LINKS $(BIN)/$(LOCK) --output-file=requirements-sam.txt requirements-sam.in
	env -u PIP_FIND_LINKS $(BIN)/$(LOCK) --output-file=src/requirements.txt src/requirements.in
	env -u PIP_FIND_LINKS $(BIN)/$(LOCK) --output-file=requirements-dev.txt requirements-dev.in
	env -u PIP_FIND_LINKS $(BIN)/$(LOCK) --output-file=requirements-emulator.txt requirements-emulator.in
	env -u PIP_FIND_LINKS $(BIN)/$(LOCK) --output-file=requirements-runtime.txt requirements-runtime.in

.PHONY: clean
clean: ## Remove everything that can be made again: not the data that make dynamodb keeps
	[ ! -d .local ] || find .local -mindepth 1 -maxdepth 1 ! -name dynamodb ! -name kept -exec rm -rf {} +
	rm -rf .venv $(TOOLS) .aws-sam .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find src local simulator tests tools benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +
