"""`Semantic`: against a slow account in plain Python, at its edges, and over many documents."""

from __future__ import annotations

import functools
import math
import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cantle
import oracle
import samples
from cantle import Semantic
from cantle.embed import Keyword

TOPICS = ("tea pot kettle", "rain cloud storm", "train rail station")
KEYWORD = Keyword(TOPICS)

_words = st.sampled_from(["tea", "pot", "rain", "cloud", "train", "rail", "the", "so"])
_sentences = st.lists(_words, min_size=1, max_size=6).map(lambda w: " ".join(w).capitalize() + ".")
_texts = st.lists(_sentences, max_size=12).map(" ".join)


def cosine(a, b):
    product = sum(x * y for x, y in zip(a, b, strict=True))
    lengths = math.sqrt(sum(x * x for x in a) * sum(y * y for y in b))
    return product / lengths if lengths else 0.0


def slow(text, strategy, threshold_of):
    """The rule of A8 in words: sentences, distances, one pass."""
    found = cantle.sentences(text).texts
    near = strategy.buffer
    shown = [" ".join(found[max(0, i - near) : i + near + 1]) for i in range(len(found))]
    vectors = strategy.embedder(shown).astype(float).tolist() if found else []
    distances = [1 - cosine(a, b) for a, b in pairwise(vectors)]
    threshold = threshold_of(distances)
    target = strategy.target or round(strategy.size * 2 / 3)
    least = strategy.min_size
    if least is None:
        least = 0 if strategy.distance is not None else math.ceil(0.4 * target)
    chunks, open_ = [], []
    for i, sentence in enumerate(found):
        if open_:
            far = distances[i - 1]
            if strategy.mode == "centroid":
                rows = [np.array(vectors[j]) for j in open_]
                units = [row / (np.linalg.norm(row) or 1) for row in rows]
                far = 1 - cosine(sum(units).tolist(), vectors[i])
            held = sum(len(found[j].split()) for j in open_)
            turns = far > threshold and held >= least
            if turns or held + len(sentence.split()) > strategy.size:
                chunks.append(open_)
                open_ = []
        open_ = [*open_, i]
    chunks += [open_] if open_ else []
    return [" ".join(found[j] for j in chunk) for chunk in chunks]


def percentile(share, distances):
    """By a straight line between two of them."""
    if not distances:
        return math.nan
    place = share / 100 * (len(distances) - 1)
    low, high = (sorted(distances)[f(place)] for f in (math.floor, math.ceil))
    found = low + (high - low) * (place - math.floor(place))
    assert math.isclose(found, np.percentile(distances, share), abs_tol=1e-12)
    return found


def deviations(times, distances):
    return float(np.mean(distances) + times * np.std(distances)) if distances else math.nan


THRESHOLDS = {
    "percentile": ({"percentile": 60}, functools.partial(percentile, 60)),
    "default": ({}, functools.partial(percentile, 85)),
    "distance": ({"distance": 0.4}, lambda _: 0.4),
    "deviations": ({"deviations": 0.5}, functools.partial(deviations, 0.5)),
}


@pytest.mark.parametrize("by", THRESHOLDS)
@given(
    text=_texts,
    size=st.integers(6, 30),
    mode=st.sampled_from(["previous", "centroid"]),
    buffer=st.sampled_from([0, 0, 1, 2]),
    min_size=st.sampled_from([None, None, 0, 5]),
)
def test_it_equals_a_slow_account(by, text, size, mode, buffer, min_size):
    settings, threshold_of = THRESHOLDS[by]
    strategy = Semantic(
        size, unit="words", embedder=KEYWORD, mode=mode, buffer=buffer, min_size=min_size,
        **settings,
    )  # fmt: skip
    assert strategy.split(text).texts == slow(text, strategy, threshold_of)


def sentences_of(*sizes: int) -> str:
    """Sentences of so many characters, each about another topic than the one before."""
    words = ["Tea", "Rain", "Train"]
    parts = [words[i % 3] + " " * (i > len(sizes)) for i in range(len(sizes))]
    return " ".join(
        f"{word} {'x' * (n - len(word) - 2)}." for word, n in zip(parts, sizes, strict=True)
    )


