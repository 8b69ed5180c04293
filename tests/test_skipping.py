"""Documents that cannot be read or cut: named by their id, and left out where that is asked for."""

from __future__ import annotations

import pickle

import numpy as np
import pyarrow as pa
import pytest
import tokenizers

import cantle

GOOD = "Some words. And more of them, to fill a line.\n\n"


def without_unknown() -> cantle.Tokenizer:
    """A tokenizer that fails on words other than two."""
    model = tokenizers.models.WordLevel({"fine": 0, "words": 1})
    tokenizer = tokenizers.Tokenizer(model)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    return cantle.Tokenizer.from_object(tokenizer)


class Fault(Exception):
    """What the unit below raises."""


def fussy(text: str) -> int:
    if "bad" in text:
        raise Fault("no bad words")
    return len(text)


# A document that fails, the unit, the exception and its words without the document's name.
FAILING = {
    "no text": (None, "chars", TypeError, "texts[2] must be str or UTF-8 bytes, not NoneType"),
    "not UTF-8": (
        b"ab\xff",
        "chars",
        cantle.TextError,
        "texts[2] is not UTF-8: the byte 0xff at position 2 is out of place",
    ),
    "a surrogate": (
        "ab\ud800",
        "words",
        cantle.TextError,
        "texts[2] holds a lone surrogate at character 2: it cannot be written as UTF-8",
    ),
    "an unknown word": (
        "fine bad",
        without_unknown(),
        cantle.TokenizerError,
        "the tokenizer cannot encode a text: WordLevel error: Missing [UNK] token from the "
        "vocabulary",
    ),
    "a callable": ("a bad word", fussy, Fault, "no bad words"),
}  # fmt: skip
CASES = pytest.mark.parametrize(
    ("bad", "unit", "kind", "words"), list(FAILING.values()), ids=list(FAILING)
)


def documents(bad: object, unit: object) -> tuple[list[object], list[str]]:
    good = "fine words " * 9 if isinstance(unit, cantle.Tokenizer) else GOOD
    return [good, good * 2, bad, good, bad, good * 3], list("abcdef")


@CASES
def test_the_first_that_fails_is_named(bad, unit, kind, words):
    texts, ids = documents(bad, unit)
    splitter = cantle.Recursive(40, unit=unit)
    with pytest.raises(kind) as caught:
        splitter.split_all(texts, ids=ids)
    if unit is fussy:
        assert str(caught.value) == words
        notes = getattr(caught.value, "__notes__", ["while test_skipping.fussy measured"])
        assert all(note.startswith("while test_skipping.fussy measured") for note in notes)
        if hasattr(caught.value, "add_note"):
            assert notes == ["while test_skipping.fussy measured document 'c'"]
    else:
        assert str(caught.value) == f"{words} (document 'c')"
    with pytest.raises(kind) as caught:
        splitter.split(bad, id="c")
    shown = words.replace("texts[2]", "text")
    assert str(caught.value) == (shown if unit is fussy else f"{shown} (document 'c')")


@CASES
@pytest.mark.parametrize("threads", [1, 2])
def test_the_others_are_cut_as_ever(bad, unit, kind, words, threads):
    texts, ids = documents(bad, unit)
    splitter = cantle.Recursive(40, 5, unit=unit)
    chunks = splitter.split_all(texts, ids=ids, threads=threads, errors="skip")
    reason = f"Fault: {words}" if unit is fussy else words
    assert chunks.skipped == (
        (2, "c", reason),
        (4, "e", reason.replace("texts[2]", "texts[4]")),
    )
    assert chunks.skipped[0].id == "c"
    assert chunks.skipped[0].reason == reason
    kept = [0, 1, 3, 5]
    alone = splitter.split_all([texts[i] for i in kept], ids=[ids[i] for i in kept])
    assert alone.skipped == ()
    assert chunks.ids == alone.ids
    assert chunks.texts == alone.texts
    assert np.array_equal(chunks.doc, np.array(kept)[alone.doc])
    assert len(chunks.documents) == 6
    assert f"{len(chunks)} of 6 documents" in repr(chunks)
    assert "2 skipped" in repr(chunks)

    again = pickle.loads(pickle.dumps(chunks))
    assert again == chunks
    assert again.skipped == chunks.skipped
    assert chunks[:1].skipped == chunks.skipped
    for texts_as in ("large", "view"):
        table = pa.table(chunks.to_arrow(texts_as))
        assert table["text"].to_pylist() == chunks.texts


