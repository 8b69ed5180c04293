"""The strategies that embed sentences, with embedders, vectors and texts that mean no good."""

from __future__ import annotations

import numpy as np
import pytest

import cantle
import samples
from cantle.embed import Keyword

TOPICS = ("tea pot kettle", "rain cloud storm", "train rail station")
KEYWORD = Keyword(TOPICS)
STRATEGIES = ["semantic", "optimal", "documentbased"]
TEXT = (
    "Tea in a pot. A kettle. Rain falls from a cloud. A storm. The train. Rail and station. "
    "Tea and rain. Nothing at all. Pot. "
) * 4


def built(name, size=12, **settings):
    return samples.built(name, size, **({"unit": "words", "embedder": KEYWORD} | settings))


_held = np.zeros((999, 3))


def one_buffer(texts):
    """Every answer is a view of the same memory."""
    view = _held[: len(texts)]
    view[:] = KEYWORD(texts)
    return view


def emptied(texts):
    rows = KEYWORD(texts)
    texts.clear()
    return rows


def read_only(texts):
    rows = KEYWORD(texts)
    rows.setflags(write=False)
    return rows


FORMS = {
    "float64": lambda texts: KEYWORD(texts).astype(np.float64),
    "big-endian": lambda texts: KEYWORD(texts).astype(">f8"),
    "list": lambda texts: KEYWORD(texts).tolist(),
    "tuples": lambda texts: tuple(map(tuple, KEYWORD(texts).tolist())),
    "list of arrays": lambda texts: list(KEYWORD(texts)),
    "by columns": lambda texts: np.asfortranarray(KEYWORD(texts)),
    "every other": lambda texts: np.repeat(KEYWORD(texts), 2, axis=1)[:, ::2],
    "backwards": lambda texts: KEYWORD(texts[::-1])[::-1],
    "matrix": lambda texts: np.ma.masked_array(KEYWORD(texts)),
    "one buffer": one_buffer,
    "emptied list": emptied,
    "read only": read_only,
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", STRATEGIES)
def test_vectors_of_any_form_cut_alike(name, form):
    """An embedder that emptied its list was once told that it got no text."""
    want = built(name).split(TEXT)
    found = built(name, embedder=FORMS[form], batch_size=7).split(TEXT)
    assert found.texts == want.texts
    assert np.array_equal(found.distances.distance, want.distances.distance, equal_nan=True)
    assert len(want) > 4


@pytest.mark.parametrize("scale", [3e38, 1e30, 1e-30, 1e-37, 2.0**-126])
@pytest.mark.parametrize("settings", [{}, {"mode": "centroid"}, {"distance": 0.4}], ids=str)
def test_the_length_of_vectors_does_not_count(scale, settings):
    """Their squares overflow, or vanish, in 32 bits."""
    scaled = lambda texts: KEYWORD(texts).astype(np.float64) * scale  # noqa: E731
    want, found = (
        built("semantic", embedder=embedder, **settings).split(TEXT)
        for embedder in (KEYWORD, scaled)
    )
    assert found.texts == want.texts
    assert np.allclose(found.distances.distance, want.distances.distance, atol=1e-6, equal_nan=True)
    assert built("optimal", embedder=scaled).split(TEXT).texts == built("optimal").split(TEXT).texts


@pytest.mark.parametrize("name", STRATEGIES)
def test_subnormal_zero_and_wide_vectors(name):
    rng = np.random.default_rng(5)

    def embedder(texts):
        rows = rng.standard_normal((len(texts), 3_000)).astype(np.float32)
        rows[::3] = 0
        rows[1::3] *= np.float32(1e-45)
        return rows

    chunks = built(name, embedder=embedder).split(TEXT)
    assert chunks.size.max() <= 12
    *between, last = chunks.distances.distance
    assert all(0 <= distance <= 2 for distance in between)
    assert np.isnan(last)


class Own(BaseException):
    """What no handler of exceptions catches."""


@pytest.mark.parametrize("error", [KeyboardInterrupt, Own, MemoryError, cantle.TextError, OSError])
@pytest.mark.parametrize("name", STRATEGIES)
@pytest.mark.parametrize("errors", ["raise", "skip"])
def test_what_an_embedder_raises_comes_out_of_a_strategy(name, error, errors):
    raises = [False]

    def embedder(texts):
        if raises[0]:
            raise error("mine")
        return KEYWORD(texts)

    strategy = built(name, embedder=embedder)
    want = strategy.split_all([TEXT, TEXT])
    raises[0] = True
    with pytest.raises(error) as caught:
        strategy.split_all([TEXT, TEXT], errors=errors)
    assert caught.value.args == ("mine",)
    raises[0] = False
    assert strategy.split_all([TEXT, TEXT]) == want


@pytest.mark.parametrize("name", STRATEGIES)
def test_limits_at_their_edges(name):
    for settings in ({"min_size": 12}, {"size": 1}, {"size": 1, "overlap": 0, "min_size": 1}):
        chunks = built(name, **settings).split(TEXT)
        assert chunks.size.max() <= settings.get("size", 12)
    with pytest.raises(cantle.TextError, match="lone surrogate"):
        built(name).split("Tea. \ud800 Rain.")
    # As a share of it, this size was no float, and the message another.
    with pytest.raises(cantle.SettingError, match=r"must be smaller than 2\*\*63"):
        built(name, 10**400)
    with pytest.raises(cantle.SettingError, match=r"size \(0\) must be at least 1"):
        built(name, 0)
    chunks = built(name, 2**62).split(TEXT)
    assert chunks.texts == [TEXT.strip()]


@pytest.mark.parametrize("percentile", [0, 100])
def test_equal_distances_are_never_above_their_percentile(percentile):
    text = "Tea. Rain. " * 20
    chunks = built("semantic", 200, percentile=percentile, min_size=0).split(text)
    assert (chunks.distances.distance[:-1] == 1).all()
    assert len(chunks) == 1


class Account:
    """An embedder and a unit that keep account of what they are asked."""

    def __init__(self):
        self.texts = self.embedded = self.measured = 0

    def embedder(self, texts):
        self.texts += len(texts)
        self.embedded += sum(map(len, texts))
        return samples.letters(texts)

    def unit(self, text):
        self.measured += len(text)
        return len(text)


@pytest.mark.parametrize(
    "settings", [{}, {"prefix": "path"}, {"min_size": 40}, {"overlap": 20}, {"buffer": 2}], ids=str
)
@pytest.mark.parametrize("name", STRATEGIES)
def test_twice_the_text_is_twice_the_work(name, settings):
    accounts = []
    for n in (200, 400):
        account = Account()
        strategy = built(name, 100, unit=account.unit, embedder=account.embedder, **settings)
        strategy.split("A tea. Wax. Of oxen. I. " * n, metadata={"title": "A title"})
        accounts.append(account)
    small, large = accounts
    assert large.texts <= 2.1 * small.texts
    assert large.embedded <= 2.1 * small.embedded
    assert large.measured <= 2.2 * small.measured + 20_000


def test_a_label_has_room():
    text = "# Tea and rain\n\n" + "Kettles warm tea in a pot. Clouds bring rain and storm. " * 6
    chunks = built("documentbased", 24, prefix="path", distance=0.5).split(text)
    assert len(set(chunks.heading_paths)) > 1
    assert not (chunks.flags & cantle.SHORTENED).any()
    assert all(chunk.embed_text.startswith("Tea and rain - ") for chunk in chunks)
    long = built(
        "documentbased", 24, prefix="path", distance=0.5,
        label=lambda _, parts: ["so many words that no room is left " * 2] * len(parts),
    ).split(text)  # fmt: skip
    assert (long.flags & cantle.SHORTENED).all()
    assert long.embed_texts == long.texts == chunks.texts


def test_a_chunk_holds_so_many_sentences_before_it_ends_at_a_distance():
    text = "Tea. Rain. Train. Pot. Cloud. Rail. Kettle."
    for fewest, sizes in ((1, [1] * 7), (2, [2, 2, 2, 1]), (3, [3, 3, 1]), (9, [7])):
        for mode in ("previous", "centroid"):
            chunks = built("semantic", distance=0.3, min_sentences=fewest, mode=mode).split(text)
            assert chunks.size.tolist() == sizes
    # The size is hard all the same.
    assert built("semantic", 2, distance=0.5, min_sentences=3).split(text).size.max() == 2
    with pytest.raises(cantle.SettingError, match=r"min_sentences \(0\) must be at least 1"):
        built("semantic", min_sentences=0)
    with pytest.raises(TypeError, match=r"min_sentences \('2'\) must be a whole number"):
        built("documentbased", min_sentences="2")


def test_an_estimate_takes_what_split_all_takes():
    """A text alone was once taken for a list of letters."""
    strategy = built("semantic", batch_size=2)
    assert strategy.estimate(["Tea. Rain.", b"Train.", b"\xff"]) == (3, 15, 3, 2)
    assert strategy.estimate([]) == (0, 0, 0, 0)
    assert strategy.estimate([cantle.blocks("# Tea\n\nRain.")]) == (1, 5, 1, 1)
    with pytest.raises(TypeError, match="texts must be a sequence of texts, not str"):
        strategy.estimate("Tea. Rain.")
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"body": ["Tea. Rain.", None], "key": ["a", "b"]})
    assert strategy.estimate(table, text="body", id="key") == (2, 9, 2, 1)
    assert strategy.estimate(table["body"]) == (2, 9, 2, 1)


