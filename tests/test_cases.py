"""Every case of `cases/public.json` runs, or waits in `cases/pending.json` for what is missing."""

import json

import pytest

import cases.structure_checks  # noqa: F401  It adds its checks to `CHECKS`.
from cases.adapter import CASES, CHECKS, HERE, Outcome, why_pending

PENDING = json.loads((HERE / "pending.json").read_text("utf-8"))


def test_every_case_runs_or_is_pending():
    """The list may only shrink: a case whose operation exists cannot be on it."""
    assert {i: why_pending(case) for i, case in CASES.items() if why_pending(case)} == PENDING


@pytest.mark.parametrize("name", sorted(set(CASES) - set(PENDING)))
def test_case(name):
    case = CASES[name]
    outcome = Outcome(case)
    for given in case["expected"]:
        CHECKS[given["check"]](outcome, given)
