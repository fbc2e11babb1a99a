# Everything a newcomer types. Each target sets up what it needs, once; a second run needs no network.
SHELL := /bin/bash
VENV := .venv
BIN := $(VENV)/bin
PEERS := .venv-peers
PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && { echo $$p; break; }; done)

.PHONY: run demo test soak check format bench bench-plot bench-turns record clean
.DEFAULT_GOAL := run

run: $(VENV)/.run ## show the sample conversation
	@$(BIN)/vantage format examples/conversation.jsonl

demo: $(VENV)/.run ## what Vantage does, in a minute: in your browser and in this terminal
	@$(BIN)/vantage demo $(DEMO)

PROGRAMS := zsh fish vim less gdb sqlite3 nano htop mc fzf dialog tmux chromium
# what the tests drive, each called as its package is

test: check ## linters, types, layers and every test
	@scripts/debian-packages $(PROGRAMS)
	@scripts/install-agents
	$(BIN)/pytest -n auto --maxprocesses 4 --dist loadfile --max-worker-restart 0

MINUTES ?= 30
soak: $(VENV)/.dev ## half an hour of faults and hostile input, with new random seeds: MINUTES=120 make soak
	@scripts/debian-packages $(PROGRAMS)
	VANTAGE_SOAK=$(MINUTES) $(BIN)/pytest -o faulthandler_timeout=$$((60 * $(MINUTES) + 300)) -vv -n 2 --dist worksteal --max-worker-restart 0 tests/faults tests/hostile

check: $(VENV)/.dev ## linters, types and layers only
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	scripts/check-words
	@scripts/debian-packages node=nodejs npm
	scripts/check-page

format: $(VENV)/.dev ## let ruff lay the code out
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

TURNS_PROGRAMS := gcc gdb git vim less htop fzf
# what the players of bench/turns run
BENCH_PROGRAMS := tmux chromium node=nodejs npm $(TURNS_PROGRAMS)
# what benchmarks drive, beside the peers of PyPI and npm

bench: $(VENV)/.dev $(PEERS)/.installed $(PEERS)/node/.installed ## measure against what people use instead
	@scripts/debian-packages $(BENCH_PROGRAMS)
	@scripts/install-agents
	@$(BIN)/python -m bench

bench-turns: $(VENV)/.dev ## count what tasks cost a model in calls and tokens, and write the table into docs
	@scripts/debian-packages $(TURNS_PROGRAMS)
	@scripts/install-agents
	@$(BIN)/python -m bench.turns --write

record: $(VENV)/.dev ## record what real agents print, for the tests: AGENTS=DIRECTORY make record
	@$(BIN)/python scripts/record-agents

bench-plot: $(VENV)/.dev $(PEERS)/.installed $(PEERS)/node/.installed ## measure everything, and write table and picture into docs
	@scripts/debian-packages $(BENCH_PROGRAMS)
	@scripts/install-agents
	@mkdir -p build
	@$(BIN)/python -m bench --json build/bench.json
	@$(BIN)/python -m bench.run.plot build/bench.json

$(PEERS)/.installed: bench/requirements.txt
	@test -x $(PEERS)/bin/python || scripts/make-venv "$(PYTHON)" $(PEERS)
	@$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check -r $< || { \
		echo "vantage: 'pip install -r $<' failed (above): is PyPI reachable? Run make bench again when it is." >&2; exit 1; }
	@touch $@

$(PEERS)/node/.installed: bench/package.json
	@mkdir -p $(@D) && cp $< $(@D)/package.json
	@scripts/debian-packages node=nodejs npm
	@cd $(@D) && npm install --silent --no-audit --no-fund || { \
		echo "vantage: 'npm install' in $(@D) failed (above): is the npm registry reachable? Run make bench again when it is." >&2; exit 1; }
	@touch $@

$(VENV)/bin/python:
	@scripts/make-venv "$(PYTHON)" $(VENV)

$(VENV)/.run: $(VENV)/bin/python pyproject.toml constraints.txt
	@scripts/pip-install $(BIN)/python -e .
	@$(BIN)/python -m compileall -q src
	@touch $@

$(VENV)/.dev: $(VENV)/bin/python pyproject.toml constraints.txt
	@scripts/pip-install $(BIN)/python -e '.[dev]'
	@$(BIN)/python -m compileall -q src
	@touch $@ $(VENV)/.run

clean: ## remove what was set up
	rm -rf $(VENV) $(PEERS) .mypy_cache .ruff_cache .pytest_cache .hypothesis
