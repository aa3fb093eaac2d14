# make demo | test | lint | bench. Each makes .venv on its first run; afterwards it starts at once.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
# An optional extra package index, for example PyTorch's own for CPU-only builds: make demo TORCH_INDEX=...
TORCH_INDEX ?=
BIN := .venv/bin
READY := .venv/.ready

.PHONY: demo test lint bench clean

demo: $(READY)
	$(BIN)/lie-ssl demo

test: lint
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -m "not slow" -n 2

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(READY)
	$(BIN)/python -m pip install -q -c constraints.txt -e ".[bench]"
	$(BIN)/lie-ssl bench render
	$(BIN)/lie-ssl bench frames
	$(BIN)/lie-ssl bench action
	$(BIN)/lie-ssl bench augment
	$(BIN)/lie-ssl bench train
	$(BIN)/lie-ssl bench option2
	$(BIN)/lie-ssl bench linear
	$(BIN)/lie-ssl bench shared
	$(BIN)/lie-ssl bench choices

clean:
	rm -rf .venv

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c "import sys; sys.exit('lie_ssl needs Python 3.11 or newer: make PYTHON=/path/to/python3.11' if sys.version_info < (3, 11) else 0)"
	$(PYTHON) -m venv .venv
	$(if $(TORCH_INDEX),PIP_EXTRA_INDEX_URL=$(TORCH_INDEX) )$(BIN)/python -m pip install --progress-bar off -q -c constraints.txt -e ".[dev]"
	@touch $@
