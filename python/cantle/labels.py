"""Labels for the parts of a section: a word that tells each from the others."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TypeAlias

Labeller: TypeAlias = Callable[[str, list[list[str]]], Sequence[str]]
"""From a section's heading and the sentences of each of its parts to a label for each part; an
empty one leaves the heading as it is."""

_WORD = re.compile(r"[^\W_]+(?:['\u2019-][^\W_]+)*")
_NUMERALS_TEXT = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety
hundred thousand million billion first second third fourth fifth sixth seventh eighth ninth
tenth once twice
"""
_NUMERALS = frozenset(_NUMERALS_TEXT.split())
_STOP_WORDS_TEXT = """
a about above after again against all already also although always am among an and another any
are around as at away be because been before being below between both but by can cannot could
did do does doing done down during each either else enough even ever every few for from further
had has have having he her here hers herself him himself his how however i if in indeed instead
into is it its itself just least less let like likewise many may me might more moreover most
much must my myself near neither never nevertheless no nor not now of off often on only onto or
other others otherwise our ours ourselves out over own perhaps quite rather same several shall
she should since so some still such than that the their theirs them themselves then there
thereby therefore these they this those though through throughout thus to together too toward
towards under unless until up upon us very via was we well were what whatever when whenever
where whereas wherever whether which while who whoever whom whose why will with within without
would yet you your yours yourself yourselves
"""
_STOP_WORDS = frozenset(_STOP_WORDS_TEXT.split())


def words(text: str) -> list[str]:
    """Return the words of a text in lower case: runs of letters and digits."""
    return [word.casefold() for word in _WORD.findall(text)]


def opening_words(heading: str, parts: list[list[str]]) -> list[str]:
    """Return for each part of a section a word that opens one of its sentences.

    Of each sentence that is the first word that is no English stop word, no numeral and not in the
    heading. The one is taken that stands most often in the part, less how often it stands in the
    others; of two the earlier. Where there is none the label is empty.

    Args:
        heading: The section's title.
        parts: The sentences of each part.

    Example:
        >>> from cantle.labels import opening_words
        >>> opening_words("Tea", [["We warm pots.", "Warm pots hold tea."], ["Two cups break."]])
        ['Warm', 'Cups']
    """
    titled = set(words(heading))
    counts = [Counter(word for sentence in part for word in words(sentence)) for part in parts]
    total = sum(counts, Counter[str]())
    labels = []
    for part, here in zip(parts, counts, strict=True):
        opening = dict.fromkeys(
            word for word in (_opening(sentence, titled) for sentence in part) if word is not None
        )
        # Of several that are best `max` returns the first.
        best = max(opening, key=lambda word: 2 * here[word] - total[word], default="")
        labels.append(best[:1].upper() + best[1:])
    return labels


def _opening(sentence: str, titled: set[str]) -> str | None:
    for word in words(sentence):
        plain = word.replace("\u2019", "'")
        if plain.partition("'")[0] in _STOP_WORDS or plain in _NUMERALS or plain in titled:
            continue
        if not any(c.isdigit() for c in word):
            return word
    return None
