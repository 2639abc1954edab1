.PHONY: help run apache install-apache uninstall-apache test fuzz check bench

help:
	@echo 'make run               start everything on the example site: harvests, console'
	@echo 'make apache            build the Apache module'
	@echo 'make install-apache    install it; needs root'
	@echo 'make uninstall-apache  remove it, and keep its indexes; needs root'
	@echo 'make test              run all tests'
	@echo 'make fuzz TARGET=…     run a fuzz target under libFuzzer; without TARGET, list them'
	@echo 'make check             format, lints, documentation, audit'
	@echo 'make bench             measure, and write the results down'

run:
	scripts/setup build
	scripts/setup run
	cargo build --release
	scripts/run

apache:
	scripts/apache

install-apache:
	scripts/install-apache

uninstall-apache:
	scripts/install-apache --remove

test:
	scripts/setup test
	scripts/test

fuzz:
	scripts/setup fuzz
	scripts/fuzz $(TARGET) $(SECONDS)

check:
	scripts/check

bench:
	scripts/setup bench
	cargo build --release
	cargo build --release -p garner-catalog --example claims
	cargo build --release --manifest-path bench/peers/Cargo.toml --target-dir target/peers
	scripts/apache
	python3 bench/run.py
