#!/usr/bin/env python3
"""Harvests a repository with oaipmh-scythe, the maintained successor of sickle, and checks what it sees.

    scythe_client.py BASE_URL EXPECTED.json [--user U --password P]

EXPECTED.json and exit codes are those of sickle_client.py. Every other request is a POST, so both methods are used.
"""

import itertools
import sys

import checks

try:
    from oaipmh_scythe import HTTPConfig, NoRecordsMatch, Scythe
except ImportError:
    sys.exit(checks.missing("oaipmh-scythe"))

OAI = "{http://www.openarchives.org/OAI/2.0/}"


class Adapter:
    name = "scythe"
    no_records_match = NoRecordsMatch

    def __init__(self, base_url, credentials):
        configs = [HTTPConfig(http_method=method, auth=credentials, timeout=checks.TIMEOUT_SECONDS) for method in ("GET", "POST")]
        self.clients = itertools.cycle([Scythe(base_url, http_config=config) for config in configs])

    @property
    def scythe(self):
        return next(self.clients)

    def identify(self):
        response = self.scythe.harvest({"verb": "Identify"})
        identify = vars(self.scythe.identify())
        names = ("repositoryName", "baseURL", "protocolVersion", "adminEmail", "earliestDatestamp", "deletedRecord", "granularity")
        return {name: identify.get(name) for name in names} | {"responseDate": response.xml.findtext(OAI + "responseDate")}

    def formats(self, identifier=None):
        return [each.metadataPrefix for each in self.scythe.list_metadata_formats(identifier)]

    def sets(self):
        return [each.setSpec for each in self.scythe.list_sets()]

    def headers(self, prefix, **arguments):
        return [_header(each) for each in self.scythe.list_identifiers(metadata_prefix=prefix, **_named(arguments))]

    def records(self, prefix, **arguments):
        for each in self.scythe.list_records(metadata_prefix=prefix, **_named(arguments)):
            yield _header(each.header), each.xml.find(OAI + "metadata")

    def record(self, identifier, prefix):
        found = self.scythe.get_record(identifier, prefix)
        return _header(found.header), found.xml.find(OAI + "metadata")


def _named(arguments):
    """`from` and `set` are words of Python, so the library spells them with an underscore."""
    return {name + "_" if name in ("from", "set") else name: value for name, value in arguments.items()}


def _header(header):
    return checks.Header(header.identifier, header.datestamp, tuple(header.setSpecs), header.deleted)


if __name__ == "__main__":
    sys.exit(checks.main(Adapter))
