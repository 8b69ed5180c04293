"""The blocks of Markdown: what `cantle.blocks` finds, and that it finds what others do."""

from __future__ import annotations

import copy
import pickle
import re
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from markdown_it import MarkdownIt

import cantle
import markdown_texts

HERE = [
    ("# Title **b** `c` &amp; {#id}\n", [("heading", 1, 0)]),
    ("Set\next\n---\n", [("heading", 2, 0)]),
    ("a\nb\n\nc\n", [("prose", 0, 0), ("prose", 0, 0)]),
    ("- a\n  more\n- b\n\n  own paragraph\n", [("list", 0, 2), ("list", 0, 2), ("prose", 0, 2)]),
    ("> quoted\n>\n> # in a quote\n", [("prose", 0, 1), ("heading", 1, 1)]),
    ("```\n# no\n```\n\n    indented\n", [("code", 0, 0), ("code", 0, 0)]),
    ("| a |\n|---|\n| 1 |\n\n***\n", [("table", 0, 0), ("rule", 0, 0)]),
    ("<!--\n# no\n-->\n\n<div>\n# no\n</div>\n", [("html", 0, 0), ("html", 0, 0)]),
    ("x [^1]\n\n[^1]: note\n", [("prose", 0, 0), ("note", 0, 1)]),
    ("x\n\n[a]: /u\n'title'\n", [("prose", 0, 0), ("note", 0, 0)]),
    ("---\ntitle: x\n---\n# H\n", [("front_matter", 0, 0), ("heading", 1, 0)]),
    ("+++\n[table]\n+++\ntext\n", [("front_matter", 0, 0), ("prose", 0, 0)]),
    # Two rules with words between are no settings.
    ("---\n# Real\n\n---\n", [("rule", 0, 0), ("heading", 1, 0), ("rule", 0, 0)]),
    ("---\nno settings\n---\n", [("rule", 0, 0), ("heading", 2, 0)]),
    ("\ufeff# T\r\n\r\ntext\r\n", [("heading", 1, 0), ("prose", 0, 0)]),
    ("-\n\n>\n", []),
    ("", []),
]  # fmt: skip


@pytest.mark.parametrize(("text", "wanted"), HERE, ids=range(len(HERE)))
def test_the_blocks_of_a_text(text, wanted):
    found = cantle.blocks(text)
    rows = zip(found.kind.tolist(), found.level.tolist(), found.depth.tolist(), strict=True)
    assert list(rows) == wanted


def test_titles_are_plain_text():
    cases = {
        "# A *b* `c` [d](e) ![f](g) &amp; \\* <b>h</b> #\n": "A b c d f & * h",
        "# ~~old~~ new\n": "old new",
        "two\nlines\n===\n": "two lines",
        "# Name {#anchor}\n": "Name",
        "# Name {: .class}\n": "Name",
        "# f{x}\n": "f{x}",
        "# {#only}\n": "{#only}",
        "#\n": "",
        "# T\r\n": "T",
    }
    for text, title in cases.items():
        assert cantle.blocks(text).titles == (title,), text


def test_what_every_part_carries():
    cases = {
        "| a | b |\n|---|---|\n| 1 | 2 |\n": "| a | b |\n|---|---|\n",
        "- | a |\n  |---|\n  | 1 |\n": "- | a |\n  |---|\n",
        "```py\nx\n```\n": "```py\n",
        "    x\n": "",
        "text\n": "",
    }
    for text, head in cases.items():
        found = cantle.blocks(text)
        assert text[found.byte_start[0] : found.head_end[0]] == head


def lie_in_order(text: str) -> None:
    """Assert that blocks start and end with lines, in order, and miss nothing but marks."""
    found = cantle.blocks(text)
    data = text.encode()
    spans = list(zip(found.byte_start.tolist(), found.byte_end.tolist(), strict=True))
    reached = 0
    for start, end in [*spans, (len(data), len(data))]:
        assert reached <= start <= end
        missed = data[reached:start].decode()
        assert not re.sub(r"(?m)[ \t\r\n\v\f>*+\-\ufeff\x00]|\d{1,9}[.)]|\[[ xX]\]", "", missed)
        assert start == 0 or start == len(data) or data[start - 1 : start] in (b"\n", b"\r")
        assert end == len(data) or data[end - 1 : end] in (b"\n", b"\r")
        reached = end
    assert all(s < e for s, e in spans)
    heads = found.head_end
    assert np.all((found.byte_start <= heads) & (heads <= found.byte_end))
    assert len(found.titles) == found.kind.tolist().count("heading")


