"""Goes through a crawl as an importer of PDF does: parses every response and digests those of the type
with SHA-1 and SHA-256. Prints how many there were."""

import hashlib
import sys

from fastwarc.warc import ArchiveIterator, WarcRecordType

found = 0
with open(sys.argv[1], "rb") as file:
    for record in ArchiveIterator(file, record_types=WarcRecordType.response, parse_http=True):
        if record.http_headers.status_code == 200 and record.http_content_type == "application/pdf":
            content = record.reader.read()
            hashlib.sha1(content).hexdigest()
            hashlib.sha256(content).hexdigest()
            found += 1
print(found)
