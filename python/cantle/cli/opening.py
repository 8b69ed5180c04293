"""What the commands of a store have in common: how one is opened, and what is read into it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from typing import Any

from cantle import Documents, Store, StoreError, Synced, strategy_from_text, units
from cantle.cli.cutting import batches
from cantle.cli.ending import end, wrong
from cantle.cli.formats import Unreadable
from cantle.cli.inputs import Found, as_table
from cantle.cli.options import found_inputs
from cantle.cli.reading import read
from cantle.cli.report import Report
from cantle.cli.rows import Columns
from cantle.cli.spool import spooled
from cantle.embed import Embedder
from cantle.embed.named import resolve
from cantle.strategies import Splitting

RECIPE = "recursive:75"
"""What cuts documents of a store without other wish: see docs/quality.md."""


def opened(path: str, embedder: str | None = None, **settings: Any) -> Store:
    """Return the store of a file, or end the call with what is wrong with it."""
    if path != ":memory:" and not os.path.exists(path):
        wrong(f"{path}: no such store; cantle index DOCS -o {path} makes one")
    return _opened(path, embedder, **settings)


def made(path: str, embedder: str | None, **settings: Any) -> Store:
    """Return the store of a file, which is made where there is none."""
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder):
        wrong(f"cannot write {path}: no such folder")
    return _opened(path, embedder, **settings)


def _opened(path: str, embedder: str | None, **settings: Any) -> Store:
    try:
        named: Embedder | str | None = embedder
        if embedder is not None:
            resolve(embedder)
        return Store.open(path, named, **settings)
    except (StoreError, OSError) as error:
        wrong(str(error), 1)
    except (TypeError, ValueError, ImportError) as error:
        wrong(str(error))


def strategy_of(text: str, size: int | None, unit: str | None) -> Splitting:
    """Return the strategy of a command line."""
    given: dict[str, Any] = {} if size is None else {"size": size}
    try:
        if unit is not None:
            given["unit"] = units.resolve(unit)
        return strategy_from_text(text, **given)
    except OSError as error:
        wrong(f"strategy ({text!r}): cannot read {error.filename or 'it'}: {error.strerror}")
    except (TypeError, ValueError, ImportError) as error:
        wrong(str(error))


def inputs(
    paths: Sequence[str],
    strategy: Splitting,
    column: str | None,
    id_column: str | None,
    format: str | None,
    target: str,
) -> Found:
    """Return the files that a store is filled from."""
    found = found_inputs(paths, format, lines=not (column is id_column is None), target=target)
    if strategy.strategy in ("rows", "routed") and column is id_column is None:
        found.sources = [as_table(source) for source in found.sources]
    return found


def fill(
    store: Store,
    strategy: Splitting,
    found: Found,
    report: Report,
    *,
    column: str | None,
    id_column: str | None,
    prune: bool,
    dry_run: bool,
    threads: int,
    min_chars: int,
) -> Synced:
    """Bring a store to the state of some files; nothing is removed where one was not read."""
    report.others = found.others
    columns = Columns("text" if column is None else column, id_column, None)

    def documents() -> Iterator[Documents]:
        with ExitStack() as stack:
            for problem in found.problems:
                report.problem(problem)
            sources = spooled(found.sources, stack, tables=False)
            for batch in batches(read(sources, columns), None, report):
                report.bytes += batch.size
                yield Documents(batch.readable, batch.ids, batch.metadata)

    def progress(done: int) -> None:
        report.documents = done
        report.move_bar(report.bytes, f"{done:,} documents")

    report.show_bar(None)
    try:
        return _told(
            report,
            lambda: store.sync(
                documents(),
                strategy=strategy,
                prune=lambda: prune and not report.skipped,
                dry_run=dry_run,
                threads=threads,
                min_chars=min_chars,
                progress=progress,
            ),
        )
    finally:
        report.close()


def _told(report: Report, act: Callable[[], Synced]) -> Synced:
    try:
        return act()
    except Unreadable as error:
        end(report, 1, f"cannot read standard input: {error}")
    except KeyboardInterrupt:
        end(report, 130, "interrupted; what is done is kept, and the next run goes on from there")
    except ImportError as error:
        end(report, 2, str(error))
    except (StoreError, OSError) as error:
        end(report, 1, str(error))
    except ValueError as error:
        end(report, 1, str(error))


def told_of(report: Report, synced: Synced, as_json: bool, more: dict[str, Any]) -> None:
    """Say what was done: as lines on standard error, or as JSON on standard output."""
    for name, why in synced.skipped:
        report.say(f"cantle: skipped {name}: {why}")
        report.skipped["cannot be cut"] += 1
    if as_json:
        print(json.dumps(synced._asdict() | more, indent=2))
        return
    lines = str(synced).splitlines()
    for name, said in more.items():
        lines.append(f"{name}: {said:.4f}" if isinstance(said, float) else f"{name}: {said}")
    report.lines(lines)
    report.left_out()
