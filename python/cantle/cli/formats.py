"""What a file is, by its name, and how it is opened; what a format needs that is not installed.

A format is one word; a name may end in `.gz` or `.zst` behind the format's own ending.
"""

from __future__ import annotations

import gzip
import importlib
import io
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any, cast

ENDINGS = {
    "text": (".md", ".markdown", ".rst", ".text", ".txt"),
    "html": (".html", ".htm", ".xhtml"),
    "jsonl": (".jsonl", ".ndjson"),
    "csv": (".csv",),
    "tsv": (".tsv",),
    "parquet": (".parquet",),
    "arrow": (".arrow", ".feather", ".ipc"),
    "document": (".pdf", ".docx", ".pptx", ".xlsx"),
}
GZIP, ZSTD = ".gz", ".zst"
TYPED = ("parquet", "arrow")
"""Formats whose columns have types."""
TABLES = ("csv", "tsv", *TYPED)
"""Formats whose columns are known before their rows."""
WHOLE = ("text", "html", "document")
"""Formats of which a file is one document."""
KNOWN = tuple(ending for endings in ENDINGS.values() for ending in endings)


class Unreadable(Exception):
    """A file, or the rest of it, that cannot be read; says why."""


class Missing(Unreadable):
    """A format that needs an extra which is not installed."""

    def __init__(self, what: str, extra: str) -> None:
        """Say what needs which extra."""
        super().__init__(f'{what} needs more packages: pip install "cantle[{extra}]"')


def kind(path: str) -> tuple[str | None, str]:
    """Return the format that a name tells, if it tells one, and its compression or nothing."""
    name = path.lower()
    compression = next((c for c in (GZIP, ZSTD) if name.endswith(c)), "")
    name = name.removesuffix(compression)
    for format, endings in ENDINGS.items():
        if name.endswith(endings):
            return format, compression
    return None, compression


def needed(module: str, what: str, extra: str) -> Any:
    """Return a module of an extra.

    Raises:
        Missing: It is not installed.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if not module.startswith(error.name or "?"):
            raise
        raise Missing(what, extra) from None


def zstd() -> Any:
    """Return the module for Zstandard: the standard library's, or its backport."""
    try:
        return importlib.import_module("compression.zstd")  # Python 3.14 and later.
    except ModuleNotFoundError:
        return needed("backports.zstd", "Zstandard (.zst)", "cli")


def opened(path: str, compression: str) -> IO[bytes]:
    """Return a file's bytes, decompressed as they are read."""
    if compression and os.path.isfile(path) and not os.path.getsize(path):
        raise EOFError  # Python's gzip takes it for the text that is empty.
    if compression == GZIP:
        return cast(IO[bytes], gzip.open(path, "rb"))
    if compression == ZSTD:
        return cast(IO[bytes], zstd().open(path, "rb"))
    return open(path, "rb")


def packed(stream: IO[bytes], compression: str) -> IO[bytes]:
    """Return a stream that compresses into `stream`; the same bytes for the same input."""
    if compression == GZIP:
        return io.BufferedWriter(gzip.GzipFile("", "wb", 6, stream, mtime=0), 1 << 16)
    if compression == ZSTD:
        return cast(IO[bytes], zstd().ZstdFile(stream, "wb"))
    return stream


@contextmanager
def told() -> Iterator[None]:
    """Turn what may go wrong in reading into `Unreadable`, in words of one line."""
    try:
        yield
    except MemoryError:
        raise Unreadable("there is not enough memory for it") from None
    except EOFError:
        raise Unreadable("the compressed data ends early") from None
    except zlib.error:
        raise Unreadable("the gzip data is damaged") from None
    except gzip.BadGzipFile as error:
        raise Unreadable(_damaged(error, "gzip")) from None
    except OSError as error:
        raise Unreadable(error.strerror or _line(error)) from None
    except Exception as error:
        # Libraries that are loaded only where they are used are known by name.
        library = type(error).__module__.partition(".")[0]
        if type(error).__name__ == "ZstdError":
            raise Unreadable(_damaged(error, "Zstandard")) from None
        if library == "pyarrow":
            raise Unreadable(_line(error)) from None
        raise


def _damaged(error: Exception, name: str) -> str:
    empty = "not" in str(error).lower() or "unknown frame" in str(error).lower()
    return f"it is not {name}" if empty else f"the {name} data is damaged"


def _line(error: Exception) -> str:
    """Return an error's first sentence."""
    text = " ".join(str(error).split()) or type(error).__name__
    return os.fsencode(text.partition(". ")[0].rstrip(".")).decode("utf-8", "backslashreplace")
