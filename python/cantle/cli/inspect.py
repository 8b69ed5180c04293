"""`cantle inspect`: what documents hold, what would cut them and why, and what that would cost."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Any

import typer

from cantle import TextError, boundaries, units
from cantle.cli.cutting import cut_batch
from cantle.cli.ending import wrong
from cantle.cli.inputs import Problem
from cantle.cli.options import (
    CUTTING,
    Column,
    Format,
    IdColumn,
    Json,
    Limit,
    Overlap,
    Paths,
    Quiet,
    Size,
    Strategies,
    Unit,
    check_models,
)
from cantle.cli.report import Report
from cantle.cli.rows import Batch
from cantle.cli.settings import settings_of
from cantle.cli.survey import Survey
from cantle.cli.table import figures, printable
from cantle.inspection import Facts
from cantle.measure.boundaries import FAULTS
from cantle.router import Route
from cantle.spans import repeated
from cantle.strategies import Routed, Splitting, strategies_from_text

SCHEMA = 1
"""The number of the JSON's form: another one where a key changes its meaning or goes."""
_SHOWN = 20
"""Documents that the table names; JSON has all."""
_SUMMED = ("chars", "words", "size", "headings", "tables", "rows", "items", "clauses", "sentences")


def inspect(
    paths: Paths,
    strategies: Strategies = "routed,structural,recursive,sentence,window",
    size: Size = 512,
    overlap: Overlap = 0,
    unit: Unit = "cl100k_base",
    sources: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="What is declared of documents: a TOML file with [[source]]s.",
            rich_help_panel=CUTTING,
        ),
    ] = None,
    json: Json = None,
    column: Column = None,
    id_column: IdColumn = None,
    format: Format = None,
    limit: Limit = None,
    quiet: Quiet = False,
) -> None:
    """Say what documents hold, which strategy suits each, why, and what it costs.

    \b
      cantle inspect docs
      cantle inspect contracts --unit words --size 300 --json facts.json
      cantle inspect kb --sources sources.toml --strategies routed,window:512:64

    The first table has a document a row: its form, sizes, headings, tables, lists, numbered
    clauses, scripts, and what the router chooses. The second one has a strategy a row: chunks,
    embeddings, stored and duplicated text, and the part of its chunks whose boundaries go over a
    heading, cut a table, code or a list, or lie inside a sentence.

    A table in CSV or TSV is one document, unless --column or --id-column is given.

    Exit status: 0, all done; 1, something was skipped; 2, the call is wrong; 130, Ctrl-C.
    """
    try:
        resolved = units.resolve(unit)
        common = {"size": size, "overlap": overlap, "unit": resolved}
        routed = Routed(**common, sources=() if sources is None else sources)  # type: ignore[arg-type]
        asked = strategies_from_text(strategies, **common)
    except OSError as error:
        wrong(f"cannot read {error.filename or 'it'}: {error.strerror or error}")
    except (TypeError, ValueError, ImportError) as error:
        wrong(str(error))
    asked = [
        routed if one.strategy == "routed" and not one.sources else one  # type: ignore[attr-defined]
        for one in asked
    ]
    for strategy in asked:
        check_models(strategy)
    survey = Survey(paths, column, id_column, format, limit, json, quiet=quiet)
    seen = _Seen(routed, asked)
    survey.read(seen.take)
    survey.tell(seen.told() | {"schema": SCHEMA}, _show)


class _Seen:
    """Gathers what documents hold and what strategies make of them."""

    def __init__(self, routed: Routed, asked: list[Splitting]) -> None:
        self._routed = routed
        self._asked = asked
        self._documents: list[dict[str, Any]] = []
        self._totals: Counter[str] = Counter()
        self._rules: Counter[str] = Counter()
        self._made: list[Counter[str]] = [Counter() for _ in asked]

    def take(self, batch: Batch, report: Report) -> None:
        texts = batch.readable
        for text, id, (file, line) in zip(texts, batch.ids, batch.places, strict=True):
            try:
                route = self._routed.route(text, id=id)
            except TextError as error:
                # JSON may hold half a character; the strategies leave such a text out as well.
                report.problem(Problem(file, "cannot be cut", f"the {error}", line))
                continue
            self._documents.append(_document(route, route.facts))
            self._totals.update({name: getattr(route.facts, name) for name in _SUMMED})
            self._rules[f"{route.strategy.strategy} ({route.rule})"] += 1
            report.documents += 1
            report.advance()
        for strategy, made in zip(self._asked, self._made, strict=True):
            chunks = cut_batch(strategy, batch)
            faults = boundaries(chunks)
            made.update(faults.counts)
            made["faulty"] += int(faults.any.sum())
            made["chunks"] += len(chunks)
            made["units"] += int(chunks.size.sum())
            lengths = chunks.byte_end - chunks.byte_start
            made["stored_bytes"] += int(lengths.sum())
            made["duplicated_bytes"] += repeated(chunks.doc, chunks.byte_start, chunks.byte_end)

    def told(self) -> dict[str, Any]:
        """Return all of it for a program."""
        return {
            "documents": self._documents,
            "totals": {"documents": len(self._documents), **self._totals},
            "routes": dict(self._rules.most_common()),
            "strategies": [
                settings_of(strategy) | {"made": _figures(made)}
                for strategy, made in zip(self._asked, self._made, strict=True)
            ],
        }