def test_worked_example_x9():
    """A cut once 320 are held and the distance is large, or when the next would pass 1200."""
    strategy = Semantic(1200, unit="chars", embedder=KEYWORD, target=800, percentile=0)
    # All distances are 1, and none is above the percentile: only the size cuts.
    assert strategy.split(sentences_of(*[100] * 30)).size.tolist() == [1110, 1110, 807]
    near = "Tea is tea. "
    text = near * 27 + "Rain falls. " + near * 100
    chunks = Semantic(1200, unit="chars", embedder=KEYWORD, target=800, percentile=85).split(text)
    assert chunks.distances.threshold[0] == 0
    # 27 sentences hold 323 characters: enough. With one less they hold 311: not yet.
    assert chunks[0].text == (near * 27).strip()
    assert chunks[0].size == 323
    chunks = Semantic(1200, unit="chars", embedder=KEYWORD, target=800).split(
        near * 26 + "Rain falls. " + near * 100
    )
    assert chunks[0].text == (near * 26 + "Rain falls.").strip()
    assert max(chunks.size) <= 1200


def test_the_limits_of_the_target():
    strategy = Semantic(1200, unit="chars", embedder=KEYWORD)
    assert strategy == Semantic(1200, unit="chars", embedder=KEYWORD, target=None)
    # Two thirds of the size, of that two fifths: a document that turns at 319 is not cut there.
    for held, cut in ((319, False), (320, True)):
        text = f"Tea {'y' * (held - 5)}. Rain falls. Rain again."
        chunks = Semantic(1200, unit="chars", embedder=KEYWORD, percentile=50).split(text)
        assert (len(chunks) == 2) is cut, held


@pytest.mark.parametrize(
    "text", ["", " \n ", "Only one.", "Tea. Tea. Tea.", "No topic. None. At all."]
)
@pytest.mark.parametrize(
    "settings", [{}, {"automatic": True}, {"deviations": 0}, {"percentile": 0}, {"percentile": 100}]
)
@pytest.mark.parametrize("mode", ["previous", "centroid"])
def test_few_and_equal_sentences_are_not_cut(text, settings, mode):
    strategy = Semantic(50, unit="words", embedder=KEYWORD, mode=mode, min_size=0, **settings)
    chunks = strategy.split(text)
    assert chunks.texts == ([text] if text.strip() else [])


def test_a_zero_vector_is_like_nothing():
    chunks = Semantic(
        50, unit="words", embedder=KEYWORD, distance=0.99
    ).split("Tea. Of nothing. Of nothing else. Tea.")  # fmt: skip
    assert chunks.distances.distance[:-1].tolist() == [1, 1, 1]
    assert len(chunks) == 4


def test_the_automatic_threshold_makes_chunks_of_the_target():
    text = " ".join(["Tea in a pot. Tea. Rain and cloud. Train. Rail and tea."] * 40)
    for target in (10, 20, 40):
        chunks = Semantic(60, unit="words", embedder=KEYWORD, target=target, automatic=True).split(
            text
        )
        assert 0.4 * target <= chunks.size.mean() <= target
        assert set(chunks.distances.threshold) <= set(chunks.distances.distance)


def test_distances_can_be_looked_at():
    text = "Caf\u00e9 tea. Tea pot.\n\n  Rain. "
    texts = ["", text, "Rain."]
    chunks = Semantic(50, unit="words", embedder=KEYWORD, distance=0.5).split_all(texts)
    found = chunks.distances
    assert found.doc.tolist() == [1, 1, 1, 2]
    data = text.encode()
    spans = zip(found.byte_start, found.byte_end, strict=True)
    assert [data[a:b].decode() for a, b in spans][:3] == ["Caf\u00e9 tea.", "Tea pot.", "Rain."]
    assert np.allclose(found.distance, [0, 1, math.nan, math.nan], equal_nan=True)
    assert found.threshold.tolist() == [0.5] * 4
    assert repr(found) == "Distances(4)"
    assert not found.distance.flags.writeable
    again = pickle.loads(pickle.dumps(chunks))
    assert again == chunks
    assert np.array_equal(again.distances.distance, found.distance, equal_nan=True)
    assert chunks[1:].distances is found
    assert cantle.Recursive().split(text).distances is None


MARKDOWN = """# Tea

Warm the pot. Pour the tea.

| kettle | tea |
|---|---|
| rain | cloud |

## Rain

A cloud comes. The storm is near.
"""


