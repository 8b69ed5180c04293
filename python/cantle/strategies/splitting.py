"""What every strategy does alike: checks its settings once, cuts one text or many."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from itertools import islice
from typing import Any, ClassVar, Literal, TypeAlias, TypeVar

import numpy as np

from cantle import _core, units
from cantle.chunks import Chunks
from cantle.digest import digest
from cantle.documents import (
    Arrow,
    Documents,
    Part,
    Text,
    arrow_parts,
    arrow_strings,
    check_writable,
    is_arrow,
    one_document,
)
from cantle.structure import Blocks

Errors: TypeAlias = Literal["raise", "skip"]
"""What becomes of a document that cannot be read or cut."""

_NOTHING = object()
Self = TypeVar("Self", bound="Splitting")


class Splitting:
    """The verbs of a strategy. A strategy is a frozen dataclass whose fields are its settings."""

    size: int
    overlap: int
    unit: units.Unit
    trim: bool
    name: str | None

    strategy: ClassVar[str]
    """The name that a strategy is called by in text: its class in lower case."""
    fingerprint: str
    """A short hash of the settings, the name left out: 16 hexadecimal digits."""
    _splitter: _core.Splitter
    _unit_name: str
    _unhashed: ClassVar[tuple[str, ...]] = ("name",)
    """Settings that change no chunk."""
    _routing: ClassVar[bool] = False
    """Whether documents are cut by different splitters."""
    _template: str | None = None
    """What stands before a chunk's text when it is embedded, where the strategy has a say."""

    def _build(
        self,
        *,
        min_size: object = 0,
        separators: Sequence[tuple[str, bool, str | None]] | None = None,
        structural: tuple[object, object, str, str | None] | None = None,
        rows: tuple[object, bool, str, str | None] | None = None,
        clauses: tuple[bool, list[str], str | None, str | None] | None = None,
        meaning: tuple[Any, ...] | None = None,
        hierarchy: Sequence[tuple[object, tuple[float, object] | None]] | None = None,
        core: str | None = None,
    ) -> None:
        """Check the settings and build the core's splitter; called by `__post_init__`."""
        if not isinstance(self.trim, bool):
            raise TypeError(f"trim ({self.trim!r}) must be True or False")
        if self.name is not None and (not isinstance(self.name, str) or not self.name):
            raise TypeError(f"name ({self.name!r}) must be a string that is not empty")
        unit = units.resolve(self.unit)
        splitter = _core.Splitter(
            core or self.strategy,
            self.size,
            self.overlap,
            units.for_core(unit),
            self.trim,
            min_size,
            separators,
            structural,
            rows,
            clauses,
            meaning,
            hierarchy,
        )
        unit_name = units.describe(unit)
        # Derived once: a short text is cut in less time than these take.
        derived: dict[str, object] = {"_splitter": splitter, "_unit_name": unit_name}
        for number in ("size", "overlap", "min_size"):
            if getattr(self, number, None) is not None:
                derived[number] = int(getattr(self, number))
        if self.unit != unit_name:
            # A path or a foreign object becomes the tokenizer it holds: equal, pickled by content.
            derived["unit"] = unit
        for name, value in derived.items():
            object.__setattr__(self, name, value)
        object.__setattr__(self, "fingerprint", self._hash_settings())

    def _check_prefix(self) -> str | None:
        """Return the template that `prefix` names; it is what `embed_text` is made by."""
        prefix: object = getattr(self, "prefix", None)
        if prefix is not None and not isinstance(prefix, str):
            raise TypeError(f"prefix ({prefix!r}) must be a template or None")
        check_writable("prefix", prefix or "")
        template = _core.TEMPLATE if prefix == "path" else prefix
        object.__setattr__(self, "_template", template)
        return template

    def _hash_settings(self) -> str:
        settings = [self.strategy]
        for field in fields(self):  # type: ignore[arg-type]
            if field.name == "unit":
                settings.append(f"unit={units.identity(units.resolve(self.unit))}")
            elif field.name not in self._unhashed:
                value = self._identity(field.name) or repr(getattr(self, field.name))
                settings.append(f"{field.name}={value}")
        return digest("\n".join(settings).encode(), 8)

    def _identity(self, name: str) -> str | None:
        """Return what a setting is known by in fingerprints, where its `repr` will not do."""
        return None

    def _forms(self, documents: Documents) -> list[object] | None:
        """Return for each document its blocks, its form's name or None, or None for all of it."""
        return documents.forms()

    def _titles(self, documents: Documents) -> list[str] | None:
        """Return the documents' titles, where they count towards a chunk's size."""
        return None

    def _routes(
        self, documents: Documents, names: Sequence[str] | None = None
    ) -> tuple[_core.Splitter, list[int] | None]:
        """Return what cuts, and for each document which of several splitters does.

        Args:
            documents: What is cut.
            names: The id of the document that each is a part of. Default: their own ids.
        """
        return self._splitter, None

    def _target(self) -> int | None:
        """Return what a depth is chosen by, where one is chosen."""
        return None

    def split(
        self,
        text: Text | Blocks,
        *,
        id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        threads: int = 0,
    ) -> Chunks:
        """Return the chunks of one text.

        Args:
            text: `str`, UTF-8 `bytes`, or the `Blocks` of a document, whose kinds, headings and
                pages ride along.
            id: The document's id, the first part of its chunks' ids. Default: `doc0`.
            metadata: The document's metadata, copied to its chunks.
            threads: How many threads of this call work on a text of a megabyte or more; 0 is one
                per core. The result does not depend on it.

        Raises:
            TextError: The text is not UTF-8, or holds a lone surrogate; says where.
        """
        documents = one_document(text, id, metadata)
        columns = self._columns(documents, threads, False)
        for _, error, at in columns.pop("failures"):
            if at == "unit":
                raise error
            where = "" if id is None else f" (document {id!r})"
            raise type(error)(str(error).replace("texts[0]", "text", 1) + where)
        return self._chunks(columns, documents)

    def split_all(
        self,
        texts: Iterable[Text | Blocks] | Arrow,
        *,
        ids: Iterable[str] | Arrow | None = None,
        metadata: Iterable[Mapping[str, Any]] | None = None,
        text: str = "text",
        id: str | None = None,
        threads: int = 0,
        errors: Errors = "raise",
    ) -> Chunks:
        """Return the chunks of many texts, in order.

        Args:
            texts: `str`, UTF-8 `bytes` or `Blocks`, one per document; or anything that hands out
                Arrow strings by the PyCapsule interface: an array, a column, a stream, a table.
                Arrow texts are read where they lie; a null counts as an empty text.
            ids: One id per text, no two equal. Default: `doc0`, `doc1`, ...
            metadata: One mapping per text, copied to its chunks.
            text: The column of the texts, where `texts` is an Arrow table. The columns that are
                neither text nor id are carried as metadata.
            id: The column of the ids, strings or whole numbers.
            threads: How many threads of this call cut; 0 is one per core. The result does not
                depend on it. A callable as unit keeps one.
            errors: `"skip"` leaves out a document that cannot be read or cut, without losing the
                others; `chunks.skipped` tells number, id and reason.

        Raises:
            TextError: A text is not UTF-8, or holds a lone surrogate; says which and where.
            SettingError: A column is not there; an id is there twice.
            TypeError: A column holds something else than strings.
        """
        documents = documents_of(texts, ids, metadata, text, id)
        return self._cut(documents, threads, skips(errors))

    def stream(
        self,
        texts: Iterable[Text | Blocks] | Arrow,
        *,
        batch: int = 1_000,
        ids: Iterable[str] | Arrow | None = None,
        metadata: Iterable[Mapping[str, Any]] | None = None,
        text: str = "text",
        id: str | None = None,
        threads: int = 0,
        errors: Errors = "raise",
    ) -> Iterator[Chunks]:
        """Yield the chunks of every `batch` texts; only one batch is held at a time.

        Args:
            texts: Any iterable of `str` or UTF-8 `bytes`, or Arrow data as for `split_all`; read
                as the chunks are asked for.
            batch: Texts per step, at least 1.
            ids: One id per text; unique within a batch.
            metadata: One mapping per text.
            text: As for `split_all`.
            id: As for `split_all`; unique within a batch.
            threads: As for `split_all`.
            errors: As for `split_all`; each batch tells its own.
        """
        skip = skips(errors)
        if isinstance(batch, bool) or not hasattr(batch, "__index__"):
            raise TypeError(f"batch ({batch!r}) must be a whole number")
        batch = int(batch)
        if batch < 1:
            raise _core.SettingError(f"batch ({batch}) must be at least 1")
        if is_arrow(texts):
            parts = arrow_parts(texts, text, id, ids is not None, batch)
        else:
            _refuse_column(id)
            parts = _parts(iter(_iterable(texts)), batch)  # type: ignore[arg-type]
        names = arrow_strings(ids, "ids") if is_arrow(ids) else ids
        return self._stream(parts, names, metadata, threads, skip)  # type: ignore[arg-type]

    def _stream(
        self,
        parts: Iterator[Part],
        ids: Iterable[str] | None,
        metadata: Iterable[Mapping[str, Any]] | None,
        threads: int,
        skip: bool,
    ) -> Iterator[Chunks]:
        names = None if ids is None else iter(ids)
        entries = None if metadata is None else iter(metadata)
        first = 0
        for part, own, carried in parts:
            documents = Documents(
                part,
                own if names is None else islice(names, len(part)),
                None if entries is None else islice(entries, len(part)),
                first,
                carried,
            )
            yield self._cut(documents, threads, skip)
            first += len(part)
        for argument, rest in (("ids", names), ("metadata", entries)):
            if rest is not None and next(rest, _NOTHING) is not _NOTHING:
                raise _core.SettingError(f"{argument} has more entries than the {first} texts")

    def _columns(self, documents: Documents, threads: int, skip: bool) -> dict[str, Any]:
        forms, titles = self._forms(documents), self._titles(documents)
        splitter, routes = self._routes(documents)
        return splitter.split(documents.texts, threads, skip, forms, titles, routes)

    def _columns_within(self, parents: Chunks, threads: int) -> dict[str, Any]:
        splitter, routes = self._splitter, None
        if self._routing:
            ids = parents.documents.ids
            names = ["" if ids is None else ids[doc] for doc in parents.doc.tolist()]
            splitter, routes = self._routes(Documents(parents.texts), names)
        return splitter.split_within(
            parents.documents.texts,
            parents.doc,
            parents.byte_start,
            parents.byte_end,
            parents.char_start,
            threads,
            routes,
            None,
            self._titles_within(parents),
        )

    def _titles_within(self, parents: Chunks) -> list[str] | None:
        """Return the title of each parent's document, where it counts towards a chunk's size."""
        titles = self._titles(parents.documents)
        return None if titles is None else [titles[doc] for doc in parents.doc.tolist()]

    def _cut(self, documents: Documents, threads: int, skip: bool) -> Chunks:
        columns = self._columns(documents, threads, skip)
        failures = columns.pop("failures")
        if documents.first and isinstance(documents.texts, tuple):
            failures = [
                (doc, _numbered(error, doc, documents.first) if at == "unread" else error, at)
                for doc, error, at in failures
            ]
        if failures and not skip:
            doc, error, at = failures[0]
            where = f"document {documents.id(doc)!r}"
            if at == "unit":  # The caller's own exception comes out as it is.
                if hasattr(error, "add_note"):
                    error.add_note(f"while {self._unit_name} measured {where}")
                raise error
            told = at == "unread" and documents.ids is None
            raise type(error)(str(error) if told else f"{error} ({where})")
        if failures:
            told = [(doc, _reason(error, at), at != "unread") for doc, error, at in failures]
            documents.skip(told)
        return self._chunks(columns, documents)

    def split_within(self, parents: Chunks, *, threads: int = 0) -> Chunks:
        """Return chunks of chunks: each lies inside its parent and knows its row.

        Offsets count from the document's start. The name in the ids is the strategy's with its
        size, as in `recursive128`; ordinals run through the document.

        Args:
            parents: Chunks in the order of their documents, as every strategy makes them.
            threads: As for `split_all`.

        Raises:
            SettingError: The parents are not in the order of their documents.
        """
        if not isinstance(parents, Chunks):
            kind = type(parents).__qualname__
            raise TypeError(f"parents must be Chunks, not {kind}")
        if np.any(np.diff(parents.doc) < 0):
            raise _core.SettingError("parents must be in the order of their documents")
        columns = self._columns_within(parents, threads)
        name = self.name or f"{self.strategy}{self.size}"
        return self._chunks(columns, parents.documents, name=name, parents=parents)

    def _chunks(
        self,
        columns: dict[str, Any],
        documents: Documents,
        *,
        name: str | None = None,
        parents: Chunks | None = None,
    ) -> Chunks:
        return Chunks(
            columns,
            documents,
            name=name or self.name or self.strategy,
            unit=self._unit_name,
            limit=self.size,
            fingerprint=self.fingerprint,
            parents=parents,
            template=self._template or _core.TEMPLATE,
            target=self._target(),
        )

    def __reduce__(self: Self) -> tuple[Any, ...]:
        settings = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        return _rebuild, (type(self), settings)


