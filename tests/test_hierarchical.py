"""`Hierarchical` and `Nested`: against a slow account, at their edges, and over blocks."""

from __future__ import annotations

import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cantle
import samples
from cantle import Hierarchical, Nested, Recursive
from cantle.embed import Keyword

TOPICS = ("tea pot kettle", "rain cloud storm", "train rail station")
KEYWORD = Keyword(TOPICS)

_words = st.sampled_from(["tea", "pot", "rain", "cloud", "train", "rail", "the", "so"])
_sentences = st.lists(_words, min_size=1, max_size=6).map(lambda w: " ".join(w).capitalize() + ".")
_texts = st.lists(_sentences, max_size=14).map(" ".join)


def within(vectors):
    """The sum of squares of a group around its mean, each vector at length 1.

    A zero vector has a dimension of its own.
    """
    rows = [np.array(v, float) for v in vectors]
    zeros = [i for i, v in enumerate(rows) if not v.any()]
    units = np.zeros((len(rows), len(rows[0]) + len(zeros)))
    for i, v in enumerate(rows):
        if v.any():
            units[i, : len(v)] = v / np.linalg.norm(v)
    for own, i in enumerate(zeros):
        units[i, len(rows[0]) + own] = 1
    return float(((units - units.mean(axis=0)) ** 2).sum())


def slow(chunks, vectors, limits, distances, groups):
    """Join neighbours one pair at a time, every pair tried anew; the rows each group starts at."""
    found = [(i, i + 1) for i in range(len(chunks))]
    levels = []
    for number in (1, 0):
        while len(found) > groups[number]:
            best = None
            for i, ((a, b), (_, c)) in enumerate(pairwise(found)):
                text = chunks.documents.text(0)[chunks.char_start[a] : chunks.char_end[c - 1]]
                if len(text.split()) > limits[number]:
                    continue
                added = within(vectors[a:c]) - within(vectors[a:b]) - within(vectors[b:c])
                if round(added, 8) <= distances[number]:
                    best = min(best or (9e9, 0), (round(added, 8), i))
            if best is None:
                break
            (a, _), (_, c) = found[best[1] : best[1] + 2]
            found[best[1] : best[1] + 2] = [(a, c)]
        levels.append([a for a, _ in found])
    return levels[::-1]


@given(
    text=_texts,
    size=st.integers(3, 8),
    sizes=st.sampled_from([(64, 24), (30, 12), (900, 900)]),
    distances=st.sampled_from([None, (1.5, 0.5), (0.9, 0.1), (0, 0)]),
    groups=st.sampled_from([None, (2, 4), (3, 3)]),
)
def test_it_equals_a_slow_account(text, size, sizes, distances, groups):
    strategy = Hierarchical(
        size, unit="words", embedder=KEYWORD, parent_sizes=sizes, distances=distances, groups=groups
    )
    chunks = strategy.split(text)
    assert chunks.texts == Recursive(size, unit="words").split(text).texts
    vectors = KEYWORD(chunks.texts)
    far, enough = distances or (np.inf, np.inf), groups or (1, 1)
    for number, firsts in enumerate(slow(chunks, vectors, sizes, far, enough), 1):
        level = chunks.level(number)
        rows = np.unique(chunks.rows_at(number), return_index=True)[1]
        assert rows.tolist() == firsts, number
        assert level.char_start.tolist() == chunks.char_start[firsts].tolist()


def text_of(*topics: str) -> str:
    return "\n\n".join(" ".join([topic.capitalize() + "."] * 4) for topic in topics)


