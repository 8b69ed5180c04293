"""`Facts`: what can be counted of a document, and what the router goes by."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from cantle import _core, units
from cantle.documents import Text
from cantle.forms import OTHERWISE, form_of, in_place
from cantle.reading import readable
from cantle.structure import Blocks, blocks

_UNITS = "words"
_SCRIPTS = {
    "Latin": "A-Za-z\u00aa\u00ba\u00c0-\u024f\u1e00-\u1eff",
    "Greek": "\u0370-\u03ff\u1f00-\u1fff",
    "Cyrillic": "\u0400-\u052f",
    "Armenian": "\u0531-\u058f",
    "Hebrew": "\u0590-\u05ff",
    "Arabic": "\u0600-\u06ff\u0750-\u077f",
    "Devanagari": "\u0900-\u097f",
    "Bengali": "\u0980-\u09ff",
    "Tamil": "\u0b80-\u0bff",
    "Thai": "\u0e00-\u0e7f",
    "Georgian": "\u10a0-\u10ff",
    "Hangul": "\u1100-\u11ff\uac00-\ud7af",
    "Kana": "\u3040-\u30ff",
    "Han": "\u3400-\u9fff\U00020000-\U0003ffff",
}
_WORKBOOKS = (".xlsx", ".xlsm")
_MARKS = ",\t;|"
_QUOTED = re.compile(f'(^|[{_MARKS}])"(?:[^"]|"")*"')
_SAMPLE = 100_000
"""Characters that scripts are counted in."""


@dataclass(frozen=True)
class Facts:
    """What can be counted of a document. Shares are parts of 1.

    `facts(text)` counts them; a test, or a caller who knows them, may write them down.
    """

    id: str = ""
    """The document's id, whose ending tells its form."""
    kind: str = ""
    """What it is declared to be, in a word of the caller's: `contract`, `policy`, `ticket`."""
    form: str = ""
    """One of `cantle.FORMATS`, or `xlsx` for a workbook; empty where nothing tells."""
    chars: int = 0
    words: int = 0
    size: int = 0
    """In the unit that it is cut by."""
    headings: int = 0
    depth: int = 0
    """The deepest level of a heading."""
    section_words: float = 0.0
    """The median number of words from a heading to the next."""
    tables: int = 0
    rows: int = 0
    """Lines of tables, or records, without headers."""
    table_share: float = 0.0
    """The part of the text that stands in tables."""
    columns: int = 0
    """The cells of the first row of the first table."""
    items: int = 0
    """Items of lists."""
    code_share: float = 0.0
    """The part of the text that is code."""
    clauses: int = 0
    """Clauses by their numbers, lists that are counted included, items such as (a) left out."""
    clause_paragraphs: int = 0
    """Those of them with a number of parts or a word, `7.2` or `Article 7`, and no title: they
    are paragraphs of a contract, and no headings."""
    references: int = 0
    """Mentions of a clause that is there."""
    sentences: int = 0
    sentence_words: float = 0.0
    """The median number of words in a sentence."""
    scripts: tuple[tuple[str, float], ...] = ()
    """The scripts of its letters with the part that each has, the largest first."""

    def as_dict(self) -> dict[str, Any]:
        """Return the facts by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


def facts(
    document: Text | Blocks, *, id: str = "", kind: str = "", unit: units.Unit = _UNITS
) -> Facts:
    """Return what can be counted of a document.

    Args:
        document: `str`, UTF-8 `bytes`, or `Blocks`.
        id: Its id; the ending tells the form, as for `Structural`.
        kind: What it is declared to be.
        unit: What `size` counts.

    Raises:
        TextError: The text is not UTF-8, or holds a lone surrogate.
        TypeError: `id` or `kind` is no string.

    Example:
        >>> import cantle
        >>> found = cantle.facts("# Tea\\n\\nWarm the pot. Pour.\\n", id="tea.md")
        >>> found.headings, found.words, found.sentences
        (1, 6, 3)
    """
    from cantle.strategies.clauses import Clauses

    check_words(id=id, kind=kind)
    form = form_of(id) or ("xlsx" if id.lower().endswith(_WORKBOOKS) else "")
    if isinstance(document, Blocks):
        found = document
    else:
        # Source code without the extra that reads it is a plain text.
        read = OTHERWISE if form in ("", "xlsx") else form
        found = blocks(document, format=read if in_place(read) or readable(read) else "text")
    text = found.text
    kinds = found.kind
    length = max(len(text.encode()), 1)

    def share(*names: str) -> float:
        here = np.isin(kinds, names)
        return float((found.byte_end - found.byte_start)[here].sum()) / length

    measured = int(units.sizes(units.resolve(unit), [text])[0])
    sentences = _core.sentences(text)
    tables = np.flatnonzero(kinds == "table")
    rows, columns = _rows(found, text, form, tables.tolist())
    given = document if form in ("", "markdown", "text", "xlsx") else found
    numbering = Clauses(2**40, unit="bytes").split(given, id=id)
    clauses = untitled = references = 0
    if (known := numbering.numbering) is not None:
        rows_of = zip(known.key, known.word, known.title, strict=True)
        for key, word, title in rows_of:
            if key.endswith(")"):
                continue
            clauses += 1
            # A list may be counted by single numbers as well.
            untitled += not title and ("." in key or word != "clause")
        references = int(np.count_nonzero(known.target >= 0))
    return Facts(
        id=id,
        kind=kind,
        form=form,
        chars=len(text),
        words=len(text.split()),
        size=measured,
        headings=len(found.titles),
        depth=int(found.level.max(initial=0)),
        section_words=_section_words(found, text),
        tables=len(tables),
        rows=rows,
        table_share=share("table"),
        columns=columns,
        items=int(np.count_nonzero(kinds == "list")),
        code_share=share("code"),
        clauses=clauses,
        clause_paragraphs=untitled,
        references=references,
        sentences=len(sentences["doc"]),
        sentence_words=_sentence_words(text, sentences),
        scripts=scripts(text),
    )


def check_words(**words: object) -> None:
    """Check what a caller says of a document in words.

    Raises:
        TypeError: It is no string.
    """
    for name, value in words.items():
        if not isinstance(value, str):
            raise TypeError(f"{name} ({value!r}) must be str")


def scripts(text: str) -> tuple[tuple[str, float], ...]:
    """Return the scripts of a text's first letters, with the part that each has."""
    sample = text[:_SAMPLE]
    counts = {name: len(re.findall(f"[{chars}]", sample)) for name, chars in _SCRIPTS.items()}
    total = sum(counts.values())
    found = sorted(((n, name) for name, n in counts.items() if n), key=lambda x: (-x[0], x[1]))
    return tuple((name, round(n / total, 3)) for n, name in found)


