"""`cantle bench`: a corpus in, speed and memory out, beside other libraries."""

from __future__ import annotations

import json as json_format
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Annotated, Any

import typer

from cantle import units as unit_names
from cantle.bench import plot as pictures
from cantle.bench.corpus import Corpus
from cantle.bench.machine import cores, machine
from cantle.bench.peers import LIBRARIES, Library
from cantle.bench.rounds import Plan, described, results, run
from cantle.bench.table import table
from cantle.cli.cutting import batches
from cantle.cli.ending import end, forget_stdout, wrong
from cantle.cli.formats import Unreadable
from cantle.cli.inputs import Found, Problem, same_file
from cantle.cli.options import (
    FORMATS,
    READING,
    WRITING,
    check_models,
    check_target,
    found_inputs,
)
from cantle.cli.reading import read
from cantle.cli.report import Report
from cantle.cli.rows import Columns
from cantle.cli.settings import settings_of, versions
from cantle.cli.spool import spooled
from cantle.cli.target import is_folder, write_text
from cantle.strategies import Splitting, strategies_from_text
from cantle.strategies.text import unquoted_items

SCHEMA = 1
"""The number of the JSON's form: another one where a key changes its meaning or goes."""

_SHORT = 0.01
"""Seconds; what takes less is told with a warning."""


