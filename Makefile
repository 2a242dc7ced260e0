# `make help` lists the targets. Each installs what it needs; Python 3.11 or newer and make are enough.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

# Tests start hundreds of programs. Without bytecode, each of them compiles all that it imports again.
unexport PYTHONDONTWRITEBYTECODE

# The newest Python on this machine that the code is tested on. Another one: make PYTHON=/path/to/python …
PYTHON ?= $(shell for name in python3.14 python3.13 python3.12 python3.11 python3 python; do \
	"$$name" -c 'import sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo "$$name"; break; }; done)

BIN := .venv/bin
TOOLS := .tools
DYNAMODB_LOCAL_PORT ?= 8127
LOCK := pip-compile --quiet --strip-extras --allow-unsafe --generate-hashes \
	--no-emit-index-url --no-emit-find-links --no-emit-trusted-host

# The folder of credentials and data of make run.
STATE = $(or $(STATE_DIR),.)/.local

# The stack in AWS that a command works on.
DEPLOYMENT = $(if $(STACK),--stack $(STACK)) $(if $(REGION),--region $(REGION)) $(if $(PROFILE),--profile $(PROFILE))

# Ends with a message unless PYTHON can be used.
define check_python
	@if [ -z "$(PYTHON)" ]; then \
		echo "Python 3.11 or newer is needed, and none was found. Name one: make PYTHON=/path/to/python $(MAKECMDGOALS)" >&2; exit 1; \
	elif ! "$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
		echo "Python 3.11 or newer is needed; $(PYTHON) is $$("$(PYTHON)" --version 2>&1 | head -1 || true)" >&2; exit 1; \
	elif ! "$(PYTHON)" -c 'import ensurepip, venv' 2>/dev/null; then \
		echo "$(PYTHON) has no venv module. On Debian and Ubuntu: apt install python3-venv" >&2; exit 1; fi
endef

# $(call install,folder,requirements,what): a virtual environment with exactly these packages, and its stamp, last.
define install
	$(check_python)
	@"$(PYTHON)" -m local.install $(1) $(2) "$(3)"
	@touch $@
endef

# An environment whose Python is gone, because the system was upgraded, is installed again: its stamps do not count.
STALE := $(shell for folder in .venv $(TOOLS)/*; do \
	[ ! -L $$folder/bin/python ] || [ -x $$folder/bin/python ] || echo $$folder/.run $$folder/.installed; done)
.PHONY: $(STALE)

# $(call install_node,folder,packages): exactly the packages of a lock file, whose hashes npm checks. None runs a script.
define install_node
	@cp $(2)/package.json $(2)/package-lock.json $(1)/
	@cd $(1) && npm ci --silent --no-audit --no-fund --ignore-scripts
endef

.PHONY: help
help: ## Show this
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  %-16s%s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.venv/.run: requirements/run.txt
	$(call install,.venv,$<,the service's packages)

.venv/.installed: requirements/dev.txt
	$(call install,.venv,$<,development tools)
	@touch .venv/.run  # the development tools include the service's packages

$(TOOLS)/sam/.installed: requirements/sam.txt
	$(call install,$(TOOLS)/sam,$<,the SAM CLI)

$(TOOLS)/emulator/.installed: requirements/emulator.txt
	$(call install,$(TOOLS)/emulator,$<,the AWS emulator)

$(TOOLS)/runtime/.installed: requirements/runtime.txt
	$(call install,$(TOOLS)/runtime,$<,Lambda's runtime client)

$(TOOLS)/api/.installed: requirements/api.txt
	$(call install,$(TOOLS)/api,$<,Schemathesis)

$(TOOLS)/check/.installed: requirements/check.txt
	$(call install,$(TOOLS)/check,$<,the Python client's packages)

$(TOOLS)/clients/.installed: requirements/clients.txt tools/node/clients/package-lock.json
	$(call install,$(TOOLS)/clients,$<,generators of clients)
	$(if $(shell command -v npm),$(call install_node,$(@D),tools/node/clients),@echo "Without Node and npm, the TypeScript client is not tested.")

$(TOOLS)/lint/.installed: tools/node/lint/package-lock.json
	@command -v npm >/dev/null || { echo "Node and npm are needed." >&2; exit 1; }
	@mkdir -p $(@D)
	$(call install_node,$(@D),tools/node/lint)
	@touch $@

$(TOOLS)/javascript/.installed: tools/node/javascript/package-lock.json
	@mkdir -p $(@D)
	@echo "Fetching Prettier, ESLint and TypeScript …"
	$(call install_node,$(@D),tools/node/javascript)
	@touch $@

$(TOOLS)/dynamodb-local/.installed: local/dynamodb_local/pom.xml
	@command -v java >/dev/null && command -v mvn >/dev/null || { echo "Java 17 and Maven are needed." >&2; exit 1; }
	@echo "Fetching DynamoDB Local …"
	@mvn -q -B -f $< dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$(CURDIR)/$(@D)"
	@touch $@

# Maven compares a file only with what the same server says of it, so the hashes are here.
$(TOOLS)/openapi-generator/.installed: local/openapi_generator/pom.xml local/openapi_generator/SHA256SUMS
	@echo "Fetching openapi-generator …"
	@rm -rf $(@D)
	@mvn -q -B -f $< dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$(CURDIR)/$(@D)"
	@cd $(@D) && $$(command -v sha256sum || echo shasum -a 256) -c "$(CURDIR)/local/openapi_generator/SHA256SUMS" >/dev/null
	@touch $@

.PHONY: run
run: forget-last-run .venv/.run ## Run the whole service here with a simulated QuickBooks (PORT=3000, QUICKBOOKS=off, COMPANY=empty, BASE_URL=https://…)
	@exec $(BIN)/python -m local.run

# Before anything is installed or written: another run may use the folder.
.PHONY: forget-last-run
forget-last-run:
	$(check_python)
	@"$(PYTHON)" -m local.state_lock

.PHONY: wait
wait: ## Wait until make run is ready, or print why it is not (WAIT_SECONDS=300)
	$(check_python)
	@exec "$(PYTHON)" -m local.wait

.PHONY: simulate
simulate: .venv/.run ## Run a simulated Web Connector against make run QUICKBOOKS=off (ARGS="--once -v", ARGS="--script FILE")
	@[ -f $(STATE)/env ] || { echo "$(STATE)/env does not exist. Start make run QUICKBOOKS=off first." >&2; exit 1; }
	@set -a; . $(STATE)/env; exec $(BIN)/python -m simulator --qwc "$$QWC_FILE" $(or $(ARGS),--every 1)

.PHONY: dynamodb
dynamodb: .venv/.run $(TOOLS)/dynamodb-local/.installed ## Run a database that keeps its data, for make run DYNAMODB_ENDPOINT=… (Java, Maven; DYNAMODB_LOCAL_PORT=8127)
	@exec $(BIN)/python -m local.dynamodb_local $(TOOLS)/dynamodb-local $(DYNAMODB_LOCAL_PORT) --keep $(STATE)/dynamodb

.PHONY: command
command: .venv/.run ## Run an operator command: make command DO="create-app Shop" (STACK=qbxml-queue for a deployed stack)
	@exec $(BIN)/python -m local.command $(DEPLOYMENT) $(or $(DO),--help)

.PHONY: restore
restore: .venv/.run ## Put tables that point-in-time recovery restored into use (STACK=qbxml-queue; docs/restore.md)
	@PYTHONPATH=src exec $(BIN)/python -m local.restore $(DEPLOYMENT) --folder $(STATE)/restore $(if $(PROCESSES),--processes $(PROCESSES))

.PHONY: event-sources
event-sources: .venv/.run ## Let the functions read the streams of tables that were restored under their former names (STACK=qbxml-queue)
	@exec $(BIN)/python -m local.event_sources $(DEPLOYMENT)

# Names each failure as it happens, with the command that runs this test alone.
PYTEST := $(BIN)/python -m pytest -q -p tests.failures --numprocesses auto --dist worksteal --durations 10

# Folders of tests that start programs or need more than Python. Each has a target of its own.
OWN_TARGETS := browser deployment e2e examples programs recipes releases runtime sam_local

.PHONY: test
test: .venv/.installed ## Run the tests of the service; make test-simulator, test-programs and others have the rest (COVERAGE=on, ARGS=…)
	$(if $(COVERAGE),@rm -rf .local/coverage && mkdir -p .local/coverage)
	$(if $(COVERAGE),$(subst $(BIN)/python,$(BIN)/coverage run,$(PYTEST)),$(PYTEST)) tests $(addprefix --ignore=tests/,$(OWN_TARGETS)) $(ARGS)
	$(if $(COVERAGE),$(BIN)/coverage combine --quiet && $(BIN)/coverage report)
	@echo "Other tests: make test-simulator, make test-programs, and what .ci/run --help lists."

.PHONY: test-nightly
test-nightly: .venv/.installed $(TOOLS)/clients/.installed ## Run the tests that take long: those that are marked as nightly
	$(PYTEST) --dist loadfile -m nightly tests

.PHONY: test-changed
test-changed: .venv/.installed ## Run the tests that a change since main can affect, by imports
	@files=$$($(BIN)/python -m tests.changed); [ -z "$$files" ] || $(PYTEST) $$files

# Tests of the typed clients and of the programs that use them.
CLIENTS_TESTS := $(addprefix tests/examples/test_,clients.py mcp.py mirror.py receivers.py shop.py)

.PHONY: test-programs
test-programs: .venv/.installed ## Run the tests that start programs: local ones, end to end, the guides and examples, releases
	$(PYTEST) --dist loadfile --no-loadscope-reorder tests/e2e tests/examples tests/programs tests/releases \
		$(addprefix --ignore=,$(CLIENTS_TESTS))

.PHONY: test-fresh
test-fresh: .venv/.installed ## Run the README's commands in a minimal Debian with Python 3.11 and 3.14 (Docker; skipped without it; ARGS="--python 3.14 --system")
	$(BIN)/python -m tests.fresh $(ARGS)

# -P: pytest would load the package that pip install ./simulator leaves in this folder as a plugin, a second time.
.PHONY: test-simulator
test-simulator: .venv/.installed ## Run the simulator's tests (ARGS=tests/test_amounts.py)
	cd simulator && ../$(BIN)/python -P -m pytest -q --numprocesses auto --dist worksteal $(ARGS)

.PHONY: corpus
corpus: .venv/.installed ## Compare the simulator with genuine QuickBooks responses, by request type (ARGS="replay -v", ARGS=--help; PAIRS=archive.zip of make check-quickbooks)
	@$(BIN)/python -m simulator.corpus $(if $(PAIRS),archive "$(PAIRS)",$(or $(ARGS),replay))

.PHONY: e2e
e2e: .venv/.installed ## Run the end-to-end tests alone (STACK=credentials.json of a running stack; else one of their own)
	$(BIN)/python -m pytest -q tests/e2e

.PHONY: test-browser
test-browser: .venv/.installed ## Run the console's tests in a browser (Chromium; skipped without it)
	$(BIN)/python -m pytest -q tests/browser

.PHONY: screenshots
screenshots: .venv/.installed ## Write screenshots of every view, light, dark and phone, to .local/screenshots (Chromium; PICTURES=on replaces docs/images)
	$(BIN)/python -m tests.browser.screenshots $(if $(filter on,$(PICTURES)),--pictures) .local/screenshots

# The end-to-end tests whose results depend on the database. `make test-programs` runs all of them.
DATABASE_RUNS := $(addprefix tests/e2e/test_,main_job.py kept_data.py retention.py)

# Those that start a stack of their own, which a deployed one does not change.
OWN_STACKS := $(addprefix tests/e2e/test_,documented_examples.py fault_script.py kept_data.py nightly_sync.py retention.py)

.PHONY: test-dynamodb
test-dynamodb: .venv/.installed $(TOOLS)/dynamodb-local/.installed ## Run the tests of the data layer on DynamoDB Local (Java, Maven)
	$(BIN)/python -m local.dynamodb_local $(TOOLS)/dynamodb-local 0 \
		sh -c '$(BIN)/python -m pytest -q --numprocesses auto --dist loadfile -m "dynamodb_local and not nightly" tests/contract && \
			$(BIN)/python -m pytest -q $(DATABASE_RUNS)'

.PHONY: test-benchmarks
test-benchmarks: .venv/.installed $(TOOLS)/dynamodb-local/.installed ## Run every benchmark with a tiny size (Java, Maven)
	$(BIN)/python -m local.dynamodb_local $(TOOLS)/dynamodb-local 0 \
		$(BIN)/python -m pytest -q --numprocesses auto tests/benchmarks -k test_a_benchmark_runs

.PHONY: prove
prove: .venv/.installed ## Run the long proofs: two interruptions of a session, random steps, 20 connectors at once (ARGS="interleavings connectors", DYNAMODB_ENDPOINT=…)
	$(BIN)/python -m tests.proofs $(ARGS)

.PHONY: mutants
mutants: .venv/.installed ## Break the core one rule at a time and count what the tests find (ARGS="--seed 2 --count 60", ARGS="--at src/…/claims.py:83")
	$(BIN)/python -m tools.mutants $(ARGS)

.PHONY: test-api
test-api: .venv/.installed $(TOOLS)/api/.installed ## Test the running service against docs/openapi.json with Schemathesis (ARGS="--max-examples 100")
	$(BIN)/python -m local.api_check $(TOOLS)/api $(ARGS)

.PHONY: test-recipes
test-recipes: .venv/.installed ## Follow the recipes of CONTRIBUTING.md in a copy of the repository, with and without each step (ARGS="-k index")
	$(BIN)/python -m pytest -q tests/recipes $(ARGS)

.PHONY: test-documents
test-documents: .venv/.installed ## Run every command of every document in a clone with an empty home (PYTHON=python3.13, ARGS="docs/guides/*")
	$(BIN)/python -m tests.documents --python "$(PYTHON)" $(ARGS)

.PHONY: test-clients
test-clients: .venv/.installed $(TOOLS)/clients/.installed ## Test the typed clients, and those that are generated from docs/openapi.json (TypeScript: Node)
	cd clients/python && ../../$(TOOLS)/clients/bin/python generate.py && ../../$(TOOLS)/clients/bin/python -m pytest -q
	@if command -v npm >/dev/null; then cd clients/typescript && node generate.mjs && node --test tests/; \
	else echo "Without Node and npm, the TypeScript client is not tested."; fi
	$(BIN)/python -m pytest -q $(CLIENTS_TESTS)

.PHONY: test-openapi-clients
test-openapi-clients: .venv/.installed $(if $(shell command -v mvn),$(TOOLS)/openapi-generator/.installed) ## Test clients for Java, Go, Python, C#, PHP and Ruby that openapi-generator makes of src/console/openapi-3.0.json (Java, Maven, Go; skipped without them)
	OPENAPI_GENERATOR=$(TOOLS)/openapi-generator $(BIN)/python -m pytest -q -rs tests/examples/test_openapi_generator.py

.PHONY: fuzz
fuzz: .venv/.installed ## Fuzz the running service: no call may answer 5xx or take over 2 s (ARGS="--seconds 1800 --seed 7")
	PYTHONPATH=src $(BIN)/python -m tools.fuzz_service $(ARGS)

.PHONY: build
build: .venv/.run ## Build for AWS, from any machine (RUNTIME=python3.13, ARCHITECTURE=arm64)
	@$(BIN)/python -m local.build $(if $(RUNTIME),--runtime $(RUNTIME)) $(if $(ARCHITECTURE),--architecture $(ARCHITECTURE))

.PHONY: deploy
deploy: deploy-check build $(TOOLS)/sam/.installed ## Build and deploy to AWS (STACK=qbxml-queue, REGION=…, PROFILE=…, PARAMS="Name=value …", TAGS="team=books …", REMOVE=…, YES=on)
	@$(BIN)/python -m local.deploy $(TOOLS)/sam $(if $(YES),--yes) $(DEPLOYMENT) $(if $(REMOVE),--remove "$(REMOVE)") $(if $(TAGS),--tags "$(TAGS)") $(PARAMS)

.PHONY: deploy-check
deploy-check: .venv/.run ## List what would make make deploy fail, with the same variables
	@$(BIN)/python -m local.deploy $(TOOLS)/sam --check $(DEPLOYMENT) $(PARAMS)

.PHONY: smoke
smoke: .venv/.run ## Check a deployed stack, first thing after a deployment (STACK=qbxml-queue, REGION=…, PROFILE=…)
	@exec $(BIN)/python -m local.smoke $(DEPLOYMENT)

# A variable of the command line comes before one of make run.
.PHONY: check-quickbooks
check-quickbooks: $(TOOLS)/check/.installed ## Test a deployed service and the QuickBooks behind it through the API (CONNECTION=…, BASE_URL=…, API_KEY=…, WRITES=on in a copy; without an address that of make run)
	@cd clients/python && ../../$(TOOLS)/check/bin/python generate.py
	@set -a; [ -n "$${BASE_URL:-}" ] || [ ! -f $(STATE)/env ] || . $(STATE)/env; \
		PYTHONPATH=clients/python/src exec $(TOOLS)/check/bin/python -m qbxml_queue check --folder $(STATE)/check \
			$(if $(CONNECTION),--connection "$(CONNECTION)") $(if $(WEB_CONNECTOR),--web-connector "$(WEB_CONNECTOR)") \
			$(if $(filter on,$(WRITES)),--writes) $(if $(filter on,$(NEW)),--new) $(if $(filter on,$(ARCHIVE)),--archive)

.PHONY: sam
sam: .venv/.run $(TOOLS)/sam/.installed ## Run the project's own SAM CLI: make sam DO="logs --stack-name qbxml-queue" (REGION=…, PROFILE=…)
	@$(if $(filter local,$(firstword $(DO))),$(BIN)/python -m local.build --check-machine)
	@$(if $(filter local,$(firstword $(DO))),SAM_TEMPLATE_FILE=.aws-sam/build/sam-local.yaml) \
		$(if $(or $(REGION),$(AWS_REGION)),AWS_DEFAULT_REGION="$(or $(REGION),$(AWS_REGION))") \
		$(if $(PROFILE),AWS_PROFILE="$(PROFILE)") SAM_CLI_TELEMETRY=0 exec $(TOOLS)/sam/bin/sam $(or $(DO),--help)

.PHONY: sam-local
sam-local: .venv/.run $(TOOLS)/sam/.installed $(TOOLS)/emulator/.installed ## Run database and queue with sample records for make sam DO="local …" (Docker; HOST=172.17.0.1, PORT=8129)
	@PYTHONPATH=src exec $(BIN)/python -m local.sam_local $(TOOLS) serve

.PHONY: sam-local-seed
sam-local-seed: .venv/.run ## Write the sample records of make sam-local again (EVENT=retry_webhook)
	@PYTHONPATH=src $(BIN)/python -m local.sam_local $(TOOLS) seed $(EVENT)

.PHONY: test-sam-local
test-sam-local: .venv/.installed $(TOOLS)/sam/.installed $(TOOLS)/emulator/.installed ## Run functions of every kind with sam local in containers, and a session of the simulated Web Connector (Docker; skipped without it)
	@PYTHONPATH=src $(BIN)/python -m local.sam_local $(TOOLS) test $(BIN)/python -m pytest -q tests/sam_local

.PHONY: deploy-local
deploy-local: .venv/.installed $(TOOLS)/sam/.installed $(TOOLS)/emulator/.installed ## Build and deploy into an AWS emulator on this machine, and run its tests and the end-to-end tests on it
	$(BIN)/python -m local.deploy_local $(TOOLS) $(BIN)/python -m pytest -q tests/deployment $(or $(E2E),tests/e2e) $(addprefix --ignore=,$(OWN_STACKS))

.PHONY: test-runtime
test-runtime: .venv/.installed $(TOOLS)/sam/.installed $(TOOLS)/emulator/.installed $(TOOLS)/runtime/.installed ## Build, and run every function under Lambda's own runtime; shows cold starts
	$(BIN)/python -m local.runtime $(TOOLS) $(BIN)/python -m pytest -q tests/runtime

.PHONY: lint
lint: lint-code lint-javascript test-javascript lint-template ## Check style, the console and the template

.PHONY: lint-code
lint-code: .venv/.installed ## Check style
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

# What ESLint needs. $(call with_node,command): the command, with the tools for JavaScript, or the reason why not.
HAS_NODE = command -v npm >/dev/null && node -e 'const [a, b] = process.versions.node.split("."); process.exit(Number(a < 20 || (a == 20 && b < 19)))'
with_node = if $(HAS_NODE); then $(MAKE) --silent $(TOOLS)/javascript/.installed && $(1); \
	else echo "Without Node 20.19 or newer and npm, JavaScript is not checked."; fi
NODE_TOOL := $(TOOLS)/javascript/node_modules/.bin
SCRIPTS := "src/console/**/*.js" "tests/console/*.mjs" simulator/inspection/page.js \
	"clients/typescript/*.mjs" "clients/typescript/{src,tests}/*.{js,mjs,d.ts,d.cts}" "examples/{node,webhook_handlers}/*.mjs"

.PHONY: lint-javascript
lint-javascript: ## Check the style of JavaScript, and the types of the console's libraries (Node; skipped without it)
	@$(call with_node,$(NODE_TOOL)/prettier --check $(SCRIPTS) && \
		$(NODE_TOOL)/eslint --config tools/node/javascript/eslint.config.mjs $(SCRIPTS) && \
		$(NODE_TOOL)/tsc -p tools/node/javascript/tsconfig.json)

.PHONY: test-javascript
test-javascript: ## Run the unit tests of the console's libraries (Node; skipped without it)
	@if $(HAS_NODE); then node --import ./tests/console/browser.mjs --test --test-reporter dot tests/console/*.test.mjs; \
	else echo "Without Node 20.19 or newer, the libraries of the console are not tested."; fi

.PHONY: lint-template
lint-template: .venv/.installed ## Check the template, before and after SAM's transformation
	$(BIN)/cfn-lint template.yaml examples/deployer.yaml
	@mkdir -p .local && $(BIN)/python -m tools.transformed_template .local/transformed-template.json
	$(BIN)/cfn-lint .local/transformed-template.json

.PHONY: types
types: .venv/.installed ## Check types
	$(BIN)/mypy

.PHONY: format
format: .venv/.installed ## Format the code
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .
	@$(call with_node,$(NODE_TOOL)/prettier --write $(SCRIPTS))

.PHONY: bench
bench: .venv/.installed $(TOOLS)/runtime/.installed ## Measure cold starts, how fast a queue drains, and the simulated company
	$(BIN)/python -m benchmarks.cold_starts
	$(BIN)/python -m benchmarks.draining
	$(BIN)/python -m benchmarks.simulated_books

.PHONY: openapi
openapi: .venv/.installed ## Write docs/openapi.json, src/console/openapi-3.0.json and docs/postman_collection.json from the handlers
	PYTHONPATH=src $(BIN)/python -m tools.openapi
	PYTHONPATH=src $(BIN)/python -m tools.postman

.PHONY: error-reasons
error-reasons: .venv/.installed ## Write docs/errors.md from the tables in the code
	PYTHONPATH=src $(BIN)/python -m tools.error_reasons

.PHONY: generate
generate: openapi error-reasons ## Write every file that is made from the code: docs/openapi*.json, docs/permissions.md, docs/errors.md, local/sam-env.json, events of the convenience queries
	PYTHONPATH=src $(BIN)/python -m tools.query_events
	$(BIN)/python -m tools.permissions_page
	$(BIN)/python -m local.sam_environment --write

.PHONY: keep-release
keep-release: .venv/.installed ## Keep the tables, data and answers of this version in tests/releases/kept, before its tag (docs/releasing.md)
	PYTHONPATH=src $(BIN)/python -m tests.releases

.PHONY: lint-openapi
lint-openapi: $(TOOLS)/lint/.installed ## Lint docs/openapi.json with Redocly and Spectral, which need Node
	$(TOOLS)/lint/node_modules/.bin/redocly lint docs/openapi.json
	$(TOOLS)/lint/node_modules/.bin/spectral lint docs/openapi.json

.PHONY: lock
lock: .venv/.installed ## Write the hashed requirements files from the .in files, and the lock files of tools/node
	@for file in src/requirements requirements/{sign_in,dev,run,api,check,clients,emulator,runtime,sam}; do echo "Locking $$file.in …" && \
		env -u PIP_FIND_LINKS $(BIN)/$(LOCK) --output-file=$$file.txt $$file.in; done
	@if command -v npm >/dev/null; then for folder in tools/node/*/; do echo "Locking $$folder …" && \
		npm install --silent --package-lock-only --ignore-scripts --prefix "$$folder"; done; \
	else echo "Without Node and npm, tools/node is not locked."; fi

.PHONY: clean
clean: ## Remove everything that can be made again; keep the data of make dynamodb
	[ ! -d .local ] || find .local -mindepth 1 -maxdepth 1 ! -name dynamodb ! -name kept -exec rm -rf {} +
	rm -rf .venv .venv.lock $(TOOLS) .aws-sam .coverage htmlcov simulator/build clients/python/build clients/python/src/qbxml_queue/schema
	rm -rf clients/typescript/src/schema clients/typescript/commonjs clients/typescript/node_modules examples/first_sync/qbxml_queue_client
	find . \( -name .git -o -path ./.local \) -prune -o \( -name __pycache__ -o -name '*.egg-info' -o -name .mypy_cache \
		-o -name .ruff_cache -o -name .pytest_cache -o -name .hypothesis -o -name .schemathesis \) -prune -exec rm -rf {} +
