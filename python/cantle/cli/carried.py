"""The columns that follow a chunk's own, where chunks are written as a table.

A table's columns must be known before its first row, so the inputs are asked for theirs before the
run: Parquet, Arrow and CSV say them at once. JSON has no such list: unless `--carry` names them,
its keys go into one column, as JSON.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from cantle.chunk import CLAUSE
from cantle.cli import csv_reading
from cantle.cli.formats import TABLES, TYPED, Unreadable, opened, told
from cantle.cli.inputs import Source
from cantle.cli.rows import Columns, Skip
from cantle.strategies import Splitting
from cantle.strategies.levelled import Levelled

OWN = (
    "id",
    "source",
    "ordinal",
    "byte_start",
    "byte_end",
    "char_start",
    "char_end",
    "size",
    "flags",
    "text",
)
"""A chunk's own columns, in order."""
STRUCTURE = ("kind", "heading_path", "context")
"""The columns before the text of chunks that were cut at their document's structure."""
LOCATED = ("source_start", "source_end")
"""The columns behind the spans of a run that reads HTML: where a chunk stands in it, in bytes."""
LEVELS = ("level", "parent_id")
"""The columns behind the source of chunks with levels above them, which are written as well."""
EMBEDDED = "embed_text"
"""The column behind the text where what stands before it was asked for."""
REST = "metadata"


def own_columns(strategy: Splitting, sources: Iterable[Source]) -> tuple[str, ...]:
    """Return the names of the own columns of a strategy's chunks of these inputs, in order."""
    spans = OWN.index("size")
    located = LOCATED if any(source.format == "html" for source in sources) else ()
    known = strategy.strategy in ("structural", "rows", "clauses", "routed")
    structure = STRUCTURE if known else ()
    clause = CLAUSE if strategy.strategy in ("clauses", "routed") else ()
    embedded = (EMBEDDED,) if getattr(strategy, "prefix", None) is not None else ()
    levels = LEVELS if isinstance(strategy, Levelled) else ()
    places = (*OWN[:2], *levels, *OWN[2:spans], *located, *OWN[spans:-1])
    return (*places, *structure, *clause, OWN[-1], *embedded)


@dataclass
class Carried:
    """Which columns follow."""

    own: tuple[str, ...] = OWN
    """The columns that they follow."""
    types: dict[str, Any] = field(default_factory=dict)
    """The name in the input to a type of pyarrow's, or None for text."""
    rest: bool = False
    """Whether a last column holds, as JSON, the metadata that has no column of its own."""

    def names(self) -> list[str]:
        """Return the columns' names: those of a chunk's own columns get `source_` before them."""
        names: list[str] = []
        for name in self.types:
            while name in (*self.own, *names) or (self.rest and name == REST):
                name = f"source_{name}"
            names.append(name)
        return names + [REST] * self.rest


def carried(sources: Iterable[Source], columns: Columns, own: tuple[str, ...] = OWN) -> Carried:
    """Return what the inputs carry. One that cannot be read carries nothing, and is told later."""
    found = Carried(own, dict.fromkeys(columns.carry or ()))
    known: set[str] = set()
    for source in sources:
        if source.format == "jsonl":
            found.rest |= columns.carry is None
            known |= set(columns.carry or ())  # As text.
        if source.format not in TABLES:
            continue
        try:
            with told():
                types = _types(source, columns)
        except (Skip, Unreadable):
            continue
        for name, type in types.items():
            found.types[name] = _common(found.types[name], type) if name in known else type
            known.add(name)
    return found


def _types(source: Source, columns: Columns) -> dict[str, Any]:
    if source.format in TYPED:
        from cantle.cli import arrow_reading

        return arrow_reading.types(source, columns)
    with opened(source.path, source.compression) as stream:
        return dict.fromkeys(csv_reading.header(stream, source, columns))


def _common(one: Any, other: Any) -> Any:
    """Return a type that holds the values of both; text, if there is no other."""
    if one is None or other is None or one == other:
        return one if one == other else None
    import pyarrow as pa

    schemas = [pa.schema([("x", one)]), pa.schema([("x", other)])]
    try:
        return pa.unify_schemas(schemas, promote_options="permissive").field("x").type
    except pa.ArrowException:
        return None
