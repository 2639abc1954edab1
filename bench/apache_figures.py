"""What the parts of the Apache section share: checks, spreads, and how figures are written."""

from program import BenchError, median

CPU_TARGET_US = 30  # of the server, for each file that is listed


def expect(found, expected, what):
    """A list that is too short would be measured as a fast one."""
    if found != expected:
        raise BenchError(f"{what}: {expected:,} items were expected and {found:,} came")


def spread(rounds):
    """The medians, and how far wall time and server CPU went."""
    found = median(rounds)
    found["server_cpu_min_s"] = min(each["server_cpu_s"] for each in rounds)
    found["server_cpu_max_s"] = max(each["server_cpu_s"] for each in rounds)
    return found


def seconds(row, kind="wall"):
    middle = row["wall_s" if kind == "wall" else "server_cpu_s"]
    low, high = (row[f"{'wall' if kind == 'wall' else 'server_cpu'}_{end}_s"] for end in ("min", "max"))
    return f"{middle:.3f} s ({low:.3f}–{high:.3f})"


def times(large, small):
    """How many times, or none if the smaller one is too small to be counted."""
    return large / small if small else None


def per_file(row):
    """Server CPU per file, in microseconds."""
    return row["server_cpu_s"] / row["files"] * 1e6
