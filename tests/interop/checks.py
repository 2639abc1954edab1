"""What any harvester must see, said once for all client libraries.

A client script wraps its library in an adapter and calls `main`. The adapter has:

    name                           the word results are printed under
    no_records_match               the exception the library raises for noRecordsMatch
    identify()                     dict with the elements of Identify, and `responseDate`
    formats(identifier=None)       metadata prefixes
    sets()                         setSpecs
    headers(prefix, **arguments)   headers, over all pages; arguments are `set`, `from` and `until`
    records(prefix, **arguments)   (header, metadata element or None), over all pages
    record(identifier, prefix)     (header, metadata element or None)

A header has `identifier`, `datestamp`, `sets` and `deleted`. The library, not this file, reads the protocol: token,
errors and XML all pass through it.
"""

import argparse
import base64
import json
import os
import sys
import traceback
import urllib.error
import urllib.request
from dataclasses import dataclass

DIDL = "{urn:mpeg:mpeg21:2002:02-DIDL-NS}"
SHOWN = 8
TIMEOUT_SECONDS = 60


@dataclass(frozen=True)
class Header:
    identifier: str
    datestamp: str
    sets: tuple
    deleted: bool


def main(adapter_class):
    options = _parse_options()
    # The repository is near; a proxy meant for the world outside must not come between.
    for name in ("NO_PROXY", "no_proxy"):
        os.environ[name] = "*"
    with open(options.expected, encoding="utf-8") as file:
        expected = json.load(file)
    credentials = (options.user, options.password or "") if options.user else None
    checks = Checks(adapter_class(options.base_url, credentials), expected, options.base_url, credentials)
    checks.run()
    name = adapter_class.name
    for difference in checks.differences:
        print(f"{name}: {difference}")
    if checks.differences:
        print(f"{name}: {len(checks.differences)} of {checks.passed + len(checks.differences)} checks failed")
        return 1
    print(f"{name}: {checks.passed} checks passed")
    return 0


