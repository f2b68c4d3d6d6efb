# The two commands: `make demo` and `make test`. Everything lives in .venv and .quorumsql.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
# vLLM's CPU build asks for these three, whose wheels are CUDA builds that break its import.
LEFT_OUT := torchvision torchaudio torchcodec
TORCH := torch==2.13.0

.PHONY: help install demo serve stop check test test-all weights format lock clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

install: $(INSTALLED) ## Build .venv with the pinned packages

$(INSTALLED): constraints.txt pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=python3.11 …")'
	$(PYTHON) -m venv $(VENV)
	@echo "Installing (about 4 GB, a few minutes the first time) …"
	$(BIN)/python -m pip install --quiet $(TORCH)
	$(BIN)/python -m pip install --quiet --progress-bar on --no-deps --requirement constraints.txt
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	touch $@

demo: $(INSTALLED) ## From nothing to an answer: install, weights, database, index, service, question
	$(BIN)/quorumsql demo

serve: $(INSTALLED) ## Start the service and leave it running
	$(BIN)/quorumsql serve --background

stop: ## Stop the service that `make serve` left running
	@test ! -x $(BIN)/quorumsql || $(BIN)/quorumsql stop

weights: $(INSTALLED) ## Fetch the weights of the default model, for both engines
	$(BIN)/quorumsql model pull qwen2.5-coder-0.5b-instruct --engine llama.cpp
	$(BIN)/quorumsql model pull qwen2.5-coder-0.5b-instruct --engine vllm

check: $(INSTALLED) ## Lint, types, import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

test: $(INSTALLED) weights ## The product: every test but the long corpora, in minutes
	$(BIN)/python -m pytest

test-all: test ## Every test: those of `make test`, then the long corpora
	$(BIN)/python -m pytest -m "long or vllm"

format: $(INSTALLED) ## Mend what lint can mend
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

lock: ## Resolve pyproject.toml anew into constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --dry-run --ignore-installed --report /tmp/quorumsql-lock.json \
	    $(TORCH) setuptools --editable '.[cpu,anthropic,embedders,dev]'
	$(BIN)/python -c 'import json; left_out = set("quorumsql torch $(LEFT_OUT)".split()); \
	    metadata = [each["metadata"] for each in json.load(open("/tmp/quorumsql-lock.json"))["install"]]; \
	    lines = sorted("{name}=={version}".format(**each) for each in metadata if each["name"] not in left_out); \
	    print("\n".join(["# Exact versions, written by `make lock`; installed without resolving.", *sorted(lines, key=str.lower)]))' \
	    > constraints.txt

clean: stop ## Undo it all: service, databases, weights, .venv
	rm -rf $(VENV) .quorumsql build *.egg-info .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