def test_over_blocks_headings_stay_with_their_text_and_tables_are_whole():
    seen = []

    def embedder(texts):
        seen.extend(texts)
        return KEYWORD(texts)

    blocks = cantle.blocks(MARKDOWN)
    chunks = Semantic(40, unit="words", embedder=embedder, distance=0.2).split(blocks)
    assert seen == [
        "Warm the pot.",
        "Pour the tea.",
        "| kettle | tea |\n|---|---|\n| rain | cloud |",
        "A cloud comes.",
        "The storm is near.",
    ]
    assert chunks.texts == [
        "# Tea\n\nWarm the pot. Pour the tea.",
        "| kettle | tea |\n|---|---|\n| rain | cloud |",
        "## Rain\n\nA cloud comes. The storm is near.",
    ]
    assert chunks.kind.tolist() == ["prose", "table", "prose"]
    assert chunks.heading_paths == [("Tea",), ("Tea",), ("Tea", "Rain")]
    # Headings alone are shown; one too large for its sentence is cut from it.
    seen.clear()
    Semantic(40, unit="words", embedder=embedder).split(cantle.blocks("# Tea\n\n## Rain\n"))
    assert seen == ["# Tea\n\n## Rain"]
    small = Semantic(3, unit="words", embedder=KEYWORD, distance=2).split(blocks)
    assert small.texts[:2] == ["# Tea", "Warm the pot."]


def test_many_documents_are_embedded_together():
    calls, told = [], []

    def embedder(texts):
        calls.append(len(texts))
        return KEYWORD(texts)

    texts = ["Tea. Rain.", "", "Tea.", "Rain. Rain. Tea pot."]
    strategy = Semantic(
        50, unit="words", embedder=embedder, batch_size=4,
        progress=lambda done, of: told.append((done, of)),
    )  # fmt: skip
    together = strategy.split_all(texts)
    assert (calls, told) == ([4, 2], [(4, 6), (6, 6)])
    assert [c.text for text in texts for c in strategy.split(text)] == together.texts
    assert strategy.split("").texts == []
    assert calls[-1] == 3, "nothing to embed, and no call"


def test_pieces_of_chunks_are_embedded_within_them():
    parents = cantle.Recursive(6, unit="words").split_all(
        ["Tea. Rain. Tea pot.\n\nRain.", "Train."]
    )
    strategy = Semantic(50, unit="words", embedder=KEYWORD, distance=0.5)
    children = strategy.split_within(parents)
    assert children.texts == [c.text for text in parents.texts for c in strategy.split(text)]
    assert children.distances.doc.tolist() == [0, 0, 0, 0, 1]


def test_what_is_wrong_with_vectors_is_told_by_sentence_and_document():
    def embedder(texts):
        return [[float("nan") if "bad" in text else 1.0] for text in texts]

    strategy = Semantic(50, unit="words", embedder=embedder, batch_size=2)
    with pytest.raises(cantle.SettingError) as caught:
        strategy.split_all(["Tea. Rain.", "Tea. Rain. A bad one."], ids=["a", "b"])
    assert str(caught.value) == "embedder: NaN in the vector of sentence 2 of document 'b'"


def test_nothing_is_embedded_where_a_text_cannot_be_read():
    def never(texts):
        raise AssertionError(texts)

    strategy = Semantic(50, unit="words", embedder=never)
    with pytest.raises(cantle.TextError, match=r"texts\[1\] is not UTF-8"):
        strategy.split_all(["Tea. Rain.", b"\xff"])
    strategy = Semantic(50, unit="words", embedder=KEYWORD, distance=0.5)
    chunks = strategy.split_all([b"\xff", "Tea. Rain.", "\ud800"], errors="skip")
    assert (chunks.texts, len(chunks.skipped)) == (["Tea.", "Rain."], 2)


def test_threads_change_nothing():
    texts = [" ".join(["Tea pot. Rain. Train."] * n) for n in range(1, 900, 17)]
    strategy = Semantic(30, unit="words", embedder=samples.letters, mode="centroid")
    one = strategy.split_all(texts, threads=1)
    for threads in (2, 3):
        many = strategy.split_all(texts, threads=threads)
        assert many == one
        assert np.array_equal(many.distances.distance, one.distances.distance, equal_nan=True)


class Account:
    """A unit that keeps account of its calls and of what it saw."""

    def __init__(self):
        self.calls = self.characters = 0

    def __call__(self, text):
        self.calls += 1
        self.characters += len(text)
        return len(text)


