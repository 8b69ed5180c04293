# ruff: noqa: E501  (a row of a table of errors stays on one line)
"""`Chunks` and `Chunk`: columns, rows, identity, and a caller's own positions."""

from __future__ import annotations

import copy
import hashlib
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cantle
import oracle
import samples
from cantle import Chunks

COLUMNS = {
    "doc": np.int32,
    "ordinal": np.int32,
    "byte_start": np.int64,
    "byte_end": np.int64,
    "char_start": np.int64,
    "char_end": np.int64,
    "size": np.int64,
    "flags": np.uint32,
}
OWN = [name for name in COLUMNS if not name.startswith("char")]

ASCII = cantle.Recursive(12, unit="chars").split_all(
    ["One two. Three four.", "Five six seven."], ids=["a", "b"], metadata=[{"k": [1]}, {}]
)
OTHER = cantle.Window(3, 1, "chars").split_all(["h\u00e9llo", "", "w\u00f6rld"])


# -------------------------------------------------------------------------------- columns


@pytest.mark.parametrize("chunks", [ASCII, OTHER, ASCII[:0]], ids=["ascii", "other", "none"])
def test_columns_are_typed_and_read_only(chunks):
    for name, dtype in COLUMNS.items():
        column = getattr(chunks, name)
        assert column.dtype == dtype
        assert column.shape == (len(chunks),)
        assert not column.flags.writeable
        with pytest.raises(ValueError, match="read-only"):
            column[:1] = 0
        with pytest.raises(AttributeError):
            setattr(chunks, name, column)
    assert chunks.parent.dtype == np.int64
    assert chunks.parent.tolist() == [-1] * len(chunks)


def test_values():
    assert OTHER.texts == ["h\u00e9l", "llo", "w\u00f6r", "rld"]
    assert OTHER.doc.tolist() == [0, 0, 2, 2]
    assert OTHER.ordinal.tolist() == [0, 1, 0, 1]
    assert OTHER.char_start.tolist() == [0, 2, 0, 2]
    assert OTHER.char_end.tolist() == [3, 5, 3, 5]
    assert OTHER.byte_start.tolist() == [0, 3, 0, 3]
    assert OTHER.byte_end.tolist() == [4, 6, 4, 6]
    assert OTHER.size.tolist() == [3, 3, 3, 3]
    assert OTHER.flags.tolist() == [0, 0, 0, 0]


def test_a_row_takes_at_most_64_bytes():
    columns = {id(getattr(OTHER, name)): getattr(OTHER, name) for name in COLUMNS}
    assert sum(column.itemsize for column in columns.values()) <= 64


@pytest.mark.parametrize(
    "derive",
    [
        lambda chunks: chunks,
        lambda chunks: chunks[1:],
        lambda chunks: chunks[chunks.size > 0],
        lambda chunks: chunks[[1, 0]],
        lambda chunks: pickle.loads(pickle.dumps(chunks)),
        lambda chunks: cantle.Window(2, unit="chars").split_within(chunks),
    ],
    ids=["made", "slice", "mask", "rows", "pickled", "within"],
)
def test_ascii_documents_share_their_offsets(derive):
    chunks = derive(ASCII)
    assert np.shares_memory(chunks.char_start, chunks.byte_start)
    assert np.shares_memory(chunks.char_end, chunks.byte_end)
    others = derive(OTHER)
    assert not np.shares_memory(others.char_start, others.byte_start)


def test_one_document_that_is_not_ascii_unshares_only_its_own_offsets():
    """Where a batch mixes both, columns are whole: characters are right for every document."""
    texts = ["abc def", "h\u00e9 wo", "xyz uvw"]
    chunks = cantle.Recursive(3, unit="chars").split_all(texts)
    assert chunks.texts == ["abc", "def", "h\u00e9", "wo", "xyz", "uvw"]
    assert (chunks.byte_start - chunks.char_start).tolist() == [0, 0, 0, 1, 0, 0]


# ----------------------------------------------------------------------------------- rows


