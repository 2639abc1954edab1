"""The classifier of documents: how long one takes, and how good it is on documents of sources it has not seen."""

import json
import subprocess
from pathlib import Path
from statistics import mean

from program import BenchError, run

DATA = Path(__file__).resolve().parent.parent.parent / "shared/dcf/train/train.jsonl.gz"
MOST_US = 2_000
SEEDS = 4
ACCURACY, HARD, ACCEPTED, CALIBRATION = 0.98, 0.955, 0.04, 0.03
RECALL = {"CS": 0.97, "math-physics": 0.97, "biomedical": 0.97, "other": 0.96}
REJECTED = ("manual", "slides", "cv", "form", "government_report")


def measure_section(bench):
    if not DATA.exists():
        raise BenchError(f"{DATA} is not there; labelled documents are needed")
    rounds = [_evaluate(bench)["microseconds_a_document"] for _ in range(1 if bench.quick else bench.repeat)]
    micros = sorted(rounds)[len(rounds) // 2]
    bench.say(f"classifier: {micros} µs a document")
    bench.compare("classifier", "one document, on one core", f"{micros / 1000:.2f} ms", "", None, f"< {MOST_US // 1000} ms",
                  reached=micros < MOST_US)
    rows = []
    for seed in range(1, 2 if bench.quick else SEEDS + 1):
        bench.say(f"classifier: cross-validation by source, seed {seed}")
        rows.append({"seed": seed, **_figures(_evaluate(bench, "--cross-validate", "--seed", str(seed)))})
    bench.write_csv("classifier", rows)
    rule = _figures(_evaluate(bench, "--model", "cdi-2012"))
    _compare(bench, rows, rule, "accuracy", ACCURACY, at_least=True)
    _compare(bench, rows, rule, "accuracy of hard ones", HARD, at_least=True)
    for bucket, least in RECALL.items():
        _compare(bench, rows, rule, f"recall of {bucket}", least, at_least=True)
    _compare(bench, rows, rule, "others accepted", ACCEPTED, at_least=False)
    for subtype in REJECTED:
        _compare(bench, rows, rule, f"accepted of {subtype}", ACCEPTED, at_least=False)
    _compare(bench, rows, rule, "calibration error", CALIBRATION, at_least=False)


def _evaluate(bench, *options):
    return json.loads(run([str(bench.binary), "classifier", "evaluate", str(DATA), "--json", *options], stdout=subprocess.PIPE))


def _figures(found):
    figures = {"accuracy": found["accuracy"], "accuracy of hard ones": found["hard"]["accuracy"]}
    figures |= {f"recall of {bucket}": found["bucket"][bucket]["recall"] for bucket in RECALL}
    figures["others accepted"] = found["false_positive_rate"]
    figures |= {f"accepted of {subtype}": found["subtype"][subtype]["false_positive_rate"] for subtype in REJECTED}
    return figures | {"calibration error": found["expected_calibration_error"]}


def _compare(bench, rows, rule, name, bound, at_least):
    values = [row[name] for row in rows]
    middle = mean(values)
    shown = f"{middle:.3f} ({min(values):.3f}–{max(values):.3f})"
    reached = middle >= bound if at_least else middle <= bound
    bench.compare("classifier", f"{name}, against the rule of 2012", shown, f"{rule[name]:.3f}", None,
                  f"{'≥' if at_least else '≤'} {bound}", reached=reached)
