"""Goes through a list with sickle, and prints how many items it has: BASE_URL VERB."""

import sys

from sickle import Sickle

base_url, verb = sys.argv[1:]
items = getattr(Sickle(base_url), verb)(metadataPrefix="oai_dc")
print(sum(1 for item in items if (item.header if verb == "ListRecords" else item).identifier))
