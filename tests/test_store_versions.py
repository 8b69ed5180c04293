"""A file of a version before is read, and brought up to date; one of a later version is not."""

import sqlite3

import pytest

import cantle
from cantle.store import database as database_module
from cantle.store import pieces
from stores import QUERY, assert_sound, filled, numbered, opened, rows_of, words


def test_a_later_version_is_not_read(path):
    filled(path)
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 7")
    connection.close()
    with pytest.raises(cantle.StoreError) as caught:
        opened(path)
    assert str(caught.value) == (
        f"{path}: made by a later cantle (version 7 of its tables, this one knows "
        f"{database_module.VERSION})"
    )


# The tables that later versions added, by the version before.
ADDED = {1: ["more"]}


def as_of_version(path, version):
    """Make a file what it was in a version."""
    connection = sqlite3.connect(path)
    for step in range(version, database_module.VERSION):
        for table in ADDED[step]:
            connection.execute(f"DROP TABLE {table}")
    connection.execute(f"PRAGMA user_version = {version}")
    connection.close()


@pytest.mark.parametrize("version", range(1, database_module.VERSION))
def test_a_file_of_a_version_before_is_read_and_brought_up_to_date(path, version):
    rows = filled(path)
    as_of_version(path, version)
    before = path.read_bytes()
    with opened(path, readonly=True) as store:
        assert rows_of(store) == rows
        assert_sound(store)
        hits = store.search(vector=QUERY, k=5).as_dicts()
        assert store.info()["version"] == version  # Not that of the tables known here.
        assert store._database._connection.execute("PRAGMA user_version").fetchone() == (version,)
    assert path.read_bytes() == before
    with opened(path) as store:
        now = store._database._connection.execute("PRAGMA user_version").fetchone()
        assert now == (database_module.VERSION,)
        assert_sound(store)
        assert store.search(vector=QUERY, k=5).as_dicts() == hits
        store.add("d3", "window", "an added text")
        assert store.delete("d4") == 5
        assert_sound(store)
    with opened(path) as store:
        assert_sound(store)


@pytest.mark.parametrize("version", range(1, database_module.VERSION))
def test_a_reader_sees_what_a_version_before_was_brought_up_to(path, version, monkeypatch):
    # What stood in place of the table that it lacked hid the table: the store was damaged, it said.
    filled(path)
    as_of_version(path, version)
    monkeypatch.setattr(pieces, "PIECE", 64)
    with opened(path, readonly=True) as reader:
        reader.snapshot()
        with opened(path) as store:
            store.load(words(3).split_all(numbered([3], 1), ids=["d3"]), embed=True, min_chars=0)
            wanted = rows_of(store)
            hits = store.search(vector=QUERY, k=5).as_dicts()
            assert_sound(store)
        assert rows_of(reader) == wanted
        assert reader.search(vector=QUERY, k=5).as_dicts() == hits
        assert_sound(reader)


def test_a_version_before_is_brought_up_to_date(path, monkeypatch):
    filled(path)
    here = database_module.VERSION
    monkeypatch.setattr(database_module, "VERSION", here + 1)
    step = "CREATE TABLE later (x); UPDATE setting SET value = value WHERE name = 'index'"
    monkeypatch.setitem(database_module._MIGRATIONS, here, step)
    with opened(path) as store:
        assert_sound(store)
        with store._database.read() as connection:
            assert connection.execute("PRAGMA user_version").fetchone() == (here + 1,)
            assert connection.execute("SELECT count(*) FROM later").fetchone() == (0,)


def test_a_step_to_a_later_version_that_fails_changes_nothing(path, monkeypatch):
    filled(path)
    here = database_module.VERSION
    monkeypatch.setattr(database_module, "VERSION", here + 1)
    step = "CREATE TABLE x (y); CREATE TABLE x (y)"
    monkeypatch.setitem(database_module._MIGRATIONS, here, step)
    with pytest.raises(OSError, match="table x already exists"):
        opened(path)
    monkeypatch.undo()
    with opened(path) as store:
        assert_sound(store)
