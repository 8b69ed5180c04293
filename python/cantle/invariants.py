"""`check`: what every chunk must keep before it is embedded, whatever strategy made it.

All rules stand here, in one table; the command line, and a store, do what the report says.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cantle import _core, units
from cantle.chunks import Chunks
from cantle.documents import Documents
from cantle.forms import OTHERWISE, form_of, in_place
from cantle.structure import Structure

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Rule(NamedTuple):
    """One rule: its bit in `Check.reasons`, its name, what becomes of a chunk that breaks it."""

    bit: int
    name: str
    skips: bool
    """Whether the chunk is to be skipped; else it is kept with a warning."""
    words: str
    """What is wrong with such a chunk."""


TOO_SHORT = Rule(1, "too_short", True, "fewer characters than min_chars")
TOO_LONG = Rule(2, "too_long", True, "more tokens than the model takes")
CUT_TABLE = Rule(4, "cut_table", False, "a table or code is cut, and the chunk is not flagged")
NO_HEADING = Rule(8, "no_heading", False, "no heading path in a document that has headings")
EMPTY_ROW = Rule(16, "empty_row", True, "a row of a table without a value")

RULES: tuple[Rule, ...] = (TOO_SHORT, TOO_LONG, CUT_TABLE, NO_HEADING, EMPTY_ROW)
"""Every rule that `check` applies."""
_SKIPS = sum(rule.bit for rule in RULES if rule.skips)
_VERDICTS = np.array(["kept", "warned", "skip"])
_NAMED = 10


class Check:
    """What `check` found: a row for each chunk, as read-only columns. Printed, it is a table."""

    __slots__ = ("chunks", "max_model_tokens", "min_chars", "reasons", "tokens")

    chunks: Chunks
    """The chunks that were checked."""
    reasons: NDArray[np.uint32]
    """The bits of the rules that each chunk breaks; see `RULES`."""
    tokens: NDArray[np.int64] | None
    """What the model sees of each chunk, in its tokens; None if no limit was given."""
    max_model_tokens: int | None
    """The model's limit."""
    min_chars: int
    """The fewest visible characters."""

    def __init__(
        self,
        chunks: Chunks,
        reasons: NDArray[np.uint32],
        tokens: NDArray[np.int64] | None,
        max_model_tokens: int | None,
        min_chars: int,
    ) -> None:
        """Made by `check`."""
        for column in (reasons, tokens):
            if column is not None:
                column.setflags(write=False)
        self.chunks = chunks
        self.reasons = reasons
        self.tokens = tokens
        self.max_model_tokens = max_model_tokens
        self.min_chars = min_chars

    @property
    def skip(self) -> NDArray[np.bool_]:
        """Which chunks are to be skipped."""
        skip: NDArray[np.bool_] = (self.reasons & np.uint32(_SKIPS)) != 0
        return skip

    @property
    def warned(self) -> NDArray[np.bool_]:
        """Which chunks are kept with a warning."""
        warned: NDArray[np.bool_] = (self.reasons != 0) & ~self.skip
        return warned

    @property
    def keep(self) -> NDArray[np.bool_]:
        """Which chunks are not to be skipped: `chunks[report.keep]` are those to embed."""
        return ~self.skip

    @property
    def verdict(self) -> NDArray[np.str_]:
        """What becomes of each chunk: `"kept"`, `"warned"` or `"skip"`."""
        names: NDArray[np.str_] = _VERDICTS[np.where(self.skip, 2, np.where(self.warned, 1, 0))]
        return names

    @property
    def counts(self) -> dict[str, int]:
        """How many chunks break each rule, by the rule's name; rules that none breaks left out."""
        found = {rule.name: int(np.count_nonzero(self.reasons & rule.bit)) for rule in RULES}
        return {name: count for name, count in found.items() if count}

    def why(self, row: int) -> list[str]:
        """Return what is wrong with one chunk, in words with its figures."""
        chunk, bits = self.chunks[row], int(self.reasons[row])
        figures = {}
        if bits & TOO_SHORT.bit:
            seen = _visible(chunk.text, chunk.context)
            figures[TOO_SHORT.name] = f"{seen}, min_chars is {self.min_chars}"
        if bits & TOO_LONG.bit and self.tokens is not None:
            figures[TOO_LONG.name] = f"{self.tokens[row]}, it takes {self.max_model_tokens}"
        return [
            rule.words + (f" ({figures[rule.name]})" if rule.name in figures else "")
            for rule in RULES
            if bits & rule.bit
        ]

    def rows(self) -> Iterator[tuple[str, str, str]]:
        """Yield id, verdict and reason of each chunk that is not simply kept."""
        ids, verdicts = self.chunks.ids, self.verdict.tolist()
        for row in np.flatnonzero(self.reasons).tolist():
            yield ids[row], verdicts[row], "; ".join(self.why(row))

    def __len__(self) -> int:
        return len(self.reasons)

    def __repr__(self) -> str:
        kept = int(np.count_nonzero(self.reasons == 0))
        warned, skip = int(np.count_nonzero(self.warned)), int(np.count_nonzero(self.skip))
        return f"Check({kept} kept, {warned} warned, {skip} to skip)"

    def __str__(self) -> str:
        found = [row for _, row in zip(range(_NAMED), self.rows(), strict=False)]
        heads = ("chunk", "verdict", "why")
        widths = [max(len(row[i]) for row in (heads, *found)) for i in range(2)]
        lines = [
            f"{row[0]:{widths[0]}}  {row[1]:{widths[1]}}  {row[2]}"
            for row in ((heads, *found) if found else ())
        ]
        left = int(np.count_nonzero(self.reasons)) - len(found)
        return "\n".join([repr(self), *lines, *([f"... {left} more"] if left else [])])


