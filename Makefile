# Every target makes .venv when it is missing and installs what it needs into it, once: the stamps
# .venv/.installed-* remember. All it takes is Python 3.11 or newer, pip and make.

PYTHON  ?= $(or $(shell .ci/python),python3)
WORKERS ?= 2
ARGS    ?=

VENV := .venv
PY   := $(VENV)/bin/python
# -P keeps this folder off sys.path, where sched/ would hide the standard library's `sched`.
RUN  := $(PY) -P -m
# Bytecode is kept, wherever it may not be beside the sources: a worker, and each process that a
# test starts, would compile all of them. Of what is installed, most modules are never imported:
# pip compiles none, and whoever imports one first does.
export PYTHONDONTWRITEBYTECODE =
export PYTHONPYCACHEPREFIX = $(CURDIR)/$(VENV)/bytecode
PYTEST = $(RUN) pytest -n $(WORKERS) --dist loadgroup
PIP  := $(RUN) pip --disable-pip-version-check

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
# One pip at a time, also under `make -j`.
.NOTPARALLEL:
.PHONY: help demo test quick test-v3 test-one-thread test-one-core test-busy test-matrix
.PHONY: screenshots some-faults lint lint-ruff lint-format lint-types lint-layers format bench bench-pages docs
.PHONY: notebooks clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
	@echo
	@echo "  PYTHON=python3.12     the Python that .venv is made with (now: $(PYTHON))"
	@echo "  WORKERS=4             test processes at a time (now: $(WORKERS))"
	@echo "  ARGS='-k blur'        more arguments for demo, test, quick and bench"
	@echo "  GROUP=products CASE=gemm THREADS=1 TARGET=v3 PEERS=torch,halide   what to benchmark"

demo: $(VENV)/.installed-viz ## run the demo; its pictures go to demo-output/
	$(RUN) polysched demo $(ARGS)

TESTS := test quick test-v3 test-one-thread test-one-core test-busy
# glibc takes large pages for what isl and LLVM allocate: fewer page faults. Other systems do not
# read it.
$(TESTS): export GLIBC_TUNABLES ?= glibc.malloc.hugetlb=1
# NumPy's products have a thread for each core, which wait for the next product by spinning: each
# worker would keep the cores of the others busy. Our own threads do not look at it.
$(TESTS): export OPENBLAS_NUM_THREADS ?= 1

test: $(VENV)/.installed-test ## run every test
	$(PYTEST) $(ARGS)

quick: $(VENV)/.installed-test ## run the tests that are not marked slow
	$(PYTEST) -m "not slow" $(ARGS)

# The same tests where other things are so. Each fails by what it lacks where it cannot run.
test-v3: $(VENV)/.installed-test ## run every test on code for x86-64-v3
	POLYSCHED_TARGET=v3 $(PY) -P -c 'from polysched.targets.host import default_target; default_target()'
	POLYSCHED_TARGET=v3 $(PYTEST) $(ARGS)

test-one-thread: $(VENV)/.installed-test ## run every test with one thread a call, through Python
	POLYSCHED_NUM_THREADS=1 POLYSCHED_NATIVE_CALLS=0 $(PYTEST) $(ARGS)

test-one-core: $(VENV)/.installed-test ## run every test on one core
	@command -v taskset >/dev/null || { \
	    echo "make test-one-core needs taskset, which Linux has in the package util-linux"; exit 1; }
	taskset --cpu-list $$($(PY) -c 'import os; print(min(os.sched_getaffinity(0)))') $(PYTEST) $(ARGS)

test-busy: $(VENV)/.installed-test ## run every test beside a busy process
	$(PY) -P tests/busy.py & $(PYTEST) $(ARGS)

test-matrix: test test-v3 test-one-thread test-one-core test-busy ## all of these, one after another

some-faults: $(VENV)/.installed-test ## plant faults that the tests must find (BY=commit, SOME=6)
	$(PY) -P tests/mutations/run.py --some $(or $(SOME),6) --by $(or $(BY),0)

screenshots: $(VENV)/.installed-screens ## take pictures of pages in a browser into docs/images
	$(PY) -P tests/show/screens.py

lint: lint-ruff lint-format lint-types lint-layers ## check style, format, types and layers

lint-ruff: $(VENV)/.installed-lint
	$(RUN) ruff check .

lint-format: $(VENV)/.installed-lint
	@$(RUN) ruff format --check . || { echo "make format puts this right"; exit 1; }

# mypy finds the packages through the link; the names it prints are those of the files.
lint-types: $(VENV)/.installed-lint $(VENV)/typing/polysched
	@found=$$($(RUN) mypy); status=$$?; \
	printf '%s\n' "$$found" | sed 's|^$(VENV)/typing/polysched/|sched/|'; exit $$status

lint-layers: $(VENV)/.installed-lint
	$(PY) -P tests/lint_layers.py

format: $(VENV)/.installed-lint ## format the sources and mend what ruff can mend
	$(RUN) ruff check --fix .
	$(RUN) ruff format .

bench: $(VENV)/.installed-bench ## compare with other libraries (GROUP=, CASE=, THREADS=, TARGET=, PEERS=)
	$(PY) benchmarks/run.py $(if $(GROUP),--group "$(GROUP)") $(if $(CASE),--case "$(CASE)") \
	    $(if $(THREADS),--threads "$(THREADS)") $(if $(TARGET),--target "$(TARGET)") \
	    $(if $(PEERS),--peers "$(PEERS)") $(ARGS)

bench-pages: $(VENV)/.installed-bench ## write the pages of benchmarks/results/ from the runs kept
	$(PY) benchmarks/pages.py

docs: $(VENV)/.installed-docs ## build the documentation into build/docs
	NO_MKDOCS_2_WARNING=1 $(RUN) mkdocs build --strict --site-dir build/docs

notebooks: $(VENV)/.installed-test ## run the notebooks, and write what they show into them
	$(PY) -P tests/notebook_runs.py $(ARGS)

clean: ## remove everything that was built, except .venv
	rm -rf build dist polysched.egg-info demo-output .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find sched tests benchmarks notebooks docs -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

# A Python without ensurepip (some Linux distributions split it off) brings pip in from outside.
$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	    echo "polysched needs Python 3.11 or newer, and $(PYTHON) is not: make PYTHON=python3.12 ..."; exit 1; }
	@$(PY) -m pip --version >/dev/null 2>&1 || { \
	    echo "making $(VENV)"; \
	    if $(PYTHON) -c 'import ensurepip' 2>/dev/null; then $(PYTHON) -m venv $(VENV); \
	    else $(PYTHON) -m venv --without-pip $(VENV) && $(PYTHON) -m pip --python $(PY) install --quiet pip; fi; }
	@touch $@

$(VENV)/.installed-%: $(VENV)/.made pyproject.toml setup.py
	@echo "installing polysched[$*] into $(VENV)"
	@$(PIP) install --no-compile --quiet --editable ".[$*]"
	@touch $@

$(VENV)/typing/polysched: $(VENV)/.made
	@mkdir -p $(@D) && ln -sfn ../../sched $@
