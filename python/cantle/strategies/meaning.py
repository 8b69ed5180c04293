"""What strategies do alike that embed sentences before they cut."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from cantle import _core, units
from cantle.documents import Arrow, Documents, Text
from cantle.embed.door import Embedder, Progress, check_batch_size, embed_all, identity
from cantle.embed.named import resolve
from cantle.limits import number, whole
from cantle.strategies.pieces import ByPieces, Vectors
from cantle.strategies.splitting import documents_of
from cantle.structure import Blocks
from cantle.units import Unit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cantle.strategies.pieces import Asked


_PERCENTILE = 85.0


class Estimate(NamedTuple):
    """What a model is given before documents are cut."""

    texts: int
    """Texts that are embedded, or prompts."""
    characters: int
    units: int
    """Their sizes in the strategy's unit."""
    calls: int
    """Calls of the embedder, `batch_size` texts each, or of the language model."""


class ByMeaning(ByPieces):
    """Goes before `Splitting`: asks what to embed, embeds it by batches, hands the vectors over.

    The texts of one call are embedded together, whatever documents they are of.
    """

    size: int
    unit: Unit
    min_size: int | None
    embedder: Embedder | str
    batch_size: int
    progress: Progress | None
    prefix: str | None
    fingerprint: str
    _check_prefix: Callable[[], str | None]

    _unhashed: ClassVar[tuple[str, ...]] = ("name", "batch_size", "progress")

    def _check_embedder(self) -> None:
        embedder = resolve(self.embedder)
        object.__setattr__(self, "embedder", embedder)
        check_batch_size(self.batch_size)
        object.__setattr__(self, "batch_size", int(self.batch_size))
        if self.progress is not None and not callable(self.progress):
            raise TypeError(f"progress ({self.progress!r}) must be callable or None")

    def _titles(self, documents: Documents) -> list[str] | None:
        # Of titles only a prefix makes use; the levels of `Hierarchical` have none.
        return None if getattr(self, "prefix", None) is None else documents.titles()

    def _vectors(self, documents: Documents, asked: Asked, doc: NDArray[Any]) -> Vectors:
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
            # Both are the caller's, and may ask the embedder again before the vectors are read.
            copy=self.progress is not None or callable(self.unit),
        )
        return Vectors(vectors, rows)

    def estimate(
        self,
        texts: Iterable[Text | Blocks] | Arrow,
        *,
        ids: Iterable[str] | Arrow | None = None,
        text: str = "text",
        id: str | None = None,
        threads: int = 0,
    ) -> Estimate:
        """Return what would be embedded to find borders, without a call of the embedder.

        Texts that cannot be read count as empty. The chunks themselves come on top, where they are
        embedded: they hold the texts once more.

        Args:
            texts: As for `split_all`.
            ids: As for `split_all`; their endings may tell a form.
            text: As for `split_all`.
            id: As for `split_all`.
            threads: As for `split_all`.

        Example:
            >>> import cantle
            >>> semantic = cantle.Semantic(unit="words", embedder=cantle.embed.Keyword(["tea"]))
            >>> semantic.estimate(["Warm the pot. Pour the tea.", "It rains."])
            Estimate(texts=3, characters=35, units=8, calls=1)
        """
        documents = documents_of(texts, ids, None, text, id)
        shown = self._shown(documents, *self._all_asked(documents, threads))
        unit = units.resolve(self.unit)
        return Estimate(
            texts=len(shown),
            characters=sum(map(len, shown)),
            units=int(units.sizes(unit, shown, threads).sum()),
            calls=-(-len(shown) // self.batch_size),
        )

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
    min_sentences: int

    def _meaning(self, sections: tuple[object, str] | None) -> tuple[Any, ...]:
        """Return what the core takes; called before `_build`."""
        self._check_embedder()
        threshold = self._threshold()
        if self.mode not in ("previous", "centroid"):
            raise _core.SettingError(f"mode ({self.mode!r}) must be 'previous' or 'centroid'")
        target, least = self._sizes(0 if self.distance is not None else None)
        object.__setattr__(self, "buffer", whole("buffer", self.buffer, 0))
        fewest = whole("min_sentences", self.min_sentences, 1)
        object.__setattr__(self, "min_sentences", fewest)
        centroid, template = self.mode == "centroid", self._check_prefix()
        return threshold, centroid, sections, self.buffer, least, target, fewest, template

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
