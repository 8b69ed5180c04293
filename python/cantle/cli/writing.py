"""Where chunks go: the sink for a name, and a file of chunks that is there whole or not at all."""

from __future__ import annotations

from typing import IO, Any

from cantle import Chunks
from cantle.cli.carried import Carried
from cantle.cli.formats import TYPED, kind, packed
from cantle.cli.output import Csv, JsonLines, Sink
from cantle.cli.rows import Batch
from cantle.target import Target

_WRITTEN = ("jsonl", "csv", "tsv", *TYPED)


def written_as(path: str) -> tuple[str, str]:
    """Return format and compression of an output by its name; JSON Lines where it tells none.

    Raises:
        ValueError: Chunks cannot be written so; says why.
    """
    format, compression = kind(path)
    if format not in (*_WRITTEN, None, "text"):
        ways = ".jsonl .csv .tsv (also with .gz or .zst) .parquet .arrow"
        raise ValueError(f"chunks are written as {ways}")
    if format in TYPED and compression:
        raise ValueError(f"no {compression} around {format}: it compresses by itself")
    return ("jsonl" if format in (None, "text") else format), compression


class File(Sink):
    """A file of chunks, in the format its name tells."""

    def __init__(self, path: str, carried: Carried, settings: dict[str, Any]) -> None:
        """Open it beside its place.

        Raises:
            OSError: It cannot be written.
            Missing: The format needs an extra which is not installed.
        """
        format, compression = written_as(path)
        self._target = Target(path)
        try:
            self._stream = packed(self._target.stream, compression)
            self._sink = _sink(self._stream, format, carried, settings)
        except BaseException:
            self._target.discard()
            raise

    def write(self, chunks: Chunks, batch: Batch) -> None:
        """Write the chunks of a batch of documents."""
        self._sink.write(chunks, batch)

    def close(self) -> None:
        """Write what is still held."""
        self._sink.close()
        if self._stream is not self._target.stream:
            self._stream.close()

    def commit(self) -> None:
        """Move the file into its place."""
        self._target.commit()

    def discard(self) -> None:
        """Leave nothing behind, unless the file has been moved into its place."""
        self._sink.drop()
        self._target.discard()


def _sink(stream: IO[bytes], format: str, carried: Carried, settings: dict[str, Any]) -> Sink:
    if format in TYPED:
        from cantle.cli.arrow_output import (
            ArrowFile,
        )  # pyarrow is loaded for who writes such files.

        return ArrowFile(stream, format, carried, settings)
    if format == "jsonl":
        return JsonLines(stream, carried.own)
    return Csv(stream, "\t" if format == "tsv" else ",", carried)
