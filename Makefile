# The commands of the house. Everything that is installed goes into .venv; see CONTRIBUTING.md.
#
#   make demo [DOCS="..."]   build, cut documents, print the chunks, answer a QUESTION from the examples
#   make test                all tests, Rust and Python
#   make test-long           the Python tests with many more examples, others in every run
#   make corpora [KINDS="..."]   fetch and build the large corpora of the benchmarks
#   make bench               what became slower or faster since this machine's last record
#   make bench-record        write such a record
#   make instructions        the same by counted instructions; needs valgrind
#   make instructions-record write their record
#   make bench-crates TEXTS="..."   counting of tokens beside other Rust crates, without Python
#   make figures             measure everything beside other libraries and fill docs/benchmarks.md
#   make quality FOLDER="..."    what chunks find, on texts and questions of yours: docs/quality.md
#   make lint | fmt | setup | clean

PYTHON ?= python3
DOCS ?= README.md CONTRIBUTING.md docs examples/handbook.md
SIZE ?= 200
QUESTION ?= How do I rotate the credentials of a service?
KINDS ?=

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
RUST := $(shell find rust -type f \( -name '*.rs' -o -name '*.toml' \)) \
	$(wildcard Cargo.toml Cargo.lock rust-toolchain.toml)
UNICODE := $(or $(CANTLE_UNICODE_DIR),/usr/share/unicode/auxiliary)/GraphemeBreakTest.txt

export VIRTUAL_ENV := $(CURDIR)/$(VENV)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test test-rust test-python test-long lint lint-rust lint-python fmt bench \
	bench-record instructions instructions-record bench-crates figures quality corpora setup clean unicode

help:
	@sed -n 's/^# \{0,1\}//p' Makefile | sed -n '1,/^$$/d; /^ *make/p'

# What a command needs. A stamp is newer than what it was made from.

$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { echo \
		"cantle needs Python 3.10 or later. Name one that is: make PYTHON=python3.12 $(MAKECMDGOALS)"; \
		exit 1; }
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); echo \
		"$(PYTHON) cannot make a virtual environment; on Debian: apt-get install python3-venv"; \
		exit 1; }
	$(PIP) install --quiet --upgrade 'pip>=25.1'
	@touch $@

$(VENV)/.built: $(VENV)/.made pyproject.toml $(RUST)
	@command -v cargo >/dev/null || { echo "cantle needs Rust 1.91 or later: https://rustup.rs"; exit 1; }
	$(PIP) install --quiet --group build
	$(BIN)/maturin develop --release --extras cli,arrow --group build
	@touch $@

$(VENV)/.dev: $(VENV)/.made pyproject.toml
	$(PIP) install --quiet --group dev
	@touch $@

$(VENV)/.bench: $(VENV)/.dev pyproject.toml
	$(PIP) install --quiet --group bench
	@touch $@

setup: $(VENV)/.built $(VENV)/.dev

# Unicode's break tests, which a Rust test reads.
unicode:
	@test -e $(UNICODE) || { \
		command -v apt-get >/dev/null || { echo "There is no $(UNICODE)." \
			"Name the folder of Unicode's break tests in CANTLE_UNICODE_DIR."; exit 1; }; \
		sudo=$$(test "$$(id -u)" = 0 || command -v sudo || echo no); \
		test "$$sudo" != no || { echo "Please install the package unicode-data."; exit 1; }; \
		$$sudo apt-get update -qq && $$sudo apt-get install -qq -y unicode-data; }

# The commands.

demo: $(VENV)/.built
	$(BIN)/cantle chunk $(DOCS) --size $(SIZE) --table -o chunks.jsonl
	@$(BIN)/cantle chunk $(DOCS) --size $(SIZE) --quiet -o chunks.parquet
	@echo; echo "The handbook at its own structure:"
	@$(BIN)/cantle chunk examples/handbook.md --strategy structural --size $(SIZE) --quiet --table
	@$(PIP) install --quiet --no-deps wordllama
	@echo "The examples, indexed with word vectors, and a question to them:"
	$(BIN)/cantle index examples -o demo.cantle --quiet
	$(BIN)/cantle search demo.cantle "$(QUESTION)" --k 2
	@echo "All of it stands in chunks.jsonl, one JSON object a line, and in chunks.parquet."

test: test-rust test-python

test-rust: unicode
	cargo test --workspace

# A worker that has no more tests takes over some of another's: files stay together until then, and
# with them what their tests share.
test-python test-long: setup
	$(BIN)/python -m pytest --benchmark-disable --numprocesses auto --dist worksteal
test-long: export CANTLE_SLOW_TESTS := 1

lint: lint-rust lint-python

lint-rust: $(VENV)/.made
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	PYO3_PYTHON=$(CURDIR)/$(BIN)/python cargo clippy --workspace --all-targets --features python -- -D warnings

lint-python: setup
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/python -m mypy -p cantle
	$(BIN)/python -m mypy.stubtest cantle._core

fmt: setup
	cargo fmt --all
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

bench: setup
	$(BIN)/python benches/track.py

bench-record: setup
	$(BIN)/python benches/track.py --record

instructions instructions-record: setup
	$(BIN)/python benches/instructions.py $(if $(findstring record,$@),--record)

bench-crates:
	cargo build --release --manifest-path benches/crates/Cargo.toml
	benches/crates/target/release/token-crates $(or $(TOKENIZER),cl100k_base) $(TEXTS)

figures: setup $(VENV)/.bench
	for name in peers scale tokens batch stream search store; do \
		$(BIN)/python benches/bench_$$name.py --json benches/record/figures/$$name.json || exit 1; \
	done
	$(BIN)/python benches/report.py

quality: setup $(VENV)/.bench
	for model in static minilm; do \
		name=quality$$(test $$model = minilm || echo _$$model); \
		$(BIN)/python benches/bench_quality.py $(FOLDER) --embedder $$model --equal \
			--json benches/record/figures/$$name.json || exit 1; \
	done
	$(BIN)/python benches/report.py

corpora: $(VENV)/.dev
	$(BIN)/python benches/corpora.py build $(KINDS)

clean:
	rm -rf target $(VENV) dist chunks.jsonl chunks.parquet .mypy_cache .pytest_cache .ruff_cache .hypothesis \
		.benchmarks python/cantle/_core*.so
