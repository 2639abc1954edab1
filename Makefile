.PHONY: help run install uninstall package package-test container-test apache install-apache uninstall-apache test cluster fuzz check docs sbom bench

PREFIX ?= /usr/local
DESTDIR ?=

help:
	@echo 'make run               start everything on the example site: harvests, console'
	@echo 'make install           install garner below PREFIX (/usr/local) and DESTDIR; needs root'
	@echo 'make uninstall         remove it, and keep configuration and data; needs root'
	@echo 'make package           build Debian packages of garner and of the Apache module'
	@echo 'make package-test      install, use, upgrade, remove and purge them in a clean root'
	@echo 'make container-test    build and run the image of the Containerfile'
	@echo 'make apache            build the Apache module'
	@echo 'make install-apache    install it; needs root'
	@echo 'make uninstall-apache  remove it, and keep its indexes; needs root'
	@echo 'make test              run all tests'
	@echo 'make cluster           extract on a Spark cluster on this machine, load, and compare'
	@echo 'make fuzz TARGET=…     run a fuzz target under libFuzzer; without TARGET, list them'
	@echo 'make check             format, lints, documentation, audit'
	@echo 'make docs              make the web pages of the documentation, with search'
	@echo 'make sbom              list the components of the program (CycloneDX)'
	@echo 'make bench             measure, and write the results down'

run:
	scripts/setup build
	scripts/setup run
	cargo build --release
	scripts/run

install:
	PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)' scripts/install

uninstall:
	PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)' scripts/install --remove

package:
	scripts/package

container-test:
	scripts/setup package
	scripts/container-test

package-test:
	scripts/setup package
	scripts/package-test

apache:
	scripts/apache

install-apache:
	scripts/install-apache

uninstall-apache:
	scripts/install-apache --remove

test:
	scripts/setup test
	scripts/test

cluster:
	scripts/setup cluster
	cargo build --release
	.venv-cluster/bin/python scripts/cluster

fuzz:
	scripts/setup fuzz
	scripts/fuzz $(TARGET) $(SECONDS)

check:
	scripts/check

docs:
	scripts/setup docs
	scripts/docs

sbom:
	scripts/sbom

bench:
	scripts/setup bench
	scripts/setup cluster
	cargo build --release
	cargo build --release -p garner-catalog --example claims --example generated_texts --example imports --example speed
	cargo build --release --manifest-path bench/peers/Cargo.toml --target-dir target/peers
	scripts/apache
	python3 bench/run.py
