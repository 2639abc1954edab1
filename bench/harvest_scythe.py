"""Goes through a list with oaipmh-scythe, and prints how many items it has: BASE_URL VERB."""

import sys

from oaipmh_scythe import Scythe

base_url, verb = sys.argv[1:]
scythe = Scythe(base_url)
items = (scythe.list_records if verb == "ListRecords" else scythe.list_identifiers)(metadata_prefix="oai_dc")
print(sum(1 for item in items if (item.header if verb == "ListRecords" else item).identifier))
