"""Search by words: BM25 beside another library and a slow one, and rankings made one."""

from __future__ import annotations

import math
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cantle
from cantle import _core
from cantle.store.fusion import fuse
from cantle.store.words import Words, WordsByStrategy

TEXTS = st.lists(st.text("abc ", max_size=12), max_size=8)


def terms(text: str) -> list[str]:
    ids, _, vocabulary = _core.terms([text])
    return [vocabulary[number] for number in ids.tolist()]


def slow_score(texts: list[str], text: str, question: str) -> float:
    held = [terms(each) for each in texts]
    own = terms(text)
    mean = sum(map(len, held)) / len(held)
    total = 0.0
    for term in terms(question):
        n = sum(term in each for each in held)
        times = own.count(term)
        rarity = math.log(1 + (len(texts) - n + 0.5) / (n + 0.5))
        if times:
            total += rarity * times / (times + 1.2 * (0.25 + 0.75 * len(own) / mean))
    return total


@given(texts=TEXTS, question=st.text("abcd ", max_size=12))
def test_scores_equal_the_slow_ones(texts: list[str], question: str) -> None:
    found = Words(texts).scores(question)
    assert (found.dtype, found.shape) == (np.float32, (len(texts),))
    expected = [slow_score(texts, text, question) for text in texts]
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_scores_equal_those_of_another_library() -> None:
    bm25s = pytest.importorskip("bm25s")
    random = np.random.default_rng(5)
    texts = [" ".join(f"{n}" for n in random.zipf(1.5, size=20) % 50) for _ in range(200)]
    other = bm25s.BM25(k1=1.2, b=0.75, method="lucene")
    other.index([terms(text) for text in texts], show_progress=False)
    for question in ("1 2 3", "17 17", "40 1"):
        np.testing.assert_allclose(
            Words(texts).scores(question), other.get_scores(terms(question)), rtol=1e-5
        )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Rotated keys: E404_x, don't!", ["rotat", "key", "e", "404", "x", "don", "t"]),
        ("CAFÉS cafe\u0301s", ["cafe", "cafe"]),
        ("東京都", ["東", "東京", "京", "京都", "都"]),
        ("กขค", ["กข", "ขค"]),
        ("ガス ｶﾞｽ", ["ガス", "ガス"]),
        ("서울에서", ["서울", "울에", "에서"]),
        ("हिन्दी", ["hindii"]),
        ("", []),
        ("... ☃", []),
    ],
)
def test_terms(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


def test_terms_of_many_texts_share_their_numbers() -> None:
    ids, ends, vocabulary = _core.terms(["a b", "", b"b c"])
    assert (ids.dtype, ends.dtype) == (np.int32, np.int64)
    assert (ids.tolist(), ends.tolist()) == ([0, 1, 1, 2], [2, 2, 4])
    assert vocabulary == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("text", "question"),
    [("我住在東京都", "東京"), ("แมวกินปลา", "ปลา"), ("猫", "猫"), ("サーバーを再起動", "再起動")],
)
def test_words_without_blanks_between_them_are_found(text: str, question: str) -> None:
    scores = Words(["something else", text, "别的"]).scores(question)
    assert scores.argmax() == 1
    assert scores[1] > 0


def test_words_are_counted_anew_only_for_another_version() -> None:
    kept = WordsByStrategy()
    calls = []

    def texts() -> list[str]:
        calls.append(1)
        return ["a b"]

    first = kept.of("small", (1, 2), texts)
    assert kept.of("small", (1, 2), texts) is first
    assert kept.of("large", (1, 2), texts) is not first
    assert kept.of("small", (1, 3), texts) is not first
    assert len(calls) == 3


@given(
    rankings=st.lists(st.lists(st.integers(0, 20), unique=True, max_size=10), max_size=3),
    k=st.sampled_from([0, 1, 60]),
)
def test_fusion_equals_the_slow_one(rankings: list[list[int]], k: int) -> None:
    fused = fuse([np.array(ranking, np.int64) for ranking in rankings], k)
    score = {
        row: sum(sorted(1 / (k + r.index(row) + 1) for r in rankings if row in r))
        for row in {row for ranking in rankings for row in ranking}
    }
    assert fused.rows.tolist() == sorted(score, key=lambda row: (-score[row], row))
    np.testing.assert_allclose(fused.scores, [score[row] for row in fused.rows.tolist()])
    for ranks, ranking in zip(fused.ranks.tolist(), rankings, strict=True):
        places = [ranking.index(row) + 1 if row in ranking else 0 for row in fused.rows.tolist()]
        assert ranks == places


def test_rows_with_the_same_ranks_in_another_order_are_ordered_by_row() -> None:
    """Sums in the order of the rankings differed in their last digit."""
    first, second, third = [1, 2, 3], [2, 3, 1], [3, 1, 2]
    fused = fuse([np.array(ranking, np.int64) for ranking in (first, second, third)], 0.3)
    assert fused.rows.tolist() == [1, 2, 3]
    assert len(set(fused.scores.tolist())) == 1


def test_what_cannot_be_asked_for() -> None:
    with pytest.raises(TypeError) as wrong:
        Words(["a"]).scores(1)  # type: ignore[arg-type]
    assert str(wrong.value) == "question (1) must be a string"
    with pytest.raises(cantle.SettingError) as low:
        fuse([], -1)
    assert str(low.value) == "k (-1) must be at least 0"


def test_texts_are_read_while_others_ask() -> None:
    # Reading texts waits for the store. A thread that held the store while it waited for the words
    # of another one stood still with it for ever.
    kept = WordsByStrategy()
    other: list[Words] = []

    def ask() -> None:
        other.append(kept.of("other", 1, lambda: ["a key"]))

    def texts() -> list[str]:
        thread = threading.Thread(target=ask, daemon=True)
        thread.start()
        thread.join(60)
        return ["a log"]

    assert len(kept.of("own", 1, texts)) == 1
    assert len(other) == 1