@CASES
def test_a_stream_goes_on(bad, unit, kind, words):
    texts, ids = documents(bad, unit)
    splitter = cantle.Window(40, unit=unit)
    parts = list(splitter.stream(texts, batch=2, ids=ids, errors="skip"))
    assert [[(s.doc, s.id) for s in part.skipped] for part in parts] == [[], [(0, "c")], [(0, "e")]]
    whole = splitter.split_all(texts, ids=ids, errors="skip")
    assert [text for part in parts for text in part.texts] == whole.texts
    assert [s.reason for part in parts for s in part.skipped] == [s.reason for s in whole.skipped]

    with pytest.raises(kind) as caught:
        list(splitter.stream(texts, batch=2))
    # A place counts in the whole stream.
    named = words if words.startswith("texts[2]") else f"{words} (document 'doc2')"
    assert str(caught.value) == (words if unit is fussy else named)


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary(), pa.binary_view()])
def test_arrow_rows_that_are_not_utf8(kind):
    data = pa.array([b"good one", b"\xffbad", None, b"good too", b"a" * 20 + b"\xff"], kind)
    table = pa.table({"text": data, "key": list("abcde")})
    splitter = cantle.Recursive(40, unit="chars")
    with pytest.raises(cantle.TextError) as caught:
        splitter.split_all(table, id="key")
    place = 'column "text", row 1 is not UTF-8: the byte 0xff at position 0 is out of place'
    assert str(caught.value) == f"{place} (document 'b')"
    chunks = splitter.split_all(table, id="key", errors="skip")
    assert [(skip.doc, skip.id) for skip in chunks.skipped] == [(1, "b"), (4, "e")]
    assert chunks.skipped[0].reason == place
    assert chunks.texts == ["good one", "good too"]
    parts = list(splitter.stream(table, id="key", batch=2, errors="skip"))
    assert [[s.id for s in part.skipped] for part in parts] == [["b"], [], ["e"]]
    assert splitter.split_all(data, errors="skip").texts == chunks.texts
    assert pa.table(chunks)["text"].to_pylist() == chunks.texts


def test_a_dictionary_with_a_value_that_is_not_utf8():
    values = pa.array([b"good", b"\xff"], pa.binary())
    data = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0, 1], pa.int8()), values)
    chunks = cantle.Whole(unit="chars").split_all(data, errors="skip")
    assert chunks.texts == ["good", "good"]
    assert [s.doc for s in chunks.skipped] == [1, 3]


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_which_fails_first_does_not_depend_on_threads(threads):
    unit = without_unknown()
    texts = ["fine words " * 500] * 200
    for at in (3, 77, 78, 199):
        texts[at] = "fine words " * 400 + "bad"
    splitter = cantle.Recursive(60, unit=unit)
    with pytest.raises(cantle.TokenizerError, match=r"\(document 'doc3'\)$"):
        splitter.split_all(texts, threads=threads)
    chunks = splitter.split_all(texts, threads=threads, errors="skip")
    assert [skip.doc for skip in chunks.skipped] == [3, 77, 78, 199]
    assert set(chunks.doc.tolist()) == set(range(200)) - {3, 77, 78, 199}


def test_an_exception_without_words_is_known_by_its_class():
    class Odd(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no words")

    def unit(text: str) -> int:
        if "bad" in text:
            raise Odd
        return len(text)

    chunks = cantle.Recursive(4, unit=unit).split_all(["good", "bad", "fine"], errors="skip")
    assert chunks.texts == ["good", "fine"]
    assert chunks.skipped == ((1, "doc1", "Odd"),)


def test_ctrl_c_inside_a_callable_is_never_skipped():
    def unit(text: str) -> int:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cantle.Recursive(10, unit=unit).split_all(["a b", "c d"], errors="skip")


def test_another_value_is_refused():
    for call in (cantle.Recursive(10).split_all, cantle.Recursive(10).stream):
        with pytest.raises(cantle.SettingError) as caught:
            call(["text"], errors="ignore")  # type: ignore[arg-type]
        assert str(caught.value) == "errors ('ignore') must be 'raise' or 'skip'"
