"""`where=`: what it lets through is what looking at every row would."""

import re
from datetime import date

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cantle
from cantle.store.where import mask_of, where_from_text
from stores import WIDTH, assert_found, nearest, opened, vector_of, words

PAGE = """# Guide

A paragraph about the guide itself, which comes first.

## Keys

Rotate the key every ninety days, and revoke the previous one.

### Old keys

Old keys are kept in a sealed envelope for a year.

## Keys of others

| name | value |
| --- | --- |
| some key | a value of it |
"""


@pytest.fixture(scope="module")
def store():
    store = opened()
    metadata = [
        {"title": "Guide", "year": 2020, "tags": ["a", "b"], "strategy": "mine", "draft": False},
        {"year": 2021.5, "lang": "de", "nested": {"x": 1}, "draft": True},
        {"year": "2022", "lang": None},
        {},
    ]
    pages = [PAGE, PAGE.replace("Guide", "Handbook"), PAGE, "Plain text without headings here."]
    ids = ["guide", "handbook", "third", "plain ü"]
    for strategy in (cantle.Structural(20, unit="words"), words(5, name="five")):
        chunks = strategy.split_all(pages, ids=ids, metadata=metadata)
        store.load(chunks, min_chars=0, embed=True)
    return store


def found(store, where):
    """Return the rows that may be found."""
    mask = mask_of(store.snapshot(), where)
    return np.flatnonzero(mask).tolist()


def by_looking(store, tell):
    """Return the rows of which a function of hit-like values is true."""
    snapshot = store.snapshot()
    rows = []
    for row in range(len(snapshot)):
        source = snapshot.sources[snapshot.source[row]]
        told = {
            "strategy": snapshot.strategies[snapshot.strategy[row]].name,
            "source": source.id,
            "kind": cantle.KINDS[snapshot.kind[row]],
            "heading": snapshot.heading_paths[snapshot.heading[row]],
            "metadata": source.metadata,
        }
        if tell(told):
            rows.append(row)
    return rows


MISSING = object()


@pytest.mark.parametrize(
    ("where", "tell"),
    [
        ({}, lambda row: True),
        ({"strategy": "five"}, lambda row: row["strategy"] == "five"),
        ({"strategy": ["five", "structural"]}, lambda row: True),
        ({"strategy": {"ne": "five"}}, lambda row: row["strategy"] != "five"),
        ({"source": "guide"}, lambda row: row["source"] == "guide"),
        ({"source": ("guide", "plain ü")}, lambda row: row["source"] in ("guide", "plain ü")),
        ({"source": {"prefix": "h"}}, lambda row: row["source"] == "handbook"),
        ({"source": "none such"}, lambda row: False),
        ({"source": []}, lambda row: False),
        ({"kind": "table"}, lambda row: row["kind"] == "table"),
        ({"kind": ["prose", "table"]}, lambda row: row["kind"] in ("prose", "table")),
        ({"heading": "Guide"}, lambda row: row["heading"][:1] == ("Guide",)),
        ({"heading": ["Guide", "Keys"]}, lambda row: row["heading"][:2] == ("Guide", "Keys")),
        ({"heading": "Keys"}, lambda row: False),
        ({"heading": []}, lambda row: True),
        ({"year": 2020}, lambda row: row["metadata"].get("year") == 2020),
        ({"year": {"gte": 2020, "lt": 2021}}, lambda row: row["metadata"].get("year") == 2020),
        (
            {"year": {"gt": 2020}},
            lambda row: row["metadata"].get("year") == 2021.5,
        ),
        ({"year": {"lte": "2022"}}, lambda row: row["metadata"].get("year") == "2022"),
        ({"year": {"in": [2020, "2022"]}}, lambda row: row["source"] in ("guide", "third")),
        ({"year": {"ne": 2020}}, lambda row: row["source"] in ("handbook", "third")),
        ({"year": {}}, lambda row: "year" in row["metadata"]),
        ({"tags": {"eq": ["a", "b"]}}, lambda row: "tags" in row["metadata"]),
        ({"tags": [["a", "b"], "c"]}, lambda row: "tags" in row["metadata"]),
        ({"tags": ["a", "b"]}, lambda row: False),
        ({"nested": {"eq": {"x": 1}}}, lambda row: "nested" in row["metadata"]),
        ({"lang": None}, lambda row: row["metadata"].get("lang", MISSING) is None),
        ({"draft": True}, lambda row: row["metadata"].get("draft") is True),
        ({"metadata.strategy": "mine"}, lambda row: row["source"] == "guide"),
        ({"metadata.year": np.int64(2020)}, lambda row: row["source"] == "guide"),
        (
            {"strategy": "five", "year": {"gte": 2000}, "source": ["guide", "third"]},
            lambda row: row["strategy"] == "five" and row["source"] == "guide",
        ),
    ],
)
def test_what_may_be_found(store, where, tell):
    expected = by_looking(store, tell)
    assert found(store, where) == expected
    hits = store.search("a question", k=1_000, where=where)
    assert sorted(hits.rows.tolist()) == expected


