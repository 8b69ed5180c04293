"""`cantle info`: what a store holds, and whether it is whole."""

from __future__ import annotations

import json as json_format
import sys
from typing import Annotated, Any

import typer

from cantle import StoreError
from cantle.cli.ending import wrong
from cantle.cli.opening import opened
from cantle.cli.table import figures, printable


def info(
    store: Annotated[str, typer.Argument(metavar="STORE", help="A store that index made.")],
    check: Annotated[
        bool,
        typer.Option(
            "--check",
            help="Read all of it: hash every text again, so that no vector is of another.",
        ),
    ] = False,
    json: Annotated[
        bool, typer.Option("--json", help="Print it as JSON on standard output.")
    ] = False,
) -> None:
    """Say what a store holds, and with --check whether it is whole.

    \b
      cantle info kb.cantle
      cantle info kb.cantle --check --json

    Exit status: 0, all is well; 1, something is wrong with the store; 2, the call is wrong.
    """
    with opened(store, readonly=True) as kept:
        try:
            found = kept.info()
            problems = kept.check() if check else []
        except (StoreError, OSError) as error:
            wrong(str(error), 1)
    if check:
        found["problems"] = problems
    if json:
        print(json_format.dumps(found, indent=2))
    else:
        _show(found)
        if check and not problems:
            print("checked: nothing is wrong")
    for problem in problems:
        print(f"cantle: {problem}", file=sys.stderr)
    raise typer.Exit(1 if problems else 0)


def _show(found: dict[str, Any]) -> None:
    told = dict(found)
    strategies = told.pop("strategies")
    told.pop("problems", None)
    for name, value in told.items():
        if value is not None:
            shown = f"{value:,}" if isinstance(value, int) else printable(str(value))
            print(f"{name.replace('_', ' '):14} {shown}")
    if strategies:
        print()
        heads = ("strategy", "chunks", "unit", "within", "blended with")
        figures(
            heads,
            [
                (
                    printable(row["name"]),
                    f"{row['chunks']:,}",
                    printable(row["unit"]),
                    row["within"] or "-",
                    (" ".join(f"{weight:g}" for weight in row["blend"]) or "-")
                    if row["searched"]
                    else "not searched",
                )
                for row in strategies
            ],
            spare=("unit",),
        )
