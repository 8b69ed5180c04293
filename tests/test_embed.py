"""Embedders: the lesson's keyword embedder, and the door that checks what any of them returns."""

import json
import pickle
from pathlib import Path

import numpy as np
import pytest

import cantle
from cantle.embed import Cached, Keyword, Static, embed_all
from cantle.embed.door import identity
from cantle.embed.tables import read_table
from cases import builders

REFERENCE = json.loads(
    (Path(__file__).parent / "lesson" / "embed_reference.json").read_text("utf-8")
)


@pytest.mark.parametrize("topics", ["3", "4"])
def test_keyword_vectors_equal_the_lesson_on_every_text(topics):
    rows = REFERENCE["texts"]
    assert len(rows) == 377
    found = Keyword(REFERENCE[f"topics{topics}"])([row["text"] for row in rows])
    expected = np.array([row[f"embed{topics}"] for row in rows], np.float64).astype(np.float32)
    assert found.dtype == np.float32
    wrong = np.flatnonzero((found != expected).any(axis=1))
    assert [rows[i]["text"] for i in wrong] == []


def test_topics_may_be_anything_in_any_script():
    embedder = Keyword(("\u0442\u043e\u043a\u0435\u043d", "caf\u00e9 cafes", "42 !"))
    found = embedder(["tokens", "Cafe, CAF\u00c9!", "42!", ""])
    half = [0, 2 / 5**0.5, 1 / 5**0.5]
    assert np.array_equal(found, np.array([[1, 0, 0], half, [0, 0, 1], [0, 0, 0]], np.float32))
    assert pickle.loads(pickle.dumps(embedder)) == embedder
    assert identity(embedder) == identity(pickle.loads(pickle.dumps(embedder)))
    assert identity(embedder) != identity(Keyword(("token",)))


@pytest.mark.parametrize(
    ("topics", "message"),
    [
        ("tea", "topics ('tea') must be a list of strings"),
        ([], "topics (()) must hold at least one"),
        (["tea", " "], "topics[1] (' ') has no word"),
        (["tea", 3], "topics[1] (3) must be str"),
    ],
)
def test_topics_are_checked(topics, message):
    with pytest.raises((TypeError, cantle.SettingError)) as caught:
        Keyword(topics)
    assert str(caught.value) == message


def test_a_text_that_is_none_is_refused():
    with pytest.raises(TypeError, match=r"texts\[1\] must be str or UTF-8 bytes, not NoneType"):
        Keyword(["tea"])(["tea", None])


def test_texts_go_in_by_batches_and_the_last_may_be_short():
    sizes, told = [], []

    def embedder(texts):
        sizes.append(len(texts))
        return [[float(text), 1.0] for text in texts]

    texts = [str(i) for i in range(7)]
    found = embed_all(
        embedder, texts, batch_size=3, progress=lambda done, of: told.append((done, of))
    )
    assert (found.dtype, found[:, 0].tolist()) == (np.float32, [0, 1, 2, 3, 4, 5, 6])
    assert (sizes, told) == ([3, 3, 1], [(3, 7), (6, 7), (7, 7)])
    assert embed_all(embedder, []).shape == (0, 0)
    assert len(sizes) == 3, "an embedder is not called for nothing"


def numbers(*rows):
    return lambda texts: np.array(rows)


@pytest.mark.parametrize(
    ("embedder", "message"),
    [
        (3, "embedder (3) must be callable"),
        (numbers([1.0, 2.0]), "embedder: 1 vectors for 2 texts"),
        (numbers(1.0, 2.0), "embedder: an array of shape (2,) for 2 texts; [texts, d] is expected"),
        (numbers([], []), "embedder: vectors of 0 numbers"),
        (numbers("a", "b"), "embedder: <U1 where vectors of numbers are expected"),
        (lambda texts: [[1.0], [1.0, 2.0]], "embedder: vectors of different lengths in one answer"),
        (lambda texts: None, "embedder: object where vectors of numbers are expected"),
        (numbers([1.0], [np.nan]), "embedder: NaN in the vector of texts[1]"),
        (numbers([-np.inf], [1.0]), "embedder: an infinity in the vector of texts[0]"),
        # Too large for float32.
        (numbers([1.0], [1e300]), "embedder: an infinity in the vector of texts[1]"),
    ],
)
def test_what_an_embedder_returns_is_checked(embedder, message):
    with pytest.raises((TypeError, cantle.SettingError)) as caught:
        embed_all(embedder, ["a", "b"])
    assert str(caught.value) == message


def test_rows_are_counted_over_all_batches():
    def embedder(texts):
        return [[float("nan") if text == "5" else 1.0] for text in texts]

    with pytest.raises(cantle.SettingError, match=r"NaN in the vector of texts\[5\]"):
        embed_all(embedder, [str(i) for i in range(8)], batch_size=2)
    lengths = iter([2, 3])
    with pytest.raises(
        cantle.SettingError,
        match=r"vectors of 3 numbers for texts\[1\] and what follows, of 2 before",
    ):
        embed_all(lambda texts: [[0.0] * next(lengths)], ["a", "b"], batch_size=1)


