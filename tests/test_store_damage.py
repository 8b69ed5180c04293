"""A file that is damaged, or no store: words, and no wrong answer."""

import os
import random
import sqlite3

import pytest

import cantle
from conftest import SLOW
from stores import QUERY, filled, nearest, opened, vector_of

# Files that are no store.


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"not a database at all" * 100, "damaged, or no store (file is not a database)"),
        (random.Random(1).randbytes(40_000), "damaged, or no store (file is not a database)"),
        (b"# A page\n", "damaged, or no store (it is too short)"),
    ],
)
@pytest.mark.parametrize("readonly", [True, False])
def test_a_file_that_is_no_database_is_left_as_it_is(path, data, message, readonly):
    path.write_bytes(data)
    with pytest.raises(cantle.StoreError) as caught:
        opened(path, readonly=readonly)
    assert str(caught.value) == f"{path}: {message}"
    assert path.read_bytes() == data
    assert os.listdir(path.parent) == [path.name]


def test_an_empty_file_becomes_a_store_but_is_none_to_a_reader(path):
    path.touch()
    with pytest.raises(cantle.StoreError, match=r"a SQLite file, but no store of cantle$"):
        opened(path, readonly=True)
    assert filled(path)


@pytest.mark.parametrize("readonly", [True, False])
def test_another_sqlite_file_is_left_as_it_is(path, readonly):
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE part (x)")
    connection.commit()
    connection.close()
    data = path.read_bytes()
    with pytest.raises(cantle.StoreError) as caught:
        opened(path, readonly=readonly)
    assert str(caught.value) == f"{path}: a SQLite file, but no store of cantle"
    assert path.read_bytes() == data


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        (".", IsADirectoryError, "a folder, no store"),
        ("no/such/folder/kb", OSError, "unable to open database file"),
    ],
)
def test_what_cannot_be_opened(tmp_path, name, error, message):
    with pytest.raises(error) as caught:
        opened(tmp_path / name)
    assert str(caught.value) == f"{tmp_path / name}: {message}"


def test_what_is_not_there_is_not_made_by_a_reader(path):
    with pytest.raises(FileNotFoundError, match=r"kb\.cantle: no such store$"):
        opened(path, readonly=True)
    assert not path.exists()


# Damage inside.


def answers(path):
    """Return what a store answers, or the words with which it does not."""
    try:
        with opened(path) as store:
            wrong = store.check()
            try:
                hits = store.search(vector=QUERY, k=1_000)
            except ValueError as error:
                return wrong, str(error)
            return wrong, list(zip(hits.ids, hits.texts, hits.scores.tolist(), strict=True))
    except (cantle.StoreError, OSError) as error:
        return [str(error)], None


def test_a_database_that_was_cut_off_is_noticed(path):
    rows = filled(path, index=cantle.index.Exact())
    expected = [name for name, _ in nearest(rows, QUERY, 1_000)]
    whole = path.read_bytes()
    chosen = random.Random(5)
    lengths = [1, 99, 100, 511, 16_383, 16_384, 16_385, len(whole) - 16_384, len(whole) - 1]
    lengths += [chosen.randrange(len(whole)) for _ in range(40 if SLOW else 6)]
    for length in lengths:
        path.write_bytes(whole[:length])
        wrong, found = answers(path)
        if isinstance(found, list):
            assert [name for name, *_ in found] == expected, length
        else:
            assert wrong, length


def test_changed_bytes_are_found_by_check_or_change_nothing(path):
    filled(path, index=cantle.index.Exact())
    right = answers(path)
    assert right[0] == []
    whole = path.read_bytes()
    chosen = random.Random(6)
    noticed = 0
    for _ in range(400 if SLOW else 60):
        data = bytearray(whole)
        at, many = chosen.randrange(len(data)), chosen.choice((1, 1, 16, 4096))
        data[at : at + many] = chosen.randbytes(len(data[at : at + many]))
        path.write_bytes(data)
        for beside in path.parent.glob("*-*"):
            beside.unlink()
        wrong, found = answers(path)
        noticed += bool(wrong)
        assert wrong or found == right[1], (at, many)
        path.write_bytes(whole)
    assert noticed > 5


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        (
            "UPDATE source SET title = 'x' WHERE id = 'd3'",
            "document 'd3': it is not what was written",
        ),
        (
            "UPDATE source SET metadata = '{' WHERE id = 'd3'",
            "document 'd3': it is not what was written",
        ),
        (
            "UPDATE source SET characters = 5 WHERE id = 'd3'",
            "document 'd3': it has not 5 characters",
        ),
        (
            "UPDATE source SET text = x'ff' WHERE id = 'd3'",
            "document 'd3': it is not what was written",
        ),
        (
            "UPDATE part SET vectors = x'00' WHERE part = 4",
            "window of 'd3': it is not what was written",
        ),
        (
            "UPDATE part SET tables = '[' WHERE part = 4",
            "window of 'd3': it is not what was written",
        ),
        (
            "UPDATE part SET chunks = 7 WHERE part = 4",
            "window of 'd3': 7 chunks, and rows of another number",
        ),
        (
            "UPDATE part SET source = 999 WHERE part = 4",
            "the file: a row of part points to none of source",
        ),
    ],
)
def test_check_says_what_is_wrong(path, statement, message):
    filled(path)
    connection = sqlite3.connect(path)
    connection.execute(statement)
    connection.commit()
    connection.close()
    with opened(path) as store:
        assert store.check() == [message]


def test_a_text_that_is_not_what_was_written_is_not_shown(path):
    rows = filled(path)
    connection = sqlite3.connect(path)
    connection.execute("UPDATE source SET text = replace(text, '5.', '6.') WHERE id = 'd5'")
    connection.execute("UPDATE source SET text = CAST(text AS BLOB)")
    connection.commit()
    connection.close()
    with opened(path) as store:
        assert len(store.search(vector=QUERY, where={"source": "d4"})) == 5
        with pytest.raises(cantle.StoreError) as caught:
            store.search(vector=vector_of(dict(rows)["d5_window_0"]), k=1)
        assert str(caught.value) == (
            f"{path}: damaged, or no store (document 'd5' is not what was written)"
        )


def test_vectors_of_another_number_than_chunks_are_noticed(path):
    filled(path)
    connection = sqlite3.connect(path)
    connection.execute("UPDATE part SET vectors = x'00000000' WHERE part = 4")
    connection.commit()
    connection.close()
    with (
        opened(path) as store,
        pytest.raises(
            cantle.StoreError,
            match=r"damaged, or no store \(vectors of another number than chunks\)$",
        ),
    ):
        store.search(vector=QUERY)