def check(
    chunks: Chunks,
    max_model_tokens: int | None = None,
    *,
    min_chars: int = 20,
    unit: units.Unit | None = None,
    errors: str = "raise",
    threads: int = 0,
) -> Check:
    """Return which chunks to embed, which to skip, and why.

    To skip are chunks of fewer than `min_chars` characters without the blanks around them (the
    header that a part of a table carries counts as well), rows without a value and, with
    `errors="skip"`, what the model would cut. Kept with a warning are a part of a table or of code
    that is not flagged, and prose after a document's first chunk that has no heading path though
    the document has headings. The documents' headings and tables are read off their form where no
    blocks are known, which goes by the ending of an id, as in `Structural`.

    Args:
        chunks: The chunks of any strategy.
        max_model_tokens: The most tokens that the embedding model takes: `embed_text` and the
            special tokens that the model adds count.
        min_chars: The fewest characters; 0 for any.
        unit: The model's own tokenizer, as for `unit=` of a strategy. Default: that of the chunks,
            if they were counted by a built-in vocabulary.
        errors: What becomes of a text over the model's limit: `"raise"`, or `"skip"`, which lists
            it among those to skip.
        threads: How many threads count; 0 is one per core.

    Raises:
        TextError: A text is over the model's limit; names the chunk, its tokens, the limit and the
            size that it was cut with.
        SettingError: A limit is given and no tokenizer is known.

    Example:
        >>> import cantle
        >>> chunks = cantle.split("Yes.\\n\\nA paragraph that says a little more.", 9, unit="words")
        >>> print(cantle.check(chunks[:1]))
        Check(1 kept, 0 warned, 0 to skip)
    """
    if not isinstance(chunks, Chunks):
        raise TypeError(f"chunks must be Chunks, not {type(chunks).__qualname__}")
    if errors not in ("raise", "skip"):
        raise _core.SettingError(f"errors ({errors!r}) must be 'raise' or 'skip'")
    limits = (("max_model_tokens", max_model_tokens, 1), ("min_chars", min_chars, 0))
    for name, value, least in limits:
        if value is None and name == "max_model_tokens":
            continue
        if isinstance(value, bool) or not isinstance(value, int | np.integer):
            raise TypeError(f"{name} ({value!r}) must be a whole number")
        if value < least:
            raise _core.SettingError(f"{name} ({value}) must be at least {least}")
    reasons = np.zeros(len(chunks), np.uint32)
    seen = [_visible(*pair) for pair in zip(chunks.texts, chunks.contexts, strict=True)]
    reasons[np.array(seen, np.int64) < min_chars] |= np.uint32(TOO_SHORT.bit)
    reasons[(chunks.flags & np.uint32(_core.EMPTY)) != 0] |= np.uint32(EMPTY_ROW.bit)
    part, unheaded = _structural(chunks)
    reasons[part & ((chunks.flags & np.uint32(_core.PART)) == 0)] |= np.uint32(CUT_TABLE.bit)
    reasons[unheaded] |= np.uint32(NO_HEADING.bit)
    tokens = None
    if max_model_tokens is not None:
        tokens = _tokens(chunks, unit, threads)
        reasons[tokens > max_model_tokens] |= np.uint32(TOO_LONG.bit)
    found = Check(chunks, reasons, tokens, max_model_tokens, min_chars)
    if errors == "raise" and tokens is not None:
        # A blank or empty one is not embedded, whatever it counts.
        for row in np.flatnonzero((reasons & np.uint32(_SKIPS)) == TOO_LONG.bit).tolist():
            cut = f", and the chunks were cut with size ({chunks.limit}) in {chunks.unit}"
            raise _core.TextError(
                f"chunk {chunks[row].id!r} has {tokens[row]} tokens with what stands before it and "
                f"the model's special tokens; the model takes {max_model_tokens} "
                f"(max_model_tokens){'' if chunks.limit is None else cut}: cut with a smaller size "
                "in the model's own unit, or with prefix= so that both count, or leave out what "
                'cantle.check(..., errors="skip") skips'
            )
    return found