def bench(
    paths: Annotated[
        list[str],
        typer.Argument(metavar="PATH...", help="Files, folders, globs, or - for standard input."),
    ],
    strategies: Annotated[
        str,
        typer.Option(
            metavar="LIST",
            help="Strategies with commas between them, alone or with settings: "
            "name[:size[:overlap[:unit]]][,key=value...].",
            rich_help_panel="Measuring",
        ),
    ] = "recursive,sentence,window",
    units: Annotated[
        str,
        typer.Option(
            metavar="LIST",
            help="What sizes count, for strategies that name no unit: every unit that "
            "cantle chunk takes.",
            rich_help_panel="Measuring",
        ),
    ] = "cl100k_base,chars",
    size: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Most units in a chunk, where a strategy does not say.",
            rich_help_panel="Measuring",
        ),
    ] = None,
    overlap: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Most units that are repeated, where it does not say.",
            rich_help_panel="Measuring",
        ),
    ] = None,
    threads: Annotated[
        str,
        typer.Option(
            metavar="LIST",
            help="Numbers of threads; 0: one for each core.",
            rich_help_panel="Measuring",
        ),
    ] = "1,0",
    against: Annotated[
        str | None,
        typer.Option(
            metavar="LIST",
            help=f"Other libraries, or the beginnings of their names: {', '.join(LIBRARIES)}; "
            "all: those that are installed.",
            rich_help_panel="Measuring",
        ),
    ] = None,
    rounds: Annotated[
        int,
        typer.Option(
            min=1,
            max=1000,
            metavar="N",
            help="Rounds; the best one counts.",
            rich_help_panel="Measuring",
        ),
    ] = 3,
    peer_timeout: Annotated[
        float,
        typer.Option(
            min=1,
            metavar="SECONDS",
            help="End another library that takes longer.",
            rich_help_panel="Measuring",
        ),
    ] = 300,
    json: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Write all figures as JSON.", rich_help_panel=WRITING),
    ] = None,
    plot: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Draw bars of MB/s: .svg, or .html with it inside.",
            rich_help_panel=WRITING,
        ),
    ] = None,
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
    format: Annotated[
        str | None,
        typer.Option(
            metavar="FORMAT",
            help="What standard input is, and files whose names do not tell: "
            f"{', '.join(FORMATS)}.",
            rich_help_panel=READING,
        ),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="Read the first N documents only.", rich_help_panel=READING
        ),
    ] = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="No bar and no summary; problems are named.")
    ] = False,
) -> None:
    """Measure strategies on your own documents: speed, memory, other libraries beside.

    A Markdown table goes to standard output. What is read is what cantle chunk reads.

    \b
      cantle bench docs
      cantle bench docs --strategies window:512:64,sentence --units o200k_base --threads 1,2
      cantle bench 'pages/*.parquet' --limit 10000 --json bench.json --plot bench.svg
      cantle bench docs --strategies recursive --against chonkie,semchunk

    Every figure is taken in a new process, on strings made there, after a warm-up on other texts;
    rounds go in turns and the best counts. Peak memory is what a call adds to the corpus. p50 and
    p99 are of documents cut one at a time on one thread. The share of the tokenizer is the CPU time
    in which it counts the tokens of the same texts. Another library takes part where it has the
    same cut, unit and limit; its answers are checked, and what is wrong with them stands beside.

    Exit status: 0, all done; 1, something was skipped, not installed or wrong, or could not be
    written; 2, the call is wrong and nothing was done; 130, Ctrl-C.
    """
    numbers = list(dict.fromkeys(_threads(item) for item in _items("--threads", threads)))
    given = {"size": size, "overlap": overlap}
    settings = {key: value for key, value in given.items() if value is not None}
    asked = _questions(strategies, _items("--units", units), settings)
    for question in asked:
        check_models(question)
    libraries, missing = _libraries(against)
    if libraries and 1 not in numbers:
        numbers.insert(0, 1)  # Others have one thread, and are compared with that.
    columns = Columns("text" if column is None else column, id_column)
    found = found_inputs(paths, format, lines=not (column is id_column is None))
    for file in (json, plot):
        if file is not None and is_folder(file):
            wrong(f"cannot write {file}: it is a folder")
        check_target(file, found)
    if plot is not None and not plot.lower().endswith(pictures.ENDINGS):
        wrong(f"--plot ({plot!r}) must end in {' or '.join(pictures.ENDINGS)}")
    if json is not None and plot is not None and same_file(json, plot):
        wrong(f"cannot write {plot}: it is also the JSON")
    report = Report(quiet=quiet, strict=False)
    for library in missing:
        report.say(f"cantle: {library.package} is not installed: pip install {library.package}")
    try:
        with ExitStack() as stack:
            stack.callback(report.close)
            corpus = _corpus(found, columns, limit, report, stack)
            start = time.perf_counter()
            plan = Plan.of(corpus, asked, numbers, libraries)
            steps = _Steps(report, rounds * len(plan.all()))
            run(plan.all(), rounds, peer_timeout, steps.step)
            seconds = time.perf_counter() - start
    except Unreadable as error:
        end(report, 1, f"cannot read standard input: {error}")
    except OSError as error:
        end(report, 1, f"cannot write temporary files: {error.strerror or error}")
    except KeyboardInterrupt:
        end(report, 130, "interrupted")
    told: dict[str, Any] = {
        "schema": SCHEMA,
        "corpus": {
            "paths": paths,
            "documents": corpus.documents,
            "bytes": corpus.bytes,
            "longest_bytes": corpus.longest,
            "limited": report.limited,
            "skipped": dict(report.skipped.most_common()),
        },
        "machine": machine(),
        "versions": versions() | {library.package: library.version for library in libraries},
        "rounds": rounds,
        "strategies": [settings_of(question) for question in asked],
        "results": list(results(plan)),
        "unanswered": [
            {"library": library.package, "strategy": described(question), "unit": _unit(question)}
            for question, library in plan.unanswered
        ],
        "not_installed": [library.package for library in missing],
    }
    printed = _print(told)
    if json is not None:
        write_text(json, json_format.dumps(told, indent=2) + "\n")
    if plot is not None:
        draw = pictures.svg if plot.lower().endswith(".svg") else pictures.page
        title = f"Cutting {_corpus_line(told)}"
        write_text(plot, draw(told["results"], title, f"{_machine_line(told)}; {_versions(told)}"))
    if not printed:
        raise typer.Exit(141)
    if not quiet:
        for library in libraries:
            others = [item for item in told["unanswered"] if item["library"] == library.package]
            if others:
                words = ", ".join(f"{item['strategy']} {item['unit']}" for item in others)
                report.say(f"{library.package} does not answer {words}")
        report.say(f"{rounds * len(plan.all()):,} measurements in {seconds:.1f} s")
        if any((result["seconds"] or 1) < _SHORT for result in told["results"]):
            report.say("some took less than 10 ms: a larger corpus tells more")
        report.left_out()
    bad = any(r["failed"] or (r["faults"] and r["library"] == "cantle") for r in told["results"])
    raise typer.Exit(1 if bad or report.skipped or missing else 0)