@pytest.mark.parametrize(
    "settings",
    [{}, {"percentile": 0}, {"distance": 0}, {"distance": 0, "min_size": 90}, {"automatic": True}],
    ids=str,
)
@pytest.mark.parametrize("mode", ["previous", "centroid"])
@pytest.mark.parametrize("size", [100, 100_000])
def test_twice_the_text_is_twice_the_work(settings, mode, size):
    accounts = []
    for n in (300, 600):
        account = Account()
        strategy = Semantic(size, unit=account, embedder=samples.letters, mode=mode, **settings)
        strategy.split("A tea. Wax. Of oxen. I. " * n)
        accounts.append(account)
    small, large = accounts
    assert large.calls <= 2.2 * small.calls + 50
    assert large.characters <= 2.2 * small.characters + 20_000


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"embedder": 3}, "embedder (3) must be a name or a callable"),
        (
            {"embedder": "x"},
            "embedder ('x') must be one of 'static', 'minilm', 'keyword:TOPIC|TOPIC', a folder of "
            "a model, 'openai:MODEL', 'openai:MODEL@URL', 'late:' before a model, or a callable",
        ),
        ({"percentile": 101}, "percentile (101) must be from 0 to 100"),
        ({"percentile": -0.1}, "percentile (-0.1) must be from 0 to 100"),
        ({"percentile": float("nan")}, "percentile (nan) must be from 0 to 100"),
        ({"percentile": "85"}, "percentile ('85') must be a number"),
        ({"distance": 2.5}, "distance (2.5) must be from 0 to 2"),
        ({"deviations": -1}, "deviations (-1) must be at least 0"),
        ({"automatic": 1}, "automatic (1) must be True or False"),
        (
            {"percentile": 85, "automatic": True},
            "percentile and automatic are given: at most one says what the threshold is",
        ),
        ({"mode": "next"}, "mode ('next') must be 'previous' or 'centroid'"),
        ({"buffer": -1}, "buffer (-1) must be at least 0"),
        ({"buffer": 1.0}, "buffer (1.0) must be a whole number"),
        ({"target": 0}, "target (0) must be at least 1"),
        ({"target": 21}, "target (21) must not be larger than size (20)"),
        ({"min_size": 21}, "min_size (21) must not be larger than size (20)"),
        ({"min_size": -1}, "min_size (-1) must be at least 0"),
        ({"batch_size": 0}, "batch_size (0) must be at least 1"),
        ({"progress": 3}, "progress (3) must be callable or None"),
    ],
)  # fmt: skip
def test_settings_are_checked(settings, message):
    with pytest.raises((TypeError, cantle.SettingError)) as caught:
        Semantic(20, **({"embedder": KEYWORD} | settings))
    assert str(caught.value) == message


def test_settings_in_text():
    text = "semantic:20:0:words,embedder='keyword:tea pot|rain',distance=0.5,mode=centroid"
    assert cantle.strategy_from_text(text) == Semantic(
        20, 0, "words", embedder=Keyword(("tea pot", "rain")), distance=0.5, mode="centroid"
    )
    with pytest.raises(cantle.SettingError, match="percentile \\('x'\\) must be a number"):
        cantle.strategy_from_text("semantic,percentile=x")


def test_fingerprints_know_the_embedder_and_not_the_batches():
    def made(**settings):
        return Semantic(**({"embedder": KEYWORD} | settings)).fingerprint

    assert made() == made(batch_size=3, progress=print, name="other")
    assert made() != made(embedder=Keyword(("tea",))) != made(embedder=samples.letters)
    assert made(embedder=samples.letters) == made(embedder=samples.letters)
    assert made() != made(percentile=80)


def test_an_indent_and_blank_lines_stay_in_the_chunk():
    text = "Tea.\n\n\n  Tea pot.\n\nRain."
    chunks = Semantic(50, unit="words", embedder=KEYWORD, distance=0.5).split(text)
    assert chunks.texts == ["Tea.\n\n\n  Tea pot.", "Rain."]
    whole = Semantic(50, unit="words", embedder=KEYWORD, distance=0.5, trim=False).split(text)
    assert "".join(whole.texts) == text
    assert oracle.is_blank(text[chunks[0].char_end : chunks[1].char_start])
