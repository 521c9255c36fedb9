# `make` without a target lists the commands. They run in the virtual environment .venv.

SHELL := /bin/sh
.DEFAULT_GOAL := help
.SUFFIXES:

# Python 3.11 to 3.14. `make PYTHON=/path/to/python3.12 …` selects one for this command and for later ones.
PYTHON ?=
CANDIDATES := python3 python3.14 python3.13 python3.12 python3.11
BIN := .venv/bin
RUNTIME := .venv/.runtime
DEV := .venv/.dev
# Number of test processes, each with its own database. Fast tests are CPU-bound and get one process per core. Slow
# tests often wait, so they get two processes per core of a CI machine with two cores.
TEST_PROCESSES ?= logical
SLOW_TEST_PROCESSES ?= 4
ARGS ?=
# Without .pyc files, each process of the tests and of the service would compile the code again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help run superuser test coverage examples mutants test-slow browser hooks lint types format check bench soak dogfood screenshots pictures site lock sbom docs changelog release site-docs images clean

help: ## List these commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

run: $(RUNTIME) ## Run the whole service on http://localhost:8000 (PORT=… chooses another port)
	@exec $(BIN)/python manage.py up $(ARGS)

test: $(DEV) ## Run the fast tests, and list the kinds of tests that are skipped (ARGS="-k words" selects tests)
	@$(BIN)/python -m pytest -n $(TEST_PROCESSES) --maxprocesses 8 --dist loadgroup -m fast $(ARGS)

# Tests that limit processor time are excluded because coverage tracing slows down the code.
coverage: $(DEV) ## Run the fast tests, print the lines and branches that they miss, and fail below the limit in pyproject.toml
	@$(BIN)/python -m pytest -n $(TEST_PROCESSES) --maxprocesses 8 --dist loadgroup -m fast -k "not processor_time" --cov --cov-report=term:skip-covered $(ARGS)