def test_what_is_compared_is_what_it_became_in_the_file():
    store = opened()
    days = [date(2024, 1, 31), date(2024, 2, 1), date(2025, 1, 1)]
    chunks = words().split_all(["a b"] * 3, ids=list("xyz"), metadata=[{"day": d} for d in days])
    store.load(chunks, min_chars=0, embed=True)
    assert store.search("a", where={"day": days[1]}).sources == ["y"]
    assert store.search("a", where={"day": {"gte": days[1], "lt": "2025"}}).sources == ["y"]
    assert store.search("a", where={"day": {days[0], days[2]}}).sources == ["x", "z"]


def test_k_come_back_where_k_may(store):
    for where in ({"kind": "table"}, {"source": "plain ü"}, {"year": {"gt": 2020}}):
        snapshot, rows = store.snapshot(), found(store, where)
        for k in (1, 2, len(rows), len(rows) + 5):
            query = np.linspace(1, -1, WIDTH, dtype=np.float32)
            hits = store.search(vector=query, k=k, where=where)
            assert len(hits) == min(k, len(rows))
            assert set(hits.rows.tolist()) <= set(rows)
        assert snapshot is store.snapshot()


NUMBERS = [1, -2.5, True]
COMPARED = {"year": NUMBERS, "name": ["a", ""], "tags": [[], ["a", 1]], "none": [None]}


def test_every_comparison_that_no_value_can_meet_is_refused():
    store = opened()
    rows = [{key: values[at % len(values)] for key, values in COMPARED.items()} for at in range(6)]
    chunks = words().split_all(["a b"] * 6, ids=list("uvwxyz"), metadata=rows)
    store.load(chunks, min_chars=0, embed=True)
    for key, values in COMPARED.items():
        for sign in ("gt", "gte", "lt", "lte", "prefix"):
            for wanted in (3, 0.5, "a", ["b"]):
                like = {int: int | float, float: int | float, str: str, list: list}[type(wanted)]
                if sign == "prefix" and wanted != "a":
                    continue
                if isinstance(values[0], like) or key == "none":
                    found(store, {key: {sign: wanted}})
                    continue
                with pytest.raises(cantle.SettingError) as caught:
                    found(store, {key: {sign: wanted}})
                said = f"where: {key}: {sign!r} ({wanted!r}) cannot be compared with "
                assert str(caught.value).startswith(said)
                # Whether a value is another one can be told of all.
                assert len(found(store, {key: {"ne": wanted}})) == 6


@given(
    size=st.sampled_from([1, 2, 5]),
    chosen=st.sets(st.integers(0, 30)),
    k=st.integers(1, 20),
    year=st.integers(-1, 8),
)
def test_a_search_under_conditions_is_a_search_of_what_meets_them(size, chosen, k, year):
    store, rows = many(size)
    where = {"source": {f"s{doc}" for doc in chosen}, "year": {"gte": year}}
    own = [(name, text) for name, text, doc in rows if doc in chosen and doc % 7 >= year]
    query = vector_of(f"{chosen} {k}")
    assert_found(store.search(vector=query, k=k, where=where), nearest(own, query, k))


_MADE = {}


def many(size):
    """Return a store of 31 documents, and its rows with their documents."""
    if size not in _MADE:
        store = opened()
        texts = [" ".join(f"{doc}.{i}" for i in range(doc % 4 + 1)) for doc in range(31)]
        chunks = words(size).split_all(
            texts, ids=[f"s{i}" for i in range(31)], metadata=[{"year": i % 7} for i in range(31)]
        )
        store.load(chunks, min_chars=0, embed=True)
        _MADE[size] = store, list(zip(chunks.ids, chunks.texts, chunks.doc.tolist(), strict=True))
    return _MADE[size]


KEYS = "strategy, source, kind, heading, draft, lang, nested, strategy, tags, title, year"