def test_a_row_is_a_view():
    chunk = ASCII[1]
    assert chunk.text == "Three four."
    assert chunk.id == "a_recursive_1"
    assert chunk.source == "a"
    assert (chunk.doc, chunk.ordinal, chunk.size, chunk.flags) == (0, 1, 11, 0)
    assert (chunk.byte_start, chunk.byte_end) == (chunk.char_start, chunk.char_end) == (9, 20)
    assert chunk.parent is None
    assert chunk.content_hash == hashlib.blake2b(b"Three four.", digest_size=16).hexdigest()
    assert repr(chunk) == "Chunk('a_recursive_1', 9..20, 11 chars, 'Three four.')"
    assert chunk.as_dict() == {
        "id": "a_recursive_1",
        "source": "a",
        "ordinal": 1,
        "byte_start": 9,
        "byte_end": 20,
        "char_start": 9,
        "char_end": 20,
        "size": 11,
        "flags": 0,
        "text": "Three four.",
        "metadata": {"k": [1]},
    }
    assert "metadata" not in ASCII[2].as_dict()
    for name in ("text", "size", "parent"):
        with pytest.raises(AttributeError):
            setattr(chunk, name, None)


def test_rows_slices_and_masks():
    n = len(ASCII)
    assert [chunk.id for chunk in ASCII] == ASCII.ids
    assert ASCII[-1].id == ASCII[n - 1].id == ASCII[np.int64(n - 1)].id
    assert ASCII[-n].id == ASCII[0].id
    assert ASCII[1:].ids == ASCII.ids[1:]
    assert ASCII[::-1].texts == ASCII.texts[::-1]
    assert ASCII[5:2].ids == []
    assert ASCII[ASCII.doc == 1].ids == [i for i in ASCII.ids if i.startswith("b_")]
    assert ASCII[[2, 0, 0, -1]].ids == [ASCII.ids[i] for i in (2, 0, 0, -1)]
    assert ASCII[np.array([1], np.uint8)].ids == [ASCII.ids[1]]
    assert ASCII[[]].ids == []
    assert ASCII[[True] + [False] * (n - 1)].ids == ASCII.ids[:1]
    assert isinstance(ASCII[0], cantle.Chunk)
    assert ASCII[1:][0].id == ASCII[1].id
    assert len(ASCII[:2]) == 2
    part = ASCII[1:3]
    assert (part.name, part.unit, part.fingerprint) == (ASCII.name, ASCII.unit, ASCII.fingerprint)
    assert part.documents is ASCII.documents


WHERE = "chunks are picked by a row, a slice, a mask or a list of rows"
BAD_ROWS = [
    (3 + 1, IndexError, "chunk 4 of 4"),
    (-5, IndexError, "chunk -5 of 4"),
    ("a", TypeError, WHERE),
    (1.5, TypeError, WHERE),
    (None, TypeError, WHERE),
    ([[0]], TypeError, WHERE),
    ([0.5], TypeError, WHERE),
    (["a"], TypeError, WHERE),
    ([0, 9], IndexError, "index 9 is out of bounds for axis 0 with size 4"),
]


@pytest.mark.parametrize(("rows", "kind", "message"), BAD_ROWS)
def test_rows_that_are_none(rows, kind, message):
    with pytest.raises(kind) as caught:
        OTHER[rows]
    assert str(caught.value) == message


def test_metadata_is_copied_in_and_out():
    given = {"tags": ["x"]}
    chunks = cantle.Recursive(3, unit="chars").split("ab cd", metadata=given)
    given["tags"].append("changed")
    chunks[0].metadata["tags"].append("changed")
    chunks[0].as_dict()["metadata"]["tags"].append("changed")
    assert [chunk.metadata for chunk in chunks] == [{"tags": ["x"]}] * 2


# ------------------------------------------------------------------- equality, pickle, repr


def test_equality():
    again = cantle.Recursive(12, unit="chars").split_all(
        ["One two. Three four.", b"Five six seven."], ids=["a", "b"]
    )
    assert again == ASCII
    assert again != cantle.Recursive(13, unit="chars").split_all(
        again.documents.texts, ids=["a", "b"]
    )
    assert again != cantle.Recursive(12, unit="chars").split_all(again.documents.texts)
    assert again != again[1:]
    assert again != "chunks"
    with pytest.raises(TypeError, match="unhashable type: 'Chunks'"):
        hash(again)


