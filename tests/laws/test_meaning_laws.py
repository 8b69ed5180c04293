"""What strategies that embed sentences keep, over hostile texts and with a prefix."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st
from table import UNITS, Cell

import cantle
import laws
import markdown_texts
import samples
from cantle.embed import Keyword

KEYWORD = Keyword(("tea pot kettle", "rain cloud storm", "train rail station"))
STRATEGIES = ["semantic", "optimal", "documentbased"]
TEXT = (
    "Tea in a pot. A kettle. Rain falls from a cloud. A storm. The train. Rail and station. "
    "Tea and rain. Nothing at all. Pot. "
) * 4


def built(name, size=12, **settings):
    return samples.built(name, size, **({"unit": "words", "embedder": KEYWORD} | settings))


HOSTILE = {
    "nul": "Tea\0pot.\0 Rain. \0",
    "crlf": "Tea pot.\r\nRain.\r\n\r\nTrain. Rail.\r\n",
    "right to left": "\u05e9\u05dc\u05d5\u05dd. \u0645\u0631\u062d\u0628\u0627. " * 9,
    "no ends": "tea rain train " * 400,
    "no blanks": "tea" * 400,
    "one word each": "A. " * 500,
    "blanks": " \n\t\n " * 50 + "Tea." + " \u3000" * 90,
    "table": "| tea | rain |\n|---|---|\n" + "| pot | cloud |\n" * 40,
    "code": "```\n" + "tea = rain\n" * 60 + "```\n",
    "headings": "# A\n\n" + "## Tea\n\nPot. Rain. Train. Station. Kettle.\n\n" * 12,
}  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("name", STRATEGIES)
@pytest.mark.parametrize("unit", ["words", "cl100k_base", "callable", "wordpiece with specials"])
@pytest.mark.parametrize("form", [str, cantle.blocks])
def test_the_laws_over_hostile_texts(name, text, unit, form):
    counted = UNITS[unit]()
    text = HOSTILE[text]
    for trim in (True, False):
        for size, overlap in ((9, 0), (9, 3), (100, 0)):
            strategy = built(name, size, overlap=overlap, unit=counted.unit, trim=trim, buffer=1)
            chunks = strategy.split(form(text))
            laws.check(Cell(strategy, text, counted), chunks)
            again = strategy.split_all([form(text), "", form(text)], threads=2)
            assert again[again.doc == 0].texts == again[again.doc == 2].texts == chunks.texts
            assert [c.texts for c in strategy.stream([text], batch=1)] == [
                strategy.split(text).texts
            ]
            assert pickle.loads(pickle.dumps(strategy)) == strategy


UNIT = st.sampled_from(["chars", "words", "bytes", "cl100k_base", "wordpiece with specials"])
documents = st.one_of(markdown_texts.sections, markdown_texts.documents, samples.texts)


@pytest.mark.parametrize("name", STRATEGIES)
@given(data=st.data(), text=documents)
def test_prefix_and_text_together_keep_the_size(name, data, text):
    """The law of B3; labels of parts, which are not known while a text is cut, included."""
    counted = UNITS[data.draw(UNIT)]()
    size = data.draw(st.integers(4, 120))
    template = data.draw(st.sampled_from(["path", "{path}", "In {title}: {path}\n{context}\n"]))
    title = data.draw(st.sampled_from(["", "T", "A rather long title of a document"]))
    settings = {"unit": counted.unit, "embedder": samples.letters, "prefix": template}
    if name == "documentbased":
        settings["depth"] = data.draw(st.sampled_from(["auto", "all", 1]))
        settings["label"] = data.draw(
            st.sampled_from([None, lambda _, parts: ["label " * 9] * len(parts)])
        )
    strategy = built(name, size, overlap=data.draw(st.sampled_from([0, size // 4])), **settings)
    given = cantle.blocks(text) if data.draw(st.booleans()) else text
    chunks = strategy.split(given, metadata={"title": title})
    laws.nothing_is_lost(Cell(strategy, text, counted), chunks)
    for chunk in chunks:
        assert chunk.text in chunk.embed_text
        if not chunk.flags & cantle.OVERSIZE:
            assert counted.count(chunk.embed_text) <= size
        if not chunk.flags & cantle.SHORTENED:
            assert all(heading in chunk.embed_text for heading in chunk.heading_path)
            assert title in chunk.embed_text or "{title}" not in template
    assert pickle.loads(pickle.dumps(chunks)).embed_texts == chunks.embed_texts
    parents = cantle.Whole(10**6, unit="chars").split_all([given], metadata=[{"title": title}])
    for chunk in strategy.split_within(parents):
        if not chunk.flags & cantle.OVERSIZE:
            assert counted.count(chunk.embed_text) <= size


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_prefix_that_shows_nothing_changes_nothing(name):
    for text in (TEXT, HOSTILE["no ends"], HOSTILE["crlf"], " ", ""):
        plain, empty = built(name), built(name, prefix="path")
        assert plain.fingerprint != empty.fingerprint
        assert empty.split(text).texts == plain.split(text).texts
        assert empty.split(text).embed_texts == plain.split(text).embed_texts
