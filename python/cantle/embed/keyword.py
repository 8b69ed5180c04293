"""`Keyword`: an embedder that counts the words of topics, for tests and examples."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cantle import _core

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Keyword:
    """A reproducible stand-in for a model: one dimension for each topic, a topic is some words.

    A text is split into runs of letters, digits and punctuation, in lower case, in Latin letters
    (`"é"` is `"e"`), without English endings. A vector holds how many words of each topic the text
    has, divided by its Euclidean length; it is zero where no word occurs. A word that a topic
    holds twice counts twice at most: `"install installation"` is one word twice.

    It knows nothing of meaning: boundaries and hits can be followed by hand.

    Args:
        topics: For each dimension its words, separated by blanks.

    Example:
        >>> from cantle.embed import Keyword
        >>> embedder = Keyword(["install setup", "error crash timeout"])
        >>> embedder(["Install it.", "It crashed in the setup."]).round(2).tolist()
        [[1.0, 0.0], [0.7099999785423279, 0.7099999785423279]]
    """

    topics: tuple[str, ...]

    def __init__(self, topics: Iterable[str]) -> None:
        """Check the topics.

        Raises:
            TypeError: They are no strings.
            SettingError: There is none, or one has no word.
        """
        if isinstance(topics, str | bytes) or not isinstance(topics, Iterable):
            raise TypeError(f"topics ({topics!r}) must be a list of strings")
        given = tuple(topics)
        for i, topic in enumerate(given):
            if not isinstance(topic, str):
                raise TypeError(f"topics[{i}] ({topic!r}) must be str")
            if not topic.strip():
                raise _core.SettingError(f"topics[{i}] ({topic!r}) has no word")
        if not given:
            raise _core.SettingError("topics (()) must hold at least one")
        object.__setattr__(self, "topics", given)

    @property
    def fingerprint(self) -> str:
        """What tells it from other embedders."""
        return f"keyword:{self.topics!r}"

    def __call__(self, texts: list[str]) -> NDArray[np.float32]:
        """Return the vectors of texts; float32 [texts, topics].

        Raises:
            TypeError: A text is no string.
        """
        return _core.keyword_vectors(texts, self.topics)
