"""A document with more vectors than SQLite takes in a row works; one that is larger is refused."""

import sqlite3
import sys

import numpy as np
import pytest

import cantle
from cantle.store import pieces
from stores import WIDTH, Hashing, Other, assert_sound, opened, rows_of, vector_of, words

TEXT = " ".join(f"word{i}" for i in range(400))
PIECE = 4_000
LIMIT = 10_000


@pytest.fixture
def small_rows(monkeypatch):
    """Make pieces small, and return what lowers the limit of a store so that no row is larger."""
    if sys.version_info < (3, 11):
        pytest.skip("Python 3.11 can lower SQLite's limits")
    monkeypatch.setattr(pieces, "PIECE", PIECE)
    connect = sqlite3.connect

    def limited(*given, **settings):
        connection = connect(*given, **settings)
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LIMIT)
        return connection

    monkeypatch.setattr(sqlite3, "connect", limited)


def count_of_pieces(store):
    with store._database.read() as connection:
        return connection.execute("SELECT count(*) FROM more").fetchone()[0]


@pytest.mark.usefixtures("small_rows")
@pytest.mark.parametrize("embed", [False, True])
@pytest.mark.parametrize("precision", ["float32", "float16"])
def test_more_vectors_than_fit_in_a_row(tmp_path, embed, precision):
    # All vectors of a document were one value: SQLite refused the document.
    class Wide(Hashing):
        def __call__(self, texts):
            return np.tile(super().__call__(texts), 50)

    embedder = Wide()
    store = opened(tmp_path / "kb", embedder=embedder, precision=precision)
    chunks = words(10).split_all([TEXT, "p q r", TEXT.upper()], ids=list("abc"))
    store.load(chunks, min_chars=0, embed=embed)
    store.backfill()
    width = WIDTH * 50 * (4 if precision == "float32" else 2)
    assert 40 * width > LIMIT
    each = -(-40 * width // PIECE) - 1  # The first stands with the part.
    assert count_of_pieces(store) == 2 * each

    def assert_right(store):
        assert store.check() == []
        snapshot = store.snapshot()
        wanted = [np.tile(vector_of(text), 50) for _, text in rows_of(store)]
        np.testing.assert_array_equal(snapshot.vectors(), wanted)
        last = len(snapshot.part_number) - 1
        own = snapshot.part == last
        np.testing.assert_array_equal(
            snapshot.vectors([last]),
            [vector for vector, here in zip(wanted, own, strict=True) if here],
        )

    assert_right(store)
    assert store.add("a", "window", "an added text") == "a_window_40"
    assert store.search("an added text", k=1).ids == ["a_window_40"]
    assert_right(store)
    # Of a document that is cut anew, and of another, texts that are known are not embedded again.
    asked = len(embedder.texts)
    store.load(words(10).split(f"{TEXT} more", id="a"), min_chars=0, embed=True)
    assert embedder.texts[asked:] == ["more"]
    store.sync([TEXT.upper()], ids=["d"], strategy=words(10), min_chars=0, prune=False)
    assert embedder.texts[asked:] == ["more"]
    assert_right(store)
    store.close()
    with opened(tmp_path / "kb", embedder=embedder) as store:
        assert_right(store)
        # Pieces go with their parts.
        store.load(words(10).split("short", id="a"), min_chars=0, embed=True)
        store.delete("c")
        store.sync([], strategy=words(10))
        assert count_of_pieces(store) == 0
        assert store.check() == []


def test_pieces_go_with_the_embedder_that_they_are_of(monkeypatch):
    monkeypatch.setattr(pieces, "PIECE", 1_000)
    store = opened()
    store.load(words(1).split(TEXT, id="a"), min_chars=0, embed=True)
    assert count_of_pieces(store) == 400 * WIDTH * 4 // 1_000
    store.change_embedder(Other())
    assert count_of_pieces(store) == 0
    assert store.check() == []
    store.backfill()
    assert len(store.search("word7")) == 5


@pytest.mark.parametrize("statement", ["DELETE FROM more", "UPDATE more SET piece = -piece"])
def test_pieces_that_are_not_what_was_written_are_found(tmp_path, monkeypatch, statement):
    monkeypatch.setattr(pieces, "PIECE", 1_000)
    with opened(tmp_path / "kb") as store:
        store.load(words(1).split(TEXT, id="a"), min_chars=0, embed=True)
    connection = sqlite3.connect(tmp_path / "kb")
    connection.execute(statement)
    connection.commit()
    connection.close()
    with opened(tmp_path / "kb") as store:
        assert store.check() == ["window of 'a': it is not what was written"]


@pytest.mark.usefixtures("small_rows")
@pytest.mark.parametrize("embed", [False, True])
@pytest.mark.parametrize("within", [False, True])
def test_what_is_too_large_for_a_row_is_refused_before_it_is_embedded(embed, within):
    embedder = Hashing()
    store = opened(embedder=embedder)
    store.load(words().split("p q r s", id="a"), min_chars=0, embed=True)
    before, asked = rows_of(store), len(embedder.texts)
    most = LIMIT - PIECE - 1_024
    chunks = words(1, name="w").split_all(["t u", "x " * 100], ids=["b", "ü"])
    if within:
        chunks = words(1, name="v").split_within(chunks)
    own = f"{'v' if within else 'w'}"
    with pytest.raises(cantle.SettingError) as caught:
        store.load(chunks, min_chars=0, embed=embed)
    assert str(caught.value) == (
        f"document 'ü' is too large for a store: its 100 chunks of {own!r} without their vectors "
        f"take 9,300 bytes, of at most {most:,}; cut it in several documents"
    )
    with pytest.raises(cantle.SettingError) as caught:
        store.load(words().split("x" * 9_000, id="ü"), embed=embed)
    assert str(caught.value) == (
        "document 'ü' is too large for a store: text and metadata take 9,004 bytes, of at most "
        f"{most:,}; cut it in several documents"
    )
    assert (rows_of(store), len(embedder.texts)) == (before, asked)
    assert_sound(store)


@pytest.mark.usefixtures("small_rows")
def test_parents_that_are_too_large_for_a_row_are_refused():
    parents = words(1, name="w").split("x " * 100, id="a")
    children = words(1, name="v").split_within(parents[:3])
    with pytest.raises(
        cantle.SettingError, match=r"^document 'a' is too large .* 100 chunks of 'w'"
    ):
        opened().load(words(1, name="v").split_within(parents)[:3], min_chars=0)
    store = opened()
    store.load(children, min_chars=0)
    assert len(store.snapshot()) == 6


@pytest.mark.usefixtures("small_rows")
def test_what_sqlite_itself_refuses_is_told():
    store = opened()
    store.load(words().split("p q", id="a"), min_chars=0)
    with pytest.raises(cantle.SettingError) as caught:
        store.add("a", "window", "word " * 4_000)
    assert str(caught.value) == "a document is too large for a store: string or blob too big"
    assert_sound(store)
