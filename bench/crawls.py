"""Makes the crawls that are imported. The same sizes and seed give the same crawl everywhere."""

import base64
import hashlib
import random
import zlib
from concurrent.futures import ProcessPoolExecutor

SEED = 20121102
# What a crawl for papers meets, by count: pages, of which a quarter is chunked, pictures, documents, pages that are not there.
KINDS = [("html", 0.70), ("jpeg", 0.20), ("pdf", 0.06), ("missing", 0.04)]
MEAN_BYTES = {"html": 50_000, "jpeg": 70_000, "pdf": 220_000, "missing": 600}
GROUP_BYTES = sum(share * MEAN_BYTES[kind] for kind, share in KINDS) + 900
GROUPS_A_BLOCK = 200
WORDS = ("the of department and students course research library archive network systems report lecture notes page link "
         "people teaching papers home search contact publications seminar project data theory").split()
RECORD = "WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <urn:uuid:{number:08x}-0000-4000-8000-{part:012x}>\r\nWARC-Date: {date}\r\n"


class Crawl:
    """A crawl as a `.warc.gz`, each record a gzip member of its own, as Heritrix writes it."""

    def __init__(self, path, total_bytes, workers=2):
        self.path = path
        self.groups = max(GROUPS_A_BLOCK, int(total_bytes / GROUP_BYTES))
        self.bytes = self.documents = self.records = self.document_bytes = 0
        blocks = range(0, self.groups, GROUPS_A_BLOCK)
        with open(path, "wb") as file, ProcessPoolExecutor(workers) as pool:
            file.write(_member(_info()))
            for packed, length, documents, records, document_bytes in pool.map(_block, blocks):
                file.write(packed)
                self.bytes += length
                self.documents += documents
                self.records += records
                self.document_bytes += document_bytes

    def length(self):
        return self.path.stat().st_size


def document(number, length):
    """A file that a sniffer takes for PDF, with a body that packs as badly as real ones do."""
    source = random.Random(SEED * 7 + number)
    head = b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<< /Length " + str(length).encode() + b" >>\nstream\n"
    return head + source.randbytes(length) + b"\nendstream\nendobj\ntrailer\n<< /Root 1 0 R >>\n%%EOF\n"


def _block(first):
    source = random.Random(SEED + first)
    packed, length, documents, records, document_bytes = [], 0, 0, 0, 0
    for number in range(first, first + GROUPS_A_BLOCK):
        kind = source.choices([name for name, _ in KINDS], [share for _, share in KINDS])[0]
        for part, record in enumerate(_group(source, number, kind)):
            packed.append(_member(record))
            length += len(record)
            records += 1
            # The response of a document has little more than its bytes in it.
            document_bytes += len(record) if kind == "pdf" and part == 0 else 0
        documents += kind == "pdf"
    return b"".join(packed), length, documents, records, document_bytes


def _group(source, number, kind):
    """A response, its request and its metadata."""
    host = f"www{number % 97}.example.edu"
    path = {"html": f"/people/p{number}.html", "jpeg": f"/img/i{number}.jpg", "pdf": f"/pub/paper{number}.pdf", "missing": f"/old/{number}"}[kind]
    url = f"http://{host}{path}"
    date = f"2012-{1 + number % 12:02}-{1 + number % 28:02}T{number % 24:02}:{number % 60:02}:{number % 59:02}Z"
    length = max(300, min(4_000_000, int(source.expovariate(1 / MEAN_BYTES[kind]))))
    body, declared, status = {
        "html": lambda: (_page(source, length), "text/html; charset=utf-8", "200 OK"),
        "jpeg": lambda: (b"\xff\xd8\xff\xe0\x00\x10JFIF\x00" + source.randbytes(length), "image/jpeg", "200 OK"),
        "pdf": lambda: (document(number, length), "application/pdf", "200 OK"),
        "missing": lambda: (_page(source, length), "text/html", "404 Not Found"),
    }[kind]()
    head = f"HTTP/1.1 {status}\r\nServer: Apache\r\nContent-Type: {declared}\r\n"
    if kind == "html" and number % 4 == 0:
        head, body = head + "Transfer-Encoding: chunked\r\n\r\n", _chunked(body)
    else:
        head += f"Content-Length: {len(body)}\r\n\r\n"
    field = {"number": number, "date": date}
    target = f"WARC-Target-URI: {url}\r\n"
    same = f"WARC-Concurrent-To: <urn:uuid:{number:08x}-0000-4000-8000-{0:012x}>\r\n"
    digests = f"WARC-Block-Digest: {_sha1(head.encode() + body)}\r\nWARC-Payload-Digest: {_sha1(body)}\r\n"
    yield _record(RECORD.format(kind="response", part=0, **field) + target + digests, "application/http; msgtype=response", head.encode() + body)
    request = f"GET {path} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: bench\r\n\r\n".encode()
    yield _record(RECORD.format(kind="request", part=1, **field) + target + same, "application/http; msgtype=request", request)
    facts = f"via: http://{host}/people/\r\nhopsFromSeed: LL\r\nfetchTimeMs: {number % 1000}\r\n".encode()
    yield _record(RECORD.format(kind="metadata", part=2, **field) + target + same, "application/warc-fields", facts)


def _sha1(data):
    return "sha1:" + base64.b32encode(hashlib.sha1(data).digest()).decode()


def _info():
    return _record(RECORD.format(kind="warcinfo", number=0, part=9, date="2012-01-01T00:00:00Z"), "application/warc-fields", b"software: bench\r\n")


def _record(head, content_type, block):
    return f"{head}Content-Type: {content_type}\r\nContent-Length: {len(block)}\r\n\r\n".encode() + block + b"\r\n\r\n"


def _page(source, length):
    words = source.choices(WORDS, k=length // 14)
    lines = (f"<p class=\"x{source.randrange(1000)}\">{' '.join(words[at : at + 9])} {source.randrange(10**9)}</p>\n" for at in range(0, len(words), 9))
    return ("<!DOCTYPE html><html><head><title>A page</title></head><body>\n" + "".join(lines) + "</body></html>\n").encode()


def _chunked(body):
    parts = (body[at : at + 8192] for at in range(0, len(body), 8192))
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"


def _member(record):
    packer = zlib.compressobj(6, zlib.DEFLATED, 31)
    return packer.compress(record) + packer.flush()