class _Steps:
    """Counts the measurements for the bar."""

    def __init__(self, report: Report, total: int) -> None:
        self._report = report
        self._done = -1
        report.show_bar(total)

    def step(self, words: str) -> None:
        self._done += 1
        self._report.move_bar(self._done, words)


def _items(option: str, text: str) -> list[str]:
    try:
        items = unquoted_items(text, option)
    except ValueError as error:
        wrong(str(error))
    if not items:
        wrong(f"{option} ({text!r}) names none")
    return items


def _threads(text: str) -> int:
    if not text.isdecimal() or int(text) > 4096:
        wrong(f"--threads ({text!r}) must be whole numbers from 0 to 4096")
    return int(text) or cores()


def _questions(text: str, names: list[str], settings: dict[str, Any]) -> list[Splitting]:
    """Return every strategy with every unit; one that names its unit comes once."""
    found: dict[str, Splitting] = {}
    option = "--units"
    try:
        for name in names:
            option = "--units"
            unit = unit_names.resolve(name)
            option = "--strategies"
            for question in strategies_from_text(text, unit=unit, **settings):
                found.setdefault(question.fingerprint, question)
    except OSError as error:
        wrong(f"{option}: cannot read {error.filename or 'it'}: {error.strerror or error}")
    except (TypeError, ValueError, ImportError) as error:
        wrong(f"{option}: {error}")
    return list(found.values())


def _unit(question: Splitting) -> str:
    return unit_names.describe(unit_names.resolve(question.unit))


def _libraries(text: str | None) -> tuple[list[Library], list[Library]]:
    """Return the libraries that are named: those that are installed, and those that are not."""
    if text is None:
        return [], []
    named: dict[str, Library] = {}
    for item in _items("--against", text):
        if item == "all":
            named |= {name: found for name, found in LIBRARIES.items() if found.installed}
            continue
        match = [name for name in LIBRARIES if name.startswith(item)]
        if item not in match and len(match) != 1:
            wrong(f"--against ({item!r}) must be all or one of {', '.join(LIBRARIES)}")
        name = item if item in match else match[0]
        named[name] = LIBRARIES[name]
    there = [library for library in named.values() if library.installed]
    return there, [library for library in named.values() if not library.installed]


def _corpus(
    found: Found, columns: Columns, limit: int | None, report: Report, stack: ExitStack
) -> Corpus:
    """Return the documents, written where other processes read them."""
    report.others = found.others
    for problem in found.problems:
        report.problem(problem)
    sources = spooled(found.sources, stack, tables=False)
    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="cantle-"))

    def texts() -> Iterator[str]:
        for batch in batches(read(sources, columns), limit, report):
            for text, (file, line) in zip(batch.texts, batch.places, strict=True):
                try:
                    text.encode()
                except UnicodeEncodeError as error:
                    reason = f"a lone surrogate at character {error.start}"
                    report.problem(Problem(file, "cannot be cut", reason, line))
                else:
                    yield text

    corpus = Corpus.write(folder, texts())
    if not corpus.bytes:
        end(report, 1, "nothing to measure: there is no document with a text")
    return corpus


def _print(told: dict[str, Any]) -> bool:
    """Print the table; return whether its reader is still there."""
    text = (
        f"{_corpus_line(told)}, best of {told['rounds']}.  \n"
        f"{_machine_line(told)}.  \n{_versions(told)}.\n\n{table(told['results'])}"
    )
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        forget_stdout()
        return False
    return True


def _corpus_line(told: dict[str, Any]) -> str:
    corpus = told["corpus"]
    documents = f"{corpus['documents']:,} document{'' if corpus['documents'] == 1 else 's'}"
    return f"{documents} of {corpus['bytes'] / 1e6:,.2f} MB"


def _machine_line(told: dict[str, Any]) -> str:
    found = told["machine"]
    held = found["memory_bytes"]
    memory = "" if held is None else f", {held / 2**30:.0f} GiB"
    cores = f"{found['cores']} core{'' if found['cores'] == 1 else 's'}"
    return f"{found['cpu']}, {cores}{memory}, {found['os']}"


def _versions(told: dict[str, Any]) -> str:
    return ", ".join(f"{name} {version}" for name, version in told["versions"].items())
