"""`cantle chunk --estimate`: what finding the borders takes, before anything is spent."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

from cantle import Llm, units
from cantle.cli.cutting import batches
from cantle.cli.ending import wrong
from cantle.cli.formats import Unreadable
from cantle.cli.inputs import Found
from cantle.cli.reading import read
from cantle.cli.report import Report, Stopped
from cantle.cli.rows import Columns
from cantle.cli.spool import spooled
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
    texts = size = documents = calls = 0
    try:
        with ExitStack() as stack:
            for problem in found.problems:
                report.problem(problem)
            opened = spooled(found.sources, stack, tables=False)
            for batch in batches(read(opened, columns), limit, report):
                one = splitter.estimate(batch.readable, ids=batch.ids, threads=threads)
                texts, size, calls = texts + one.texts, size + one.units, calls + one.calls
                documents += len(batch)
    except Stopped as stopped:
        wrong(f"{stopped}; stopped (--strict)", 1)
    except Unreadable as error:
        wrong(f"cannot read standard input: {error}", 1)
    except KeyboardInterrupt:
        wrong("interrupted", 130)
    finally:
        report.close()
    unit = units.describe(units.resolve(splitter.unit))
    most = splitter.batch_size if isinstance(splitter, ByMeaning) else 1
    print(f"documents  {documents}")
    print(f"texts      {texts}")
    print(f"size       {size} {unit}")
    print(f"calls      {calls} of {most} text{'s' if most > 1 else ''} at most")
    if price is not None:
        print(f"price      {price * size / 1e6:.4f}")
    return 1 if report.skipped or report.failed else 0