class Checks:
    """Compares what a client library brings with what is expected; goes on after a difference."""

    def __init__(self, adapter, expected, base_url, credentials):
        self.adapter, self.base_url, self.credentials = adapter, base_url, credentials
        self.records = {record["identifier"]: record for record in expected["records"]}
        self.sets = expected["sets"]
        self.formats = expected["formats"]
        self.changes = expected.get("changes")
        self.downloads = {}
        self.passed = 0
        self.differences = []

    def run(self):
        if not self._step("Identify", self._identify):
            self._explain_failure()
            return
        self._step("ListMetadataFormats", self._list_metadata_formats)
        self._step("ListSets", self._list_sets)
        for prefix in self.formats:
            for chosen in [None, *self.sets]:
                self._step(f"ListIdentifiers {prefix} {chosen or ''}".strip(), self._list_identifiers, prefix, chosen)
                self._step(f"ListRecords {prefix} {chosen or ''}".strip(), self._list_records, prefix, chosen)
            for identifier in self.records:
                self._step(f"GetRecord {prefix} {identifier}", self._get_record, prefix, identifier)
            self._step(f"noRecordsMatch {prefix}", self._no_records_match, prefix)
            self._step(f"incremental {prefix}", self._incremental, prefix)
        if self.changes:
            self._step("changes", self._changes)

    def check(self, what, holds, detail=""):
        if holds:
            self.passed += 1
        else:
            self.differences.append(f"{what}: {detail}" if detail else what)
        return holds

    def equal(self, what, found, expected):
        return self.check(what, found == expected, f"expected {expected!r}, found {found!r}")

    def same_members(self, what, found, expected):
        """No more, no fewer, none twice."""
        found, expected = list(found), set(expected)
        missing, extra = sorted(expected - set(found)), sorted(set(found) - expected)
        twice = sorted({one for one in found if found.count(one) > 1}) if len(found) != len(set(found)) else []
        said = [f"{label} {_some(them)}" for label, them in (("missing", missing), ("unexpected", extra), ("twice", twice)) if them]
        return self.check(what, not said, "; ".join(said))

    def _step(self, what, step, *arguments):
        """One part of the harvest; an exception in it is a difference and the rest goes on."""
        try:
            step(what, *arguments)
            return True
        except Exception as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            self.differences.append(f"{what}: {type(error).__name__}: {error} ({os.path.basename(place.filename)}:{place.lineno})")
            return False

    def _explain_failure(self):
        """When even Identify fails, a plain GET says more than the library's exception, and the rest is not tried."""
        try:
            headers, content = self._download(self.base_url + "?verb=Identify")
            self.differences.append(f"a plain GET of Identify brings {headers.get('Content-Type')}: {content[:300]!r}")
        except (RuntimeError, OSError) as error:
            self.differences.append(f"a plain GET of Identify fails as well: {error}")

    def _identify(self, what):
        identify = self.adapter.identify()
        self.equal(f"{what} baseURL", identify.get("baseURL"), self.base_url)
        self.equal(f"{what} protocolVersion", identify.get("protocolVersion"), "2.0")
        self.equal(f"{what} deletedRecord", identify.get("deletedRecord"), "persistent")
        self.equal(f"{what} granularity", identify.get("granularity"), "YYYY-MM-DDThh:mm:ssZ")
        for name in ("repositoryName", "adminEmail", "earliestDatestamp"):
            self.check(f"{what} {name}", bool(identify.get(name)), "missing or empty")

    def _list_metadata_formats(self, what):
        self.same_members(what, self.adapter.formats(), self.formats)
        for identifier, record in self.records.items():
            if not record.get("deleted"):
                self.same_members(f"{what} {identifier}", self.adapter.formats(identifier), self.formats)

    def _list_sets(self, what):
        self.same_members(what, self.adapter.sets(), self.sets)

    def _list_identifiers(self, what, prefix, chosen):
        headers = self._headers(prefix, **_set(chosen))
        self.same_members(what, [header.identifier for header in headers], self._members(chosen))
        for header in headers:
            self._header(what, header)

    def _list_records(self, what, prefix, chosen):
        records = self._records(prefix, **_set(chosen))
        self.same_members(what, [header.identifier for header, _ in records], self._members(chosen))
        for header, metadata in records:
            self._record(what, prefix, header, metadata)

    def _get_record(self, what, prefix, identifier):
        header, metadata = self.adapter.record(identifier, prefix)
        self.equal(f"{what} identifier", header.identifier, identifier)
        self._record(what, prefix, header, metadata)

    def _no_records_match(self, what, prefix):
        for list_request in (self.adapter.headers, self.adapter.records):
            try:
                found = list(list_request(prefix, **{"from": "2999-01-01T00:00:00Z"}))
            except self.adapter.no_records_match:
                self.passed += 1
            else:
                self.check(what, False, f"a request from 2999 is answered with {len(found)} records")

    def _incremental(self, what, prefix):
        """`from` is inclusive, so the newest come again; from the responseDate on only what changed since can come."""
        response_date = self.adapter.identify()["responseDate"]
        everything = self._headers(prefix)
        later = self._headers(prefix, **{"from": response_date})
        for header in later:
            self.check(f"{what} from {response_date}", header.datestamp >= response_date, f"{header.identifier} has {header.datestamp}")
        newest = max((header.datestamp for header in everything), default=None)
        if newest is None:
            return
        self.same_members(
            f"{what} from {newest}",
            [header.identifier for header in self._headers(prefix, **{"from": newest})],
            [header.identifier for header in everything if header.datestamp >= newest],
        )
        oldest = min(header.datestamp for header in everything)
        self.same_members(
            f"{what} until {oldest}",
            [header.identifier for header in self._headers(prefix, until=oldest)],
            [header.identifier for header in everything if header.datestamp <= oldest],
        )
        earliest = self.adapter.identify()["earliestDatestamp"]
        self.check(f"{what} earliestDatestamp", earliest <= oldest, f"{earliest} is after {oldest}")

    def _changes(self, what):
        """What the caller changed after a responseDate comes, and nothing else."""
        since = self.changes["from"]
        for prefix in self.formats:
            found = [header.identifier for header in self._headers(prefix, **{"from": since})]
            self.same_members(f"{what} {prefix} from {since}", found, self.changes["identifiers"])

    def _header(self, what, header):
        expected = self.records.get(header.identifier)
        if expected is None:
            return
        self.equal(f"{what} {header.identifier} deleted", header.deleted, bool(expected.get("deleted")))
        self.equal(f"{what} {header.identifier} sets", sorted(_with_parents(header.sets)), sorted(_with_parents(expected["sets"])))

    def _record(self, what, prefix, header, metadata):
        self._header(what, header)
        expected = self.records.get(header.identifier)
        if expected is None:
            return
        what = f"{what} {header.identifier}"
        if expected.get("deleted"):
            self.check(f"{what} metadata", metadata is None, "a deleted record has metadata")
        elif self.check(f"{what} metadata", metadata is not None, "missing"):
            compare = {"oai_dc": self._oai_dc, "http_header": self._http_header, "oai_didl": self._oai_didl}.get(prefix)
            if compare:
                compare(what, header.identifier, metadata)

    def _oai_dc(self, what, identifier, metadata):
        identifiers = [element.text for element in metadata.iter("{http://purl.org/dc/elements/1.1/}identifier")]
        self.check(f"{what} dc:identifier", identifier in identifiers, f"expected {identifier!r} among {identifiers!r}")

    def _http_header(self, what, identifier, metadata):
        headers, _ = self._download(identifier)
        for name in ("Content-Type", "Content-Length"):
            self.equal(f"{what} {name}", _http_field(metadata, name), headers.get(name))

    def _oai_didl(self, what, identifier, metadata):
        resources = list(metadata.iter(DIDL + "Resource"))
        by_value = [resource for resource in resources if resource.get("encoding") == "base64"]
        if not self.records[identifier].get("by_value", True):
            references = [resource.get("ref") for resource in resources]
            self.check(f"{what} by reference", identifier in references and not by_value, f"references {references!r}, {len(by_value)} by value")
            return
        if not self.check(f"{what} by value", len(by_value) == 1, f"{len(by_value)} base64 resources"):
            return
        headers, content = self._download(identifier)
        try:
            found = base64.b64decode("".join((by_value[0].text or "").split()), validate=True)
        except ValueError as error:
            self.check(f"{what} bytes", False, f"{len(by_value[0].text):,} characters that are not base64: {error}")
            return
        self.check(f"{what} bytes", found == content, f"{len(found):,} decoded bytes differ from the {len(content):,} of a GET")
        media_type = (headers.get("Content-Type") or "").partition(";")[0].strip()
        self.equal(f"{what} mimeType", (by_value[0].get("mimeType") or "").partition(";")[0].strip(), media_type)

    def _members(self, chosen):
        return [identifier for identifier, record in self.records.items() if chosen is None or chosen in _with_parents(record["sets"])]

    def _headers(self, prefix, **arguments):
        try:
            return list(self.adapter.headers(prefix, **arguments))
        except self.adapter.no_records_match:
            return []

    def _records(self, prefix, **arguments):
        try:
            return list(self.adapter.records(prefix, **arguments))
        except self.adapter.no_records_match:
            return []

    def _download(self, url):
        """What a plain GET with the same credentials brings, asked once for each URL."""
        if url not in self.downloads:
            request = urllib.request.Request(url, headers={"Accept-Encoding": "identity"})
            if self.credentials:
                pair = ":".join(self.credentials).encode()
                request.add_header("Authorization", "Basic " + base64.b64encode(pair).decode())
            try:
                with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as answer:
                    self.downloads[url] = answer.headers, answer.read()
            except urllib.error.HTTPError as error:
                raise RuntimeError(f"a GET of {url} is answered with HTTP {error.code}") from error
        return self.downloads[url]


