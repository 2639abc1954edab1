"""A harvester and a downloader on one kept-alive connection.

Both are as plain as they can be: answers are read in blocks and not parsed; only the resumptionToken is looked for,
in the last bytes of a page. So the figures are about the server.
"""

import base64
import html
import http.client
import re
import socket
import time
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field
from urllib.parse import quote, unquote, urlencode, urlsplit

from program import BenchError

BLOCK = 64 * 1024
TAIL = 2048
REQUEST_SECONDS = 120
HARVEST_SECONDS = 900
OAI = "{http://www.openarchives.org/OAI/2.0/}"
DIDL = "{urn:mpeg:mpeg21:2002:02-DIDL-NS}"
TOKEN = re.compile(rb"<resumptionToken[^>]*?(?:/>|>([^<]*)</resumptionToken>)")
IDENTIFIER = re.compile(rb"<identifier>([^<]*)</identifier>")
COUNTED = {"ListIdentifiers": (b"<header>", b"<header "), "ListRecords": (b"<record>",)}  # all of the same length
ERROR = re.compile(rb"<error[^>]*code=[\"'](\w+)[\"'][^>]*>([^<]*)")


@dataclass
class Harvest:
    """What a list request brought, over all its pages."""

    bytes: int = 0
    headers: int = 0
    queries: list = field(default_factory=list)
    page_seconds: list = field(default_factory=list)

    @property
    def pages(self):
        return len(self.queries)


class Client:
    """One connection that stays open; opened again only if the server closed it."""

    def __init__(self, port, headers=None):
        self.port, self.headers = port, headers or {}
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=REQUEST_SECONDS)
        self.buffer = memoryview(bytearray(BLOCK))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()

    def open(self, target):
        """Sends a GET and returns the answer, its status checked and its body not yet read."""
        for attempt in (1, 2):
            try:
                self.connection.request("GET", target, headers=self.headers)
                answer = self.connection.getresponse()
                break
            except (http.client.RemoteDisconnected, ConnectionError, socket.timeout) as error:
                self.connection.close()
                if attempt == 2 or isinstance(error, socket.timeout):
                    raise BenchError(f"GET {target}: {error or type(error).__name__}") from error
        if self.connection.sock is not None:
            self.connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if answer.status != 200:
            raise BenchError(f"GET {target}: HTTP {answer.status} {answer.reason}: {answer.read(500)!r}")
        return answer

    def download(self, target):
        """Reads one file to its end and returns its length."""
        answer, length = self.open(target), 0
        while size := answer.readinto(self.buffer):
            length += size
        return length

    def harvest(self, query, count=False):
        """Follows the tokens of a list request to the last page; `count` counts the items on the way."""
        found, deadline = Harvest(), time.monotonic() + HARVEST_SECONDS
        verb = dict(query)["verb"]
        counted = COUNTED[verb] if count else ()
        query = urlencode(query)
        while query:
            if time.monotonic() > deadline:
                raise BenchError(f"{verb}: not finished after {HARVEST_SECONDS} s and {found.pages} pages")
            started = time.perf_counter()
            token = self.page(query, found, counted)
            found.page_seconds.append(time.perf_counter() - started)
            found.queries.append(query)
            following = f"verb={verb}&resumptionToken={quote(token, safe='')}" if token else None
            if following == query:
                raise BenchError(f"{verb}: the same resumptionToken came twice: {token}")
            query = following
        return found

    def page(self, query, found, counted=()):
        """Reads one page and returns its token, or an empty string when there is none."""
        answer, tail, first = self.open("/modoai?" + query), b"", True
        while size := answer.readinto(self.buffer):
            block = bytes(self.buffer[:size]) if first or counted or size < TAIL else bytes(self.buffer[size - TAIL : size])
            found.bytes += size
            if first and (error := ERROR.search(block[: 2 * TAIL])):
                while answer.readinto(self.buffer):
                    pass
                if error[1] == b"noRecordsMatch":
                    return ""
                raise BenchError(f"{query}: {error[1].decode()}: {error[2].decode(errors='replace')}")
            if counted:
                text = tail[-7:] + block
                found.headers += sum(text.count(mark) for mark in counted)
            first, tail = False, (tail + block)[-TAIL:]
        if not tail.rstrip().endswith(b"</OAI-PMH>"):
            raise BenchError(f"{query}: the answer is cut off; it ends with {tail[-80:]!r}")
        token = None
        for token in TOKEN.finditer(tail):
            pass
        return html.unescape((token[1] or b"").decode()).strip() if token else ""

    def identifiers(self, query):
        """The identifiers that ListIdentifiers gives, over all its pages."""
        found, query = [], urlencode(query)
        while query:
            text = self.open("/modoai?" + query).read()
            if not text.rstrip().endswith(b"</OAI-PMH>") or ERROR.search(text[: 2 * TAIL]):
                raise BenchError(f"{query}: not a complete list: {text[:500]!r}")
            found += [html.unescape(match.decode()) for match in IDENTIFIER.findall(text)]
            token = TOKEN.search(text[-TAIL:])
            token = html.unescape((token[1] or b"").decode()).strip() if token else ""
            query = f"verb=ListIdentifiers&resumptionToken={quote(token, safe='')}" if token else None
        return found

    def resources(self, query):
        """Yields identifier and decoded bytes (None if not by value) of every oai_didl record, from a real parser."""
        verb, deadline = dict(query)["verb"], time.monotonic() + HARVEST_SECONDS
        query = urlencode(query)
        while query:
            token, identifier, content = "", None, None
            for _, element in ElementTree.iterparse(self.open("/modoai?" + query)):
                if element.tag == OAI + "error":
                    raise BenchError(f"{query}: {element.get('code')}: {element.text}")
                elif element.tag == OAI + "identifier" and identifier is None:
                    identifier = element.text
                elif element.tag == DIDL + "Resource" and element.get("encoding") == "base64":
                    content = base64.b64decode(element.text or "")
                elif element.tag == OAI + "record":
                    yield identifier, content
                    identifier, content = None, None
                    element.clear()
                elif element.tag == OAI + "resumptionToken":
                    token = (element.text or "").strip()
            if time.monotonic() > deadline:
                raise BenchError(f"{verb}: not verified after {HARVEST_SECONDS} s")
            query = f"verb={verb}&resumptionToken={quote(token, safe='')}" if token else None


def relative_path(identifier):
    """The path below the site's root that an identifier names."""
    return unquote(urlsplit(identifier).path).lstrip("/")