def _visible(text: str, context: str) -> int:
    """Return how many characters speak: the head that a part of a table carries does as well."""
    return len(text.strip()) + len(context.strip())


def _tokens(chunks: Chunks, unit: units.Unit | None, threads: int) -> NDArray[np.int64]:
    """Return what the model counts: prefix, text, and the tokens that it adds."""
    if unit is None:
        unit = chunks.unit
        if unit not in _core.vocabularies():
            raise _core.SettingError(
                f"max_model_tokens needs the model's tokenizer: pass unit=; the chunks are counted "
                f"in {unit!r}"
            )
    return units.sizes(units.seen_by_model(unit), chunks.embed_texts, threads)


def _structural(chunks: Chunks) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which chunks hold a part of a table or code, and which lack a heading path."""
    part = np.zeros(len(chunks), bool)
    if chunks.structure is not None:
        # A strategy that knows the blocks flags parts itself.
        structure: Structure | None = chunks.structure
        part[:] = (chunks.flags & np.uint32(_core.PART)) != 0
    else:
        order = np.argsort(chunks.doc, kind="stable")
        spans = (chunks.doc[order], chunks.byte_start[order], chunks.byte_end[order])
        known = _core.carried(chunks.documents.texts, _forms(chunks.documents), *spans)
        part[order] = (known["part"] & np.uint32(_core.PART)) != 0
        structure = Structure(known["structure"]) if "structure" in known else None
    headed = np.isin(chunks.doc, [] if structure is None else structure.doc)
    prose = np.isin(chunks.kind, ("prose", "list", "clause"))
    return part, headed & prose & (chunks.heading < 0) & (chunks.ordinal > 0)


def _forms(documents: Documents) -> list[object]:
    """Return for each document the blocks that its form tells; None where it tells none."""
    forms: list[object] = []
    for doc in range(len(documents)):
        form = form_of(documents.id(doc)) or OTHERWISE
        forms.append(_core.Blocks.read(documents.texts[doc], form) if in_place(form) else None)
    return forms
