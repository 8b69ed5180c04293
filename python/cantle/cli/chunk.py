"""`cantle chunk`: documents in, chunks out."""

from __future__ import annotations

import math
import sys
from typing import Annotated, Any

import typer

from cantle import strategy_from_text, units
from cantle.chat import Model, resolve_model
from cantle.cli.checking import Checking
from cantle.cli.ending import wrong
from cantle.cli.estimate import check_estimate, run_estimate
from cantle.cli.formats import TYPED
from cantle.cli.inputs import STDIN, as_table, as_written, same_file
from cantle.cli.job import Job
from cantle.cli.options import (
    FORMATS,
    READING,
    WRITING,
    Jobs,
    Quiet,
    check_models,
    check_target,
    found_inputs,
    named_embedder,
)
from cantle.cli.report import Report
from cantle.cli.rows import Columns
from cantle.cli.target import is_folder, write_summary
from cantle.cli.writing import written_as
from cantle.strategies import Splitting
from cantle.strategies.text import REGISTRY


def chunk(
    paths: Annotated[
        list[str],
        typer.Argument(metavar="PATH...", help="Files, folders, globs, or - for standard input."),
    ],
    strategy: Annotated[
        str,
        typer.Option(
            "--strategy",
            "-s",
            metavar="TEXT",
            help="whole, window, recursive, sentence, structural, rows, clauses, routed, semantic, "
            "optimal, documentbased, llm, hierarchical or nested, alone or with settings: "
            "name[:size[:overlap[:unit]]][,key=value...], as in window:60:12:words. The options "
            "below fill in what it leaves out; a setting given in "
            "both ways must be the same.",
            rich_help_panel="Cutting",
        ),
    ] = "recursive",
    size: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Most units in a chunk, overlap included (512).",
            rich_help_panel="Cutting",
        ),
    ] = None,
    overlap: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Most units a chunk repeats from the one before (0).",
            rich_help_panel="Cutting",
        ),
    ] = None,
    unit: Annotated[
        str | None,
        typer.Option(
            metavar="UNIT",
            help="What sizes count: bytes, chars, words, a vocabulary such as o200k_base or gpt2, "
            "a model such as text-embedding-3-small, or the path of a tokenizer.json "
            "(cl100k_base).",
            rich_help_panel="Cutting",
        ),
    ] = None,
    min_size: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Merge a smaller chunk with a neighbour where size allows.",
            rich_help_panel="Cutting",
        ),
    ] = None,
    prefix: Annotated[
        str | None,
        typer.Option(
            metavar="TEMPLATE",
            help="For structural, clauses, rows, semantic, optimal and documentbased: what stands "
            "before a chunk when it is embedded, so that both keep the size, as in "
            "'{title} > {path}' (path: the usual one). It is written with the text in the column "
            "embed_text.",
            rich_help_panel="Cutting",
        ),
    ] = None,
    embedder: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="For semantic, optimal, documentbased and hierarchical: static, the word vectors "
            "of cantle[embed] (the default), minilm, the folder of an ONNX or model2vec model, "
            "openai:MODEL or openai:MODEL@URL, an OpenAI-compatible server, or "
            "keyword:TOPIC|TOPIC, counts of words.",
            rich_help_panel="Cutting",
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="For llm: openai:MODEL or openai:MODEL@URL, a language model behind an "
            "OpenAI-compatible server; the key is in OPENAI_API_KEY.",
            rich_help_panel="Cutting",
        ),
    ] = None,
    estimate: Annotated[
        bool,
        typer.Option(
            "--estimate",
            help="Cut nothing: say how many texts, units and calls of a model finding the borders "
            "takes, and with --price what it costs.",
            rich_help_panel="Cutting",
        ),
    ] = False,
    price: Annotated[
        float | None,
        typer.Option(
            min=0,
            metavar="N",
            help="With --estimate: the price of a million units.",
            rich_help_panel="Cutting",
        ),
    ] = None,
    raw: Annotated[
        bool,
        typer.Option(
            "--raw",
            help="Cut HTML as it is written, tags and all; by strategies that know no structure.",
            rich_help_panel=READING,
        ),
    ] = False,
    no_trim: Annotated[
        bool,
        typer.Option(
            "--no-trim",
            help="Keep the blanks around chunks: they tile the text.",
            rich_help_panel="Cutting",
        ),
    ] = False,
    name: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The name in the chunks' ids (the strategy's).",
            rich_help_panel="Cutting",
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write .jsonl, .csv, .tsv (also with .gz or .zst), .parquet or .arrow; - is JSON "
            "Lines on standard output. The file is replaced when all is done, or stays as it was. "
            "FOLDER/ is filled with Parquet files; a run that was stopped goes on from there.",
            rich_help_panel=WRITING,
        ),
    ] = None,
    table: Annotated[
        bool,
        typer.Option(
            "--table",
            help="Print the table also with -o FILE, or to no terminal.",
            rich_help_panel=WRITING,
        ),
    ] = False,
    column: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The column of tables that holds the text (text).",
            rich_help_panel=READING,
        ),
    ] = None,
    id_column: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="The column of tables that holds the id.", rich_help_panel=READING
        ),
    ] = None,
    carry: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="The columns that go with the chunks, as in author,year (all with one value a "
            "row, and all keys of JSON Lines).",
            rich_help_panel=READING,
        ),
    ] = None,
    format: Annotated[
        str | None,
        typer.Option(
            metavar="FORMAT",
            help="What standard input is, and files whose names do not tell: "
            f"{', '.join(FORMATS)}.",
            rich_help_panel=READING,
        ),
    ] = None,
    jobs: Jobs = 0,
    limit: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="Read the first N documents only.", rich_help_panel=READING
        ),
    ] = None,
    check: Annotated[
        bool,
        typer.Option(
            "--check",
            help="Leave out chunks that should not be embedded, and say which and why: those of "
            "fewer than --min-chars characters, and those over --max-tokens.",
            rich_help_panel="Checking",
        ),
    ] = False,
    min_chars: Annotated[
        int | None,
        typer.Option(
            min=0,
            metavar="N",
            help="With --check: the fewest characters (20).",
            rich_help_panel="Checking",
        ),
    ] = None,
    max_tokens: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="With --check: the most tokens that the embedding model takes, what stands before "
            "a chunk and the model's special tokens included.",
            rich_help_panel="Checking",
        ),
    ] = None,
    model_unit: Annotated[
        str | None,
        typer.Option(
            metavar="UNIT",
            help="With --check: the model's tokenizer, as for --unit (that of the chunks).",
            rich_help_panel="Checking",
        ),
    ] = None,
    summary: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Write counts, settings and versions as JSON.",
            rich_help_panel=WRITING,
        ),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Stop at the first input that cannot be read.")
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Cut documents into chunks.

    Chunks are shown as a table on a terminal; elsewhere they are JSON Lines.

    \b
      cantle chunk README.md
      cantle chunk docs --size 256 --overlap 32
      cantle chunk 'docs/**/*.md' --strategy sentence --unit words -o chunks.jsonl
      cantle chunk notes.txt --strategy window:60:12:words
      cantle chunk docs --strategy structural,depth=2 --prefix path
      cantle chunk kb --strategy routed,sources=sources.toml -o chunks.parquet
      cantle chunk contract.txt --strategy clauses --size 300 --table
      cantle chunk 'src/**/*.py' --strategy structural -o code.jsonl
      cantle chunk notes.txt --strategy semantic --embedder static --estimate
      cantle chunk notes.txt -s llm --model openai:llama3.2@http://localhost:11434/v1
      cantle chunk notes.txt --strategy hierarchical:128,parent_sizes=2048/512 -o levels.jsonl
      cantle chunk faq.jsonl --column answer --id-column key -o - | head -3
      cantle chunk 'pages/*.parquet' --carry url,date -o chunks.parquet
      curl -s https://example.org/notes.txt | cantle chunk - --size 200
      curl -s https://example.org/ | cantle chunk - --format html --strategy structural

    Read are .txt .md .rst, .html (its readable text), .jsonl .csv .tsv .parquet .arrow (one
    document a row; with a header of column names, or named columns), each also with .gz or .zst,
    and .pdf .docx .pptx .xlsx with the extra cantle[docs]. To rows and routed a file of CSV or TSV
    is one document, unless --column or --id-column is given. Source code, and what else tells no
    format by its ending, is read where it is named or matched by a glob: as text, or what --format
    says. Standard input is text, or JSON Lines when --column, --id-column or --carry is given, or
    what --format says. Parquet and Arrow need the extra cantle[arrow].

    A document's id is its path below the folder that was given; a row's is file:line. A chunk's is
    document_name_number. Of hierarchical and nested all three levels are written, with the columns
    level (1 is the largest) and parent_id; counts are those of level 3.

    Exit status: 0, all done; 1, something was skipped, a chunk was over --max-tokens, --strict
    stopped, or writing failed; 2, the call is wrong and nothing was done; 130, Ctrl-C.
    """
    options: dict[str, Any] = {"size": size, "overlap": overlap, "unit": unit, "min_size": min_size}
    options |= {"name": name, "prefix": prefix, "embedder": named_embedder(embedder)}
    options |= {"model": _model(model)}
    given: dict[str, Any] = {key: value for key, value in options.items() if value is not None}
    if no_trim:
        given["trim"] = False
    splitter = _strategy(strategy, given)
    if price is not None and not estimate:
        wrong("--price means nothing without --estimate")
    if price is not None and not math.isfinite(price):
        wrong(f"--price ({price}) must be a number")
    if estimate:
        unused = {"-o": output, "--summary": summary, "--check": check or None}
        check_estimate(splitter, unused | {"--table": table or None})
    else:
        check_models(splitter)
    checking = _checking(check, min_chars, max_tokens, model_unit, splitter)
    file = None if output == STDIN else output
    if table and output == STDIN:
        wrong("--table and -o - both write to standard output")
    if file is None and sys.__stdout__ is None:
        wrong("cannot write standard output: it is closed", 1)
    format_out = None if file is None else _written_as(file)
    typed = format_out in TYPED
    names = None if carry is None else tuple(name for name in carry.split(",") if name)
    columns = Columns("text" if column is None else column, id_column, names, typed)
    lines = not (column is id_column is carry is None)
    found = found_inputs(paths, format, lines=lines, target=file)
    check_target(file, found)
    check_target(summary, found)
    if file is not None and summary is not None and same_file(file, summary):
        wrong(f"cannot write {summary}: it is also the output")
    if raw:
        if splitter.strategy in ("structural", "rows", "clauses", "routed", "documentbased"):
            wrong(f"--raw means nothing to {splitter.strategy}: it cuts the readable text of HTML")
        found.sources = [as_written(source) for source in found.sources]
    if splitter.strategy in ("rows", "routed") and column is id_column is None:
        # The rows are what is cut: a table is one document.
        found.sources = [as_table(source) for source in found.sources]
    report = Report(quiet=quiet, strict=strict)
    if estimate:
        raise typer.Exit(
            run_estimate(splitter, found, columns, report, price, threads=jobs, limit=limit)
        )
    table = table or (output is None and sys.stdout.isatty())
    job = Job(splitter, found, columns, report, file, format_out, table, jobs, limit, checking)
    job.run()
    report.summary(units.describe(units.resolve(splitter.unit)))
    if summary is not None:
        write_summary(summary, report.as_dict() | {"output": output, "settings": job.settings})
    raise typer.Exit(1 if report.skipped or report.failed else 0)


def _strategy(text: str, options: dict[str, Any]) -> Splitting:
    """Return the strategy; options fill in what the text leaves out, and may not contradict it."""
    try:
        if "unit" in options:
            options["unit"] = units.resolve(options["unit"])
    except OSError as error:
        wrong(f"unit: cannot read {error.filename or 'it'}: {error.strerror or error}")
    except (TypeError, ValueError, ImportError) as error:
        wrong(str(error))
    try:
        splitter = strategy_from_text(text, **options)
    except OSError as error:
        reason = f"cannot read {error.filename or 'it'}: {error.strerror or error}"
        wrong(f"strategy ({text!r}): {reason}")
    except (TypeError, ValueError, ImportError) as error:
        wrong(str(error))
    for key, value in options.items():
        option = "--no-trim" if key == "trim" else f"--{key.replace('_', '-')}"
        if not hasattr(splitter, key):
            takers = [name for name, one in REGISTRY.items() if hasattr(one, key)]
            wrong(f"{option} means nothing to {splitter.strategy}, but to {', '.join(takers)}")
        built = getattr(splitter, key)
        if (units.resolve(built) if key == "unit" else built) != value:
            wrong(f"{option} and --strategy {text!r} set {key} to different values")
    return splitter


def _model(name: str | None) -> Model | None:
    try:
        return None if name is None else resolve_model(name)
    except ValueError as error:
        wrong(f"--{error}")


def _checking(
    asked: bool,
    min_chars: int | None,
    max_tokens: int | None,
    unit: str | None,
    splitter: Splitting,
) -> Checking | None:
    """Return what chunks have to keep."""
    options = {"--min-chars": min_chars, "--max-tokens": max_tokens, "--model-unit": unit}
    if not asked:
        for option, value in options.items():
            if value is not None:
                wrong(f"{option} means nothing without --check")
        return None
    try:
        resolved = None if unit is None else units.resolve(unit)
        if max_tokens is not None and resolved is None:
            resolved = units.resolve(splitter.unit)
            if resolved in units.PLAIN:
                wrong(f"--max-tokens needs --model-unit: chunks are counted in {resolved}")
    except OSError as error:
        wrong(f"--model-unit: cannot read {error.filename or 'it'}: {error.strerror or error}")
    except (TypeError, ValueError) as error:
        wrong(f"--model-unit: {error}")
    return Checking(max_tokens, 20 if min_chars is None else min_chars, resolved)


def _written_as(file: str) -> str:
    try:
        if is_folder(file):
            return "parquet"
        return written_as(file)[0]
    except ValueError as error:
        wrong(f"cannot write {file}: {error}")