def test_like_neighbours_are_joined_first():
    text = text_of("tea pot", "pot tea", "rain rain", "rain cloud", "train rail", "rail rail")
    strategy = Hierarchical(
        8, unit="words", embedder=KEYWORD, parent_sizes=(32, 16), name="h"
    )  # fmt: skip
    chunks = strategy.split(text, id="doc")
    middle, top = chunks.parents, chunks.parents.parents
    assert [c.text.split()[0] for c in middle] == ["Tea", "Rain", "Train"]
    assert [c.text.split()[0] for c in top] == ["Tea", "Train"]
    assert (top.parents, top.level_number, chunks.level_number) == (None, 1, 3)
    assert (chunks.ids[0], middle.ids[1], top.ids) == (
        "doc_h_0",
        "doc_h_level2_1",
        ["doc_h_level1_0", "doc_h_level1_1"],
    )
    assert chunks[4].parent.parent.id == "doc_h_level1_1"
    assert chunks.level(3) is chunks
    assert chunks.rows_at(1).tolist() == [0, 0, 0, 0, 1, 1]
    assert chunks.parent_ids[2] == "doc_h_level2_1"
    assert top.parent_ids == [None, None]
    for number in (0, 4):
        with pytest.raises(cantle.SettingError) as caught:
            chunks.level(number)
        assert str(caught.value) == f"level ({number}) must be from 1 to 3, the finest"
    with pytest.raises(TypeError, match=r"level \(True\) must be a whole number"):
        chunks.rows_at(True)


def test_equal_sentences_are_joined_from_the_left():
    strategy = Hierarchical(
        1, unit="words", embedder=KEYWORD, parent_sizes=(4, 3), distances=(0, 0)
    )
    chunks = strategy.split("Tea. Tea. Tea. Tea. Tea.")
    assert chunks.level(2).texts == ["Tea. Tea. Tea.", "Tea. Tea."]
    assert chunks.level(1).texts == chunks.level(2).texts


def test_a_zero_vector_is_like_nothing():
    strategy = Hierarchical(
        3, unit="words", embedder=KEYWORD, parent_sizes=(90, 90), distances=(1, 0.99)
    )
    chunks = strategy.split("Tea. So so so. And so on. Tea pot.")
    assert chunks.level(2).texts == chunks.texts
    assert chunks.distances.distance[:-1].tolist() == [1, 1, 1]
    # Each that is like nothing adds 1.
    assert len(chunks.level(1)) == 1


@pytest.mark.parametrize("built", [Hierarchical, Nested])
def test_few_sentences(built):
    strategy = built(3, unit="words", **({"embedder": KEYWORD} if built is Hierarchical else {}))
    for text, count in (("", 0), (" \n ", 0), ("Tea.", 1), ("Tea is much too long a word.", 3)):
        chunks = strategy.split(text)
        assert [len(chunks.level(n)) for n in (3, 2, 1)] == [count, min(count, 1), min(count, 1)]
    # One indivisible piece is larger than every level.
    chunks = built(
        2, unit="bytes", parent_sizes=(3, 3),
        **({"embedder": KEYWORD} if built is Hierarchical else {}),
    ).split("e\u0301\u0301 a b")  # fmt: skip
    assert chunks.flags.tolist() == [1, 0, 0]
    assert chunks.level(1).texts == ["e\u0301\u0301", "a b"]
    assert chunks.level(1).flags.tolist() == [1, 0]
    assert chunks.level(1).size.tolist() == [5, 3]


def test_nested_is_recursive_within_recursive():
    text = "\n\n".join(f"{samples.PROSE} {i}. One more of the kind." for i in range(30))
    for unit in ("words", "cl100k_base"):
        one = Nested(20, 4, unit, parent_sizes=(160, 60)).split_all([text, "", "Tea. Rain."])
        top = Recursive(160, unit=unit).split_all([text, "", "Tea. Rain."])
        middle = Recursive(60, unit=unit).split_within(top)
        finest = Recursive(20, 4, unit).split_within(middle)
        for made, level in zip((finest, middle, top), (3, 2, 1), strict=True):
            assert one.level(level).texts == made.texts
            assert np.array_equal(one.level(level).size, made.size)
            assert np.array_equal(one.level(level).doc, made.doc)
        assert np.array_equal(one.rows_at(1), finest.rows_at(1))


MARKDOWN = """# Tea

Warm the pot. Pour the tea.

| kettle | tea |
|---|---|
| rain | cloud |
| train | rail |
| tea | pot |

## Rain

A cloud comes. The storm is near. It rains and rains on the old town and the sea.
"""


