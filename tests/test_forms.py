"""Forms other than Markdown: against docutils and a browser's parser, and cut into chunks."""

from __future__ import annotations

import pickle
import re

import numpy as np
import pytest
from selectolax.lexbor import LexborHTMLParser

import cantle
from installed_texts import html, rst, sections

_ANCHORS = {"¶", "#", "§", "🔗", "\u200b"}


def titles(found: cantle.Blocks) -> list[tuple[int, str]]:
    return list(zip(found.level[found.level > 0].tolist(), found.titles, strict=True))


def letters(text: str) -> str:
    """Return a text without blanks and the marks between cells."""
    return "".join(text.replace("|", "").split())


def test_titles_of_rst_are_those_of_docutils() -> None:
    compared = count = 0
    for name, text in rst():
        want, sound = sections(text)
        if not sound:
            continue
        found = cantle.blocks(text, format="rst")
        plain = [(level, letters(re.sub(r"[`*\\|]", "", title))) for level, title in want]
        seen = [(level, letters(re.sub(r"[`*\\|]", "", title))) for level, title in titles(found)]
        assert seen == plain, name
        compared += 1
        count += len(want)
    assert compared >= 8
    assert count >= 60


def test_html_is_what_a_browser_reads() -> None:
    compared = headings = 0
    for name, page in html():
        tree = LexborHTMLParser(page)
        tree.strip_tags(
            ["script", "style", "template", "svg", "noscript", "iframe", "head", "noembed"],
            recursive=True,
        )
        for anchor in tree.css("a"):
            if anchor.text() in _ANCHORS:
                anchor.decompose()
        assert tree.body is not None
        found = cantle.blocks(page, format="html")
        assert letters(found.text) == letters(tree.body.text()), name
        wanted = [
            (int(node.tag[1]), letters(node.text()))
            for node in tree.css("h1, h2, h3, h4, h5, h6")
            if node.text().strip()
        ]
        assert [(level, letters(title)) for level, title in titles(found)] == wanted, name
        title = LexborHTMLParser(page).css_first("title")
        assert found.title == ("" if title is None else " ".join(title.text().split())), name
        compared += 1
        headings += len(wanted)
    assert compared >= 20
    assert headings >= 100


PAGE = """<!DOCTYPE html><title>Caf\u00e9 guide</title><h1>Tea &amp; <em>more</em></h1>
<p>Warm   the pot.</p><h2>Black</h2><table><tr><th>Leaf<th>Minutes<tr><td>Assam<td>4</table>
<h2>Green</h2><ul><li>Cool the <b>water</b>.<li>Wait.</ul>"""


def test_chunks_of_html_lead_back_into_it() -> None:
    chunks = cantle.Structural(size=200, unit="chars", depth=2, prefix="path").split(
        PAGE, id="guide.html"
    )
    assert chunks.texts == [
        "Tea & more\n\nWarm the pot.",
        "Black\n\nLeaf | Minutes\nAssam | 4",
        "Green\n\nCool the water.\n\nWait.",
    ]
    assert chunks.heading_paths == [
        ("Tea & more",),
        ("Tea & more", "Black"),
        ("Tea & more", "Green"),
    ]
    assert chunks[0].embed_text.startswith("Caf\u00e9 guide > Tea & more\n\n")
    data = PAGE.encode()
    spans = zip(chunks.source_start.tolist(), chunks.source_end.tolist(), strict=True)
    assert [data[start:end].decode() for start, end in spans] == [
        "Tea &amp; <em>more</em></h1>\n<p>Warm   the pot.",
        "Black</h2><table><tr><th>Leaf<th>Minutes<tr><td>Assam<td>4",
        "Green</h2><ul><li>Cool the <b>water</b>.<li>Wait.",
    ]
    again = pickle.loads(pickle.dumps(chunks))
    assert np.array_equal(again.source_start, chunks.source_start)
    assert again[1:].source_end.tolist() == chunks.source_end.tolist()[1:]


def test_a_document_is_read_by_the_ending_of_its_id() -> None:
    texts = {
        "a.html": "<h1>One</h1><p>two",
        "b.rst": "One\n===\n\ntwo",
        "c.txt": "1. One\n\ntwo\n\n2. More\n\nthree",
        "d.csv": "One,two\n1,2\n",
        "e.py": "class One:\n    two = 2\n\n    def f(self):\n        three\n\n    four = 4\n",
        "f.md": "# One\n\ntwo",
        "g": "# One\n\ntwo",
    }
    splitter = cantle.Structural(size=200, unit="chars", depth="all")
    chunks = splitter.split_all(list(texts.values()), ids=list(texts))
    paths = dict(zip(chunks.ids, chunks.heading_paths, strict=True))
    assert paths == {
        "a.html_structural_0": ("One",),
        "b.rst_structural_0": ("One",),
        "c.txt_structural_0": ("1. One",),
        "c.txt_structural_1": ("2. More",),
        "d.csv_structural_0": (),
        "e.py_structural_0": ("One",),
        "e.py_structural_1": ("One", "f"),
        "e.py_structural_2": ("One",),
        "f.md_structural_0": ("One",),
        "g_structural_0": ("One",),
    }
    same = splitter.split_all([text.encode() for text in texts.values()], ids=list(texts))
    assert same.texts == chunks.texts
    for name, text in texts.items():
        one = splitter.split(text, id=name)
        assert one.texts == [chunk.text for chunk in chunks if chunk.source == name]


def test_code_behind_a_definition_is_of_what_it_stands_in() -> None:
    text = "class A:\n    def f(self):\n        return 1\n\n    y = 2\n\n\nz = 3\n"
    splitter = cantle.Structural(size=20, unit="chars", format="python", depth=1)
    chunks = splitter.split(text)
    seen = dict(zip(chunks.texts, chunks.heading_paths, strict=True))
    assert seen["    y = 2"] == ("A",)
    assert seen["z = 3"] == ()


@pytest.mark.parametrize("form", ["html", "python"])
def test_a_text_that_is_not_utf8_is_told_of(form: str) -> None:
    with pytest.raises(cantle.TextError):
        cantle.blocks(b"a\xff", format=form)
    splitter = cantle.Structural(format=form)
    with pytest.raises(cantle.TextError, match=r"texts\[1\]"):
        splitter.split_all(["a", b"a\xff"])
    chunks = splitter.split_all(["a", b"a\xff"], errors="skip")
    assert [skipped.doc for skipped in chunks.skipped] == [1]
    assert chunks.texts == ["a"]


def test_a_format_that_is_not_known_is_refused() -> None:
    with pytest.raises(
        cantle.SettingError, match=r"^format \('word'\) must be one of 'markdown', "
    ):
        cantle.blocks("", format="word")


def test_a_table_of_many_megabytes_is_read_in_one_pass() -> None:
    rows = 400_000
    page = "<table><tr><th>a<th>b" + "<tr><td>cell one<td>2 &amp; 3" * rows
    found = cantle.blocks(page, format="html")
    assert len(found) == 1
    assert found.text.count("\n") == rows
    assert int(found.head_end[0]) == len("a | b\n")