def _rows(found: Blocks, text: str, form: str, tables: list[int]) -> tuple[int, int]:
    from cantle.strategies.rows import Rows

    if not tables:
        return 0, 0
    given: Any = text if form in ("csv", "tsv") else found
    form = "auto" if form in ("", "xlsx") else form
    rows = Rows(2**40, unit="bytes", format=form).split(given)
    count = int(np.count_nonzero(rows.kind == "row"))
    first = int(tables[0])
    start, head, end = (
        int(column[first]) for column in (found.byte_start, found.head_end, found.byte_end)
    )
    record = text.encode()[start : head if head > start else end].decode()
    if form not in ("csv", "tsv"):
        return count, 1 + record.lstrip().partition("\n")[0].strip().strip("|").count("|")
    # What stands in quotes separates nothing.
    line = _QUOTED.sub(r"\1", record.lstrip("\r\n")).partition("\n")[0]
    return count, 1 + max(line.count(mark) for mark in _MARKS)


def _section_words(found: Blocks, text: str) -> float:
    starts = found.byte_start[found.kind == "heading"].tolist()
    if not starts:
        return 0.0
    data = text.encode()
    ends = [*starts[1:], len(data)]
    return float(
        np.median([len(data[a:b].decode().split()) for a, b in zip(starts, ends, strict=True)])
    )


def _sentence_words(text: str, sentences: dict[str, Any]) -> float:
    spans = zip(sentences["char_start"].tolist(), sentences["char_end"].tolist(), strict=True)
    counts = [len(text[a:b].split()) for a, b in spans]
    return float(np.median(counts)) if counts else 0.0
