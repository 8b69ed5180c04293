"""What strategies do alike that embed sentences before they cut."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from cantle import _core, units
from cantle.chunks import Chunks
from cantle.documents import Documents, Text
from cantle.embed.door import Embedder, Progress, check_batch_size, embed_all, identity
from cantle.embed.named import resolve
from cantle.limits import number, whole
from cantle.structure import Blocks
from cantle.units import Unit

if TYPE_CHECKING:
    from numpy.typing import NDArray


_PERCENTILE = 85.0


class Estimate(NamedTuple):
    """What is embedded before documents are cut."""

    texts: int
    characters: int
    units: int
    """Their sizes in the strategy's unit."""
    calls: int
    """Calls of the embedder, `batch_size` texts each."""


class ByMeaning:
    """Goes before `Splitting`: asks what to embed, embeds it by batches, hands the vectors over.

    The texts of one call are embedded together, whatever documents they are of.
    """

    size: int
    unit: Unit
    min_size: int | None
    embedder: Embedder | str
    batch_size: int
    progress: Progress | None
    fingerprint: str
    _splitter: _core.Splitter
    _forms: Callable[[Documents], list[object] | None]
    _titles: Callable[[Documents], list[str] | None]

    _unhashed: ClassVar[tuple[str, ...]] = ("name", "batch_size", "progress")

    def _check_embedder(self) -> None:
        embedder = resolve(self.embedder)
        object.__setattr__(self, "embedder", embedder)
        check_batch_size(self.batch_size)
        object.__setattr__(self, "batch_size", int(self.batch_size))
        if self.progress is not None and not callable(self.progress):
            raise TypeError(f"progress ({self.progress!r}) must be callable or None")

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
        target = max(1, round(size * 2 / 3))
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

    def _columns(self, documents: Documents, threads: int, skip: bool) -> dict[str, Any]:
        forms, titles = self._forms(documents), self._titles(documents)
        asked = self._splitter.asked(documents.texts, threads, skip, forms)
        vectors = self._embedded(documents, asked, np.arange(len(documents)))
        return self._splitter.split(documents.texts, threads, skip, forms, titles, None, vectors)

    def _columns_within(self, parents: Chunks, threads: int) -> dict[str, Any]:
        texts = parents.documents.texts
        spans = (parents.doc, parents.byte_start, parents.byte_end, parents.char_start)
        asked = self._splitter.asked(texts, threads, True, None, spans)
        vectors = self._embedded(parents.documents, asked, parents.doc)
        return self._splitter.split_within(texts, *spans, threads, None, vectors)

    def _embedded(
        self, documents: Documents, asked: dict[str, NDArray[np.int64]], doc: NDArray[Any]
    ) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """Return the vectors of what is asked for, and where those of each source start."""
        source = asked["source"]
        rows = np.searchsorted(source, np.arange(len(doc) + 1))
        texts = self._shown(documents, asked, doc)

        def called(row: int) -> str:
            number = row - int(rows[source[row]])
            return f"sentence {number} of document {documents.id(int(doc[source[row]]))!r}"

        vectors = embed_all(
            self.embedder,  # type: ignore[arg-type]
            texts,
            batch_size=self.batch_size,
            progress=self.progress,
            called=called,
        )
        return vectors, rows

    def estimate(
        self, texts: Iterable[Text | Blocks], *, ids: Iterable[str] | None = None, threads: int = 0
    ) -> Estimate:
        """Return what would be embedded to find borders, without a call of the embedder.

        Texts that cannot be read count as empty. The chunks themselves come on top, where they are
        embedded: they hold the texts once more.

        Args:
            texts: As for `split_all`.
            ids: As for `split_all`; their endings may tell a form.
            threads: As for `split_all`.
        """
        documents = Documents(tuple(texts), ids)
        forms = self._forms(documents)
        asked = self._splitter.asked(documents.texts, threads, True, forms)
        shown = self._shown(documents, asked, np.arange(len(documents)))
        unit = units.resolve(self.unit)
        return Estimate(
            texts=len(shown),
            characters=sum(map(len, shown)),
            units=int(units.sizes(unit, shown, threads).sum()),
            calls=-(-len(shown) // self.batch_size),
        )

    def _shown(
        self, documents: Documents, asked: dict[str, NDArray[np.int64]], doc: NDArray[Any]
    ) -> list[str]:
        names = ("byte_start", "byte_end", "char_start", "char_end")
        return documents.slices(doc[asked["source"]], *(asked[name] for name in names))

    def _identity(self, name: str) -> str | None:
        value = getattr(self, name)
        return identity(value) if callable(value) else None


class ByThreshold(ByMeaning):
    """The settings of strategies that cut where a distance is large."""

    percentile: float | None
    distance: float | None
    deviations: float | None
    automatic: bool
    mode: str
    buffer: int

    def _meaning(self, sections: tuple[object, str] | None) -> tuple[Any, ...]:
        """Return what the core takes; called before `_build`."""
        self._check_embedder()
        threshold = self._threshold()
        if self.mode not in ("previous", "centroid"):
            raise _core.SettingError(f"mode ({self.mode!r}) must be 'previous' or 'centroid'")
        target, least = self._sizes(0 if self.distance is not None else None)
        object.__setattr__(self, "buffer", whole("buffer", self.buffer, 0))
        return threshold, self.mode == "centroid", sections, self.buffer, least, target

    def _threshold(self) -> tuple[str, float]:
        if not isinstance(self.automatic, bool):
            raise TypeError(f"automatic ({self.automatic!r}) must be True or False")
        bounds = {"percentile": 100.0, "distance": 2.0, "deviations": math.inf}
        given = {
            name: number(name, getattr(self, name), 0, most)
            for name, most in bounds.items()
            if getattr(self, name) is not None
        }
        for name, value in given.items():
            object.__setattr__(self, name, value)
        if self.automatic:
            given["target"] = 0.0
        if len(given) > 1:
            names = " and ".join("automatic" if name == "target" else name for name in given)
            raise _core.SettingError(f"{names} are given: at most one says what the threshold is")
        return next(iter(given.items()), ("percentile", _PERCENTILE))