@pytest.mark.parametrize("batch_size", [0, -1, 1.5, True, None])
def test_batch_size_is_checked(batch_size):
    with pytest.raises((TypeError, ValueError), match="batch_size"):
        embed_all(Keyword(["tea"]), ["tea"], batch_size=batch_size)


ROWS = np.arange(30, dtype=np.float32).reshape(6, 5) % 7 + 1
FORMS = {
    "as it is": lambda rows: rows,
    "read only": lambda rows: np.frombuffer(rows.tobytes(), np.float32).reshape(rows.shape),
    "by columns": np.asfortranarray,
    "in strides": lambda rows: np.repeat(rows, 2, axis=1)[:, ::2],
    "big-endian": lambda rows: rows.astype(">f4"),
    "half": lambda rows: rows.astype(np.float16),
    "whole numbers": lambda rows: rows.astype(np.int64),
    "unaligned": lambda rows: (
        np.frombuffer(b"x" + rows.tobytes(), np.uint8)[1:].view(np.float32).reshape(rows.shape)
    ),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("batch_size", [4, 6])
@pytest.mark.parametrize("copy", [True, False])
def test_every_form_of_an_answer_gives_the_same_matrix(form, batch_size, copy):
    made = form(ROWS)

    def embedder(texts):
        start = int(texts[0])
        return made[start : start + len(texts)]

    found = embed_all(embedder, list("012345"), batch_size=batch_size, copy=copy)
    assert (found.dtype, found.flags.c_contiguous, found.flags.aligned) == (np.float32, True, True)
    np.testing.assert_array_equal(found, ROWS)
    np.testing.assert_array_equal(made, form(ROWS))


def test_a_matrix_is_the_callers_own_unless_it_may_be_lent():
    lent = ROWS.copy()
    for copy, batch_size, shared in [(True, 6, False), (False, 6, True), (False, 3, False)]:
        found = embed_all(
            lambda texts: lent[: len(texts)], ["a"] * 6, batch_size=batch_size, copy=copy
        )
        assert np.shares_memory(found, lent) == shared


@pytest.mark.parametrize("strategy", [cantle.Semantic, cantle.Optimal])
@pytest.mark.parametrize("reentrant", ["progress", "unit"])
def test_who_is_called_while_texts_are_cut_may_ask_the_embedder(strategy, reentrant):
    text = "".join(f"This is sentence {i} of them. " for i in range(40))
    rows = np.random.default_rng(4).standard_normal((40, 8)).astype(np.float32)
    memory = rows.copy()

    def embedder(texts):
        memory[: len(texts)] = rows if len(texts) == 40 else 1
        return memory[: len(texts)]

    def again(*_):
        embedder(["x"] * 39)

    def length(part):
        again()
        return len(part)

    plain = strategy(120, unit="chars", embedder=lambda texts: rows, batch_size=40).split(text)
    unit = length if reentrant == "unit" else "chars"
    progress = again if reentrant == "progress" else None
    cut = strategy(120, unit=unit, embedder=embedder, batch_size=40, progress=progress)
    assert cut.split(text).byte_start.tolist() == plain.byte_start.tolist()


def test_what_an_embedder_raises_comes_out_unchanged():
    def embedder(texts):
        raise ConnectionError("gone")

    with pytest.raises(ConnectionError, match=r"^gone$"):
        embed_all(embedder, ["a"])


def safetensors(name, dtype, rows):
    """Write a table as safetensors does, by hand."""
    data = np.array(rows, dtype)
    kind = {"<f2": "F16", "<f4": "F32"}[data.dtype.str]
    entry = {"dtype": kind, "shape": data.shape, "data_offsets": [0, data.nbytes]}
    head = json.dumps({"__metadata__": {"a": "b"}, name: entry}).encode()
    return len(head).to_bytes(8, "little") + head + data.tobytes()


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package with the files of `wordllama`, of which no code may run."""
    folder = tmp_path / "wordllama"
    for name in ("weights", "tokenizers"):
        (folder / name).mkdir(parents=True)
    (folder / "__init__.py").write_text("raise AssertionError('this was imported')")
    tokenizer = builders.byte_level()
    file = folder / "tokenizers" / "l2_supercat_tokenizer_config.json"
    file.write_text(tokenizer.to_str(), "utf-8")
    rng = np.random.default_rng(3)
    table = rng.standard_normal((tokenizer.get_vocab_size(), 5)).astype(np.float16)
    weights = safetensors("embedding.weight", np.float16, table)
    (folder / "weights" / "l2_supercat_256.safetensors").write_bytes(weights)
    monkeypatch.syspath_prepend(tmp_path)
    return table.astype(np.float32), tokenizer


def test_static_vectors_are_the_mean_of_those_of_the_tokens(package):
    table, tokenizer = package
    texts = ["", "Warm the pot.", "caf\u00e9", "", "x" * 99, " "]
    found = Static()(texts)
    assert found.dtype == np.float32
    for text, vector in zip(texts, found, strict=True):
        ids = tokenizer.encode(text, add_special_tokens=False).ids
        mean = table[ids].mean(axis=0) if ids else np.zeros(5)
        want = mean / (np.linalg.norm(mean) or 1)
        assert np.allclose(vector, want, atol=1e-6), text
    assert Static()([""]).shape == (1, 5)
    assert Static()([]).shape == (0, 5)


def test_static_says_which_extra_it_needs(monkeypatch):
    monkeypatch.setattr("cantle.embed.static.find_spec", lambda name: None)
    strategy = cantle.Semantic()
    with pytest.raises(ImportError, match=r"install cantle\[embed\]. Without a network:"):
        strategy.split("One. Two.")


@pytest.mark.parametrize(
    "data",
    [b"", b"\xff" * 20, b"\2\0\0\0\0\0\0\0{}", safetensors("other", np.float32, [[1.0]]),
     safetensors("a", np.float32, [[1.0, 2.0]])[:-1], safetensors("a", np.float32, [1.0])],
)  # fmt: skip
def test_a_broken_table_is_told(tmp_path, data):
    file = tmp_path / "table"
    file.write_bytes(data)
    with pytest.raises(cantle.SettingError, match="no table 'a' can be read"):
        read_table(file, "a")


def counting(texts_seen):
    def embedder(texts):
        texts_seen.append(list(texts))
        return [[len(text), 1.0] for text in texts]

    return embedder


def test_a_cache_embeds_nothing_twice(tmp_path):
    seen = []
    cached = Cached(counting(seen), tmp_path / "v.sqlite", model="lengths", batch_size=2)
    texts = ["a", "bb", "a", "", "ccc"]
    want = [[1, 1], [2, 1], [1, 1], [0, 1], [3, 1]]
    assert cached(texts).tolist() == want
    assert seen == [["a", "bb"], ["", "ccc"]]
    again = Cached(counting(seen), str(tmp_path / "v.sqlite"), model="lengths")
    assert again([*texts, "dddd"]).tolist() == [*want, [4, 1]]
    assert seen[2:] == [["dddd"]]
    assert again([]).shape == (0, 0)
    # Another model has vectors of its own.
    assert Cached(KEYWORDS, tmp_path / "v.sqlite")(["tea", "bb"]).tolist() == [[1], [0]]
    assert len(seen) == 3
    many = [f"text {i}" for i in range(1_200)]
    assert again(many).shape == again(many[::-1]).shape == (1_200, 2)
    assert sum(map(len, seen)) == 5 + 1_200


KEYWORDS = Keyword(["tea"])


def test_a_cache_keeps_what_came_before_a_failure(tmp_path):
    calls = []

    def fails(texts):
        calls.append(texts)
        if len(calls) == 2:
            raise ConnectionError("gone")
        return [[1.0]] * len(texts)

    cached = Cached(fails, tmp_path / "v.sqlite", model="m", batch_size=1)
    with pytest.raises(ConnectionError):
        cached(["a", "b"])
    assert cached(["a", "b"]).tolist() == [[1], [1]]
    assert calls == [["a"], ["b"], ["b"]]


def test_a_cache_in_a_strategy_and_its_identity(tmp_path):
    cached = Cached(KEYWORDS, tmp_path / "v.sqlite")
    assert identity(cached) == identity(KEYWORDS)
    plain = cantle.Semantic(20, unit="words", embedder=KEYWORDS)
    kept = cantle.Semantic(20, unit="words", embedder=cached)
    assert kept.split("Tea. Rain.") == plain.split("Tea. Rain.")
    assert pickle.loads(pickle.dumps(cached)) == cached


def test_a_cache_says_what_is_wrong(tmp_path):
    broken = tmp_path / "broken"
    broken.write_bytes(b"no database" * 99)
    with pytest.raises(cantle.SettingError, match="no cache of vectors"):
        Cached(KEYWORDS, broken)(["a"])
    with pytest.raises(OSError, match="nowhere"):
        Cached(KEYWORDS, tmp_path / "nowhere" / "x")(["a"])
    file = tmp_path / "v.sqlite"
    Cached(KEYWORDS, file, model="m")(["a"])
    with pytest.raises(cantle.SettingError, match="vectors of 1 and 2 numbers under the model 'm'"):
        Cached(Keyword(["a", "b"]), file, model="m")(["a", "b"])
    with pytest.raises(cantle.SettingError, match=r"NaN in the vector of texts\[0\]"):
        Cached(lambda texts: [[np.nan]], file, model="n")(["a"])
    for wrong in ({"model": ""}, {"model": 3}):
        with pytest.raises(TypeError, match="model"):
            Cached(KEYWORDS, file, **wrong)


def test_static_equals_the_package_itself():
    pytest.importorskip("wordllama")
    from wordllama import WordLlama

    texts = [
        "Warm the pot, then pour.",
        "caf\u00e9 \u6f22\u5b57 \U0001f600",
        "a  b\n\nc",
        "x" * 500,
    ]
    theirs = WordLlama.load(cache_dir=str(Path(__import__("wordllama").__file__).parent))
    assert np.allclose(Static()(texts), theirs.embed(texts, norm=True), atol=1e-3)
