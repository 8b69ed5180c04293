"""A file that is written whole or not at all, and what is written in one piece."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from contextlib import suppress
from typing import IO, Any

import typer

from cantle.cli.settings import versions


class Target:
    """A file that is there whole or not at all: written beside its place, then moved into it.

    What is no regular file, such as `/dev/null`, is written directly.
    """

    def __init__(self, path: str) -> None:
        """Open the file beside it.

        Raises:
            OSError: It cannot be written.
        """
        self.path = os.path.realpath(path)
        self._beside: str | None = None
        if os.path.lexists(self.path) and not os.path.isfile(self.path):
            self.stream: IO[bytes] = open(self.path, "wb")  # noqa: SIM115
            return
        folder, name = os.path.split(self.path)
        number, self._beside = tempfile.mkstemp(".tmp", f".{name[:100]}.", folder)
        self.stream = os.fdopen(number, "wb")

    def commit(self) -> None:
        """Move the file into its place."""
        self.stream.flush()
        if self._beside is not None:
            os.fsync(self.stream.fileno())
        self.stream.close()
        if self._beside is not None:
            if os.path.exists(self.path):
                shutil.copymode(self.path, self._beside)
            else:
                os.chmod(self._beside, 0o666 & ~_umask())
            os.replace(self._beside, self.path)
            self._beside = None

    def discard(self) -> None:
        """Leave nothing behind, unless the file has been moved into its place."""
        with suppress(OSError):
            self.stream.close()
        if self._beside is not None:
            with suppress(OSError):
                os.unlink(self._beside)
            self._beside = None


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


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


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