def test_a_routed_document_costs_what_is_embedded():
    text = "Tea. Rain. Train. " * 30
    for settings in ({"embedder": KEYWORD}, {"embedder": KEYWORD, "percentile": 50}):
        found = cantle.route(text, kind="transcript", size=20, unit="words", **settings)
        assert found.strategy.strategy == "semantic"
        assert found.cost.embeddings == found.cost.chunks + 90
    without = cantle.route(text, kind="transcript", size=20, unit="words")
    assert without.strategy.strategy == "recursive"
    assert without.cost.embeddings == without.cost.chunks


@pytest.mark.parametrize("spelled", ["documentbased", "DocumentBased", "document_based"])
def test_a_strategy_is_named_however_it_is_spelled(spelled):
    strategy = cantle.strategy_from_text(spelled, embedder=KEYWORD)
    assert strategy == cantle.DocumentBased(embedder=KEYWORD)
    assert strategy.split("Tea.").ids == ["doc0_documentbased_0"]


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("html", "<h1>Tea</h1><p>Pot. Rain. Train. Kettle. Cloud. Rail.</p>"),
        ("rst", "Tea\n===\n\nPot. Rain. Train. Kettle. Cloud. Rail.\n"),
    ],
)
def test_other_forms_have_prefixes_too(form, text):
    chunks = built("documentbased", 9, prefix="path", format=form, distance=0.5).split(text)
    assert [len(one.split()) <= 9 for one in chunks.embed_texts] == [True] * len(chunks)
    assert len(chunks) > 1