def documents_of(
    texts: Iterable[Text | Blocks] | Arrow,
    ids: Iterable[str] | Arrow | None,
    metadata: Iterable[Mapping[str, Any]] | None,
    text: str,
    id: str | None,
) -> Documents:
    """Return the documents of a call; the arguments are those of `Splitting.split_all`."""
    if is_arrow(texts):
        ((found, names, carried),) = arrow_parts(texts, text, id, ids is not None, None)
        return Documents(found, ids if names is None else names, metadata, 0, carried)
    _refuse_column(id)
    return Documents(_sequence(texts), ids, metadata)  # type: ignore[arg-type]


def _rebuild(strategy: type[Splitting], settings: dict[str, Any]) -> Splitting:
    return strategy(**settings)


def skips(errors: str) -> bool:
    """Return whether a setting of `errors` leaves out what cannot be cut."""
    if errors not in ("raise", "skip"):
        raise _core.SettingError(f"errors ({errors!r}) must be 'raise' or 'skip'")
    return errors == "skip"


def _numbered(error: Exception, doc: int, first: int) -> Exception:
    """Return the error with the text's number in the whole stream, not in its batch."""
    return type(error)(str(error).replace(f"texts[{doc}]", f"texts[{first + doc}]", 1))


def _reason(error: Exception, at: str) -> str:
    if at != "unit":
        return str(error)
    try:
        words = str(error)
    except Exception:  # The caller's own class: it must not take the other documents along.
        words = ""
    return f"{type(error).__name__}: {words}" if words else type(error).__name__


def _iterable(texts: Iterable[Text | Blocks]) -> Iterable[Text | Blocks]:
    if isinstance(texts, str | bytes | Blocks) or not isinstance(texts, Iterable):
        kind = type(texts).__qualname__
        raise TypeError(f"texts must be a sequence of texts, not {kind}; use split for one text")
    return texts


def _parts(texts: Iterator[Text | Blocks], batch: int) -> Iterator[Part]:
    while part := tuple(islice(texts, batch)):
        yield part, None, None


def _refuse_column(id: str | None) -> None:
    if id is not None:
        raise _core.SettingError(f"id ({id!r}) names a column, and texts is no table")


def _sequence(texts: Iterable[Text | Blocks]) -> Sequence[Text | Blocks]:
    return texts if isinstance(texts, list | tuple) else tuple(_iterable(texts))