@given(markdown_texts.documents)
def test_blocks_of_odd_texts_lie_in_order(text):
    lie_in_order(text)


def test_blocks_of_examples_and_real_files_lie_in_order():
    assert len(markdown_texts.examples()) > 850
    for text in (*markdown_texts.examples(), *markdown_texts.real_files()):
        lie_in_order(text)


def plain(tokens) -> str:
    words = []
    for token in tokens:
        if token.type in ("text", "code_inline", "text_special"):
            words.append(token.content)
        elif token.type in ("softbreak", "hardbreak"):
            words.append(" ")
        elif token.type == "image":
            words.append(plain(token.children or []))
    return "".join(words)


@cache
def headings_elsewhere(text: str) -> list[tuple[int, str]]:
    """Return the headings that markdown-it-py finds, with the rules for titles that are ours."""
    reader = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    tokens = reader.parse(text)
    found = []
    for opened, inline in pairwise(tokens):
        if opened.type == "heading_open":
            title = plain(inline.children).strip()
            title = re.sub(r"(?<=.)\s*\{[#.:][^{}]*\}$", "", title).strip()
            found.append((int(opened.tag[1:]), title))
    return found


def headings_here(text: str) -> list[tuple[int, str]]:
    found = cantle.blocks(text)
    levels = found.level[found.kind == "heading"].tolist()
    return list(zip(levels, found.titles, strict=True))


def differing(texts) -> list[str]:
    return [
        text
        for text in texts
        if "[^" not in text  # Footnotes are none of CommonMark's.
        and not text.startswith(("---", "+++"))
        and headings_here(text) != headings_elsewhere(text)
    ]


def test_headings_are_those_of_markdown_it_on_the_examples():
    # The parsers disagree on a definition of a link without its end before an underline, and on a
    # list's item that holds a box and nothing else.
    known = ("[linkme-3]:\n   ===", "- [x]\t\t\n")
    differ = [text for text in differing(markdown_texts.examples()) if not text.startswith(known)]
    assert differ == []


def test_headings_are_those_of_markdown_it_on_real_files():
    texts = [text.replace("\0", "") for text in markdown_texts.real_files()]
    assert len(texts) > 300
    assert sum(len(headings_elsewhere(text)) for text in texts) > 3_000
    assert differing(texts) == []


HOSTILE = {
    "quotes": lambda n: ">" * n + " deep",
    "lists on one line": lambda n: "- " * n + "x\n",
    "lists": lambda n: "".join("  " * (i % 300) + "- item\n" for i in range(n)),
    "brackets": lambda n: "[" * n + "x" + "](u)" * 3,
    "an open fence": lambda n: "```\n" + "# code\n" * n,
    "a table": lambda n: "| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * n,
    "headings": lambda n: "# h\n" * n,
    "html": lambda n: "<div>\n" * n,
    "comments": lambda n: "<!--" * n,
    "definitions": lambda n: "[a]: x\n" * n,
    "footnotes": lambda n: "[^a]: x\n" * n,
    "items": lambda n: "- a\n" * n,
    "empty items": lambda n: "-\n" * n,
    "emphasis": lambda n: "a **b _c " * n,
    "back-ticks": lambda n: "`".join("`" * (i % 200) for i in range(n // 50)),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_texts_are_read_and_cut(name):
    """Depth needs no stack. Where time grew with its square, this would not end."""
    text = HOSTILE[name](100_000)
    lie_in_order(text)
    chunks = cantle.Structural(500, unit="chars", depth="all").split(text)
    assert chunks.char_end[-1] == len(text.rstrip())
    assert chunks.size.max() <= 500


def test_blocks_survive_a_pickle():
    found = cantle.blocks("# A\n\n| a |\n|---|\n| 1 |\n")
    for again in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):
        assert again == found
        assert again.texts == found.texts
    assert found != cantle.blocks("# A\n")
    assert repr(found) == "Blocks(2: 1 heading, 1 table)"


def test_a_form_that_is_not_known_is_named():
    with pytest.raises(cantle.SettingError, match=r"format \('word'\) must be one of 'markdown'"):
        cantle.blocks("x", format="word")
    with pytest.raises(cantle.TextError, match="text is not UTF-8"):
        cantle.blocks(b"\xff")


def test_a_carriage_return_alone_ends_a_line():
    """The parser lost what follows one behind indented code."""
    for text in ["    code\n\rword", "# a\r\rword", "    code\n\n\rword\r\nmore\r"]:
        assert list(cantle.blocks(text))[-1].text.startswith("word"), text
