"""Prints a table of ratios from pytest-benchmark's JSON: `python benches/ratios.py bench.json`."""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from typing import Any


def rows(report: dict[str, Any]) -> list[tuple[str, str, float, str]]:
    """Group, name, median seconds and faults of each benchmark, ours first in its group."""
    found = []
    for bench in report["benchmarks"]:
        name = bench["param"].rsplit(" | ", 1)[-1] if " | " in bench["param"] else bench["param"]
        name = name.removesuffix(f"-{bench['group'].rsplit(' | ')[-1]}")
        faults = "; ".join(bench["extra_info"].get("faults", []))
        found.append((bench["group"], name, bench["stats"]["median"], faults))
    return sorted(found, key=lambda row: (row[0], not row[1].startswith("cantle"), row[2]))


def main(path: str) -> None:
    with open(path, encoding="utf-8") as file:
        report = json.load(file)
    groups: dict[str, list[tuple[str, float, str]]] = defaultdict(list)
    for group, name, median, faults in rows(report):
        groups[group].append((name, median, faults))
    print("| question | corpus | library | ms per document | cantle is faster by | faults |")
    print("|---|---|---|---:|---:|---|")
    for group, entries in groups.items():
        question, corpus = group.rsplit(" | ", 1)
        ours = entries[0][1]
        for name, median, faults in entries:
            ratio = "" if name.startswith("cantle") else f"{median / ours:.1f}x"
            print(f"| {question} | {corpus} | {name} | {median * 1e3:.3f} | {ratio} | {faults} |")


if __name__ == "__main__":
    main(sys.argv[1])