def test_over_blocks_tables_are_whole_and_headings_stay_where_a_level_has_room():
    blocks = cantle.blocks(MARKDOWN)
    for strategy in (
        Hierarchical(12, unit="words", embedder=KEYWORD, parent_sizes=(70, 34)),
        Nested(12, unit="words", parent_sizes=(70, 34)),
    ):
        chunks = strategy.split(blocks)
        assert [c for c in chunks if c.kind == "table" and c.flags & cantle.PART]
        middle = chunks.level(2)
        (table,) = [c for c in middle if "kettle" in c.text]
        assert "| tea | pot |" in table.text
        assert not table.flags & cantle.PART
        assert table.heading_path == ("Tea",)
        assert not [c for level in (1, 2) for c in chunks.level(level) if c.text.endswith("Rain")]
        assert middle[len(middle) - 1].heading_path == ("Tea", "Rain")
        assert chunks.level(1).size.max() <= 70
        again = pickle.loads(pickle.dumps(chunks))
        assert again == chunks
        assert again.parents == middle


def test_a_heading_goes_with_what_stands_below_it():
    text = "# Tea\n\n" + "Tea pot, and so on and on and on. " * 3 + "\n\n# Rain\n\nRain is near."
    blocks = cantle.blocks(text)
    # The embedder knows of headings alone that they are near to what stands before them.
    chunks = Hierarchical(
        9, unit="words", embedder=lambda texts: [[1.0, t.startswith("#")] for t in texts],
        parent_sizes=(100, 14),
    ).split(blocks)  # fmt: skip
    assert chunks.level(2)[0].text.startswith("# Tea\n")
    assert not [c for c in chunks.level(2) if c.text.endswith(("# Tea", "# Rain"))]


def test_many_documents_are_embedded_together_and_threads_change_nothing():
    calls = []

    def embedder(texts):
        calls.append(len(texts))
        return samples.letters(texts)

    texts = [" ".join(["Tea pot. Rain. Train."] * n) for n in range(0, 500, 17)]
    strategy = Hierarchical(8, unit="words", embedder=embedder, parent_sizes=(90, 30))
    one = strategy.split_all(texts, threads=1)
    assert sum(calls) == len(one)
    assert strategy.estimate(texts).texts == len(one)
    for threads in (2, 3):
        many = strategy.split_all(texts, threads=threads)
        for number in (1, 2, 3):
            assert many.level(number) == one.level(number)
    for doc in (0, 1, 20):
        alone = strategy.split(texts[doc])
        for number in (1, 2):
            level = one.level(number)
            assert level[level.doc == doc].texts == alone.level(number).texts


def test_what_fails_is_left_out_of_all_levels():
    def unit(text):
        if "bad" in text:
            raise RuntimeError("no such word")
        return len(text.split())

    strategy = Hierarchical(2, unit=unit, embedder=KEYWORD, parent_sizes=(8, 4))
    chunks = strategy.split_all([b"\xff", "Tea pot. Tea.", "A bad one.", "Rain."], errors="skip")
    assert [s.doc for s in chunks.skipped] == [0, 2]
    for number in (1, 2, 3):
        assert np.unique(chunks.level(number).doc).tolist() == [1, 3]
    with pytest.raises(RuntimeError, match="no such word"):
        strategy.split("A bad one.")
    with pytest.raises(cantle.TextError, match=r"texts\[0\] is not UTF-8"):
        strategy.split_all([b"\xff"])


def test_within_other_chunks():
    parents = Recursive(12, unit="words").split_all(["Tea. Rain. Tea pot.\n\n" * 6, "Train."])
    strategy = Hierarchical(2, unit="words", embedder=KEYWORD, parent_sizes=(8, 4))
    chunks = strategy.split_within(parents)
    assert chunks.level_number == 4
    assert chunks.level(1) is parents
    assert chunks.name == "hierarchical2"
    assert chunks.level(3).ids[0] == "doc0_hierarchical2_level2_0"
    for row, parent in enumerate(parents):
        alone = strategy.split(parent.text)
        for number in (1, 2, 3):
            level = chunks.level(number + 1)
            assert level[level.rows_at(1) == row].texts == alone.level(number).texts


