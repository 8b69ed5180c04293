"""A store of an embedder that reads documents holds what it says of their chunks, after each write.

That is `Late`, or whatever has `embed_chunks`.
"""

import numpy as np
import pytest

import cantle
from cantle.embed import Late
from stores import TEXT, WIDTH, Hashing, opened, rows_of, vector_of, words


class Tokens:
    """A token for each word, whose vector is made of the word and of all of the document."""

    fingerprint = "tokens"

    def __init__(self):
        self.documents = []
        self.texts = []

    def __call__(self, texts):
        self.texts += texts
        return np.stack([vector_of(text) for text in texts])

    def token_vectors(self, text, *, window=None, overlap=None):
        self.documents.append(text)
        tokens = cantle.Window(1, unit="words").split(text)
        vectors = [vector_of(word) + vector_of(text) for word in tokens.texts]
        spans = np.stack([tokens.char_start, tokens.char_end], 1)
        yield np.array(vectors, np.float32).reshape(-1, WIDTH), spans


@pytest.fixture
def tokens():
    return Tokens()


@pytest.fixture
def store(tokens):
    return opened(embedder=Late(tokens))


def assert_right(store):
    """Check every vector against what `Late` says of the chunk in its document."""
    assert store.check() == []
    snapshot = store.snapshot()
    assert snapshot.embedded.all()
    found = snapshot.vectors()
    for row, vector in enumerate(found):
        span = int(snapshot.char_start[row]), int(snapshot.char_end[row])
        if span[0] < 0:
            wanted = vector_of(snapshot.texts([row])[0])
        else:
            text = snapshot.text_of(int(snapshot.source[row]))
            chunks = cantle.Chunks.from_spans([text], [[span]])
            wanted = Late(Tokens()).embed_chunks(chunks)[0]
        np.testing.assert_allclose(vector, wanted, atol=1e-6)


def test_what_late_says_is_what_is_stored(store, tokens):
    texts = ["Größe eins zwei drei vier.", TEXT, f"{TEXT} {TEXT}", ""]
    chunks = words().split_all(texts, ids=list("abcd"))
    loaded = store.load(chunks, min_chars=0, embed=True)
    assert loaded.embedded == len(chunks)
    assert tokens.documents == texts[:3]
    assert tokens.texts == []
    np.testing.assert_array_equal(store.snapshot().vectors(), Late(Tokens()).embed_chunks(chunks))
    assert_right(store)
    # The same text in another document, or elsewhere in one, has another vector.
    same = [row for row, (_, text) in enumerate(rows_of(store)) if text == "one two three four"]
    assert len(np.unique(store.snapshot().vectors()[same], axis=0)) == len(same) == 2


@pytest.mark.parametrize("batch_size", [1, 256])
def test_backfill_says_the_same(store, tokens, batch_size):
    texts = [TEXT, f"{TEXT} {TEXT}", "p q r s t"]
    for size in (4, 3):
        chunks = words(size, name=f"w{size}").split_all(texts, ids=list("abc"))
        store.load(chunks, min_chars=0)
    store.add("a", "w4", "an added text")
    said = []
    count = store.backfill(batch_size=batch_size, progress=lambda *told: said.append(told))
    assert count == len(store.snapshot()) == said[-1][0]
    assert [done for done, _ in said] == sorted(done for done, _ in said)
    assert tokens.texts == ["an added text"] * 2
    assert_right(store)
    assert store.backfill() == 0


def test_questions_and_what_is_added_are_embedded_by_the_model_itself(store, tokens):
    store.load(words().split(TEXT, id="a"), min_chars=0, embed=True)
    assert store.add("a", "window", "an added text") == "a_window_3"
    assert store.search("an added text", k=1).ids == ["a_window_3"]
    assert tokens.texts == ["an added text"] * 2
    assert_right(store)


def test_what_has_not_changed_is_not_embedded_again(store, tokens):
    given = {"a": TEXT, "b": f"{TEXT} {TEXT}", "c": "p q r s t u"}

    def run(given, **settings):
        return store.sync(
            list(given.values()), ids=list(given), strategy=words(), min_chars=0, **settings
        )

    assert run(given).embedded == 3 + 5 + 2
    store.add("b", "window", "an added text")
    asked = len(tokens.documents)
    assert run(given).documents["unchanged"] == 3
    # A document that was renamed, or got another title, is the same document.
    given["d"] = given.pop("c")
    done = run(given)
    assert (done.embedded, done.chunks["moved"]) == (0, 2)
    store.sync([TEXT], ids=["a"], metadata=[{"title": "T"}], strategy=words(), min_chars=0,
               prune=False)  # fmt: skip
    assert len(tokens.documents) == asked
    # The first four words of it are where they were, and their vector is another.
    given["b"] = f"{TEXT} {TEXT} eleven"
    planned = run(given, dry_run=True)
    done = run(given)
    assert planned._replace(dry_run=False) == done
    # The document "a" lost its title.
    assert done.documents == {"unchanged": 1, "changed": 2, "new": 0, "gone": 0}
    assert done.chunks == {"unchanged": 3 + 2 + 1, "moved": 0, "new": 6, "gone": 5}
    assert done.embedded == 6
    assert tokens.documents[asked:] == [given["b"]]
    assert_right(store)
    store.load(words().split(f"{TEXT} zero", id="a"), min_chars=0, embed=True)
    store.load(words(3, name="w3").split(f"{TEXT} zero", id="a"), min_chars=0, embed=True)
    assert_right(store)