examples: $(DEV) ## Write an example of each outcome of the checks, from their fast tests
	@$(BIN)/python -m pytest -m fast --write-examples tests/website_scan/*/checks tests/website_scan/accessibility tests/website_scan/browser/test_unshown.py

mutants: $(DEV) ## Change a module in many small ways, and print the changes that its tests miss (MODULE=website_scan/scoring.py)
	@$(BIN)/python -m tests.mutants $(MODULE) $(ARGS)

test-slow: $(DEV) ## Run all other tests: browsers, processes, hostile sites, releases (ARGS="-m browser" for one kind)
	@$(chromium)
	@$(podman)
	@$(BIN)/python -m pytest -n $(SLOW_TEST_PROCESSES) --dist loadgroup -m "not fast" $(ARGS)

hooks: ## Install the Git hook that checks the subjects of commits
	@git config core.hooksPath .githooks

lint: $(DEV) ## Check style, formatting and the words of identifiers
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/python -m tests.identifiers

format: $(DEV) ## Format the code
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

types: $(DEV) ## Check types and import contracts
	@$(BIN)/python -m mypy .
	@$(BIN)/lint-imports

check: lint types test ## Check style, types and import contracts, and run the fast tests

bench: $(DEV) ## Measure speed, size and precision against goals and baseline (ARGS="pages queue --share 1": parts with all rows)
	@$(BIN)/python -m benchmarks $(ARGS)

superuser: $(RUNTIME) ## Create an account for /admin/, while `make run` runs in another terminal
	@$(BIN)/python manage.py createsuperuser $(ARGS)

browser: $(RUNTIME) requirements/browser.txt ## Install Chromium and the packages for scans with a browser
	@$(call environment)
	@$(call install,requirements/browser.txt)
	@$(chromium)
	@$(BIN)/python -c '$(BROWSER)'

soak: $(DEV) ## Scan hostile sites for minutes and measure the worker's memory, files and threads (ARGS="--share 0.2" is shorter)
	@$(BIN)/python -m benchmarks soak $(ARGS)

dogfood: $(DEV) ## Start the service, scan its own pages with it, and print their scores
	@$(BIN)/python -m benchmarks dogfood

screenshots: $(DEV) ## Take screenshots of every page in three widths and both themes, in var/screenshots
	@$(chromium)
	@$(BIN)/python -m pytest -n 0 tests/e2e/screenshots.py

pictures: $(DEV) ## Generate the sample reports, the images of the landing page and of the guides, and the icons
	@$(chromium)
	@$(BIN)/python -m pytest -n 0 tests/e2e/pictures.py tests/e2e/guide_pictures.py

site: $(DEV) ## Start a small HTTPS site on this machine to scan
	@$(BIN)/python -m tests.targets

# `env -i` and DATA_DIR=/dev/null isolate the documented defaults from the caller's environment and a running service.
docs: $(DEV) ## Generate openapi.yaml, docs/checks.md, website_scan/checks.json and tables of docs/*.md from the code
	@SECRET_KEY=only-for-this-command-which-signs-nothing \
	 $(BIN)/python manage.py spectacular --file openapi.yaml --validate --fail-on-warn
	@env -i SECRET_KEY=only-for-this-command-which-signs-nothing DATA_DIR=/dev/null $(BIN)/python manage.py tables
	@$(BIN)/python manage.py checks > docs/checks.md
	@$(BIN)/python manage.py checks --format json > website_scan/checks.json

# `env -i` isolates the pages from the caller's environment, except for the URL of the source code.
site-docs: $(RUNTIME) ## Generate the landing page, documentation and samples as a static site in var/site-docs (URL=https://… is its address, SOURCE_URL=… the address of the code)
	@env -i SECRET_KEY=only-for-this-command-which-signs-nothing DATA_DIR=/dev/null SOURCE_URL="$(SOURCE_URL)" \
	 $(BIN)/python manage.py site_docs var/site-docs --url "$(URL)"

changelog: $(DEV) ## Move the entries of changelog.d to CHANGELOG.md (VERSION=… names the release)
	@$(BIN)/towncrier build --yes --version "$(VERSION)"

release: $(DEV) ## Test, build and tag a release in var/release (VERSION=1.2.0; ARGS="--without-images" without Docker or Podman)
	@$(BIN)/python deploy/release.py "$(VERSION)" $(ARGS)

COMPILE := $(BIN)/uv pip compile pyproject.toml --universal --python-version 3.11 \
	--generate-hashes --no-emit-index-url --no-header --quiet

lock: $(DEV) ## Pin the dependencies of pyproject.toml with their hashes (ARGS=--upgrade updates them)
	@$(COMPILE) $(ARGS) --group service --output-file requirements/service.txt
	@$(COMPILE) $(ARGS) --group service --extra browser --constraint requirements/service.txt --output-file requirements/browser.txt
	@$(COMPILE) $(ARGS) --constraint requirements/browser.txt --output-file requirements/command.txt
	@$(COMPILE) $(ARGS) --extra browser --constraint requirements/browser.txt --output-file requirements/command-browser.txt
	@$(COMPILE) $(ARGS) --group dev --constraint requirements/browser.txt --output-file requirements/dev.txt

LOCK := requirements/browser.txt

sbom: $(DEV) ## Write a software bill of materials in CycloneDX to var/sbom.json (LOCK=requirements/service.txt for the service without a browser, requirements/command.txt or requirements/command-browser.txt for website-scan)
	@mkdir -p var
	@$(BIN)/cyclonedx-py requirements --pyproject pyproject.toml --mc-type application --output-reproducible --spec-version 1.6 \
	  --output-format JSON $(LOCK) --output-file var/sbom.json
	@echo "var/sbom.json"

images: $(DEV) ## Build the images with Docker or Podman, and write their bills of materials to var/ (ARGS="--base debian" also builds the base image)
	@$(BIN)/python deploy/images.py $(ARGS)

clean: ## Remove the virtual environment and all caches (data in var/ stays)
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Recreate the virtual environment if PYTHON is another version than the environment's Python.
ifneq ($(PYTHON),)
ifneq ($(shell "$(PYTHON)" -V 2>/dev/null),$(shell $(BIN)/python -V 2>/dev/null))
$(RUNTIME) $(DEV): another-python
.PHONY: another-python
endif
endif

# Each stamp file is newer than the lock file that was installed. A changed lock file updates the environment.
$(RUNTIME): requirements/service.txt
	@$(call environment)
	@$(call install,requirements/service.txt)
	@touch $@

# uv is one of the packages and installs the others five times as fast as pip. If uv fails, for example because only
# pip's configuration names the package index, pip installs them.
$(DEV): requirements/dev.txt
	@$(call environment)
	@echo "Installing requirements/dev.txt …"
	@{ sed -n '/^uv==/,/# via/p' requirements/dev.txt | $(PIP) install --require-hashes -r /dev/stdin && \
	  $(BIN)/uv pip install --quiet --compile-bytecode --python $(BIN)/python --require-hashes -r requirements/dev.txt; } || \
	  $(PIP) install --require-hashes -r requirements/dev.txt
	@touch $(RUNTIME) $@

# Install Playwright's Chromium if none is installed; if that fails, the system's package. When run as root, install
# into a folder that other users can read, because the service starts Chromium as another user.
BROWSER := from website_scan.net.browser import find_supported_browser; print("Scans use", find_supported_browser("auto"), "from now on; restart the service if it is running.")
FOUND := import sys; from website_scan.net.browser import find_browser; sys.exit(find_browser("auto") is None)
define chromium
	if ! $(BIN)/python -c '$(FOUND)'; then \
	  echo "Installing Chromium …"; \
	  if [ "$$(id -u)" = 0 ]; then export PLAYWRIGHT_BROWSERS_PATH=/usr/local/share/ms-playwright; fi; \
	  said=$$($(BIN)/playwright install --only-shell chromium 2>&1) || \
	  said=$$({ apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install --yes --no-install-recommends \
	    chromium-headless-shell; } 2>&1) || \
	  { printf '%s\n' "$$said" | tail -n 5 >&2; \
	    echo "Chromium is missing and could not be installed. As root: apt install chromium-headless-shell" >&2; exit 1; }; \
	fi
endef

# Install Podman and the tools with which tests build and run the images. Without Podman or root, these tests skip.
define podman
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
	  ! { command -v podman && command -v runc && command -v mmdebstrap && command -v catatonit; } >/dev/null; then \
	  echo "Installing Podman …"; \
	  said=$$({ apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install --yes --no-install-recommends \
	    podman runc netavark iptables catatonit mmdebstrap; } 2>&1) || printf '%s\n' "$$said" | tail -n 5 >&2; \
	fi
endef

# The package of the embedded PostgreSQL has no wheel for Python 3.15 yet.
SUITABLE := import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))
PIP := .venv/bin/python -m pip --disable-pip-version-check --quiet

define environment
	if ! .venv/bin/python -c '$(SUITABLE)' 2>/dev/null || \
	   { [ -n "$(PYTHON)" ] && [ "$$("$(PYTHON)" -V 2>/dev/null)" != "$$(.venv/bin/python -V 2>/dev/null)" ]; }; \
	then \
	  python=; \
	  for candidate in "$(PYTHON)" $(if $(PYTHON),,$(CANDIDATES)); do \
	    if [ -n "$$candidate" ] && "$$candidate" -c '$(SUITABLE)' 2>/dev/null; then \
	      python=$$candidate; break; \
	    fi; \
	  done; \
	  if [ -z "$$python" ]; then \
	    echo "Python 3.11 to 3.14 is needed (tried: $(or $(PYTHON),$(CANDIDATES)))." \
	      "Install it, or name it: make PYTHON=/path/to/python3.12 …" >&2; exit 1; \
	  fi; \
	  if ! "$$python" -c 'import venv, ensurepip' 2>/dev/null; then \
	    echo "$$python lacks venv. Install it (apt install python3-venv) and try again." >&2; \
	    exit 1; \
	  fi; \
	  rm -rf .venv && "$$python" -m venv .venv; \
	fi
endef

define install
	echo "Installing $(1) …" && $(PIP) install --require-hashes -r $(1)
endef
