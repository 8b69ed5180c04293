"""`Documents`: the texts that chunks are cut from, with their ids and metadata.

Texts are Python's own, or lie in Arrow buffers; what differs between the two stands here.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from cantle import _core
from cantle.structure import Blocks

if TYPE_CHECKING:
    from numpy.typing import NDArray

Text = str | bytes


class ArrowStream(Protocol):
    """An Arrow array, column or table that comes in parts."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Return a capsule with a stream."""


class ArrowArray(Protocol):
    """An Arrow array or a record batch."""

    def __arrow_c_array__(self, requested_schema: Any = None) -> Any:
        """Return a pair of capsules with schema and array."""


Arrow = ArrowStream | ArrowArray
"""Anything that hands out Arrow data by the PyCapsule interface."""


class Skipped(NamedTuple):
    """A document that was left out."""

    doc: int
    """Its number."""
    id: str
    """Its id."""
    reason: str
    """What was wrong, in words."""


class Documents:
    """The texts of one call. Texts are kept by reference; ids and metadata are optional."""

    __slots__ = ("blocks", "carried", "first", "ids", "metadata_given", "skipped", "texts")

    texts: tuple[Text, ...] | _core.ArrowTexts
    """The texts, as they were given; one that was skipped since it cannot be read is empty."""
    blocks: tuple[Blocks | None, ...] | None
    """The blocks that were given in place of texts; None if there are none."""
    ids: tuple[str, ...] | _core.ArrowTexts | None
    """The ids, where they are not derived."""
    metadata_given: tuple[dict[str, Any], ...] | None
    """The mappings that were given beside the texts."""
    carried: _core.ArrowTable | None
    """The columns of an Arrow table that are neither text nor id, a row per document."""
    skipped: tuple[Skipped, ...]
    """The documents that could not be cut, where that was asked for."""

    def __init__(
        self,
        texts: Sequence[Text | Blocks] | _core.ArrowTexts,
        ids: Iterable[str] | _core.ArrowTexts | Arrow | None = None,
        metadata: Iterable[Mapping[str, Any]] | None = None,
        first: int = 0,
        carried: _core.ArrowTable | None = None,
    ) -> None:
        """Check ids and metadata against the texts.

        Args:
            texts: The documents' texts, or their blocks.
            ids: One per text, no two equal. Default: `doc0`, `doc1`, ...
            metadata: One mapping per text; copied.
            first: The number of the first text where ids are derived.
            carried: More columns, one row per text.

        Raises:
            SettingError: The numbers differ, or an id is there twice.
            TypeError: An id is no string, or metadata no mapping.
        """
        self.blocks = None
        if isinstance(texts, _core.ArrowTexts):
            self.texts = texts
        elif any(isinstance(text, Blocks) for text in texts):
            self.blocks = tuple(text if isinstance(text, Blocks) else None for text in texts)
            self.texts = tuple(text.text if isinstance(text, Blocks) else text for text in texts)
        else:
            self.texts = tuple(texts)  # type: ignore[arg-type]
        self.first = first
        self.ids = None if ids is None else _checked_ids(ids, len(self.texts))
        self.metadata_given = (
            None if metadata is None else _checked_metadata(metadata, len(self.texts))
        )
        self.carried = carried
        self.skipped = ()

    def skip(self, failures: Sequence[tuple[int, str, bool]]) -> None:
        """Leave out documents: their numbers, what was wrong, and whether the text is of use."""
        self.skipped = tuple(Skipped(doc, self.id(doc), reason) for doc, reason, _ in failures)
        if isinstance(self.texts, tuple):
            texts: list[Text] = list(self.texts)
            for doc, _, readable in failures:
                if not readable:
                    texts[doc] = ""
            self.texts = tuple(texts)

    def read(self, found: Mapping[int, Blocks]) -> None:
        """Take the blocks that were read off some documents, and their texts with them."""
        texts, given = list(self.texts), list(self.blocks or [None] * len(self.texts))
        for doc, blocks in found.items():
            texts[doc], given[doc] = blocks.text, blocks
        self.texts, self.blocks = tuple(texts), tuple(given)

    def forms(self) -> list[object] | None:
        """Return for each document the blocks that are known of it, for the core."""
        if self.blocks is None:
            return None
        return [None if blocks is None else blocks._core for blocks in self.blocks]

    def located(
        self, doc: NDArray[Any], byte_start: NDArray[np.int64], byte_end: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return where spans of the texts stand in what was handed in; see `Blocks.locate`."""
        if self.blocks is None:
            return byte_start, byte_end
        start, end = byte_start.copy(), byte_end.copy()
        # Rows of one document stand together, unless rows were chosen.
        order = np.argsort(doc, kind="stable")
        for rows in np.split(order, np.flatnonzero(np.diff(doc[order])) + 1):
            own = self.blocks[int(doc[rows[0]])] if len(rows) else None
            if own is not None:
                start[rows], end[rows] = own.locate(start[rows], end[rows])
        return start, end

    def is_rewritten(self, doc: int) -> bool:
        """Return whether a text is not what was handed in, as the readable text of HTML is not."""
        own = None if self.blocks is None else self.blocks[doc]
        return own is not None and own.origin is not None

    def __len__(self) -> int:
        return len(self.texts)

    def id(self, doc: int) -> str:
        """Return a document's id."""
        return f"doc{self.first + doc}" if self.ids is None else self.ids[doc]

    def metadata(self, doc: int) -> dict[str, Any]:
        """Return a copy of a document's metadata, the carried columns of its row included."""
        row = {} if self.carried is None else self.carried.row(doc)
        if self.metadata_given is not None:
            row.update(copy.deepcopy(self.metadata_given[doc]))
        return row

    def title(self, doc: int) -> str:
        """Return a document's title: its metadata's `title`, or its own, or nothing."""
        title = None
        if self.metadata_given is not None:
            title = self.metadata_given[doc].get("title")
        if title is None and self.carried is not None and "title" in self.carried.column_names:
            title = self.carried.row(doc).get("title")
        own = None if self.blocks is None else self.blocks[doc]
        if title is None and own is not None:
            title = own.title
        return title if isinstance(title, str) else ""

    def titles(self) -> list[str] | None:
        """Return the title of each document; None where none has any."""
        titles = [self.title(doc) for doc in range(len(self))]
        return titles if any(titles) else None

    def text(self, doc: int) -> str:
        """Return the whole text of a document."""
        text = self.texts[doc]
        return text.decode() if isinstance(text, bytes) else text

    def slice(
        self, doc: int, byte_start: int, byte_end: int, char_start: int, char_end: int
    ) -> str:
        """Return a part of a text, whose place is given in bytes and in characters."""
        if isinstance(self.texts, _core.ArrowTexts):
            return self.texts.slice(doc, byte_start, byte_end)
        text = self.texts[doc]
        # Slicing a str is several times faster than slicing and decoding bytes.
        if isinstance(text, bytes):
            return text[byte_start:byte_end].decode()
        return text[char_start:char_end]

    def slices(self, doc: NDArray[Any], *spans: NDArray[Any]) -> list[str]:
        """Return many parts; one array for each argument of `slice`."""
        if isinstance(self.texts, _core.ArrowTexts):
            return self.texts.slices(doc, *spans[:2])
        columns = [column.tolist() for column in (doc, *spans)]
        texts = self.texts
        if all(isinstance(text, str) for text in texts):
            # What `slice` does, without a call for each: sentences are many.
            rows = zip(columns[0], *columns[3:], strict=True)
            return [texts[d][a:b] for d, a, b in rows]
        return [self.slice(*row) for row in zip(*columns, strict=True)]

    def __reduce__(self) -> tuple[Any, ...]:
        texts = self.texts
        if self.blocks is not None and isinstance(texts, tuple):
            pairs = zip(self.blocks, texts, strict=True)
            texts = tuple(text if given is None else given for given, text in pairs)  # type: ignore[misc]
        state = (texts, self.ids, self.metadata_given, self.first, self.carried)
        return _rebuild, (state, self.skipped)


def _rebuild(state: tuple[Any, ...], skipped: tuple[Skipped, ...]) -> Documents:
    documents = Documents(*state)
    documents.skipped = skipped
    return documents


Part = tuple[
    tuple[Text | Blocks, ...] | _core.ArrowTexts, _core.ArrowTexts | None, _core.ArrowTable | None
]
"""Texts, ids and carried columns of some rows."""


def is_arrow(value: object) -> bool:
    """Return whether `value` hands out Arrow data."""
    return hasattr(value, "__arrow_c_stream__") or hasattr(value, "__arrow_c_array__")


def arrow_strings(values: object, name: str) -> _core.ArrowTexts:
    """Return an Arrow array of strings as texts; `name` is what messages call it."""
    return _core.ArrowReader(values, name, None, None, True).read(None)[0]


def arrow_parts(
    texts: object, text: str, id: str | None, ids_given: bool, batch: int | None
) -> Iterator[Part]:
    """Return the documents of Arrow data, `batch` rows at a time, or once all of them.

    What is asked for wrongly raises now; rows are read as the parts are asked for.

    Raises:
        SettingError: A column is not there, or ids are given twice.
        TypeError: A column holds something else than strings.
        TextError: A text is not UTF-8; says in which row and where.
    """
    if id is not None and ids_given:
        raise _core.SettingError(f"id ({id!r}) names a column, and ids are given as well")
    reader = _core.ArrowReader(texts, "texts", text, id, False)
    return iter((reader.read(None),)) if batch is None else _batches(reader, batch)


def _batches(reader: _core.ArrowReader, batch: int) -> Iterator[Part]:
    while len((part := reader.read(batch))[0]):
        yield part


def one_document(
    text: Text | Blocks, id: str | None = None, metadata: Mapping[str, Any] | None = None
) -> Documents:
    """Return the documents of a call for one text."""
    if id is not None and not isinstance(id, str):
        raise TypeError(f"id ({id!r}) must be str, not {type(id).__qualname__}")
    if metadata is not None and not isinstance(metadata, Mapping):
        raise TypeError(f"metadata must be a mapping, not {type(metadata).__qualname__}")
    ids = None if id is None else (id,)
    return Documents((text,), ids, None if metadata is None else (metadata,))


def _checked_ids(
    ids: Iterable[str] | _core.ArrowTexts | Arrow, count: int
) -> tuple[str, ...] | _core.ArrowTexts:
    if isinstance(ids, str):
        raise TypeError("ids must be a sequence of strings, not one string")
    if is_arrow(ids):
        ids = arrow_strings(ids, "ids")
    checked = ids if isinstance(ids, _core.ArrowTexts) else tuple(ids)  # type: ignore[arg-type]
    if len(checked) != count:
        raise _core.SettingError(f"ids has {len(checked)} entries for {count} texts")
    if isinstance(checked, _core.ArrowTexts):
        if twice := checked.twice():
            i, other = twice
            raise _core.SettingError(f"ids[{i}] ({checked[i]!r}) is also ids[{other}]")
        return checked
    seen: dict[str, int] = {}
    for i, name in enumerate(checked):
        if not isinstance(name, str):
            raise TypeError(f"ids[{i}] ({name!r}) must be str, not {type(name).__qualname__}")
        if not name.isascii():
            check_writable(f"ids[{i}]", name)
        if (other := seen.setdefault(name, i)) != i:
            raise _core.SettingError(f"ids[{i}] ({name!r}) is also ids[{other}]")
    return checked


def check_not_blank(name: str, value: object) -> None:
    """Check that something is a string that says anything.

    Raises:
        TypeError: It is no string.
        SettingError: It is empty, or all blanks.
    """
    if not isinstance(value, str):
        raise TypeError(f"{name} ({value!r}) must be str")
    if not value.strip():
        raise _core.SettingError(f"{name} ({value!r}) must not be blank")


def check_writable(name: str, value: str) -> None:
    """Check that a string can be written as UTF-8.

    Raises:
        SettingError: It holds a lone surrogate; says where.
    """
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise _core.SettingError(
            f"{name} ({value!r}) holds a lone surrogate at character {error.start}: it cannot be "
            "written as UTF-8"
        ) from None


def _checked_metadata(
    metadata: Iterable[Mapping[str, Any]], count: int
) -> tuple[dict[str, Any], ...]:
    if isinstance(metadata, Mapping):
        raise TypeError("metadata must be a sequence of mappings, one per text, not one mapping")
    checked = tuple(metadata)
    if len(checked) != count:
        raise _core.SettingError(f"metadata has {len(checked)} entries for {count} texts")
    for i, entry in enumerate(checked):
        if not isinstance(entry, Mapping):
            kind = type(entry).__qualname__
            raise TypeError(f"metadata[{i}] must be a mapping, not {kind}")
    return tuple(copy.deepcopy(dict(entry)) for entry in checked)
