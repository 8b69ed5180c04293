"""Where a command writes to, and what is written in one piece."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import typer

from cantle.cli.settings import versions
from cantle.target import Target


def write_summary(file: str, summary: dict[str, Any]) -> None:
    """Write the summary of a run, with versions, as JSON."""
    write_text(file, json.dumps(summary | {"versions": versions()}, indent=2) + "\n")


def write_text(file: str, text: str) -> None:
    """Write a text; where that cannot be done, the process ends with a message."""
    try:
        target = Target(file)
        try:
            target.stream.write(text.encode())
            target.commit()
        finally:
            target.discard()
    except OSError as error:
        print(f"cantle: cannot write {file}: {error.strerror or error}", file=sys.stderr)
        raise typer.Exit(1) from None


def is_folder(file: str) -> bool:
    """Return whether a target is a folder of parts."""
    return file.endswith(("/", os.sep))


def target_problem(path: str) -> str | None:
    """Return why nothing can be written to `path`, if that shows before it is tried.

    A path that ends in a slash is a folder, and may be there or not.
    """
    bare = path.rstrip("/" + os.sep)
    folder = os.path.dirname(bare) or ("." if bare else "/")
    if path != bare:
        if os.path.lexists(bare) and not os.path.isdir(bare):
            return "it is no folder"
    elif os.path.isdir(path):
        return f"it is a folder; {path}/ is one to fill with Parquet files"
    if not os.path.isdir(folder):
        return f"there is no folder {folder}"
    return None