def _set(chosen):
    return {"set": chosen} if chosen else {}


def _with_parents(sets):
    """Membership of a:b:c is membership of a:b and a, whether or not the header says so (OAI-PMH 2.0, 2.6)."""
    return {":".join(spec.split(":")[:depth]) for spec in sets for depth in range(1, spec.count(":") + 2)}


def _http_field(metadata, name):
    """The value of a field, written as an element of that name or as an element with a `name`."""
    for element in metadata.iter():
        if not isinstance(element.tag, str):
            continue
        if name.lower() in (element.tag.rpartition("}")[2].lower(), (element.get("name") or "").lower()):
            return (element.text or element.get("value") or "").strip()
    return None


def _some(them):
    return ", ".join(them[:SHOWN]) + (f" and {len(them) - SHOWN} more" if len(them) > SHOWN else "")


def _parse_options():
    parser = argparse.ArgumentParser(description="Harvests a repository and compares it with what is expected.")
    parser.add_argument("base_url", metavar="BASE_URL")
    parser.add_argument("expected", metavar="EXPECTED.json")
    parser.add_argument("--user", help="user for HTTP Basic authentication")
    parser.add_argument("--password", help="its password")
    options = parser.parse_args()
    if not os.path.isfile(options.expected):
        parser.error(f"{options.expected} is not there")
    return options


def missing(package):
    print(f"{package} is not installed; `pip install {package}`", file=sys.stderr)
    return 2
