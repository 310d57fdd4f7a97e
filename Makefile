# openmsmq. `make demo` shows it working, `make test` tests it; both set everything up first.
SHELL := /bin/bash
PYTHON ?= python3
BIN := .venv/bin
KEEP ?=
CLEAN ?=
TEST ?=
N ?=
SEED ?=
PATHS ?=
TESTS ?=
JOBS ?=
WRITE ?=
LOCK = $(BIN)/uv pip compile --quiet --universal --upgrade --no-header --no-emit-index-url \
    --no-emit-find-links pyproject.toml

.PHONY: help setup demo test serve compile bench lint format conformance mutants fuzz soak docs \
    dist lock clean
.DEFAULT_GOAL := help

help: ## list the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

setup: ## make .venv from the locked requirements
	@$(PYTHON) tools/setup.py

demo: setup ## show it working, from nothing
	@$(BIN)/openmsmq demo $(if $(KEEP),--keep)

test: setup ## the whole test suite, with the conformance table
	@$(BIN)/python -m tools.test

serve: setup ## run a queue manager in the foreground
	@PYTHONPATH="$$($(BIN)/python -m tools.compile --path)" $(BIN)/openmsmq serve

compile: setup ## compile the hot modules, for speed; CLEAN=1 removes them, TEST=1 tests them
	@$(BIN)/python -m tools.compile $(if $(CLEAN),--clean) $(if $(TEST),--test)

bench: setup ## benchmarks, as ratios to a floor or a peer in the same run
	-@$(BIN)/python -m tools.compile
	@$(BIN)/python -m bench

lint: setup ## ruff, mypy --strict, import-linter
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

format: setup ## let ruff format and sort
	@$(BIN)/ruff check --fix-only .
	@$(BIN)/ruff format .

conformance: setup ## requirements of the specifications: tested, passing, unreached, excluded
	@$(BIN)/python -m tools.conformance

mutants: setup ## do the tests notice wrong code? N=150 SEED=1 PATHS="core wire/packets" TESTS=core JOBS=2
	@$(BIN)/python -m tools.mutants --number $(or $(N),150) --seed $(or $(SEED),1) \
		--jobs $(or $(JOBS),2) $(if $(WRITE),--write) $(PATHS) $(if $(TESTS),--tests $(TESTS))

fuzz: setup ## a million mutated packets through the parsers
	@$(BIN)/python -m tools.fuzz

soak: setup ## the long tests; can be interrupted and resumed
	@$(BIN)/python -m tools.soak

docs: setup ## all pages as a site in build/site, generated ones written anew
	@$(BIN)/python -m tools.docs

dist: setup ## a wheel and a source archive in dist/
	@$(BIN)/hatchling build -d dist

lock: setup ## lock the newest allowed versions
	@$(LOCK) --extra dev --extra connect --extra fuzz --extra legacy --extra spark --extra tables \
		--output-file requirements/lock.txt
	@$(LOCK) --extra kerberos --output-file requirements/kerberos.txt
	@$(LOCK) --extra docs --output-file requirements/docs.txt

clean: ## remove what was built, .venv included
	rm -rf .venv build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
