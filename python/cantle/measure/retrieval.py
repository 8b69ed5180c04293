"""How much of what answers a question was retrieved, and how much else came with it.

All of it is counted in characters of documents, so that it compares chunks of any strategy and
size. The definitions are those of Smith and Troynikov, Evaluating Chunking Strategies for Retrieval
(Chroma, 2024), which count tokens in the text and characters in the code; what differs is said.
"""

from __future__ import annotations

from collections.abc import Sequence

from cantle import _core
from cantle.measure.places import Place, characters, joined, shared, touching


def recall(references: Sequence[Place], retrieved: Sequence[Place]) -> float:
    """Return which share of the references was retrieved, from 0 to 1.

    References that overlap count once; in the paper's code they count each.

    Args:
        references: The places that answer the question; at least one.
        retrieved: The places of the passages.

    Raises:
        SettingError: There are no references.

    Example:
        >>> from cantle.measure.places import Place
        >>> recall([Place("a", 0, 10)], [Place("a", 5, 20)])
        0.5
    """
    return characters(shared(references, retrieved)) / _wanted(references)


def precision(references: Sequence[Place], retrieved: Sequence[Place]) -> float:
    """Return which share of what was retrieved belongs to the references, from 0 to 1.

    What several passages hold counts as found once, and as retrieved each time: repeats cost. 0
    where nothing was retrieved.

    Args:
        references: As for `recall`.
        retrieved: The places of the passages.

    Raises:
        SettingError: There are no references.

    Example:
        >>> from cantle.measure.places import Place
        >>> precision([Place("a", 0, 10)], [Place("a", 5, 20), Place("a", 5, 20)])
        0.16666666666666666
    """
    _wanted(references)
    total = characters(retrieved)
    return characters(shared(references, retrieved)) / total if total else 0.0


def iou(references: Sequence[Place], retrieved: Sequence[Place]) -> float:
    """Return intersection over union of references and what was retrieved, from 0 to 1.

    The union counts repeats each time, as `precision` does.

    Args:
        references: As for `recall`.
        retrieved: The places of the passages.

    Raises:
        SettingError: There are no references.

    Example:
        >>> from cantle.measure.places import Place
        >>> iou([Place("a", 0, 10)], [Place("a", 5, 20)])
        0.25
    """
    wanted = _wanted(references)
    found = characters(shared(references, retrieved))
    return found / (characters(retrieved) + wanted - found)


def whole(references: Sequence[Place], retrieved: Sequence[Place]) -> bool:
    """Return whether every character of the references was retrieved.

    Args:
        references: As for `recall`.
        retrieved: The places of the passages.

    Raises:
        SettingError: There are no references.

    Example:
        >>> from cantle.measure.places import Place
        >>> whole([Place("a", 0, 10)], [Place("a", 0, 6), Place("a", 6, 10)])
        True
    """
    return characters(shared(references, retrieved)) == _wanted(references)


def omega(references: Sequence[Place], chunks: Sequence[Place]) -> float:
    """Return the precision that perfect retrieval would have, from 0 to 1.

    Retrieved are all chunks that share a character with a reference, each once. Of the union of
    these chunks and of the references it is the share that is in both. It says what a chunking
    allows, whatever the embedder: the smaller chunks are, and the closer to the references, the
    higher it is. The paper writes it as precision with an omega.

    Args:
        references: As for `recall`.
        chunks: The places of all chunks.

    Raises:
        SettingError: There are no references.

    Example:
        >>> from cantle.measure.places import Place
        >>> omega([Place("a", 5, 10)], [Place("a", 0, 10), Place("a", 10, 20)])
        0.5
    """
    _wanted(references)
    taken = touching(chunks, references)
    found = characters(shared(references, taken))
    return found / characters(joined([*taken, *references]))


def _wanted(references: Sequence[Place]) -> int:
    total = characters(joined(references))
    if not total:
        raise _core.SettingError("references hold no character: nothing can be found of them")
    return total
