"""Goes through a crawl as an importer of PDF does: parses every response and digests those of the type. Prints how many there were."""

import hashlib
import sys

from fastwarc.warc import ArchiveIterator, WarcRecordType

found = 0
with open(sys.argv[1], "rb") as file:
    for record in ArchiveIterator(file, record_types=WarcRecordType.response, parse_http=True):
        if record.http_headers.status_code == 200 and record.http_content_type == "application/pdf":
            hashlib.sha1(record.reader.read()).hexdigest()
            found += 1
print(found)
