"""What retrieval is measured on: texts, questions, and the places in the texts that answer them.

A folder holds `<document>.md` for each text, in UTF-8, and `questions.jsonl`: one object a line,
with `doc`, `question` and `spans`, a list of `[start, end]` in characters, end exclusive.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import cantle
from cantle.embed import Cached, Embedder, embed_all
from cantle.embed.named import resolve
from cantle.measure.places import Place, checked

UNIT = "cl100k_base"
"""What sizes and budgets count, for everybody."""
QUESTIONS = "questions.jsonl"
Spans = list[tuple[int, int]]


class Unreadable(ValueError):
    """A folder is no ground; the message says why."""


@dataclass(frozen=True)
class Ground:
    """Texts with questions about them, and what embeds both."""

    ids: list[str]
    texts: list[str]
    questions: list[str]
    references: list[list[Place]]
    embedder: Embedder
    tokenizer: cantle.Tokenizer = field(default_factory=lambda: cantle.Tokenizer.from_name(UNIT))

    def text(self, place: Place) -> str:
        return self.texts[self.ids.index(place.document)][place.char_start : place.char_end]

    def visible(self, question: int) -> list[Place]:
        """Return the references of a question without their white space."""
        return [
            place._replace(
                char_start=place.char_start + word.start(), char_end=place.char_start + word.end()
            )
            for place in self.references[question]
            for word in re.finditer(r"\S+", self.text(place))
        ]

    def places(self, spans: Sequence[Spans]) -> list[Place]:
        """Return the places of the spans of each text."""
        pairs = zip(self.ids, spans, strict=True)
        return [Place(name, start, end) for name, own in pairs for start, end in own]

    def vectors(self, texts: Sequence[str]) -> Any:
        """Return the vectors of texts at length 1; float32 [texts, d]. A zero vector stays."""
        found = embed_all(self.embedder, texts)
        norms = np.linalg.norm(found, axis=1, keepdims=True)
        return np.divide(found, norms, out=np.zeros_like(found), where=norms > 0)

    def tokens(self, texts: Sequence[str]) -> list[int]:
        return [int(n) for n in self.tokenizer.count_all(list(texts))]


def read(folder: Path, embedder: Embedder, only: Sequence[str] = ()) -> Ground:
    """Return the ground in a folder.

    Args:
        folder: The folder.
        embedder: What embeds chunks and questions.
        only: The documents to take. Default: all that a question is asked of.

    Raises:
        Unreadable: A file is missing or no such file, or a place lies outside its text.
    """
    path = folder / QUESTIONS
    try:
        rows = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
        asked = [(str(row["question"]), _places(str(row["doc"]), row["spans"])) for row in rows]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Unreadable(f"{QUESTIONS}: {type(error).__name__}: {error}") from None
    ids = sorted({places[0].document for _, places in asked})
    if unknown := set(only) - set(ids):
        raise Unreadable(f"no question is asked of {', '.join(sorted(unknown))}")
    ids = [name for name in ids if not only or name in only]
    try:
        # Without translation of line ends, which would move the places.
        texts = [(folder / f"{name}.md").read_bytes().decode() for name in ids]
    except (OSError, ValueError) as error:
        raise Unreadable(str(error)) from None
    lengths = dict(zip(ids, map(len, texts), strict=True))
    asked = [(question, places) for question, places in asked if places[0].document in lengths]
    for question, places in asked:
        if max(place.char_end for place in places) > lengths[places[0].document]:
            raise Unreadable(f"{QUESTIONS}: a place of {question!r} lies outside its text")
    questions, references = map(list, zip(*asked, strict=True))
    return Ground(ids, texts, questions, references, embedder)


def _places(document: str, spans: Sequence[Sequence[int]]) -> list[Place]:
    found = [checked(document, start, end) for start, end in spans]
    if not found:
        raise ValueError(f"a question about {document!r} has no place that answers it")
    return found


@dataclass
class Counted:
    """An embedder that tells how many texts and characters it was asked for."""

    embedder: Embedder
    texts: int = 0
    characters: int = 0

    @property
    def fingerprint(self) -> str:
        return str(getattr(self.embedder, "fingerprint", ""))

    def __call__(self, texts: list[str]) -> Any:
        self.texts += len(texts)
        self.characters += sum(map(len, texts))
        return self.embedder(texts)


def embedder(name: str, cache: Path | None) -> Embedder:
    """Return an embedder by its name, with its vectors kept in a file.

    Those of word vectors and keywords are made faster than they are read.
    """
    found = resolve(name)
    if cache is None or name == "static" or name.startswith("keyword:"):
        return found
    cache.parent.mkdir(parents=True, exist_ok=True)
    return Cached(found, cache)


def told() -> Callable[[str], None]:
    """Return what tells progress: a line on standard error."""
    return lambda words: print(words, file=sys.stderr, flush=True)
