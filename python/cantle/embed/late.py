"""`Late`: vectors of chunks pooled from the token vectors of their whole document."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from cantle import _core
from cantle.chunks import Chunks
from cantle.embed.door import Progress, identity
from cantle.limits import whole

if TYPE_CHECKING:
    from numpy.typing import NDArray


class TokenEmbedder(Protocol):
    """An embedder that also gives a vector for each token of a text."""

    def __call__(self, texts: list[str]) -> Any:
        """Return a vector for each text."""

    def token_vectors(
        self, text: str, *, window: int | None = None, overlap: int | None = None
    ) -> Iterable[tuple[Any, Any]]:
        """Return the tokens of a text in parts, in order: float32 [tokens, d] and their spans.

        Spans are int64 [tokens, 2], in characters, half-open, in order. A token that stands for no
        text, such as a special one, has an empty span, before all others or behind them. A text
        that the model does not take at once goes through it by windows; see `windows`.

        Args:
            text: The text.
            window: Most tokens that the model sees at once, specials included. None: all it takes.
            overlap: How many tokens a window shares with the next one. None: a quarter.
        """


class Window(NamedTuple):
    """Tokens that a model sees at once, and those whose vectors are taken from it."""

    start: int
    end: int
    first: int
    last: int
    """The tokens `first..last` of `start..end` are taken."""


def windows(tokens: int, size: int, overlap: int) -> list[Window]:
    """Return windows that cover so many tokens; each token is taken once.

    It is taken from the window in whose middle it stands, or nearest to: where it is farthest from
    an edge. The last window is moved back so that it is as long as the others.

    Args:
        tokens: How many there are.
        size: Tokens in a window.
        overlap: Least tokens that a window shares with the next one; less than `size`.
    """
    if tokens <= 0:
        return []
    last = max(tokens - size, 0)
    starts = [*range(0, last, size - overlap), last]
    ends = [min(start + size, tokens) for start in starts]
    seams = [(end + start + 1) // 2 for end, start in zip(ends, starts[1:], strict=False)]
    return [Window(*row) for row in zip(starts, ends, [0, *seams], [*seams, tokens], strict=True)]


@dataclass(frozen=True)
class Late:
    """Late chunking: each chunk's vector is the mean of its tokens' vectors in the whole document.

    So a chunk's vector knows what stands around it (Günther et al. 2024, arXiv 2409.04701). A
    document longer than the model's window goes through it in overlapping windows, and a token's
    vector is that of the window in which it is farthest from an edge. A token that two chunks share
    counts in both, the special tokens in the chunks that hold the first and the last token.

    `embed_chunks` takes `Chunks`; called with texts, as for questions, it is the embedder itself.

    Args:
        embedder: An embedder with `token_vectors`, such as `Onnx` with mean pooling; see
            `TokenEmbedder`.
        window: Most tokens that the model sees at once, specials included. Default: all it takes.
        overlap: How many tokens a window shares with the next one. Default: a quarter of the
            window.
    """

    embedder: TokenEmbedder
    _: KW_ONLY
    window: int | None = None
    overlap: int | None = None

    def __post_init__(self) -> None:
        if not callable(self.embedder) or not hasattr(self.embedder, "token_vectors"):
            raise TypeError(f"embedder ({self.embedder!r}) must have token_vectors")
        for name, least in (("window", 1), ("overlap", 0)):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, whole(name, value, least))
        if self.window is not None and self.overlap is not None and self.overlap >= self.window:
            raise _core.SettingError(
                f"overlap ({self.overlap}) must be smaller than window ({self.window})"
            )

    @property
    def fingerprint(self) -> str:
        """What tells it from other embedders."""
        return f"late:{identity(self.embedder)}:{self.window}:{self.overlap}"

    def __call__(self, texts: list[str]) -> Any:
        """Return what the embedder itself says of texts; float32 [texts, d]."""
        return self.embedder(texts)

    def embed_chunks(
        self, chunks: Chunks, *, progress: Progress | None = None
    ) -> NDArray[np.float32]:
        """Return the vectors of chunks; float32 [chunks, d], each of length 1.

        A chunk in which no token stands has the zero vector. What stands before a chunk in
        `embed_text` is not seen: the document is.

        Args:
            chunks: The chunks of any strategy.
            progress: Called after each document with how many chunks are embedded, and how many
                there are.

        Raises:
            SettingError: The embedder's answer has other shapes than it should, or a NaN or an
                infinity; says of which document.

        Example:
            >>> from cantle.embed import Late, Onnx
            >>> late = Late(Onnx("model"), window=256)  # doctest: +SKIP
        """
        if not isinstance(chunks, Chunks):
            raise TypeError(f"chunks must be Chunks, not {type(chunks).__qualname__}")
        vectors: NDArray[np.float32] | None = None
        done = 0
        for doc in np.unique(chunks.doc).tolist():
            rows = np.flatnonzero(chunks.doc == doc)
            pooled = self._pooled(chunks, doc, rows)
            if pooled is not None:
                if vectors is None:
                    vectors = np.zeros((len(chunks), pooled.shape[1]), np.float32)
                if pooled.shape[1] != vectors.shape[1]:
                    raise _core.SettingError(
                        f"embedder: token vectors of {pooled.shape[1]} numbers in document "
                        f"{chunks.documents.id(doc)!r}, of {vectors.shape[1]} before"
                    )
                vectors[rows] = pooled
            done += len(rows)
            if progress is not None:
                progress(done, len(chunks))
        if vectors is not None or not len(chunks):
            return np.empty((0, 0), np.float32) if vectors is None else vectors
        # No token anywhere: how long vectors are is known by a text's.
        return np.zeros((len(chunks), np.asarray(self.embedder(["a"])).shape[1]), np.float32)

    def _pooled(
        self, chunks: Chunks, doc: int, rows: NDArray[np.int64]
    ) -> NDArray[np.float32] | None:
        """Return the vectors of one document's chunks; None where it has no token."""
        text = chunks.documents.text(doc)
        start, end = chunks.char_start[rows], chunks.char_end[rows]
        name = f"document {chunks.documents.id(doc)!r}"
        sums: NDArray[np.float64] | None = None
        parts = self.embedder.token_vectors(text, window=self.window, overlap=self.overlap)
        for part in parts:
            vectors, spans = _checked(part, name)
            if sums is None:
                sums = np.zeros((len(rows), vectors.shape[1]))
            if vectors.shape[1] != sums.shape[1]:
                raise _core.SettingError(f"embedder: token vectors of several lengths in {name}")
            first, last = _touched(spans, start, end)
            for row in np.flatnonzero(first < last).tolist():
                sums[row] += vectors[first[row] : last[row]].sum(axis=0, dtype=np.float64)
        if sums is None:
            return None
        # The mean and the sum have one direction.
        norms = np.linalg.norm(sums, axis=1, keepdims=True)
        return (sums / np.where(norms > 0, norms, 1)).astype(np.float32)


