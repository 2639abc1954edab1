"""Writes an archive with warcio: PATH SEED COMPRESS. What is in it goes to PATH.json."""

import json
import random
import sys
from base64 import b64encode
from io import BytesIO

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

path, seed, compress = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "gzip"
random.seed(seed)
expected = []

with open(path, "wb") as stream:
    writer = WARCWriter(stream, gzip=compress, warc_version=random.choice(["1.0", "1.1"]))
    writer.write_record(writer.create_warcinfo_record("x.warc", {"software": "test"}))
    for number in range(60):
        url = f"http://host{number % 7}.example/{number}/caf\u00e9?q={random.randint(0, 999)}"
        body = bytes(random.choice(b"ab \r\n" if number % 2 else range(256)) for _ in range(random.choice([0, 10, 5000, 70000])))
        parent = f"http://host.example/{number}" if random.random() < 0.5 else None
        sent = StatusAndHeaders("200 OK", [("Content-Type", "text/plain")], protocol="HTTP/1.0")
        response = writer.create_warc_record(url, "response", payload=BytesIO(body), http_headers=sent)
        asked = StatusAndHeaders("GET / HTTP/1.0", [("Referer", parent)] if parent else [], is_http_request=True)
        request = writer.create_warc_record(url, "request", http_headers=asked)
        if random.random() < 0.7:
            writer.write_request_response_pair(request, response)
        else:
            parent = None
            writer.write_record(response)
        expected.append([response.rec_headers.get_header("WARC-Target-URI"), parent, b64encode(body).decode()])

with open(path + ".json", "w") as out:
    json.dump(expected, out)
