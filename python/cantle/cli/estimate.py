"""`cantle chunk --estimate`: what finding the borders takes, before anything is spent."""

from __future__ import annotations

from typing import Any

from cantle import Llm, units
from cantle.cli.cutting import batches
from cantle.cli.ending import wrong
from cantle.cli.inputs import Found
from cantle.cli.reading import read
from cantle.cli.report import Report, Stopped
from cantle.cli.rows import Columns
from cantle.strategies import Splitting
from cantle.strategies.meaning import ByMeaning


def check_estimate(splitter: Splitting, options: dict[str, Any]) -> None:
    """End the call where `--estimate` has no meaning."""
    if not isinstance(splitter, ByMeaning | Llm):
        wrong(f"--estimate means nothing to {splitter.strategy}: it asks no model")
    for option, value in options.items():
        if value is not None:
            wrong(f"{option} means nothing with --estimate: nothing is cut")


def run_estimate(
    splitter: Splitting,
    found: Found,
    columns: Columns,
    report: Report,
    price: float | None,
    *,
    threads: int,
    limit: int | None,
) -> int:
    """Print what a model would be given; return the exit status."""
    assert isinstance(splitter, ByMeaning | Llm)
    texts = size = documents = 0
    try:
        for problem in found.problems:
            report.problem(problem)
        for batch in batches(read(found.sources, columns), limit, report):
            one = splitter.estimate(batch.readable, ids=batch.ids, threads=threads)
            texts, size = texts + one.texts, size + one.units
            documents += len(batch)
    except Stopped as stopped:
        wrong(f"{stopped}; stopped (--strict)", 1)
    finally:
        report.close()
    unit = units.describe(units.resolve(splitter.unit))
    most = splitter.batch_size if isinstance(splitter, ByMeaning) else 1
    calls = -(-texts // most)
    print(f"documents  {documents}")
    print(f"texts      {texts}")
    print(f"size       {size} {unit}")
    print(f"calls      {calls} of {most} text{'s' if most > 1 else ''} at most")
    if price is not None:
        print(f"price      {price * size / 1e6:.4f}")
    return 1 if report.skipped or report.failed else 0
