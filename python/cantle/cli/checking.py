"""`--check`: chunks that would not do are left out, and the run says which and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cantle import Chunks, units
from cantle.cli.report import Report
from cantle.invariants import RULES, TOO_LONG, check


@dataclass(frozen=True)
class Checking:
    """What chunks have to keep."""

    max_tokens: int | None
    """The most tokens that the embedding model takes; None: not counted."""
    min_chars: int
    unit: units.Unit | None
    """The model's tokenizer; None: that of the chunks."""

    def as_dict(self) -> dict[str, Any]:
        """Return the settings as values that JSON has."""
        unit = None if self.unit is None else units.describe(units.resolve(self.unit))
        return {"max_tokens": self.max_tokens, "min_chars": self.min_chars, "unit": unit}

    def kept(self, chunks: Chunks, report: Report) -> Chunks:
        """Return the chunks that are not to be skipped; the report hears of the others."""
        found = check(
            chunks, self.max_tokens, min_chars=self.min_chars, unit=self.unit, errors="skip"
        )
        for row in np.flatnonzero(found.skip).tolist():
            bits = int(found.reasons[row])
            names = [rule.name for rule in RULES if rule.skips and bits & rule.bit]
            words = "; ".join(found.why(row))
            report.unfit(found.chunks[row].id, names[-1], words, bits & TOO_LONG.bit > 0)
        report.warned += int(np.count_nonzero(found.warned))
        return chunks if not found.skip.any() else chunks[found.keep]
