# π-Bench Studio. `make run` starts everything; `make help` lists the rest.
.DEFAULT_GOAL := help
.PHONY: help setup run test test-slow test-long test-machines mutants bench-crowd check bench-checks screenshots docs migrations lines lock agent-packages nanobot-agent

# The first of these that is Python 3.11 or newer; PYTHON=... names another. Debian's own comes first: it is built with
# optimisations that others often lack, and runs the tests in four fifths of their time.
PYTHON ?= $(shell for python in /usr/bin/python3.11 python3.11 /usr/bin/python3 python3 python3.12 python3.13; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && break; done)
BIN := $(CURDIR)/.venv/bin

help:
	@echo "make run     start the studio: database, broker, web server, worker (PORT=8000 HOST=127.0.0.1)"
	@echo "make test    the tests (ARGS='tests/local -x' for some of them)"
	@echo "make test-slow     tests of half a second of a processor or more, and most stories in a browser"
	@echo "make test-long     tests of minutes: kills, every page, every service of models; more than an hour"
	@echo "make test-machines  as root: both commands of the README in a bare Debian 13 (SUITE=trixie ARGS='tests/studio')"
	@echo "make mutants       faults planted one at a time: which of them no test notices (N=100 SEED=1)"
	@echo "make bench-crowd   fifty people at once for ten minutes (ARGS='--people 50 --minutes 10')"
	@echo "make check   linter, types, import contracts, migrations, API schema; the scripts' own checks and tests if Node is there"
	@echo "make bench-checks  precision and recall of the authoring checks against labelled tasks (MODEL=NAME: with its second opinions)"
	@echo "make setup   only install what running and testing need"
	@echo "make screenshots   make the pictures in docs/ again"
	@echo "make migrations    the initial migrations anew, after a change of models"
	@echo "make lines   lines of code by room, as studio/dev/lines.toml limits them"
	@echo "make docs    the JSON Schemas of models in docs/ anew"

PYTHON_IS_HERE = test -n "$(PYTHON)" || \
	{ echo "Python 3.11 or newer is not here: apt-get install python3 python3-venv" >&2; exit 1; }

setup:
	@$(PYTHON_IS_HERE)
	@$(PYTHON) -I studio/dev/bootstrap.py

run:
	@$(PYTHON_IS_HERE)
	@$(PYTHON) -I studio/dev/bootstrap.py --run
	@exec $(BIN)/python manage.py run --stop-with-parent $(if $(PORT),--port $(PORT)) $(if $(HOST),--host $(HOST))

test: setup
	@$(BIN)/python -m studio.dev.browser
	@$(BIN)/python -m pytest -n auto $(ARGS)

test-slow: setup
	@$(BIN)/python -m studio.dev.browser
	@$(BIN)/python -m pytest -m "slow and not minutes" -n auto $(ARGS)

test-long: setup
	@$(BIN)/python -m studio.dev.browser
	@$(BIN)/python -m pytest -m minutes -n auto $(ARGS)

test-machines:
	@SUITE="$(or $(SUITE),trixie)" ARGS="$(ARGS)" tests/machines/debian.sh

mutants: setup
	@$(BIN)/python -m studio.dev.browser
	@$(BIN)/python -m tests.mutants --number $(or $(N),100) --seed $(or $(SEED),1) $(ARGS)

bench-crowd: setup
	@$(BIN)/python -m tests.bench.crowd $(ARGS)

check: setup
	@$(BIN)/python -m studio.dev.checks

bench-checks: setup
	@$(BIN)/python -m tests.bench.checks $(if $(MODEL),--model $(MODEL)) $(ARGS)

screenshots: setup
	@$(BIN)/python -m studio.dev.browser
	@$(BIN)/python manage.py screenshots

docs: setup
	@$(BIN)/python -m studio.dev.schemas

# Nothing is released yet, so a change of models is a change of the initial migrations. What models cannot say stays as
# it is: 0002_triggers.py is put aside, since it needs what is made anew here.
migrations: setup
	@git diff --quiet -- '*/migrations/0002_triggers.py' || { echo "commit */migrations/0002_triggers.py first" >&2; exit 1; }
	@rm -f */migrations/0*.py
	@for app in studio annotations evaluation; do $(BIN)/python manage.py makemigrations -v 0 --no-header $$app || break; done && \
	DJANGO_SETTINGS_MODULE=studio.settings $(BIN)/python -m studio.dev.migrations; \
	made=$$?; git checkout -q -- '*/migrations/0002_triggers.py'; exit $$made

lines: setup
	@$(BIN)/python -m studio.dev.lines --print

# What agents' own code may import in the sandbox: 200 MB, so not a part of `make run`.
agent-packages: setup
	@$(BIN)/python -m evaluation.sandbox.packages

# The scaffold of the paper, for agents of the kind `nanobot`, in an environment of its own: 300 MB.
nanobot-agent: setup
	@$(BIN)/python -m evaluation.sandbox.packages nanobot

# After a change of dependencies in pyproject.toml. For every Python from 3.11.0 on, and without registry addresses.
LOCK = $(BIN)/python -m uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header
lock: setup
	@$(LOCK) pyproject.toml --extra studio -o requirements.lock
	@$(LOCK) pyproject.toml --extra studio --group dev -o requirements-dev.lock
	@$(LOCK) evaluation/sandbox/requirements-agents.in -o evaluation/sandbox/requirements-agents.lock
	@$(LOCK) evaluation/sandbox/requirements-nanobot.in -o evaluation/sandbox/requirements-nanobot.lock
