"""Parquet and Arrow files to batches of documents, a bounded number of rows at a time.

Parquet is read by row groups, and within them by pages; Arrow by its record batches, mapped into
memory. Both need a file that can be sought in: a compressed one is unpacked to a temporary one.
"""

from __future__ import annotations

import base64
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from typing import IO, Any

from cantle.cli.formats import Missing, Unreadable, opened
from cantle.cli.inputs import Problem, Source
from cantle.cli.rows import Batch, Columns, Ids, Skip, kind

try:
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq
except ModuleNotFoundError as error:
    if (error.name or "").partition(".")[0] != "pyarrow":
        raise
    raise Missing("Parquet and Arrow", "arrow") from None

ROWS = 10_000
"""Rows of a batch at most."""
_BYTES = 4_000_000
"""Bytes of text in a batch, about; fewer rows where they are long."""
_MAGIC = b"ARROW1"


def batches(source: Source, columns: Columns, ids: Ids) -> Iterator[Batch | Problem]:
    """Yield the rows of a file as batches of documents.

    Raises:
        Skip: Its columns are not what is asked for.
    """
    with ExitStack() as stack:
        _, parts = _open(source, stack, columns)
        first = 1
        for part in parts:
            yield from _batch(part, first, source, columns, ids)
            first += part.num_rows


def types(source: Source, columns: Columns) -> dict[str, Any]:
    """Return the carried columns of a file, each with its type.

    Raises:
        Skip: The file's columns are not what is asked for.
    """
    with ExitStack() as stack:
        schema, _ = _open(source, stack, columns)
        kinds = {name: schema.field(name).type for name in _carried(schema, columns)}
    return {k: t.value_type if pa.types.is_dictionary(t) else t for k, t in kinds.items()}


def _open(source: Source, stack: ExitStack, columns: Columns) -> tuple[Any, Iterator[Any]]:
    """Return a file's schema and its rows, the columns in use only."""
    file = _sought(source, stack)
    if source.format == "parquet":
        # A buffer instead of whole column chunks.
        parquet = pq.ParquetFile(file, buffer_size=1 << 20)
        schema = parquet.schema_arrow
        used = _used(schema, columns)
        return schema, parquet.iter_batches(_rows(parquet, columns.text), columns=used)
    start = file.read(len(_MAGIC))
    file.seek(0)
    if not start:
        raise Unreadable("it is empty")
    if start.startswith(b"FEA1"):
        raise Unreadable("it is Feather of the first version; write it anew as Arrow")
    mapped = pa.memory_map(file.name) if not source.compression else pa.PythonFile(file, "r")
    stack.enter_context(mapped)
    if start == _MAGIC:
        reader = pa.ipc.open_file(mapped)
        record_batches = (reader.get_batch(i) for i in range(reader.num_record_batches))
    else:
        reader = pa.ipc.open_stream(mapped)
        record_batches = iter(reader)
    used = _used(reader.schema, columns)
    return reader.schema, _slices(record_batches, used, columns.text)


def _sought(source: Source, stack: ExitStack) -> IO[bytes]:
    file = stack.enter_context(opened(source.path, source.compression))
    if not source.compression:
        return file
    unpacked: IO[bytes] = stack.enter_context(tempfile.TemporaryFile())  # noqa: SIM115
    shutil.copyfileobj(file, unpacked, 1 << 20)
    unpacked.seek(0)
    return unpacked


