"""The one door to an embedder: texts go in by batches, what comes back is checked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from cantle import _core, units
from cantle.limits import whole

if TYPE_CHECKING:
    from numpy.typing import NDArray

Embedder: TypeAlias = Callable[[list[str]], Any]
"""What returns a vector for each text: float32 [texts, d], or what `numpy.asarray` makes of it."""
Progress: TypeAlias = Callable[[int, int], None]
"""Called after each batch with how many texts are embedded, and how many there are."""

BATCH_SIZE = 256


def embed_all(
    embedder: Embedder,
    texts: Sequence[str],
    *,
    batch_size: int = BATCH_SIZE,
    progress: Progress | None = None,
    called: Callable[[int], str] | None = None,
    copy: bool = True,
) -> NDArray[np.float32]:
    """Return the vectors of texts; float32 [texts, d].

    The embedder is called with lists of at most `batch_size` texts, and not at all where there is
    no text: the matrix is then [0, 0]. What it raises comes out unchanged.

    Args:
        embedder: What turns a list of texts into as many vectors.
        texts: The texts.
        batch_size: Most texts in a call, at least 1.
        progress: Called after each batch.
        called: What messages call a text, by its number. Default: `texts[3]`.
        copy: Whether the matrix is the caller's own. Else it may be the embedder's, which may write
            to it in its next call.

    Raises:
        TypeError: The embedder cannot be called, or returns something else than numbers.
        SettingError: It returns another number of vectors than it got texts, or vectors of another
            length than before, or one with a NaN or an infinity; or a text is longer than it says
            it takes, and it was not called. The message names the text.

    Example:
        >>> from cantle.embed import Keyword, embed_all
        >>> embed_all(Keyword(("tea pot", "rain cloud")), ["Warm the pot.", "Clouds!"]).tolist()
        [[1.0, 0.0], [0.0, 1.0]]
    """
    if not callable(embedder):
        raise TypeError(f"embedder ({embedder!r}) must be callable")
    check_batch_size(batch_size)
    if isinstance(texts, str | bytes):
        raise TypeError("texts must be a sequence of texts, not one text")
    called = called or (lambda row: f"texts[{row}]")
    _check_sizes(embedder, texts, called)
    found: NDArray[np.float32] | None = None
    for first in range(0, len(texts), batch_size):
        part = list(texts[first : first + batch_size])
        # Counted before the call: the list is the embedder's own, and it may empty it.
        end = first + len(part)
        rows = checked(embedder(part), end - first, first, called)
        if end - first == len(texts) and not copy:
            found = np.require(rows, requirements=("C", "A"))
        else:
            if found is None:
                found = np.empty((len(texts), rows.shape[1]), np.float32)
            elif rows.shape[1] != found.shape[1]:
                raise _core.SettingError(
                    f"embedder: vectors of {rows.shape[1]} numbers for {called(first)} and what "
                    f"follows, of {found.shape[1]} before"
                )
            found[first:end] = rows
        if progress is not None:
            progress(end, len(texts))
    return np.empty((0, 0), np.float32) if found is None else found


def check_batch_size(batch_size: int) -> None:
    """Raise unless `batch_size` is a whole number of at least 1."""
    if isinstance(batch_size, bool) or not hasattr(batch_size, "__index__"):
        raise TypeError(f"batch_size ({batch_size!r}) must be a whole number")
    if batch_size < 1:
        raise _core.SettingError(f"batch_size ({batch_size}) must be at least 1")


def checked(
    answer: Any, texts: int, first: int, called: Callable[[int], str]
) -> NDArray[np.float32]:
    """Return an embedder's answer as float32 [texts, d].

    Args:
        answer: What it returned.
        texts: For how many texts.
        first: The number of the first one.
        called: What messages call a text, by its number.

    Raises:
        TypeError: It is something else than numbers.
        SettingError: It has another shape, or a NaN or an infinity.
    """
    try:
        rows = np.asarray(answer)
    except ValueError:  # rows of different lengths
        raise _core.SettingError("embedder: vectors of different lengths in one answer") from None
    if rows.dtype.kind not in "fiu":
        raise TypeError(f"embedder: {rows.dtype} where vectors of numbers are expected")
    if rows.ndim != 2:
        raise _core.SettingError(
            f"embedder: an array of shape {rows.shape} for {texts} texts; [texts, d] is expected"
        )
    if len(rows) != texts:
        raise _core.SettingError(f"embedder: {len(rows)} vectors for {texts} texts")
    if not rows.shape[1]:
        raise _core.SettingError("embedder: vectors of 0 numbers")
    with np.errstate(over="ignore"):
        vectors = rows.astype(np.float32, copy=False)
    # The least and the largest of all are found faster than each is looked at.
    if texts and not (np.isfinite(vectors.min()) and np.isfinite(vectors.max())):
        row = int(np.argmin(np.isfinite(vectors).all(axis=1)))
        what = "NaN" if np.isnan(vectors[row]).any() else "an infinity"
        raise _core.SettingError(f"embedder: {what} in the vector of {called(first + row)}")
    return vectors


def reads_documents(embedder: Embedder) -> bool:
    """Return whether the vectors of chunks are made of their whole document, as those of `Late`.

    Such an embedder has a method `embed_chunks`, from `Chunks` to float32 [chunks, d].
    """
    return hasattr(embedder, "embed_chunks")


def token_limit(embedder: Embedder) -> tuple[int, units.Unit] | None:
    """Return the most tokens of a text that an embedder takes, and what counts them; None: any.

    An embedder says it itself in an attribute `token_limit`, as `Remote` does.

    Raises:
        TypeError: The attribute is something else.
        SettingError: Its number is below 1, or there is no such unit.
    """
    told = getattr(embedder, "token_limit", None)
    if told is None:
        return None
    if not isinstance(told, tuple) or len(told) != 2:
        raise TypeError(f"token_limit ({told!r}) must be a pair: most tokens, and their unit")
    most, unit = told
    try:
        return whole("token_limit", most, 1), units.resolve(unit)
    except (TypeError, _core.SettingError) as error:
        if str(error).startswith("token_limit"):
            raise
        raise type(error)(f"token_limit: {error}") from None


def _check_sizes(embedder: Embedder, texts: Sequence[str], called: Callable[[int], str]) -> None:
    """Raise if a text is longer than the embedder says it takes."""
    limit = token_limit(embedder)
    if limit is None:
        return
    most, told = limit
    unit = units.seen_by_model(told)
    sizes = units.sizes(unit, texts)
    over = np.flatnonzero(sizes > most)
    if len(over):
        row = int(over[0])
        raise _core.SettingError(
            f"embedder: {called(row)} has {sizes[row]} tokens in {units.describe(unit)}, over the "
            f"{most} that it takes"
        )


def identity(embedder: Embedder) -> str:
    """Return what tells an embedder from others, the same in every process.

    An embedder says it itself in an attribute `fingerprint`; else it is known as a unit that is a
    callable is.
    """
    return units.identity(embedder)
