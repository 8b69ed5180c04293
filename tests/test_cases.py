"""Every case of `cases/public.json` runs, or waits in `cases/pending.json` for what is missing."""

import importlib
import json

import pytest

from cases import embedding, expanding, searching
from cases.adapter import CASES, CHECKS, HERE, Outcome, why_pending

for name in ("chunk", "document", "error", "structure", "work"):  # They add theirs to `CHECKS`.
    importlib.import_module(f"cases.{name}_checks")

PENDING = json.loads((HERE / "pending.json").read_text("utf-8"))


def test_every_case_runs_or_is_pending():
    """The list may only shrink: a case whose operation exists cannot be on it."""
    assert {i: why_pending(case) for i, case in CASES.items() if why_pending(case)} == PENDING


@pytest.mark.parametrize("name", sorted(set(CASES) - set(PENDING)))
def test_case(name):
    case = CASES[name]
    if case["call"]["op"] in searching.OPS:
        if case["call"].get("index") == "hnsw":
            pytest.importorskip("faiss")
        outcome, checks = searching.Search(case), searching.CHECKS
    elif case["call"]["op"] == "expand":
        outcome, checks = expanding.Expansion(case), expanding.CHECKS
    elif case["call"]["op"] == "embed_chunks":
        outcome, checks = embedding.Embedded(case), CHECKS
    else:
        outcome, checks = Outcome(case), CHECKS
    for given in case["expected"]:
        checks[given["check"]](outcome, given)


@pytest.mark.parametrize("name", ["B232", "B235", "B266", "B271"])
def test_what_belongs_together_does_so_at_every_size_that_holds_it(name):
    """At the cases' own sizes windows of characters pass as well, or all is one chunk."""
    case = CASES[name]
    (wanted,) = next(one["texts"] for one in case["expected"] if one["check"] == "together")
    for size in range(len(wanted), case["call"]["size"] + 1):
        outcome = Outcome(case | {"call": case["call"] | {"size": size}})
        for check in ("basics", "max_size", "together"):
            CHECKS[check](outcome, {"limit": size, "unit": "chars", "texts": [wanted]})
