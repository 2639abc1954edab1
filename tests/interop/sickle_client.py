#!/usr/bin/env python3
"""Harvests a repository with sickle, the most used client in Python, and checks what it sees.

    sickle_client.py BASE_URL EXPECTED.json [--user U --password P]

EXPECTED.json: {"records": [{"identifier": "…", "sets": ["mime:text:html"], "deleted": false}], "sets": […], "formats": […]}.
A record may say "by_value": false when it is above the by-value limit. Optional: "changes": {"from": "…", "identifiers": […]}.
Exit code 0: all as expected. 1: differences, one a line. 2: wrong usage, or sickle is missing.
"""

import sys

import checks

try:
    from sickle import Sickle
    from sickle.oaiexceptions import NoRecordsMatch
except ImportError:
    sys.exit(checks.missing("sickle"))

OAI = "{http://www.openarchives.org/OAI/2.0/}"


class Adapter:
    name = "sickle"
    no_records_match = NoRecordsMatch

    def __init__(self, base_url, credentials):
        self.sickle = Sickle(base_url, auth=credentials, timeout=checks.TIMEOUT_SECONDS)

    def identify(self):
        response = self.sickle.harvest(verb="Identify")
        identify = self.sickle.Identify()
        return {name: values[0] for name, values in identify} | {"responseDate": response.xml.findtext(OAI + "responseDate")}

    def formats(self, identifier=None):
        arguments = {"identifier": identifier} if identifier else {}
        return [each.metadataPrefix for each in self.sickle.ListMetadataFormats(**arguments)]

    def sets(self):
        return [each.setSpec for each in self.sickle.ListSets()]

    def headers(self, prefix, **arguments):
        return [_header(each) for each in self.sickle.ListIdentifiers(metadataPrefix=prefix, **arguments)]

    def records(self, prefix, **arguments):
        for each in self.sickle.ListRecords(metadataPrefix=prefix, **arguments):
            yield _header(each.header), each.xml.find(OAI + "metadata")

    def record(self, identifier, prefix):
        found = self.sickle.GetRecord(identifier=identifier, metadataPrefix=prefix)
        return _header(found.header), found.xml.find(OAI + "metadata")


def _header(header):
    return checks.Header(header.identifier, header.datestamp, tuple(header.setSpecs), header.deleted)


if __name__ == "__main__":
    sys.exit(checks.main(Adapter))
