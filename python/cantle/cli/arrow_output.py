"""Chunks to Parquet and Arrow files, a bounded number of rows at a time."""

from __future__ import annotations

import json
from typing import IO, Any

from cantle import Chunks
from cantle.chunk import CLAUSE
from cantle.cli.carried import EMBEDDED, LOCATED, OWN, Carried
from cantle.cli.formats import Missing
from cantle.cli.output import Sink, text_columns, written
from cantle.cli.rows import Batch

try:
    import pyarrow as pa
    import pyarrow.parquet as pq

    from cantle.cli.arrow_reading import as_text
except ModuleNotFoundError as error:
    if (error.name or "").partition(".")[0] != "pyarrow":
        raise
    raise Missing("Parquet and Arrow", "arrow") from None

_ROWS = 122_880
_BYTES = 32_000_000
"""A row group, or a record batch, is written when one of the two is reached."""
_TYPES = {
    **dict.fromkeys((*OWN, *LOCATED), pa.int64()),
    **dict.fromkeys(("id", "source", "kind", "context", *CLAUSE), pa.string()),
    **dict.fromkeys(("text", EMBEDDED), pa.large_string()),
    **{"level": pa.int32(), "parent_id": pa.string()},
    **{"ordinal": pa.int32(), "flags": pa.uint32(), "heading_path": pa.list_(pa.string())},
}
"""The types of a chunk's own columns, where it has them."""


class ArrowFile(Sink):
    """Writes one row a chunk, to Parquet or to Arrow's file format."""

    def __init__(
        self, stream: IO[bytes], format: str, carried: Carried, settings: dict[str, Any]
    ) -> None:
        """Write to an open stream; `settings` go into the file, under the key `cantle`."""
        types = [pa.string() if t is None else t for t in carried.types.values()]
        types += [pa.string()] * carried.rest
        own = [(name, _TYPES[name]) for name in carried.own]
        fields = [*own, *zip(carried.names(), types, strict=True)]
        self._carried = carried
        self._schema = pa.schema(fields, {"cantle": json.dumps(settings)})
        self._held: list[Any] = []
        self._rows = self._bytes = 0
        self._writer: Any
        self._parquet = format == "parquet"
        if self._parquet:
            # Ids and texts are all different.
            repeating = [name for name in carried.own if name in ("source", "kind", "context")]
            repeating += carried.names()
            self._writer = pq.ParquetWriter(
                stream, self._schema, compression="zstd", use_dictionary=repeating
            )
        else:
            self._writer = pa.ipc.new_file(stream, self._schema)

    def write(self, chunks: Chunks, batch: Batch) -> None:
        """Take the chunks of some documents, and write what has gathered."""
        for level in written(chunks, self._carried.own) if len(chunks) else ():
            own = own_columns(level, self._carried.own)
            columns = [*own, *self._carry(level, batch)]
            table = pa.Table.from_arrays(columns, schema=self._schema)
            self._held.append(table)
            self._rows += table.num_rows
            self._bytes += table.nbytes
        if self._rows >= _ROWS or self._bytes >= _BYTES:
            self._flush()

    def close(self) -> None:
        """Write what is held, and the file's end."""
        self._flush()
        self._writer.close()

    def drop(self) -> None:
        """Write no more, not even the end, which the writer would do when it is collected."""
        self._held = []
        if self._parquet:
            self._writer.is_open = False

    def _flush(self) -> None:
        if self._held:
            table = pa.concat_tables(self._held)
            self._held = []
            self._rows = self._bytes = 0
            self._writer.write_table(table if self._parquet else table.combine_chunks())

    def _carry(self, chunks: Chunks, batch: Batch) -> list[Any]:
        """Return the carried columns: those of the documents, repeated for their chunks."""
        doc = pa.array(chunks.doc, pa.int64())
        if batch.carried is None:
            columns = text_columns(batch.metadata or [{}] * len(batch), self._carried)
            types = [*self._carried.types.values(), *[None] * self._carried.rest]
            return [
                pa.array(column, type or pa.string()).take(doc)
                for column, type in zip(columns, types, strict=True)
            ]
        columns = []
        for name, type in self._carried.types.items():
            if name in batch.carried.column_names:
                column = batch.carried.column(name)
                column = as_text(column) if type is None else column.cast(type)
                columns.append(column.take(doc))
            else:
                columns.append(pa.nulls(len(chunks), pa.string() if type is None else type))
        return columns + [pa.nulls(len(chunks), pa.string())] * self._carried.rest


def own_columns(chunks: Chunks, names: tuple[str, ...] = OWN) -> list[Any]:
    """Return the own columns of chunks that have these names."""
    table = pa.table(chunks)
    # What a strategy does not know of these documents is not there.
    made = {name for name in names if name == EMBEDDED or name not in table.column_names}
    rest = {name: _listed(chunks, name) for name in made}
    return [
        pa.chunked_array([pa.array(rest[name], _TYPES[name])])
        if name in made
        else table.column(name).cast(_TYPES[name])
        for name in names
    ]


def _listed(chunks: Chunks, name: str) -> list[Any]:
    if name == EMBEDDED:
        return chunks.embed_texts
    if name == "level":
        return [chunks.level_number] * len(chunks)
    if name == "parent_id":
        return chunks.parent_ids
    if name in LOCATED:
        column: list[Any] = getattr(chunks, name).tolist()
        return column
    return [getattr(chunk, name) or None for chunk in chunks]
