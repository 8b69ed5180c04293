"""What strategies do alike that look at a text's sentences before they cut."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from cantle import _core
from cantle.chunks import Chunks
from cantle.documents import Documents
from cantle.fallbacks import Fallback
from cantle.limits import whole

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Asked: TypeAlias = dict[str, NDArray[np.int64]]


class Vectors(NamedTuple):
    """What the core cuts by."""

    matrix: NDArray[np.float32]
    """A row for each piece."""
    rows: NDArray[np.int64]
    """Where the rows of each source start, and behind the last."""
    fallbacks: tuple[Fallback, ...] = ()
    """Where the strategy gave way to another."""


class ByPieces:
    """Goes before `Splitting`: asks the core for the pieces of texts, hands it a vector for each.

    A piece is a sentence, or of `Blocks` a table or a block of code.
    """

    size: int
    min_size: int | None
    _splitter: _core.Splitter
    _forms: Callable[[Documents], list[object] | None]
    _titles: Callable[[Documents], list[str] | None]
    _titles_within: Callable[[Chunks], list[str] | None]

    def _vectors(self, documents: Documents, asked: Asked, doc: NDArray[Any]) -> Vectors:
        """Return the vectors of all pieces.

        Args:
            documents: What is cut.
            asked: The pieces; `source` is the row of `doc` that each belongs to.
            doc: The document of each source: a text, or a span of one.
        """
        raise NotImplementedError

    def _columns(self, documents: Documents, threads: int, skip: bool) -> dict[str, Any]:
        forms, titles = self._forms(documents), self._titles(documents)
        asked, pieces = self._splitter.asked(documents.texts, threads, skip, forms, None, titles)
        vectors = self._vectors(documents, asked, np.arange(len(documents)))
        columns = self._splitter.split(
            documents.texts, threads, skip, forms, titles, None, (*vectors[:2], pieces)
        )
        return columns | {"fallbacks": vectors.fallbacks}

    def _columns_within(self, parents: Chunks, threads: int) -> dict[str, Any]:
        texts = parents.documents.texts
        spans = (parents.doc, parents.byte_start, parents.byte_end, parents.char_start)
        titles = self._titles_within(parents)
        asked, pieces = self._splitter.asked(texts, threads, True, None, spans, titles)
        vectors = self._vectors(parents.documents, asked, parents.doc)
        columns = self._splitter.split_within(
            texts, *spans, threads, None, (*vectors[:2], pieces), titles
        )
        return columns | {"fallbacks": vectors.fallbacks}

    def _all_asked(self, documents: Documents, threads: int) -> tuple[Asked, NDArray[Any]]:
        """Return the pieces of documents; those that cannot be read have none."""
        forms, titles = self._forms(documents), self._titles(documents)
        asked, _ = self._splitter.asked(documents.texts, threads, True, forms, None, titles)
        return asked, np.arange(len(documents))

    def _shown(self, documents: Documents, asked: Asked, doc: NDArray[Any]) -> list[str]:
        names = ("byte_start", "byte_end", "char_start", "char_end")
        return documents.slices(doc[asked["source"]], *(asked[name] for name in names))

    def _sizes(self, least: int | None = None) -> tuple[int, int]:
        """Return `target` and `min_size`, checked, or what stands for them.

        Args:
            least: What stands for `min_size`; None: two fifths of the target.
        """
        try:
            size = operator.index(self.size)
        except TypeError:
            size = 0
        if size < 1:  # The core says what is wrong with it.
            return 1, 0
        target = max(1, (2 * size + 1) // 3)
        given = getattr(self, "target", None)
        if given is not None:
            target = whole("target", given, 1)
            object.__setattr__(self, "target", target)
            if target > size:
                raise _core.SettingError(f"target ({target}) must not be larger than size ({size})")
        if self.min_size is not None:
            least = whole("min_size", self.min_size, 0)
            object.__setattr__(self, "min_size", least)
            if least > size:
                raise _core.SettingError(
                    f"min_size ({least}) must not be larger than size ({size})"
                )
        return target, -(-2 * target // 5) if least is None else least
