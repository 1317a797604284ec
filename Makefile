# Two commands do everything on a fresh machine with Python: make crawl, make test.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
NODE := $(VENV)/node
PORT ?= 8480
# Processes that tests run in, each a file at a time.
JOBS ?= 2

# One BLAS thread: crawls and tests are quicker with it on a shared machine, and repeatable.
export OPENBLAS_NUM_THREADS := 1
export OMP_NUM_THREADS := 1
export MKL_NUM_THREADS := 1

# Tests start some hundred processes, and each would compile every module anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup node crawl test lint serve-sample clean

help: ## list what can be made
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 14

setup: $(READY) ## make the virtual environment

$(READY): pyproject.toml constraints.txt
	@if command -v uv >/dev/null 2>&1; then \
	  uv venv --quiet --clear --python $(PYTHON) $(VENV) && \
	  uv pip install --quiet --python $(BIN)/python --constraint constraints.txt --editable '.[all,dev]'; \
	else \
	  $(PYTHON) -m venv $(VENV) && \
	  $(BIN)/python -m pip install --quiet --disable-pip-version-check \
	    --constraint constraints.txt --editable '.[all,dev]'; \
	fi
	@touch $@

# scrapyd needs an older setuptools than others may want, so it has an environment of its own. To
# keep it small, that one finds Scrapy and the libraries in the first.
node: $(NODE)/.ready ## make the environment of the Scrapyd node that the tests deploy to

$(NODE)/.ready: $(READY)
	@$(BIN)/python -m venv --clear $(NODE) && \
	$(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))' \
	  > "$$($(NODE)/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/shared.pth" && \
	$(NODE)/bin/python -m pip install --quiet --disable-pip-version-check \
	  --constraint constraints.txt scrapyd scrapyd-client 'setuptools>=77,<81' && touch $@ || \
	  echo "scrapyd could not be installed: tests of it skip" >&2

crawl: $(READY) ## crawl the bundled sample web, and the same web breadth-first beside it
	@run=$$(date -u +%Y%m%dT%H%M%SZ) && \
	$(BIN)/scrapy crawl focus -a topic=topics/sample.toml \
	  -s FOCUS_REPLAY=sample -s FOCUS_RUN=$$run -L WARNING && \
	$(BIN)/scrapy crawl focus -a topic=topics/sample.toml -a strategy=breadth-first \
	  -s FOCUS_REPLAY=sample -s FOCUS_RUN=$$run-breadth-first -L WARNING && \
	$(BIN)/scrapy focus-summary exports/sample/$$run exports/sample/$$run-breadth-first

test: $(READY) $(NODE)/.ready ## run every test (JOBS=2)
	$(BIN)/python -m pytest -n $(JOBS) --dist loadfile

lint: $(READY) ## check style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

serve-sample: $(READY) ## serve the sample web over HTTP on loopback (PORT=8480)
	$(BIN)/python -m focusspider.replay.server --port $(PORT) sample

clean: ## remove what make made; the runs in exports/ stay
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
