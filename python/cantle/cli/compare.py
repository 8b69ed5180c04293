"""`cantle compare`: what strategies make of the same documents, and what each gives a question."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from cantle import units
from cantle.cli.ending import wrong
from cantle.cli.inputs import STDIN, Problem
from cantle.cli.options import (
    WRITING,
    Column,
    Format,
    IdColumn,
    Limit,
    Overlap,
    Paths,
    Quiet,
    Size,
    Strategies,
    Unit,
    check_models,
    named_embedder,
)
from cantle.cli.report import Report
from cantle.cli.rows import Batch
from cantle.cli.survey import Survey
from cantle.cli.table import figures, printable
from cantle.documents import Documents
from cantle.measure.compare import Comparing
from cantle.strategies import strategies_from_text

SCHEMA = 1
"""The number of the JSON's form: another one where a key changes its meaning or goes."""
_ASKING = "Asking"


def compare(
    paths: Paths,
    strategies: Strategies = "whole,structural,recursive,window",
    size: Size = 512,
    overlap: Overlap = 0,
    unit: Unit = "cl100k_base",
    question: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            help="What is asked: which chunk of each strategy is nearest, and how many words it "
            "brings.",
            rich_help_panel=_ASKING,
        ),
    ] = None,
    embedder: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="What embeds question and chunks: static, the word vectors of cantle[embed] (the "
            "default), minilm, the folder of an ONNX or model2vec model, openai:MODEL or "
            "openai:MODEL@URL, an OpenAI-compatible server, or keyword:TOPIC|TOPIC, counts of "
            "words. Strategies that embed sentences take it as well.",
            rich_help_panel=_ASKING,
        ),
    ] = None,
    json: Annotated[
        bool,
        typer.Option("--json", help="Print JSON in place of the tables.", rich_help_panel=WRITING),
    ] = False,
    column: Column = None,
    id_column: IdColumn = None,
    format: Format = None,
    limit: Limit = None,
    quiet: Quiet = False,
) -> None:
    """Say what strategies make of the same documents, and what each gives a question.

    \b
      cantle compare docs
      cantle compare docs --strategies whole,structural:300,window:60:12:words
      cantle compare docs --question "how do I rotate the key?" --embedder minilm
      cantle compare docs --strategies window:100:0:words,window:200:0:words --json | jq .

    The first table has a strategy a row: chunks, words in a chunk, words and bytes stored, and the
    part of these bytes that another chunk of the strategy holds already. With --question a second
    one names the chunk that is nearest, its cosine, and the words it would bring into a prompt.

    A table in CSV or TSV is one document, unless --column or --id-column is given. A document that
    one strategy cannot cut is left out of all.

    Exit status: 0, all done; 1, something was skipped; 2, the call is wrong; 130, Ctrl-C.
    """
    named = named_embedder(embedder)
    known = {} if named is None else {"embedder": named}
    try:
        common = {"size": size, "overlap": overlap, "unit": units.resolve(unit)}
        asked = strategies_from_text(strategies, **common, **known)
        for strategy in asked:
            check_models(strategy)
        comparing = Comparing(asked, question, named, skip=True)
    except OSError as error:
        wrong(f"cannot read {error.filename or 'it'}: {error.strerror or error}")
    except (TypeError, ValueError, ImportError) as error:
        wrong(str(error))
    survey = Survey(paths, column, id_column, format, limit, STDIN if json else None, quiet=quiet)

    def take(batch: Batch, report: Report) -> None:
        for doc, _, reason in comparing.take(Documents(batch.readable, batch.ids, batch.metadata)):
            file, line = batch.places[doc]
            words = reason.replace(f"texts[{doc}]", "the text", 1)
            report.problem(Problem(file, "cannot be cut", words, line))
        report.documents += len(batch)
        report.advance()

    def show(_: dict[str, Any]) -> None:
        if not comparison.documents:
            return
        for at, (about, (heads, lines)) in enumerate(
            zip(comparison.about(), comparison.tables(), strict=True)
        ):
            print("\n" * (at > 0) + printable(about), end="\n\n")
            cells = [tuple(map(printable, line)) for line in lines]
            figures(heads, cells, spare=("bytes stored", "mean words"))

    survey.read(take)
    comparison = comparing.comparison()
    survey.tell(comparison.as_dict() | {"schema": SCHEMA}, show)
