"""Goes through a crawl as an importer of PDF does: parses every response and digests those of the type
with SHA-1 and SHA-256. Prints how many there were."""

import hashlib
import sys

from warcio.archiveiterator import ArchiveIterator

found = 0
with open(sys.argv[1], "rb") as file:
    for record in ArchiveIterator(file):
        if record.rec_type != "response" or record.http_headers.get_statuscode() != "200":
            continue
        if record.http_headers.get_header("Content-Type") == "application/pdf":
            content = record.content_stream().read()
            hashlib.sha1(content).hexdigest()
            hashlib.sha256(content).hexdigest()
            found += 1
print(found)
