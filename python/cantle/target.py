"""A file that is written whole or not at all."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from contextlib import suppress
from functools import lru_cache
from typing import IO

from cantle.digest import digest


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
        begins = f"{_begins(name)}{os.getpid()}."
        try:
            number, self._beside = tempfile.mkstemp(".tmp", begins, folder)
        except OSError as error:
            error.filename = self.path  # Of the file beside it nobody knows.
            raise
        self.stream = os.fdopen(number, "wb")

    @property
    def place(self) -> str:
        """Where the bytes are until `commit`."""
        return self._beside or self.path

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


def sweep(path: str | os.PathLike[str]) -> None:
    """Remove what processes left beside a file that were killed while they wrote it.

    What a living process writes stays, and so does everything where that cannot be told.
    """
    if os.name != "posix":
        return
    folder, name = os.path.split(os.path.realpath(path))
    # Nothing else: what stands beside `index.12` is not beside `index`.
    left = re.compile(rf"{re.escape(_begins(name))}([0-9]+)\.[^.]+\.tmp")
    with suppress(OSError):
        for entry in os.scandir(folder):
            found = left.fullmatch(entry.name)
            if found and not _lives(int(found[1])):
                with suppress(OSError):
                    os.unlink(entry.path)


def _begins(name: str) -> str:
    """Return how the names of files begin that stand beside one until they are whole."""
    # So many bytes: that is what file systems count.
    short = os.fsencode(name)[:100].decode(errors="ignore")
    return f".{short}.{_home()}-"


@lru_cache(1)
def _home() -> str:
    """Return what tells where processes have their numbers: machines and containers share folders.

    Of one that is somewhere else it cannot be told whether it lives.
    """
    told = [os.uname().nodename] if hasattr(os, "uname") else []
    with suppress(OSError):
        told.append(os.readlink("/proc/self/ns/pid"))
    return digest("/".join(told).encode(), 4)


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
