"""`cantle sync`: a store is brought to the state of its documents."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from cantle.cli.ending import wrong
from cantle.cli.inputs import STDIN
from cantle.cli.opening import fill, inputs, opened, strategy_of, told_of
from cantle.cli.options import AsJson, DryRun, Jobs, Price, Quiet, StoresEmbedder
from cantle.cli.report import Report


def sync(
    store: Annotated[str, typer.Argument(metavar="STORE", help="A store that index made.")],
    paths: Annotated[
        list[str] | None,
        typer.Argument(metavar="[PATH...]", help="The documents (those that it was made of)."),
    ] = None,
    embedder: StoresEmbedder = None,
    keep: Annotated[
        bool, typer.Option("--keep", help="Keep chunks of documents that are gone.")
    ] = False,
    dry_run: DryRun = False,
    price: Price = None,
    json: AsJson = False,
    jobs: Jobs = 0,
    quiet: Quiet = False,
) -> None:
    """Bring a store to the state of the documents that it was made of.

    \b
      cantle sync kb.cantle --dry-run
      cantle sync kb.cantle

    Documents that have not changed are not touched, of the others only texts that are new are
    embedded, and chunks of documents that are gone are removed, unless one could not be read.

    Exit status: 0, all done; 1, something was skipped, or the store cannot be written; 2, the call
    is wrong; 130, Ctrl-C.
    """
    if price is not None and not dry_run:
        wrong("--price means nothing without --dry-run")
    with opened(store, embedder) as kept:
        told = kept.remembered()
        if not told:
            wrong(f"{store}: no command filled it; cantle index DOCS -o {store} does")
        given = paths or told["paths"]
        if STDIN in given and not paths:
            wrong(f"{store}: it was made of standard input, which does not come again: name a PATH")
        cutting = strategy_of(told["strategy"], told["size"], told["unit"])
        column, id_column = told["column"], told["id_column"]
        found = inputs(given, cutting, column, id_column, told["format"], store)
        report = Report(quiet=quiet, strict=False)
        synced = fill(
            kept,
            cutting,
            found,
            report,
            column=column,
            id_column=id_column,
            prune=not keep,
            dry_run=dry_run,
            threads=jobs,
            min_chars=told["min_chars"],
        )
        more: dict[str, Any] = {}
        if price is not None:
            more["price"] = synced.units * price / 1e6
        told_of(report, synced, json, more)
        if report.skipped and not keep:
            report.lines(["nothing was removed, since not all could be read"])
    raise typer.Exit(1 if report.skipped else 0)