@pytest.mark.parametrize(
    "through", [lambda x: pickle.loads(pickle.dumps(x)), copy.deepcopy, copy.copy]
)
@pytest.mark.parametrize("chunks", [ASCII, OTHER, OTHER[:0], ASCII[1:]])
def test_chunks_survive_pickle_and_copies(through, chunks):
    again = through(chunks)
    assert again == chunks
    assert [chunk.metadata for chunk in again] == [chunk.metadata for chunk in chunks]
    assert not again.size.flags.writeable


def test_children_survive_pickle_with_their_parents():
    children = cantle.Window(2, unit="chars").split_within(ASCII)
    again = pickle.loads(pickle.dumps(children))
    assert again == children
    assert again.parents == ASCII
    assert again[-1].parent.id == children[-1].parent.id


def test_repr():
    assert repr(ASCII[:2]) == (
        "Chunks(2 of 2 documents, recursive, size in chars)\n"
        "  a_recursive_0  0..8  8  'One two.'\n"
        "  a_recursive_1  9..20  11  'Three four.'"
    )
    assert repr(cantle.Whole(2, unit="chars").split("a\n b")) == (
        "Chunks(1 of 1 document, whole, size in chars, 1 oversize)\n  doc0_whole_0  0..4  4  'a b'"
    )
    many = cantle.Window(1, unit="chars").split("x" * 30)
    assert repr(many).splitlines()[-1] == "  ... 22 more"
    assert repr(ASCII[:0]) == "Chunks(0 of 2 documents, recursive, size in chars)"
    long = cantle.Whole(unit="words").split("word " * 80)[0]
    shown = "word " * 10
    assert repr(long) == f"Chunk('doc0_whole_0', 0..399, 80 words, '{shown.strip()}\u2026')"


def test_repr_html_escapes():
    chunks = cantle.Whole(unit="chars").split("<script>&'\"", id="<b>")
    html = chunks._repr_html_()
    assert "<td>&lt;b&gt;_whole_0</td>" in html
    assert "&lt;script&gt;&amp;" in html
    assert "<script>" not in html
    assert "<b>" not in html
    named = cantle.Whole(unit="chars", name="<i>").split("x")._repr_html_()
    assert "<i>" not in named
    assert (
        cantle.Window(1, unit="chars").split("x" * 30)._repr_html_().endswith("<p>... 10 more</p>")
    )


# ------------------------------------------------------------------------------ from_spans

TEXT = "h\u00e9llo w\u00f6rld"  # 11 characters, 13 bytes


def test_from_spans():
    chunks = Chunks.from_spans(
        [TEXT, "", "abc"], [[(0, 5), (3, 8)], [], [(1, 3)]], ids=["x", "y", "z"], metadata=[{"k": 1}, {}, {}]
    )  # fmt: skip
    assert chunks.texts == ["h\u00e9llo", "lo w\u00f6", "bc"]
    assert chunks.ids == ["x_spans_0", "x_spans_1", "z_spans_0"]
    assert chunks.byte_start.tolist() == [0, 4, 1]
    assert chunks.size.tolist() == [5, 5, 2]
    assert chunks[0].metadata == {"k": 1}
    in_bytes = Chunks.from_spans(
        [TEXT], [[(0, 6), (4, 10)]], offsets="bytes", unit="bytes", name="own"
    )
    assert in_bytes.texts == chunks.texts[:2]
    assert in_bytes.size.tolist() == [6, 6]
    assert in_bytes.ids == ["doc0_own_0", "doc0_own_1"]
    in_words = Chunks.from_spans([TEXT.encode()], [[(0, 11)]], unit="words")
    assert (in_words.unit, in_words.size.tolist()) == ("words", [2])
    assert len(Chunks.from_spans([], [])) == 0
    assert len(Chunks.from_spans(["a"], [[]])) == 0


@given(text=samples.texts, data=st.data())
def test_from_spans_brings_back_what_a_strategy_made(text, data):
    strategy = data.draw(
        st.sampled_from([cantle.Window(7, 3, "chars"), cantle.Recursive(9, 2, "chars", trim=False)])
    )
    made = strategy.split(text)
    for offsets, start, end in (
        ("chars", made.char_start, made.char_end),
        ("bytes", made.byte_start, made.byte_end),
    ):
        spans = [zip(start, end, strict=True)]
        again = Chunks.from_spans([text], spans, offsets=offsets)
        for name in COLUMNS:
            if name != "flags":
                assert np.array_equal(getattr(again, name), getattr(made, name))
        assert again.texts == made.texts