@pytest.mark.parametrize(
    ("where", "error", "message"),
    [
        ("a", TypeError, "where ('a') must be a mapping from names to what they must be"),
        ({5: 1}, TypeError, "where: 5 must be a string"),
        ({"nope": 1}, ValueError, f"where: 'nope' is not there; there are {KEYS}"),
        (
            {"strategy": "nope"},
            ValueError,
            "where: strategy ('nope') is not there; there are 'structural', 'five'",
        ),
        (
            {"strategy": {"in": ["five", "nope"]}},
            ValueError,
            "where: strategy ('nope') is not there; there are 'structural', 'five'",
        ),
        (
            {"kind": ["table", "nope"]},
            ValueError,
            f"where: kind ('nope') is not there; there are {', '.join(map(repr, cantle.KINDS))}",
        ),
        (
            {"year": {"above": 5}},
            ValueError,
            "where: year: 'above' is no comparison; there are 'eq', 'ne', 'gt', 'gte', 'lt', "
            "'lte', 'in', 'prefix'",
        ),
        # A string holds all its parts, so this would have found the document `guide`.
        (
            {"source": {"in": "a guide"}},
            TypeError,
            "where: source: 'in' ('a guide') must be a list",
        ),
        ({"source": {"prefix": 5}}, TypeError, "where: source: 'prefix' (5) must be a string"),
        # What can match nothing was searched for, and found nothing, unsaid.
        ({"kind": {"gt": 2}}, TypeError, "where: kind: 'gt' (2) must be a string"),
        ({"kind": {"ne": None}}, TypeError, "where: kind: 'ne' (None) must be a string"),
        ({"strategy": {"lte": 2.5}}, TypeError, "where: strategy: 'lte' (2.5) must be a string"),
        ({"source": 2024}, TypeError, "where: source (2024) must be a string"),
        ({"source": ["guide", 5]}, TypeError, "where: source (5) must be a string"),
        ({"source": {"eq": True}}, TypeError, "where: source: 'eq' (True) must be a string"),
        (
            {"source": {"prefix": "g", "in": ["guide", 5]}},
            TypeError,
            "where: source: 'in' (5) must be a string",
        ),
        (
            {"title": {"gt": 2}},
            ValueError,
            "where: title: 'gt' (2) cannot be compared with what documents have there, such as "
            "'Guide'",
        ),
        (
            {"metadata.strategy": {"lt": [1]}},
            ValueError,
            "where: metadata.strategy: 'lt' ([1]) cannot be compared with what documents have "
            "there, such as 'mine'",
        ),
        (
            {"draft": {"gte": "true"}},
            ValueError,
            "where: draft: 'gte' ('true') cannot be compared with what documents have there, such "
            "as False",
        ),
        (
            {"draft": {"prefix": "t"}},
            ValueError,
            "where: draft: 'prefix' ('t') cannot be compared with what documents have there, such "
            "as False",
        ),
        (
            {"tags": {"lt": "b"}},
            ValueError,
            "where: tags: 'lt' ('b') cannot be compared with what documents have there, such as "
            "['a', 'b']",
        ),
        (
            {"year": {"gt": float("nan")}},
            ValueError,
            "where: year: 'gt' (nan) cannot be compared with what documents have there, such as "
            "2020",
        ),
        (
            {"year": {"gt": None}},
            TypeError,
            "where: year: 'gt' (None) must be a number, a string or a list",
        ),
        (
            {"nested": {"lte": {"x": 1}}},
            TypeError,
            "where: nested: 'lte' ({'x': 1}) must be a number, a string or a list",
        ),
        ({"heading": 5}, TypeError, "where: heading (5) must be a title or a list of titles"),
        (
            {"heading": {"prefix": "Guide"}},
            TypeError,
            "where: heading ({'prefix': 'Guide'}) must be a title or a list of titles",
        ),
        (
            {"source": "\ud800"},
            ValueError,
            "where: 'source' cannot be written as JSON: 'utf-8' codec can't encode character "
            "'\\ud800' in position 1: surrogates not allowed",
        ),
    ],
)
def test_a_condition_that_makes_no_sense_is_refused(store, where, error, message):
    with pytest.raises(error) as caught:
        store.search("a question", where=where)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("conditions", "where"),
    [
        ([], {}),
        (["kind=prose"], {"kind": "prose"}),
        (["kind=prose,list"], {"kind": ["prose", "list"]}),
        (["year>=2020", "year<2024.5"], {"year": {"gte": 2020, "lt": 2024.5}}),
        (["year!=2020"], {"year": {"ne": 2020}}),
        (["year=2020"], {"year": 2020}),
        (['year="2020"'], {"year": "2020"}),
        (["draft=true", "lang=null"], {"draft": True, "lang": None}),
        (["heading=Guide > Old keys"], {"heading": ["Guide", "Old keys"]}),
        (["source = a b "], {"source": "a b"}),
        (["title=a=b"], {"title": "a=b"}),
        (["title="], {"title": ""}),
        (["größe>5"], {"größe": {"gt": 5}}),
        # Documents and strategies may be called so; nothing was found of them.
        (["source=2024"], {"source": "2024"}),
        (["source=2024,null,a"], {"source": ["2024", "null", "a"]}),
        (['source="2024"', "strategy!=1e3"], {"source": "2024", "strategy": {"ne": "1e3"}}),
        (["kind>2"], {"kind": {"gt": 2}}),
    ],
)
def test_conditions_as_text(conditions, where):
    assert where_from_text(conditions) == where


@pytest.mark.parametrize(
    ("conditions", "message"),
    [
        (["kind"], "where ('kind') must be NAME=VALUE, or with !=, >=, <=, > or <"),
        (["=5"], "where ('=5') must be NAME=VALUE, or with !=, >=, <=, > or <"),
        (["a=1", "a=2"], "where: 'a' is given twice"),
        (["a>1", "a>2"], "where: 'a' is given twice"),
        (["a>1", "a=2"], "where: 'a' is given twice"),
    ],
)
def test_text_that_is_no_condition(conditions, message):
    with pytest.raises(cantle.SettingError, match=f"^{re.escape(message)}$"):
        where_from_text(conditions)