def test_the_embedder_is_changed_between_kinds(store, tokens):
    store.load(words().split_all([TEXT, TEXT], ids=list("ab")), min_chars=0, embed=True)
    store.add("a", "window", "an added text")
    before = store.snapshot().vectors()
    store.change_embedder(Hashing())
    assert store.check() == []
    assert store.backfill() == 7
    wanted = [vector_of(text) for _, text in rows_of(store)]
    np.testing.assert_array_equal(store.snapshot().vectors(), wanted)
    assert store.check() == []
    store.change_embedder(Late(tokens))
    assert store.check() == []
    assert store.backfill() == 7
    np.testing.assert_array_equal(store.snapshot().vectors(), before)
    assert_right(store)


def test_it_is_remembered_which_kind_an_embedder_is(tmp_path, tokens):
    class Plain(Tokens):
        fingerprint = Late(tokens).fingerprint

        def __repr__(self):
            return "Plain()"

    with opened(tmp_path / "kb", embedder=Late(tokens)) as store:
        store.load(words().split(TEXT, id="a"), min_chars=0, embed=True)
        other = opened(tmp_path / "other", embedder=Plain())
        racing = opened(tmp_path / "other", embedder=Late(tokens))
        other.load(words().split(TEXT, id="a"), min_chars=0)
    message = (
        "embedder (Plain()): it makes vectors of texts, and the store's are of whole documents; "
        "open it without embedder=, then change_embedder makes them anew"
    )
    with pytest.raises(cantle.SettingError) as caught:
        opened(tmp_path / "kb", embedder=Plain())
    assert str(caught.value) == message
    with pytest.raises(cantle.SettingError, match="makes vectors of whole documents, and the"):
        racing.load(words().split(TEXT, id="b"), min_chars=0)
    with cantle.Store.open(tmp_path / "kb") as store:
        store.load(words().split(f"{TEXT} {TEXT}", id="b"), min_chars=0)
        assert store.check() == []
    with opened(tmp_path / "kb", embedder=Late(tokens)) as store:
        assert store.backfill() == 5
        assert_right(store)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda n: np.full((n, WIDTH), np.nan), "embedder: NaN in the vector of chunk 'a_w_0'"),
        (lambda n: np.ones((n + 1, WIDTH)), "embedder: 4 vectors for 3 texts"),
        (
            lambda n: np.ones(n),
            "embedder: an array of shape (3,) for 3 texts; [texts, d] is expected",
        ),
        (
            lambda n: np.ones((n, 7 + n % 2)),
            "embedder: vectors of 7 numbers for chunk 'b_w_0', of 8 for others",
        ),
    ],
)
@pytest.mark.parametrize("backfill", [False, True])
def test_what_is_no_answer_is_refused(answer, message, backfill):
    class Broken(Tokens):
        def embed_chunks(self, chunks):
            return answer(len(chunks))

    store = opened(embedder=Broken())
    chunks = words(name="w").split_all([TEXT, "p q r s t u"], ids=list("ab"))
    if backfill:
        store.load(chunks, min_chars=0)
    with pytest.raises(cantle.SettingError) as caught:
        store.backfill() if backfill else store.load(chunks, min_chars=0, embed=True)
    assert str(caught.value) == message
    assert store.info()["embedded"] == 0
    assert store.check() == []


@pytest.mark.parametrize("how", ["load", "backfill", "sync"])
def test_every_answer_may_be_in_the_same_memory(how):
    # The chunks of one document got the vectors of the next.
    held = np.zeros((9, WIDTH), np.float32)

    class OneBuffer(Tokens):
        def embed_chunks(self, chunks):
            held[: len(chunks)] = Late(Tokens()).embed_chunks(chunks)
            return held[: len(chunks)]

    store = opened(embedder=OneBuffer())
    texts, ids = [TEXT, "p q r s t u", TEXT.upper()], list("abc")
    if how == "sync":
        store.sync(texts, ids=ids, strategy=words(), min_chars=0)
    else:
        store.load(words().split_all(texts, ids=ids), min_chars=0, embed=how == "load")
    store.backfill()
    assert_right(store)


def test_an_embedder_sees_the_chunks_that_are_to_be_embedded():
    seen = []

    class Whole(Tokens):
        def embed_chunks(self, chunks):
            seen.append((chunks.ids, chunks.texts, [chunks.documents.text(0)]))
            return np.ones((len(chunks), WIDTH))

    store = opened(embedder=Whole())
    chunks = words(name="w").split_all([f"ü {TEXT}", "p q"], ids=list("ab"))
    store.load(chunks, min_chars=0, embed=True)
    assert seen == [
        (chunks[:3].ids, chunks[:3].texts, [f"ü {TEXT}"]),
        (chunks[3:].ids, chunks[3:].texts, ["p q"]),
    ]