ERRORS = [
    ({"parent_sizes": 2048}, TypeError,
     "parent_sizes (2048) must be two values, for levels 1 and 2"),
    ({"parent_sizes": (512, 2048)}, cantle.SettingError,
     "parent_sizes ((512, 2048)) must be those of levels 1 and 2, none smaller than the one that "
     "follows, nor than size (128)"),
    ({"parent_sizes": (512, 64)}, cantle.SettingError,
     "parent_sizes ((512, 64)) must be those of levels 1 and 2, none smaller than the one that "
     "follows, nor than size (128)"),
    ({"parent_sizes": (512, 2.5)}, TypeError, "parent_sizes (2.5) must be a whole number"),
    ({"size": 0}, cantle.SettingError, "size (0) must be at least 1"),
    ({"size": "x"}, TypeError, "size ('x') must be a whole number, not str"),
]  # fmt: skip


@pytest.mark.parametrize(("settings", "kind", "message"), ERRORS, ids=str)
@pytest.mark.parametrize("built", [Hierarchical, Nested])
def test_wrong_settings(built, settings, kind, message):
    with pytest.raises(kind) as caught:
        built(**settings)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("settings", "kind", "message"),
    [
        ({"distances": 0.5}, TypeError, "distances (0.5) must be two values, for levels 1 and 2"),
        ({"distances": (1, -1)}, cantle.SettingError, "distances (-1) must be at least 0"),
        ({"distances": (1, "x")}, TypeError, "distances ('x') must be a number"),
        ({"groups": (1, 0)}, cantle.SettingError, "groups (0) must be at least 1"),
        ({"groups": (1, 1.5)}, TypeError, "groups (1.5) must be a whole number"),
        ({"embedder": 3}, TypeError, "embedder (3) must be a name or a callable"),
    ],
    ids=str,
)
def test_wrong_settings_of_hierarchical(settings, kind, message):
    with pytest.raises(kind) as caught:
        Hierarchical(**settings)
    assert str(caught.value) == message


def test_settings_in_one_string():
    assert cantle.strategy_from_text(
        "hierarchical:100:10:words,parent_sizes=2_000/500,distances=3/0.5,groups=2/9"
    ) == Hierarchical(
        100, 10, "words", parent_sizes=(2000, 500), distances=(3.0, 0.5), groups=(2, 9)
    )
    assert Hierarchical().limits == Nested().limits == (2048, 512)
    assert Hierarchical() != Hierarchical(parent_sizes=(2048, 512))
    for text, message in (
        ("nested,parent_sizes=9", "parent_sizes ('9') must be two numbers, as in 2048/512"),
        ("nested,parent_sizes=9/x", "parent_sizes ('9/x') must be two whole numbers"),
        ("hierarchical,distances=x/1", "distances ('x/1') must be two numbers"),
    ):
        with pytest.raises(cantle.SettingError) as caught:
            cantle.strategy_from_text(text)
        assert str(caught.value) == message


class Account:
    """A unit that keeps account of its calls and of what it saw."""

    def __init__(self):
        self.calls = self.characters = 0

    def __call__(self, text):
        self.calls += 1
        self.characters += len(text)
        return len(text)


@pytest.mark.parametrize("built", [Hierarchical, Nested])
@pytest.mark.parametrize("sizes", [(800, 200), (2_000_000, 1_000)])
def test_twice_the_text_is_twice_the_work(built, sizes):
    accounts = []
    for n in (600, 1_200):
        account = Account()
        own = {"embedder": samples.letters} if built is Hierarchical else {}
        built(50, unit=account, parent_sizes=sizes, **own).split("A tea. Wax. Of oxen. I. " * n)
        accounts.append(account)
    small, large = accounts
    assert large.calls <= 2.2 * small.calls + 50
    if sizes[0] < 1_000:
        # A level without a limit is measured whole at every join.
        assert large.characters <= 2.2 * small.characters + 20_000
