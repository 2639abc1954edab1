.PHONY: help run test check bench

help:
	@echo 'make run    serve the example site and harvest it once'
	@echo 'make test   run all tests'
	@echo 'make check  format, lints, documentation, audit'
	@echo 'make bench  measure, and write the results down'

run:
	scripts/setup build
	scripts/setup run
	cargo build --release
	scripts/run

test:
	scripts/setup test
	scripts/test

check:
	scripts/check

bench:
	scripts/setup bench
	cargo build --release
	python3 bench/run.py
