"""`cantle search`: a question to a store."""

from __future__ import annotations

import json as json_format
import sys
from typing import Annotated, Any

import typer

from cantle import (
    Hits,
    Passages,
    StoreError,
    adaptive,
    auto_merge,
    neighbours,
    parent,
    where_from_text,
    window,
)
from cantle.cli.ending import wrong
from cantle.cli.opening import opened
from cantle.cli.options import StoresEmbedder
from cantle.cli.table import printable


def search(
    store: Annotated[str, typer.Argument(metavar="STORE", help="A store that index made.")],
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="What is asked, in words.")],
    k: Annotated[int, typer.Option("--k", "-k", min=1, metavar="N", help="The most hits.")] = 5,
    budget: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="TOKENS",
            help="In place of --k: the passages that fill so many tokens best, in the order of "
            "their documents.",
        ),
    ] = None,
    mode: Annotated[
        str,
        typer.Option(
            metavar="MODE",
            help="dense: by vectors; text: by words (BM25); hybrid: by both.",
        ),
    ] = "hybrid",
    where: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CONDITION",
            help="What hits must be: strategy=NAME, source=ID, kind=prose,list (one of both), "
            "heading='A > B' (titles from the outermost on), or a key of the metadata, with =, !=, "
            ">, >=, < or <=; in quotes, as shells take > for a file; given more than once, all "
            "must hold.",
        ),
    ] = None,
    expand: Annotated[
        str | None,
        typer.Option(
            metavar="HOW",
            help="What is returned in place of a hit: neighbours[:N], parent[:section|document|"
            "NAME], window:TOKENS, adaptive:SHARE, auto_merge:SHARE.",
        ),
    ] = None,
    min_score: Annotated[
        float | None,
        typer.Option(
            metavar="N", help="The lowest score of a hit; in mode hybrid that by its vector."
        ),
    ] = None,
    ef: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="How widely HNSW searches."),
    ] = None,
    embedder: StoresEmbedder = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Say how the search was done, and why.")
    ] = False,
    json: Annotated[
        bool, typer.Option("--json", help="Print the hits as JSON on standard output.")
    ] = False,
) -> None:
    """Find the chunks of a store that are nearest to a question.

    \b
      cantle search kb.cantle "how do I rotate the key?"
      cantle search kb.cantle "late invoices" --where 'year>=2024' --expand parent:section
      cantle search kb.cantle "who pays?" --budget 1000 --json

    Exit status: 0, something was found; 1, nothing was, or the store cannot be read; 2, the call is
    wrong.
    """
    if not question.strip():
        wrong(f"QUESTION ({question!r}) must not be blank")
    try:
        conditions = where_from_text(where or ())
        how = None if expand is None else _expansion(expand)
    except ValueError as error:
        wrong(str(error))
    if budget is not None and how is not None:
        wrong("--budget and --expand are given: a budget chooses its own passages")
    with opened(store, embedder, readonly=True) as kept:
        options: dict[str, Any] = {"where": conditions or None, "mode": mode, "ef": ef}
        try:
            found: Hits | Passages
            if budget is not None:
                found = kept.retrieve(question, budget, min_score=min_score, **options)
            else:
                hits = kept.search(question, k, min_score=min_score, **options)
                found = hits if how is None else hits.expand(how)
            plan = found.explain()
        except (StoreError, OSError) as error:
            wrong(str(error), 1)
        except (TypeError, ValueError, ImportError) as error:
            wrong(str(error))
        rows = found.as_dicts()
    if json:
        told: dict[str, Any] = {"question": question, "hits": rows}
        if explain:
            told["plan"] = plan.splitlines()
        print(json_format.dumps(told, indent=2, ensure_ascii=False))
    else:
        for row in rows:
            _show(row)
        if explain:
            print(plan)
    if not rows:
        print("cantle: nothing was found", file=sys.stderr)
    raise typer.Exit(0 if rows else 1)


def _expansion(text: str) -> Any:
    """Return what `--expand` names.

    Raises:
        ValueError: It names nothing, or with what it does not take.
    """
    name, colon, given = text.partition(":")
    if name == "parent":
        of: str | int = int(given) if given.isdigit() else given
        return parent(of) if colon else parent()
    ways: dict[str, tuple[Any, Any, str]] = {
        "neighbours": (neighbours, int, "a whole number"),
        "window": (window, int, "a whole number"),
        "adaptive": (adaptive, float, "a number"),
        "auto_merge": (auto_merge, float, "a number"),
    }
    if name not in ways:
        raise ValueError(f"--expand ({text!r}) must be one of {', '.join((*ways, 'parent'))}")
    way, number, what = ways[name]
    if not colon:
        return way()
    try:
        value = number(given)
    except ValueError:
        raise ValueError(f"--expand ({text!r}): {given!r} must be {what}") from None
    try:
        return way(value)
    except ValueError as error:
        raise ValueError(f"--expand ({text!r}): {error}") from None


def _show(row: dict[str, Any]) -> None:
    spans = ", ".join(f"{start}..{end}" for start, end in row["spans"]) or "added by hand"
    print(printable(f"{row['score']:.3f}  {row['cite']}  ({row['source']}, {spans})"))
    for line in row["passage"].splitlines():
        print(printable(f"    {line}"))
    print()