def _touched(
    spans: NDArray[np.int64], start: NDArray[np.int64], end: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return for each chunk the first token that has characters in common with it, and the end.

    Tokens of no text go with the neighbour that has some.
    """
    filled = np.flatnonzero(spans[:, 0] < spans[:, 1])
    first = np.searchsorted(spans[filled, 1], start, "right")
    last = np.searchsorted(spans[filled, 0], end, "left")
    # Between the tokens with text; those before the first and behind the last belong to these.
    edges = np.concatenate([[0], filled[1:], [len(spans)]]) if len(filled) else np.zeros(1, int)
    return edges[np.minimum(first, last)], edges[last]


def _checked(part: Any, name: str) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    vectors, spans = (np.asarray(one) for one in part)
    if vectors.ndim != 2 or spans.shape != (len(vectors), 2):
        raise _core.SettingError(
            f"embedder: token vectors of shape {vectors.shape} and spans of shape {spans.shape} in "
            f"{name}; [tokens, d] and [tokens, 2] are expected"
        )
    if not np.isfinite(vectors).all():
        raise _core.SettingError(f"embedder: NaN or an infinity in the token vectors of {name}")
    if (np.diff(spans, axis=0) < 0).any() or (spans[:, 0] > spans[:, 1]).any():
        raise _core.SettingError(f"embedder: the spans of tokens in {name} are not in order")
    return vectors.astype(np.float32, copy=False), spans.astype(np.int64, copy=False)
