"""What the options of more than one command mean: the inputs, and the files that are written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from cantle import Llm
from cantle.cli.ending import wrong
from cantle.cli.formats import ENDINGS
from cantle.cli.inputs import STDIN, Found, find, same_file
from cantle.cli.target import is_folder, target_problem
from cantle.embed.door import Embedder
from cantle.embed.named import resolve
from cantle.strategies import Splitting
from cantle.strategies.meaning import ByMeaning

FORMATS = tuple(format for format in ENDINGS if format != "document")
"""What `--format` takes."""
READING = "Reading"
"""The group of options that say what is read."""
WRITING = "Writing"
"""The group of options that say what is written."""
CUTTING = "Cutting"
"""The group of options that say how documents are cut."""

Paths = Annotated[
    list[str],
    typer.Argument(metavar="PATH...", help="Files, folders, globs, or - for standard input."),
]
Strategies = Annotated[
    str,
    typer.Option(
        metavar="LIST",
        help="Strategies to compare, with commas between them, alone or with settings.",
        rich_help_panel=CUTTING,
    ),
]
Size = Annotated[
    int, typer.Option(metavar="N", help="Most units in a chunk.", rich_help_panel=CUTTING)
]
Overlap = Annotated[
    int,
    typer.Option(
        metavar="N", help="Most units a chunk repeats from the one before.", rich_help_panel=CUTTING
    ),
]
Unit = Annotated[
    str,
    typer.Option(metavar="UNIT", help="What sizes count, as for chunk.", rich_help_panel=CUTTING),
]
Json = Annotated[
    str | None,
    typer.Option(
        metavar="FILE", help="Write all as JSON; - is standard output.", rich_help_panel=WRITING
    ),
]
Column = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="The column of tables that holds the text (text).",
        rich_help_panel=READING,
    ),
]
IdColumn = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="The column of tables that holds the id.", rich_help_panel=READING
    ),
]
Format = Annotated[
    str | None,
    typer.Option(
        metavar="FORMAT",
        help="What standard input is, and files whose names do not tell: "
        + ", ".join(FORMATS)
        + ".",
        rich_help_panel=READING,
    ),
]
Limit = Annotated[
    int | None,
    typer.Option(
        min=1, metavar="N", help="Read the first N documents only.", rich_help_panel=READING
    ),
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="No bar and no summary; problems are named.")
]
Jobs = Annotated[
    int, typer.Option("--jobs", "-j", min=0, max=4096, metavar="N", help="Threads; 0: all cores.")
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Write and embed nothing; say what would be done.")
]
Price = Annotated[
    float | None,
    typer.Option(min=0, metavar="N", help="With --dry-run: the price of a million units embedded."),
]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print what was done as JSON on standard output.")
]
StoresEmbedder = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="The store's embedder, where it has no name."),
]


def found_inputs(
    paths: Sequence[str], format: str | None, *, lines: bool, target: str | None = None
) -> Found:
    """Return the inputs; standard input is JSON Lines where columns are named (`lines`)."""
    if format is not None and format not in FORMATS:
        wrong(f"--format ({format!r}) must be one of {', '.join(FORMATS)}")
    stdin = format or ("jsonl" if lines else "text")
    return find(paths, format=format or "text", stdin=stdin, target=target)


def check_target(file: str | None, found: Found) -> None:
    """End a call that would write over an input, or where nothing can be written."""
    if file is None:
        return
    if any(s.path != STDIN and same_file(s.path, file) for s in found.sources):
        wrong(f"cannot write {file}: it is also an input")
    if is_folder(file) and any(source.path == STDIN for source in found.sources):
        wrong(f"cannot write {file}: what came on standard input does not come again")
    if reason := target_problem(file):
        wrong(f"cannot write {file}: {reason}")


def named_embedder(name: str | None) -> Embedder | None:
    """Return the embedder of `--embedder`; end the call where there is none of that name."""
    try:
        return None if name is None else resolve(name)
    except ValueError as error:
        wrong(f"--{error}")
    except ImportError as error:
        wrong(str(error))


def check_models(splitter: Splitting) -> None:
    """End the call where a strategy's model is not there, before anything is read."""
    try:
        if isinstance(splitter, Llm):
            splitter.check()
        elif isinstance(splitter, ByMeaning):
            resolve(splitter.embedder)([])
    except (ImportError, ValueError, OSError) as error:
        wrong(str(error))
