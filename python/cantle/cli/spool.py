"""Standard input as a file, for formats that must be sought in or looked at before the run."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import replace

from cantle.cli.formats import TABLES, TYPED, told
from cantle.cli.inputs import STDIN, Source


def spooled(sources: Iterable[Source], stack: ExitStack, *, tables: bool) -> list[Source]:
    """Return the sources, standard input copied to a temporary file where it must be one.

    Args:
        sources: The sources.
        stack: Closes, and so removes, the file.
        tables: Whether CSV must be one too: its columns are asked for before the run.

    Raises:
        Unreadable: It cannot be copied.
    """
    formats = TABLES if tables else TYPED
    found = []
    for source in sources:
        if source.path == STDIN and source.format in formats:
            with told():
                folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="cantle-"))
                path = os.path.join(folder, "stdin")
                with open(path, "wb") as file:
                    shutil.copyfileobj(sys.stdin.buffer, file, 1 << 20)
            source = replace(source, path=path)
        found.append(source)
    return found
