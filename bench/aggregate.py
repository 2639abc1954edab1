"""What a list costs that comes from the catalog, beside the same list from the index of the site that was harvested."""

from growth import CHANGES, _batch, flat_site
from client import Client
from papers import IDENTIFIERS, next_second, wait_for_changes
from program import BenchError, Garner, free_port, measure, median, run

SIZES, QUICK_SIZES = [10_000, 1_000_000], [1_000, 3_000]
RECORDS = {"verb": "ListRecords", "metadataPrefix": "oai_dc"}
TARGET = 1.5


class Aggregator(Garner):
    """`garner serve --catalog`, at the path that the clients of these measurements ask."""

    def command(self):
        command = [str(self.binary), "serve", "--catalog", str(self.data / "catalog.sqlite"), "--data", str(self.data)]
        return command + ["--listen", f"127.0.0.1:{self.port}", "--config", str(self.config)]


def measure_section(bench):
    rows = []
    for files in QUICK_SIZES if bench.quick else SIZES:
        rows.append(_measure_size(bench, flat_site(bench, files), files))
    bench.write_csv("aggregate", rows)
    small, large = rows[0], rows[-1]
    for verb in ("identifiers", "records"):
        ours, theirs = (large[f"{who}_{verb}_cpu_us"] for who in ("aggregator", "site"))
        bench.compare("aggregate", f"{verb} of {large['files']:,}, server CPU each: aggregator against site", f"{ours:.1f} µs",
                      f"{theirs:.1f} µs", ours / theirs, f"≤ {TARGET}", at_most=TARGET)
    ours, theirs = large["changes_cpu_s"], small["changes_cpu_s"]
    bench.compare("aggregate", f"{CHANGES} changes among {large['files']:,} against {small['files']:,}, server CPU",
                  f"{ours * 1e6:.0f} µs", f"{theirs * 1e6:.0f} µs", ours / theirs, f"≤ {TARGET}", at_most=TARGET)


def _measure_size(bench, site, files):
    bench.say(f"aggregate: {files:,} records")
    folder = bench.work / f"aggregate-{files}"
    folder.mkdir()
    data = folder / "data"
    config = bench.config(folder, '[aggregator]\npath = "/modoai"\n')
    row = {"files": files}
    with Garner(bench.binary, site.root, folder / "index", folder / "site.log", free_port()) as source:
        source.settle()
        harvest = [str(bench.binary), "harvest", f"http://127.0.0.1:{source.port}/modoai", "--data", str(data), "--quiet"]
        run(harvest)
        row |= _lists("site", source, files)
        with Aggregator(bench.binary, None, data, folder / "aggregator.log", free_port(), config) as aggregator:
            row |= _lists("aggregator", aggregator, files)
            changed, since = next_second(), next_second()
            site.change(CHANGES)
            wait_for_changes(source, changed, CHANGES)
            run(harvest)
            wait_for_changes(aggregator, since, CHANGES)
            rounds = [_batch(aggregator, {**IDENTIFIERS, "from": since}) for _ in range(bench.repeat)]
            row["changes_cpu_s"] = median(rounds)["server_cpu_s"]
    return row


def _lists(who, server, files):
    row = {}
    for name, query in (("identifiers", IDENTIFIERS), ("records", RECORDS)):
        with Client(server.port) as client:
            found, figures = measure(server, lambda: client.harvest(query, count=True))
        if found.headers != files:
            raise BenchError(f"{who}: {files:,} records are there, {query['verb']} has {found.headers:,}")
        row[f"{who}_{name}_cpu_us"] = figures["server_cpu_s"] / files * 1e6
        row[f"{who}_{name}_wall_s"] = figures["wall_s"]
    return row
