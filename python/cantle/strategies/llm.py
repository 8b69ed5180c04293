"""`Llm`: a language model says between which sentences a text is divided."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import KW_ONLY, dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from cantle import _core, units
from cantle.chat import Chat, Model, resolve_model
from cantle.chunks import Chunks
from cantle.dividers import Bad, again, ends_of, groups, prompt_for, too_large
from cantle.documents import Documents, Text
from cantle.endpoint import Endpoint
from cantle.fallbacks import Fallback, flagged
from cantle.kept import check_path, key_of, opened
from cantle.limits import whole
from cantle.parallel import Stop, in_order
from cantle.strategies.meaning import Estimate
from cantle.strategies.pieces import ByPieces, Vectors
from cantle.strategies.recursive import Recursive
from cantle.strategies.splitting import Splitting
from cantle.structure import Blocks
from cantle.tokenizer import Tokenizer
from cantle.units import Unit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cantle.strategies.pieces import Asked


class _Window(NamedTuple):
    """Sentences that one prompt shows, and for which of their ends its answer counts."""

    first: int
    last: int
    """Behind its last sentence."""
    low: int
    high: int
    """The ends from `low` to before `high` are its own."""
    text: str
    """From its first sentence's start to its last one's end."""
    spans: NDArray[np.int64]
    """Where each sentence starts and ends in `text`, in characters; int64 [n, 2]."""
    prompt: str

    def part(self, first: int, last: int) -> str:
        """Return the text of sentences, counted from 1."""
        return self.text[self.spans[first - 1, 0] : self.spans[last - 1, 1]]


@dataclass(frozen=True)
class Llm(ByPieces, Splitting):
    """A language model names the sentences behind which a chunk ends.

    It is shown the numbered sentences of a window at a time, and asked to weigh drift of subject,
    completeness, logical grouping, headings, and what belongs together. Its answer can only be
    numbers; it is checked, and asked for again with the reason where it cannot be used. If that
    does not help, `Recursive` places the borders there: such chunks have the flag `FALLBACK`, and
    `chunks.fallbacks` tells why. `size` holds whatever the model says. What the model raises, as
    where a server cannot be reached, ends the call; with `cache` the next one goes on from there.

    Neighbouring windows share sentences; of the shared ones the first half counts for the earlier
    window. Of `Blocks`, a table or a block of code counts as one sentence.

    Args:
        size: Most units in a chunk, overlap included.
        overlap: Most units that a chunk repeats from the one before; whole sentences.
        unit: What sizes count: `"bytes"`, `"chars"`, `"words"`, a bundled vocabulary's name, the
            path of a `tokenizer.json`, a tokenizer or a callable.
        trim: Drop the blanks around each chunk.
        model: `"openai:MODEL"`, `"openai:MODEL@URL"`, an `Endpoint`, a `Chat`, or any callable from
            a prompt to the answer.
        target: About how many units a chunk should have. Default: two thirds of `size`.
        min_size: Units that a chunk holds before it ends where the model says so. Default: 0.
        window: Most sentences of a prompt.
        shared: Sentences that neighbouring windows share.
        retries: How often the model is asked again after an answer that cannot be used.
        cache: A file that answers are kept in, so that no prompt is paid for twice.
        concurrency: Most prompts at a time. Default: the endpoint's, or 1 for a callable.
        progress: Called after each answer with how many are there, and how many there will be.
        name: The name in the chunks' ids. Default: `llm`.

    Example:
        >>> import cantle
        >>> model = lambda prompt: '{"ends": [2]}'
        >>> llm = cantle.Llm(20, unit="words", model=model)
        >>> llm.split("Warm the pot. Then pour the tea. Rain fell. The rain was cold.").texts
        ['Warm the pot. Then pour the tea.', 'Rain fell. The rain was cold.']
    """

    strategy = "llm"
    _unhashed: ClassVar[tuple[str, ...]] = ("name", "cache", "concurrency", "progress")

    size: int = 512
    overlap: int = 0
    unit: Unit = "cl100k_base"
    trim: bool = True
    _: KW_ONLY
    model: Model | Endpoint | str = "openai:gpt-4.1-mini"
    target: int | None = None
    min_size: int | None = None
    window: int = 60
    shared: int = 10
    retries: int = 2
    cache: str | os.PathLike[str] | None = None
    concurrency: int | None = None
    progress: Callable[[int, int], None] | None = None
    name: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "model", resolve_model(self.model))
        for name, least in (("window", 2), ("shared", 1), ("retries", 0), ("concurrency", 1)):
            value = getattr(self, name)
            if value is not None or name != "concurrency":
                object.__setattr__(self, name, whole(name, value, least))
        if self.shared >= self.window:
            raise _core.SettingError(
                f"shared ({self.shared}) must be smaller than window ({self.window})"
            )
        if self.progress is not None and not callable(self.progress):
            raise TypeError(f"progress ({self.progress!r}) must be callable or None")
        if self.cache is not None:
            check_path("cache", self.cache)
        target, least = self._sizes(0)
        # What the core gets for vectors turns by a right angle at each border.
        turns = (("distance", 0.5), False, None, 0, least, target, 1, None)
        self._build(core="meaning", meaning=turns)

    def _identity(self, name: str) -> str | None:
        return units.identity(self.model) if name == "model" else None  # type: ignore[arg-type]

    def check(self) -> None:
        """Raise where the model could not be asked: a package or the key is missing.

        Raises:
            ImportError: urllib3 is not installed.
            SettingError: The server is OpenAI's, and there is no key.
        """
        if isinstance(self.model, Chat):
            self.model.endpoint.check()

    def estimate(
        self, texts: Iterable[Text | Blocks], *, ids: Iterable[str] | None = None, threads: int = 0
    ) -> Estimate:
        """Return what the model would be asked, if each first answer can be used.

        Nothing is asked. Texts that cannot be read count as empty; what `cache` holds counts as
        well. Answers come on top: a few tokens for each chunk.

        Args:
            texts: As for `split_all`.
            ids: As for `split_all`.
            threads: As for `split_all`.
        """
        documents = Documents(tuple(texts), ids)
        windows = self._windows(documents, *self._all_asked(documents, threads))
        prompts = [window.prompt for window in windows]
        sizes = units.sizes(units.resolve(self.unit), prompts, threads)
        return Estimate(len(prompts), sum(map(len, prompts)), int(sizes.sum()), len(prompts))

    def _vectors(self, documents: Documents, asked: Asked, doc: NDArray[Any]) -> Vectors:
        source = asked["source"]
        marks = np.zeros(len(source), bool)
        fallbacks = []
        windows = self._windows(documents, asked, doc)
        for window, outcome in zip(windows, self._outcomes(windows), strict=True):
            bad = outcome if isinstance(outcome, Bad) else None
            ends = outcome.ends if isinstance(outcome, Bad) else outcome
            own = np.zeros(len(window.spans), bool)
            if ends:
                own[np.array(ends) - 1] = True
            if bad is not None:
                runs = bad.large if ends is not None else ((1, len(own)),)
                for first, last in runs:
                    own[first - 1 : last - 1] |= self._recursive(window, first, last)
                    row = window.first + first - 1, window.first + last
                    low, high = max(row[0], window.low), min(row[1], window.high)
                    if low < high:
                        fallbacks.append(_fallback(documents, asked, doc, low, high, bad.reason))
            mine = slice(window.low - window.first, window.high - window.first)
            marks[window.low : window.high] = own[mine]
        turns = np.cumsum(np.append(0, marks[:-1])) % 2 if len(marks) else marks
        matrix = np.column_stack([turns, 1 - turns.astype(np.int8)]).astype(np.float32)
        rows = np.searchsorted(source, np.arange(len(doc) + 1))
        return Vectors(matrix, rows, tuple(fallbacks))

    def _windows(self, documents: Documents, asked: Asked, doc: NDArray[Any]) -> list[_Window]:
        sentences = self._shown(documents, asked, doc)
        sizes = self._measured(sentences)
        rows = np.searchsorted(asked["source"], np.arange(len(doc) + 1)).tolist()
        spans = []
        for start, end in pairwise(rows):
            low = first = start
            while end - first > 1:
                last = min(first + self.window, end)
                after = last - self.shared
                high = end if last == end else after + self.shared // 2
                spans.append((first, last, low, high))
                if last == end:
                    break
                first, low = after, high
        unit, target = units.describe(units.resolve(self.unit)), self._sizes(0)[0]
        chars = np.column_stack([asked["char_start"], asked["char_end"]])
        return [
            _Window(
                *(first, last, low, high),
                documents.slice(
                    int(doc[asked["source"][first]]),
                    int(asked["byte_start"][first]),
                    int(asked["byte_end"][last - 1]),
                    int(asked["char_start"][first]),
                    int(asked["char_end"][last - 1]),
                ),
                chars[first:last] - chars[first, 0],
                prompt_for(
                    sentences[first:last],
                    sizes[first:last],
                    unit=unit,
                    size=self.size,
                    target=target,
                ),
            )
            for first, last, low, high in spans
        ]

    def _outcomes(self, windows: list[_Window]) -> list[tuple[int, ...] | Bad]:
        """Return what came of each window; equal prompts are asked once."""
        by_key = {key_of(window.prompt): window for window in windows}
        found: dict[bytes, tuple[int, ...] | Bad] = {}
        model = units.identity(self.model)  # type: ignore[arg-type]
        place = nullcontext() if self.cache is None else opened(self.cache, "answers", "answer")
        with place as kept:
            if kept is not None:
                for key, answer in kept.find(model, list(by_key)).items():
                    outcome = self._judged(answer.decode("utf-8", "replace"), by_key[key])
                    if not isinstance(outcome, Bad):
                        found[key] = outcome
            missing = [key for key in by_key if key not in found]
            asked = in_order(self._ask, [by_key[key] for key in missing], self._at_once())
            for done, (key, outcome) in enumerate(zip(missing, asked, strict=True), 1):
                found[key] = outcome
                if kept is not None and not isinstance(outcome, Bad):
                    kept.keep(model, [(key, json.dumps({"ends": outcome}).encode())])
                if self.progress is not None:
                    self.progress(done, len(missing))
        return [found[key_of(window.prompt)] for window in windows]

    def _at_once(self) -> int:
        own = self.model.endpoint.concurrency if isinstance(self.model, Chat) else 1
        return self.concurrency or own

    def _ask(self, window: _Window, stop: Stop) -> tuple[int, ...] | Bad:
        prompt, usable = window.prompt, None
        for _ in range(self.retries + 1):
            outcome = self._judged(self._said(prompt, stop), window)
            if not isinstance(outcome, Bad):
                return outcome
            if outcome.ends is not None:
                usable = outcome
            if stop.asked:
                break
            prompt = again(window.prompt, outcome.reason)
        return usable or outcome

    def _said(self, prompt: str, stop: Stop) -> object:
        if not isinstance(self.model, Chat):
            return self.model(prompt)  # type: ignore[operator]
        paced = self.model.endpoint.tokens_per_minute is not None
        tokens = Tokenizer.from_name("cl100k_base").count(prompt) if paced else 0
        return self.model(prompt, tokens=tokens, stop=stop)

    def _judged(self, answer: object, window: _Window) -> tuple[int, ...] | Bad:
        last = len(window.spans)
        ends = ends_of(answer, last)
        if isinstance(ends, Bad):
            return ends
        several = [(first, end) for first, end in groups(ends, last) if end > first]
        texts = [window.part(first, end) for first, end in several]
        sizes = [(*one, n) for one, n in zip(several, self._measured(texts), strict=True)]
        unit = units.describe(units.resolve(self.unit))
        return too_large(ends, sizes, unit, self.size) or ends

    def _measured(self, texts: Sequence[str]) -> list[int]:
        try:
            sizes: list[int] = units.sizes(units.resolve(self.unit), texts).tolist()
        except Exception:
            # What a caller's own unit raises comes out where the text is cut.
            return [0] * len(texts)
        return sizes

    def _recursive(self, window: _Window, first: int, last: int) -> NDArray[np.bool_]:
        """Return behind which of the sentences but the last `Recursive` ends a chunk."""
        nothing = np.zeros(last - first, bool)
        try:
            chunks = Recursive(self.size, unit=self.unit).split(window.part(first, last))
        except Exception:  # As above.
            return nothing
        ends = window.spans[first - 1 : last - 1, 1] - window.spans[first - 1, 0]
        found: NDArray[np.bool_] = np.isin(ends, chunks.char_end)
        return found

    def _chunks(
        self,
        columns: dict[str, Any],
        documents: Documents,
        *,
        name: str | None = None,
        parents: Chunks | None = None,
    ) -> Chunks:
        # Distances between what is no vector of a text say nothing.
        columns.pop("compared", None)
        columns["flags"] = flagged(columns, columns["fallbacks"])
        return super()._chunks(columns, documents, name=name, parents=parents)


def _fallback(
    documents: Documents, asked: Asked, doc: NDArray[Any], low: int, high: int, reason: str
) -> Fallback:
    """Return what is told of the pieces from `low` to before `high`."""
    source = int(asked["source"][low])
    start = int(np.searchsorted(asked["source"], source))
    number = int(doc[source])
    span = int(asked["byte_start"][low]), int(asked["byte_end"][high - 1])
    first, last = low - start + 1, high - start
    return Fallback(number, documents.id(number), first, last, *span, source, reason)