def _rows(parquet: Any, text: str) -> int:
    """Return how many rows hold about `_BYTES`, by the largest row group."""
    most = 0.0
    metadata = parquet.metadata
    for group in range(metadata.num_row_groups):
        rows = metadata.row_group(group)
        size = sum(
            rows.column(i).total_uncompressed_size
            for i in range(rows.num_columns)
            if rows.column(i).path_in_schema == text
        )
        most = max(most, size / max(rows.num_rows, 1))
    return int(min(ROWS, max(1, _BYTES // max(most, 1))))


def _slices(parts: Iterator[Any], used: list[str], text: str) -> Iterator[Any]:
    for whole in parts:
        part = whole.select(used)
        size = part.column(text).nbytes / max(part.num_rows, 1)
        step = int(min(ROWS, max(1, _BYTES // max(size, 1))))
        for start in range(0, part.num_rows, step):
            yield part.slice(start, step)


def _used(schema: Any, columns: Columns) -> list[str]:
    described = [f"{field.name!r} ({field.type})" for field in schema]
    columns.check(schema.names, described)
    if not _is_text(kind := schema.field(columns.text).type):
        texts = [repr(field.name) for field in schema if _is_text(field.type)]
        hint = f"its columns of text: {', '.join(texts) or 'none'}"
        raise Skip(f"column {columns.text!r} is not text", f"it is {kind}; {hint}")
    if columns.id is not None:
        kind = schema.field(columns.id).type
        if not _is_text(kind) and not pa.types.is_integer(kind):
            raise Skip(f"column {columns.id!r} is neither text nor a number", f"it is {kind}")
    names = [columns.text, *([] if columns.id is None else [columns.id])]
    return list(dict.fromkeys([*names, *_carried(schema, columns)]))


def _carried(schema: Any, columns: Columns) -> list[str]:
    """Return the carried columns: unless they are named, those with one plain value a row."""
    names = columns.others(schema.names)
    if columns.carry is not None:
        return names
    return [name for name in names if _is_plain(schema.field(name).type)]


def _is_text(kind: Any) -> bool:
    types = pa.types
    if types.is_dictionary(kind):
        kind = kind.value_type
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def _is_plain(kind: Any) -> bool:
    types = pa.types
    binary = types.is_binary(kind) or types.is_large_binary(kind) or types.is_binary_view(kind)
    return not (types.is_nested(kind) or binary or types.is_fixed_size_binary(kind))


def _batch(
    part: Any, first: int, source: Source, columns: Columns, ids: Ids
) -> Iterator[Batch | Problem]:
    column = part.column(columns.text)
    texts = column.to_pylist()
    keys = [None] * len(texts) if columns.id is None else part.column(columns.id).to_pylist()
    kept: list[int] = []
    names: list[str] = []
    problems: list[Problem] = []
    for i, (text, key) in enumerate(zip(texts, keys, strict=True)):
        try:
            if text is None:
                raise Skip(f"column {columns.text!r} is not text", f"it is {kind(text)}")
            names.append(ids.take(key, columns, source, first + i))
            kept.append(i)
        except Skip as skip:
            problems.append(skip.at(source, first + i))
    if problems:
        part = part.take(pa.array(kept, pa.int64()))
        texts = [texts[i] for i in kept]
        yield from problems
    if not texts:
        return
    carried = pa.Table.from_batches([part.select(_carried(part.schema, columns))])
    size = int(pc.sum(pc.binary_length(part.column(columns.text).cast(pa.large_string()))).as_py())
    batch = Batch(texts, names, [(source.place, first + i) for i in kept], size)
    if columns.typed:
        batch.carried = carried
    else:
        batch.metadata = plain(carried)
    yield batch


def plain(table: Any) -> list[dict[str, Any]]:
    """Return the rows of a table as values that JSON has."""
    lists = {name: _plain(table.column(name)) for name in table.column_names}
    if not lists:
        return [{} for _ in range(table.num_rows)]
    return [dict(zip(lists, row, strict=True)) for row in zip(*lists.values(), strict=True)]


def _plain(column: Any) -> list[Any]:
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_floating(column.type):
        column = pc.if_else(pc.is_finite(column), column, None)
    elif pa.types.is_temporal(column.type) or pa.types.is_decimal(column.type):
        column = as_text(column)
    return [json_value(value) for value in column.to_pylist()]


def as_text(column: Any) -> Any:
    """Return a column as text: what is no text as JSON has it."""
    if pa.types.is_nested(column.type) or not _is_plain(column.type):
        return pa.chunked_array([pa.array(map(_json, column.to_pylist()), pa.string())])
    try:
        return column.cast(pa.string())
    except pa.ArrowNotImplementedError:  # Durations.
        return column.cast(pa.int64()).cast(pa.string())


def _json(value: Any) -> str | None:
    from cantle.cli.output import as_json

    return None if value is None else as_json(json_value(value))


def json_value(value: Any) -> Any:
    """Return a value of Arrow's as JSON has it: bytes as Base64, times and decimals as text."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if value - value == 0 else None
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, dict):
        return {str(key): json_value(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [json_value(entry) for entry in value]
    return str(value)
