"""What the options of more than one command mean: the inputs, and the files that are written."""

from __future__ import annotations

from collections.abc import Sequence

from cantle.cli.ending import wrong
from cantle.cli.formats import ENDINGS
from cantle.cli.inputs import STDIN, Found, find, same_file
from cantle.cli.target import is_folder, target_problem

FORMATS = tuple(format for format in ENDINGS if format != "document")
"""What `--format` takes."""
READING = "Reading"
"""The group of options that say what is read."""
WRITING = "Writing"
"""The group of options that say what is written."""


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
