"""Contexts that a model writes: before the text when embedded, asked for once."""

from __future__ import annotations

import pickle
import threading

import pytest

import cantle
from cantle.context import prompt, with_context

TEXTS = ["# Tea\n\nWarm the pot.\n\nPour it.", "Rain fell.\n\nPour it.\n\nPour it."]


class Writer:
    """A model that counts what it is asked."""

    fingerprint = "writer"

    def __init__(self, fails=()):
        self.asked = []
        self.fails = fails
        self.lock = threading.Lock()

    def __call__(self, document, chunk):
        with self.lock:
            self.asked.append((document, chunk))
        if chunk in self.fails:
            raise RuntimeError("the model is gone")
        return "" if chunk == "Pour it." else f" Of {document.split()[0]}: {len(chunk)} \n"


def cut():
    return cantle.Recursive(3, unit="words").split_all(TEXTS)


@pytest.mark.parametrize("concurrency", [1, 3])
def test_it_stands_before_the_text_and_is_written_once(concurrency):
    chunks, writer = cut(), Writer()
    told = []
    found = with_context(
        chunks, writer, concurrency=concurrency, progress=lambda done, of: told.append((done, of))
    )
    assert [c.embed_text for c in chunks] == chunks.texts
    assert found.texts == chunks.texts
    expected = ["Of #: 5", "Of #: 13", "", "Of Rain: 10", "", ""]
    assert chunks.texts == ["# Tea", "Warm the pot.", "Pour it.", "Rain fell.", *["Pour it."] * 2]
    assert [c.added_context for c in found] == expected
    assert found.embed_texts == [
        f"{added}\n\n{text}" if added else text
        for added, text in zip(expected, chunks.texts, strict=True)
    ]
    # The same text twice in one document is asked about once, in another document again.
    asked = [(TEXTS[0], text) for text in chunks.texts[:3]]
    asked += [(TEXTS[1], text) for text in chunks.texts[3:5]]
    assert sorted(writer.asked) == sorted(asked)
    if concurrency == 1:
        assert writer.asked == asked
    assert (len(told), told[-1]) == (5, (6, 6))
    assert found != chunks
    assert found == with_context(chunks, Writer())
    assert pickle.loads(pickle.dumps(found)) == found
    assert found[[1, 3]].embed_texts == [found.embed_texts[1], found.embed_texts[3]]
    assert len(found.to_arrow()) == 6


def test_it_stands_before_title_headings_and_table_heads():
    chunks = cantle.Structural(4, unit="words").split(
        "# Tea\n\n| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n", metadata={"title": "Book"}
    )
    found = with_context(chunks, lambda document, chunk: "It counts.")
    assert chunks[len(chunks) - 1].context == "| a | b |\n|---|---|"
    assert found.embed_texts == [f"It counts.\n\n{text}" for text in chunks.embed_texts]
    # What the model takes is checked with it.
    with pytest.raises(cantle.TextError, match="the model takes 9 "):
        cantle.check(
            with_context(cut(), lambda *_: "word " * 20), 9, unit="cl100k_base", min_chars=0
        )


def test_a_file_keeps_what_was_written(tmp_path):
    file = tmp_path / "contexts.sqlite"
    chunks = cut()
    failing = Writer(fails=("Rain fell.",))
    with pytest.raises(RuntimeError, match="the model is gone") as caught:
        with_context(chunks, failing, cache=file)
    if hasattr(caught.value, "__notes__"):
        assert caught.value.__notes__ == ["while context was written for chunk 'doc1_recursive_0'"]
    writer = Writer()
    found = with_context(chunks, writer, cache=file)
    assert [text for _, text in writer.asked] == ["Rain fell.", "Pour it."]
    never = Writer(fails=chunks.texts)
    assert with_context(chunks, never, cache=str(file)) == found
    assert never.asked == []
    # Another model, and another document, are asked.
    other = Writer()
    with_context(chunks, other, cache=file, model="other")
    assert len(other.asked) == 5
    changed = cantle.Recursive(3, unit="words").split(f"{TEXTS[1]} More.")
    again = Writer()
    with_context(changed, again, cache=file)
    assert len(again.asked) == len(set(changed.texts))


def test_a_failure_in_a_thread_comes_out_and_what_was_written_is_kept(tmp_path):
    file = tmp_path / "contexts.sqlite"
    with pytest.raises(RuntimeError, match="the model is gone"):
        with_context(cut(), Writer(fails=("Pour it.",)), cache=file, concurrency=2)
    writer = Writer()
    with_context(cut(), writer, cache=file, concurrency=2)
    assert 2 <= len(writer.asked) < 5


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: with_context("x", str), TypeError, "chunks must be Chunks, not str"),
        (lambda: with_context(cut(), "x"), TypeError, "write ('x') must be callable"),
        (lambda: with_context(cut(), Writer(), concurrency=0), cantle.SettingError,
         "concurrency (0) must be at least 1"),
        (lambda: with_context(cut(), Writer(), concurrency=1.5), TypeError,
         "concurrency (1.5) must be a whole number"),
        (lambda: with_context(cut(), Writer(), model=""), TypeError,
         "model ('') must be a string that is not empty"),
        (lambda: with_context(cut(), lambda *_: None), TypeError,
         "context: None where a string is expected, for chunk 'doc0_recursive_0'"),
        (lambda: with_context(cut(), lambda *_: "\ud800"), cantle.SettingError,
         "context of chunk 'doc0_recursive_0' ('\\ud800') holds a lone surrogate at character 0: "
         "it cannot be written as UTF-8"),
    ],
)  # fmt: skip
def test_wrong_calls(call, kind, message):
    with pytest.raises(kind) as caught:
        call()
    assert str(caught.value) == message


def test_a_file_of_something_else_is_told(tmp_path):
    file = tmp_path / "notes.txt"
    file.write_text("Not a database, but long enough to be looked at as one. " * 9)
    with pytest.raises(cantle.SettingError, match="no cache of contexts"):
        with_context(cut(), Writer(), cache=file)
    with pytest.raises(OSError, match="unable to open database file"):
        with_context(cut(), Writer(), cache=tmp_path / "no" / "folder.sqlite")


def test_the_prompt_begins_with_the_document():
    one, other = prompt("{chunk} and {document}", "a"), prompt("{chunk} and {document}", "b {0}")
    start = "<document>\n{chunk} and {document}\n</document>\n"
    assert one.startswith(start)
    assert other.startswith(start)
    assert "<part>\nb {0}\n</part>" in other
