# make demo | test | slow | lint | lowest | wheel | bench. Each makes .venv on its first run; afterwards it starts at once.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
# An optional extra package index, for example PyTorch's own for CPU-only builds: make demo TORCH_INDEX=...
TORCH_INDEX ?=
BIN := .venv/bin
READY := .venv/.ready

.PHONY: demo test slow lint lowest wheel bench clean

# EfficientNet-Lite0 is adapted; `lie-ssl demo --from-scratch` trains small encoders instead.
demo: $(READY)
	$(BIN)/lie-ssl demo

test: lint
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -m "not slow" -n 2

slow: $(READY)
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -m slow

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# The oldest versions that pyproject.toml allows.
lowest:
	$(PYTHON) -m venv --clear .venv-lowest
	.venv-lowest/bin/python -m pip install -q uv
	$(if $(TORCH_INDEX),UV_INDEX=$(TORCH_INDEX) )VIRTUAL_ENV=.venv-lowest .venv-lowest/bin/uv pip install -q --resolution lowest-direct -e ".[dev]"
	OMP_NUM_THREADS=1 .venv-lowest/bin/python -m pytest -m "not slow" -n 2 tests/lie tests/storage tests/methods tests/training

# The wheel, in an environment that has nothing else.
wheel:
	$(PYTHON) -m venv --clear .venv-wheel
	rm -rf dist
	.venv-wheel/bin/python -m pip wheel -q --no-deps -w dist .
	$(if $(TORCH_INDEX),PIP_EXTRA_INDEX_URL=$(TORCH_INDEX) ).venv-wheel/bin/python -m pip install -q -c constraints.txt dist/lie_ssl-*.whl
	.venv-wheel/bin/python .ci/check_wheel.py dist/lie_ssl-*.whl

bench: $(READY)
	$(BIN)/python -m pip install -q -c constraints.txt -e ".[bench]"
	$(BIN)/lie-ssl bench render
	$(BIN)/lie-ssl bench frames
	$(BIN)/lie-ssl bench action
	$(BIN)/lie-ssl bench align
	$(BIN)/lie-ssl bench augment
	$(BIN)/lie-ssl bench train
	$(BIN)/lie-ssl bench option2
	$(BIN)/lie-ssl bench linear
	$(BIN)/lie-ssl bench features
	$(BIN)/lie-ssl bench adapt
	$(BIN)/lie-ssl bench shared
	$(BIN)/lie-ssl bench choices

clean:
	rm -rf .venv .venv-lowest .venv-wheel dist

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c "import sys; sys.exit('lie_ssl needs Python 3.11 or newer: make PYTHON=/path/to/python3.11' if sys.version_info < (3, 11) else 0)"
	$(PYTHON) -m venv .venv
	$(if $(TORCH_INDEX),PIP_EXTRA_INDEX_URL=$(TORCH_INDEX) )$(BIN)/python -m pip install --progress-bar off -q -c constraints.txt -e ".[dev]"
	@touch $@
