"""`cantle index`: documents into a store that can be searched."""

from __future__ import annotations

import os
from typing import Annotated, Any

import typer

from cantle import units
from cantle.cli.ending import wrong
from cantle.cli.inputs import STDIN
from cantle.cli.opening import RECIPE, fill, inputs, made, strategy_of, told_of
from cantle.cli.options import (
    CUTTING,
    WRITING,
    AsJson,
    Column,
    DryRun,
    Format,
    IdColumn,
    Jobs,
    Paths,
    Price,
    Quiet,
)
from cantle.cli.report import Report
from cantle.index import Auto, Exact, Hnsw

_SEARCHING = "Searching"
_INDEXES: dict[str, Any] = {"auto": Auto, "exact": Exact, "hnsw": Hnsw}


def index(
    paths: Paths,
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            metavar="STORE",
            help="The store; it is made, or brought up to date.",
            rich_help_panel=WRITING,
        ),
    ],
    strategy: Annotated[
        str,
        typer.Option(
            "--strategy", "-s", metavar="TEXT", help="As for chunk.", rich_help_panel=CUTTING
        ),
    ] = RECIPE,
    size: Annotated[
        int | None,
        typer.Option(metavar="N", help="Most units in a chunk.", rich_help_panel=CUTTING),
    ] = None,
    unit: Annotated[
        str | None,
        typer.Option(
            metavar="UNIT", help="What sizes count, as for chunk.", rich_help_panel=CUTTING
        ),
    ] = None,
    min_chars: Annotated[
        int,
        typer.Option(
            min=0,
            metavar="N",
            help="Chunks of fewer characters are left out.",
            rich_help_panel=CUTTING,
        ),
    ] = 20,
    embedder: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="As for chunk (static; of a store that is there, its own).",
            rich_help_panel=_SEARCHING,
        ),
    ] = None,
    index: Annotated[
        str | None,
        typer.Option(
            metavar="KIND",
            help="exact, hnsw, or auto: exact until there are many chunks (auto).",
            rich_help_panel=_SEARCHING,
        ),
    ] = None,
    no_blend: Annotated[
        bool,
        typer.Option(
            "--no-blend",
            help="Search each vector as it is, not blended with its neighbours'.",
            rich_help_panel=_SEARCHING,
        ),
    ] = False,
    half: Annotated[
        bool,
        typer.Option(
            "--half", help="Keep vectors in 16 bits: half the file.", rich_help_panel=WRITING
        ),
    ] = False,
    column: Column = None,
    id_column: IdColumn = None,
    format: Format = None,
    dry_run: DryRun = False,
    price: Price = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Say what cuts, embeds and searches, and why.")
    ] = False,
    json: AsJson = False,
    jobs: Jobs = 0,
    quiet: Quiet = False,
) -> None:
    """Cut documents into a store, embed the chunks, and build the index.

    \b
      cantle index docs -o kb.cantle
      cantle index docs -o kb.cantle --strategy structural:400 --embedder minilm
      cantle index docs -o kb.cantle --dry-run --price 0.02
      cantle search kb.cantle "how do I rotate the key?"

    What is there and has not changed is not touched; a run that was stopped goes on where it was.
    Documents that are no longer among the inputs stay: cantle sync removes them. A store holds any
    number of strategies beside each other.

    Without other wish, units of about 75 tokens are cut that end with sentences and paragraphs,
    and the index blends each with its neighbours: what was measured best (--explain).

    Exit status: 0, all done; 1, something was skipped, or the store cannot be written; 2, the call
    is wrong; 130, Ctrl-C.
    """
    if index is not None and index not in _INDEXES:
        wrong(f"--index ({index!r}) must be one of {', '.join(_INDEXES)}")
    if price is not None and not dry_run:
        wrong("--price means nothing without --dry-run")
    cutting = strategy_of(strategy, size, unit)
    found = inputs(paths, cutting, column, id_column, format, output)
    if any(source.path != STDIN and _same(source.path, output) for source in found.sources):
        wrong(f"cannot write {output}: it is also an input")
    there = os.path.exists(output)
    settings: dict[str, Any] = {"blend": None} if no_blend else {}
    if index is not None:
        settings["index"] = _INDEXES[index]()
    if half:
        settings["precision"] = "float16"
    target = ":memory:" if dry_run and not there else output
    with made(target, embedder, **settings) as store:
        report = Report(quiet=quiet, strict=False)
        synced = fill(
            store,
            cutting,
            found,
            report,
            column=column,
            id_column=id_column,
            prune=False,
            dry_run=dry_run,
            threads=jobs,
            min_chars=min_chars,
        )
        if not dry_run:
            store.remember(
                {
                    "paths": [path if path == STDIN else os.path.abspath(path) for path in paths],
                    "strategy": strategy,
                    "size": size,
                    "unit": unit,
                    "column": column,
                    "id_column": id_column,
                    "format": format,
                    "min_chars": min_chars,
                }
            )
        more: dict[str, Any] = {}
        if price is not None:
            more["price"] = synced.units * price / 1e6
        if explain:
            cut_by = f"{cutting.strategy}, at most {cutting.size} "
            more["cut by"] = cut_by + units.describe(units.resolve(cutting.unit))
            more["searched by"] = store.describe()
        told_of(report, synced, json, more)
    raise typer.Exit(1 if report.skipped else 0)


def _same(path: str, output: str) -> bool:
    return os.path.abspath(path) == os.path.abspath(output)