def _document(route: Route, facts: Facts) -> dict[str, Any]:
    known = facts.as_dict()
    known["scripts"] = dict(facts.scripts)
    return known | {"route": route.as_dict()}


def _figures(made: Counter[str]) -> dict[str, Any]:
    chunks = max(made["chunks"], 1)
    faults = {name: {"chunks": made[name], "share": made[name] / chunks} for name in FAULTS}
    return {
        "chunks": made["chunks"],
        "units": made["units"],
        "embeddings": made["chunks"],
        "stored_bytes": made["stored_bytes"],
        "duplicated": made["duplicated_bytes"] / max(made["stored_bytes"], 1),
        "faulty": {"chunks": made["faulty"], "share": made["faulty"] / chunks},
        "faults": faults,
    }


def _show(told: dict[str, Any]) -> None:
    documents = told["documents"]
    if not documents:
        return
    heads = ("document", "form", "size", "headings", "tables", "lists", "clauses", "scripts")
    rows = [
        (
            printable(row["id"]),
            row["form"] or "-",
            f"{row['size']:,}",
            f"{row['headings']:,}",
            f"{row['tables']:,}",
            f"{row['items']:,}",
            f"{row['clauses']:,}",
            " ".join(list(row["scripts"])[:2]) or "-",
            row["route"]["strategy"],
            f"{row['route']['cost']['chunks']:,}",
            row["route"]["rule"],
        )
        for row in documents[:_SHOWN]
    ]
    figures((*heads, "strategy", "chunks", "rule"), rows, spare=("scripts", "rule"))
    if len(documents) > _SHOWN:
        print(f"... {len(documents) - _SHOWN:,} more documents")
    reasons = {
        f"{route['strategy']}: {'; '.join(route['reasons'])}"
        for route in (row["route"] for row in documents)
    }
    print("", *sorted(reasons), sep="\n")
    warned = [
        f"warning: {printable(row['id'])}: {words}"
        for row in documents
        for words in row["route"]["warnings"]
    ]
    for line in warned[:_SHOWN]:
        print(line)
    print()
    figures(*_compared(told["strategies"]), spare=("embeddings",))
    if any(row["route"]["strategy"] == "rows" for row in documents):
        print("\nA chunk that is a row of a table is cut off its table on purpose; it counts here.")


def _compared(strategies: list[dict[str, Any]]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    def share(made: dict[str, Any], *names: str) -> str:
        # One chunk may have several faults: the largest of their shares is what is surely so.
        return f"{max(made['faults'][name]['share'] for name in names):.0%}"

    heads = ("strategy", "chunks", "embeddings", "stored bytes", "duplicated", "over a heading")
    return (*heads, "cuts a table or code", "cuts a list", "mid-sentence", "any fault"), [
        (
            f"{row['strategy']}:{row['size']}" + (f":{row['overlap']}" if row["overlap"] else ""),
            f"{made['chunks']:,}",
            f"{made['embeddings']:,}",
            f"{made['stored_bytes']:,}",
            f"{made['duplicated']:.0%}",
            share(made, "straddles_heading", "orphans_heading"),
            share(made, "cuts_table", "cuts_code"),
            share(made, "cuts_list", "cuts_item", "cuts_procedure"),
            share(made, "starts_mid_sentence", "ends_mid_sentence"),
            f"{made['faulty']['share']:.0%}",
        )
        for row, made in ((row, row["made"]) for row in strategies)
    ]