@given(text=samples.texts.filter(bool), data=st.data())
def test_from_spans_may_cut_anywhere_between_characters(text, data):
    """A caller's positions are checked, not moved: they may cut clusters and hold blanks."""
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    chunk = Chunks.from_spans([text], [[(start, end)]], unit="words")[0]
    assert chunk.text == text[start:end]
    assert chunk.size == oracle.size(text[start:end], "words")
    assert chunk.byte_start == len(text[:start].encode())


BAD_SPANS = [
    (([TEXT], [[(0, 1)]]), {"offsets": "words"}, ValueError, "offsets ('words') must be 'chars' or 'bytes'"),
    ((TEXT, [[(0, 1)]]), {}, TypeError, "texts must be a sequence of texts, not one text"),
    (([TEXT], []), {}, ValueError, "spans has 0 entries for 1 texts"),
    (([TEXT], [[(1, 1)]]), {}, ValueError, "spans[0][0] (1, 1) is empty or reversed"),
    (([TEXT], [[(3, 1)]]), {}, ValueError, "spans[0][0] (3, 1) is empty or reversed"),
    (([TEXT], [[(-1, 3)]]), {}, ValueError, "spans[0][0] (-1, 3) is empty or reversed"),
    (([TEXT], [[(0, 3), (0, 4)]]), {}, ValueError, "spans[0][1] (0, 4) does not start behind (0, 3)"),
    ((["a", TEXT], [[], [(2, 3), (1, 4)]]), {}, ValueError, "spans[1][1] (1, 4) does not start behind (2, 3)"),
    (([TEXT], [[(0, 1.5)]]), {}, TypeError, "spans[0][0] ((0, 1.5)) must be a (start, end) pair"),
    (([TEXT], [[3]]), {}, TypeError, "spans[0][0] (3) must be a (start, end) pair"),
    (([TEXT], [[(1, 2, 3)]]), {}, TypeError, "spans[0][0] ((1, 2, 3)) must be a (start, end) pair"),
    (([TEXT], [["ab"]]), {}, TypeError, "spans[0][0] ('ab') must be a (start, end) pair"),
    (([TEXT], [[(0, 2**70)]]), {}, ValueError, f"spans[0][0] (0, {2**70}) lies outside the text"),
    ((["a", 3], [[], []]), {}, TypeError, "texts[1] must be str or UTF-8 bytes, not int"),
    ((["a", "b\ud800"], [[], []]), {}, ValueError, "texts[1] holds a lone surrogate at character 1: it cannot be written as UTF-8"),
    (([TEXT], [[(0, 2)]]), {"ids": ["a", "b"]}, ValueError, "ids has 2 entries for 1 texts"),
    (([TEXT], [[(0, 2)]]), {"metadata": []}, ValueError, "metadata has 0 entries for 1 texts"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "more", "kind", "message"), BAD_SPANS)
def test_spans_that_are_none(arguments, more, kind, message):
    with pytest.raises(kind) as caught:
        Chunks.from_spans(*arguments, **more)
    assert str(caught.value) == message


PLACES = [
    (
        [(0, 12)],
        "chars",
        "spans[1][0]: 12 lies behind the end of the text, which has 11 characters",
    ),
    ([(0, 14)], "bytes", "spans[1][0]: 14 lies behind the end of the text, which has 13 bytes"),
    ([(0, 2)], "bytes", "spans[1][0]: byte offset 2 lies inside a character"),
    ([(0, 3), (2, 4)], "bytes", "spans[1][1]: byte offset 2 lies inside a character"),
]


@pytest.mark.parametrize(("spans", "offsets", "message"), PLACES)
def test_spans_outside_their_text(spans, offsets, message):
    with pytest.raises(cantle.SettingError) as caught:
        Chunks.from_spans(["a", TEXT], [[], spans], offsets=offsets)
    assert str(caught.value) == message
