"""What is read around hits, and what a budget holds, beside slow ways to find it."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cantle
from cantle.store.budget import fill
from cantle.store.expand import expand
from cantle.store.passages import Passages
from snapshots import Snapshot

Claim = tuple[int, list[tuple[int, int]]]
"""A hit and the spans that it brings."""


def characters(spans: list[tuple[int, int]]) -> set[int]:
    return {at for start, end in spans for at in range(start, end)}


def filled(held: set[int], text: str) -> set[int]:
    """Return positions, with the white space between two that have nothing else between them."""
    gaps = [range(a + 1, b) for a, b in pairwise(sorted(held)) if text[a + 1 : b].isspace()]
    return held.union(*gaps)


def spans_of(held: set[int]) -> tuple[tuple[int, int], ...]:
    starts = sorted(at for at in held if at - 1 not in held)
    ends = sorted(at + 1 for at in held if at + 1 not in held)
    return tuple(zip(starts, ends, strict=True))


def meet(some: set[int], others: set[int], text: str) -> bool:
    apart = len(spans_of(filled(some, text))) + len(spans_of(filled(others, text)))
    return bool(some & others) or len(spans_of(filled(some | others, text))) < apart


def slow_passages(snapshot: Snapshot, claims: list[Claim]) -> list[tuple[int, Any, str, set[int]]]:
    """Return document, spans, text and rows of each passage: what meets is one."""
    pieces: list[tuple[int, set[int], set[int]]] = []
    for row, spans in claims:
        source, held, rows = int(snapshot.source[row]), characters(spans), {row}
        text = snapshot.text_of(source)
        while met := [
            p for p in pieces if p[0] == source and (p[2] & rows or meet(p[1], held, text))
        ]:
            pieces.remove(met[0])
            held, rows = held | met[0][1], rows | met[0][2]
        pieces.append((source, held, rows))
    found = []
    for source, held, rows in pieces:
        text = snapshot.text_of(source)
        spans = spans_of(filled(held, text))
        found.append((source, spans, "\n\n".join(text[a:b] for a, b in spans), rows))
    return sorted(found, key=lambda piece: piece[:2])


def slow_packing(
    snapshot: Snapshot, rows: list[int], steps: Callable[[int], list[Any]], budget: int | None
) -> list[tuple[int, Any, str, set[int]]]:
    """Take what fits, measuring everything anew each time."""
    claims: list[Claim] = []
    for row in rows:
        for spans in [[own(snapshot, row)], *steps(row)]:
            more = [*claims, (row, spans)]
            size = sum(len(text.split()) for _, _, text, _ in slow_passages(snapshot, more))
            if budget is not None and size > budget:
                break
            claims = more
    return slow_passages(snapshot, claims)


def own(snapshot: Snapshot, row: int) -> tuple[int, int]:
    return int(snapshot.char_start[row]), int(snapshot.char_end[row])


def told(snapshot: Snapshot, passages: Passages) -> list[tuple[int, Any, str, set[int]]]:
    ids = [source.id for source in snapshot.sources]
    return [(ids.index(p.source), p.spans, p.passage, set(p.rows)) for p in passages]


@st.composite
def stores(draw: st.DrawFn) -> tuple[Snapshot, list[int], list[float]]:
    """Return two documents under two strategies, with gaps and overlaps, and ranked hits."""
    texts = draw(st.lists(st.text("ab \n", min_size=4, max_size=24), min_size=2, max_size=2))
    given = []
    for name in ("small", "large"):
        spans = []
        for text in texts:
            starts = sorted(draw(st.sets(st.integers(0, len(text) - 1), min_size=1, max_size=6)))
            lengths = [draw(st.integers(1, 7)) for _ in starts]
            pairs = zip(starts, lengths, strict=True)
            spans.append([(start, min(len(text), start + n)) for start, n in pairs])
        given.append(cantle.Chunks.from_spans(texts, spans, ids=["one", "two"], name=name))
    snapshot = Snapshot(*given)
    rows = draw(st.permutations(range(len(snapshot))))[: draw(st.integers(1, 5))]
    scores = sorted(draw(st.lists(st.floats(0, 1), min_size=5, max_size=5)), reverse=True)
    return snapshot, rows, scores[: len(rows)]


BUDGETS = st.none() | st.integers(1, 12)


def expanded(
    store: tuple[Snapshot, list[int], list[float]], how: Any, budget: int | None = None
) -> Passages:
    snapshot, rows, scores = store
    return expand(snapshot, np.array(rows), np.array(scores), how, budget=budget, unit="words")


@given(store=stores(), n=st.integers(1, 3), budget=BUDGETS)
def test_neighbours_equal_the_slow_ones(store: Any, n: int, budget: int | None) -> None:
    snapshot, rows, scores = store

    def steps(row: int) -> list[Any]:
        same = [
            at
            for at in range(len(snapshot))
            if (snapshot.part[at], at != row) == (snapshot.part[row], True)
            and abs(snapshot.ordinal[at] - snapshot.ordinal[row]) <= n
        ]
        return [[own(snapshot, at)] for at in sorted(same, key=lambda at: (abs(at - row), at))]

    found = expanded(store, cantle.neighbours(n), budget)
    assert told(snapshot, found) == slow_packing(snapshot, rows, steps, budget)
    assert budget is None or found.size <= budget
    assert found.tokens.tolist() == [len(p.passage.split()) for p in found]
    for passage in found:
        assert passage.score == max(scores[rows.index(row)] for row in passage.rows)
        assert [rows.index(row) for row in passage.rows] == sorted(map(rows.index, passage.rows))


@given(store=stores(), budget=BUDGETS)
def test_the_document_equals_the_slow_one(store: Any, budget: int | None) -> None:
    snapshot, rows, _ = store
    found = expanded(store, cantle.parent("document"), budget)

    def steps(row: int) -> list[Any]:
        return [[(0, len(snapshot.text_of(snapshot.source[row])))]]

    assert told(snapshot, found) == slow_packing(snapshot, rows, steps, budget)


@given(store=stores(), budget=BUDGETS)
def test_chunks_of_another_strategy_equal_the_slow_ones(store: Any, budget: int | None) -> None:
    snapshot, rows, _ = store

    def steps(row: int) -> list[Any]:
        found = [
            own(snapshot, at)
            for at in range(len(snapshot))
            if snapshot.strategy[at] == 1
            and snapshot.source[at] == snapshot.source[row]
            and characters([own(snapshot, at)]) & characters([own(snapshot, row)])
        ]
        return [found if snapshot.strategy[row] == 0 else []]

    found = expanded(store, cantle.parent("large"), budget)
    assert told(snapshot, found) == slow_packing(snapshot, rows, steps, budget)


@given(store=stores(), tokens=st.integers(1, 6))
def test_a_window_is_full_or_ends_with_the_document(store: Any, tokens: int) -> None:
    snapshot, rows, _ = store
    for row in rows:
        (passage,) = expanded((snapshot, [row], [1.0]), cantle.window(tokens))
        alone = len(snapshot.texts([row])[0].split())
        assert passage.tokens <= max(tokens, alone)
        covered = characters(list(passage.spans))
        same = [at for at in range(len(snapshot)) if snapshot.part[at] == snapshot.part[row]]
        for side in (same[: same.index(row)][::-1], same[same.index(row) :]):
            out = [at for at in side if not characters([own(snapshot, at)]) <= covered]
            if out:
                more = slow_passages(
                    snapshot, [(row, list(passage.spans)), (row, [own(snapshot, out[0])])]
                )
                assert len(more[0][2].split()) > tokens


@given(store=stores(), share=st.sampled_from([0.2, 0.5, 0.8, 1.0]), seed=st.integers(0, 99))
def test_adaptive_equals_the_slow_one(store: Any, share: float, seed: int) -> None:
    snapshot, rows, scores = store
    random = np.random.default_rng(seed)
    snapshot._vectors = random.integers(-2, 4, (len(snapshot), 2)).astype(np.float32)
    snapshot.embedded[:] = True
    query = np.array([1.0, 0.5], np.float32)

    def cosine(row: int) -> float:
        vector = snapshot._vectors[row]
        length = float(np.linalg.norm(vector)) * float(np.linalg.norm(query))
        return float(vector @ query) / length if length else 0.0

    def steps(row: int) -> list[Any]:
        found = []
        for step in (-1, 1):
            at = row + step
            while (
                0 <= at < len(snapshot)
                and snapshot.part[at] == snapshot.part[row]
                and cosine(row) > 0
                and cosine(at) - share * cosine(row) > 1e-9
            ):
                found.append(at)
                at += step
        return [[own(snapshot, at)] for at in found]

    found = expand(
        snapshot,
        np.array(rows),
        np.array(scores),
        cantle.adaptive(share),
        unit="words",
        query=query,
    )
    assert told(snapshot, found) == slow_packing(snapshot, rows, steps, None)


@given(store=stores(), budget=st.integers(1, 12), misses=st.integers(0, 3))
def test_a_budget_is_filled_as_slowly(store: Any, budget: int, misses: int) -> None:
    snapshot, rows, scores = store
    claims: list[Claim] = []
    left = []
    for row in rows:
        more = [*claims, (row, [own(snapshot, row)])]
        if sum(len(text.split()) for _, _, text, _ in slow_passages(snapshot, more)) <= budget:
            claims = more
        else:
            left.append(row)
            if len(left) > misses:
                break
    found = fill(snapshot, np.array(rows), np.array(scores), budget, unit="words", misses=misses)
    assert told(snapshot, found) == slow_passages(snapshot, claims)
    assert found.left_out == tuple(left)
    assert found.size <= budget


HANDBOOK = """# Handbook

## Keys

Rotate a key every week. Old keys are revoked.

Tell the owner first.

## Access

Logs are kept for a month.
"""


def handbook() -> Snapshot:
    """Return sentences of a small document within paragraphs within sections."""
    texts, ids = [HANDBOOK], ["handbook.md"]
    sections = cantle.Structural(60, unit="words").split_all(texts, ids=ids)
    paragraphs = cantle.Recursive(12, unit="words").split_within(sections)
    sentences = cantle.Sentence(6, unit="words").split_within(paragraphs)
    return Snapshot(sentences, paragraphs, sections)


def row_of(snapshot: Snapshot, start: str, strategy: int = 0) -> int:
    texts = snapshot.texts(range(len(snapshot)))
    (row,) = [
        at
        for at, text in enumerate(texts)
        if text.startswith(start) and snapshot.strategy[at] == strategy
    ]
    return row


def passages(snapshot: Snapshot, how: Any, *starts: str, **settings: Any) -> Passages:
    rows = [row_of(snapshot, start) for start in starts]
    scores = 1.0 / np.arange(1, len(rows) + 1)
    return expand(snapshot, np.array(rows, np.int64), scores, how, unit="words", **settings)


def texts_of(found: Passages) -> list[str]:
    return [" ".join(text.split()) for text in found.texts]


KEYS = "# Handbook ## Keys Rotate a key every week. Old keys are revoked. Tell the owner first."


def test_a_section_is_the_chunk_above_and_comes_once_with_the_best_score() -> None:
    found = passages(handbook(), cantle.parent(), "Old", "Rotate", "Logs")
    assert texts_of(found) == [
        "Rotate a key every week. Old keys are revoked.",
        "## Access Logs are kept for a month.",
    ]
    assert found.cites == ["handbook.md > Handbook > Keys", "handbook.md > Handbook > Access"]
    assert found.scores.tolist() == [1.0, 1 / 3]


def test_levels_are_counted_from_above_and_a_strategy_is_found_by_its_name() -> None:
    snapshot = handbook()
    assert texts_of(passages(snapshot, cantle.parent(1), "Old")) == [KEYS]
    assert texts_of(passages(snapshot, cantle.parent("structural"), "Old")) == [KEYS]
    paragraph = "Rotate a key every week. Old keys are revoked."
    assert texts_of(passages(snapshot, cantle.parent(2), "Old")) == [paragraph]
    assert texts_of(passages(snapshot, cantle.parent("recursive12"), "Old")) == [paragraph]
    for how in (cantle.parent(3), cantle.parent(9), cantle.parent("sentence6")):
        assert texts_of(passages(snapshot, how, "Old")) == ["Old keys are revoked."]


def test_of_chunks_that_were_cut_within_none_the_section_is_their_heading_path() -> None:
    chunks = cantle.Structural(8, unit="words").split_all([HANDBOOK], ids=["handbook.md"])
    snapshot = Snapshot(chunks)
    row = row_of(snapshot, "Tell")
    found = expand(snapshot, np.array([row]), np.ones(1), cantle.parent())
    start = next(chunk.char_start for chunk in chunks if chunk.heading_path == ("Handbook", "Keys"))
    assert found[0].spans == ((start, HANDBOOK.index("\n\n## Access")),)
    assert found.cites == ["handbook.md > Handbook > Keys"]


def test_the_document_is_cited_by_its_title() -> None:
    chunks = cantle.Structural(8, unit="words").split(HANDBOOK, metadata={"title": "The handbook"})
    found = expand(Snapshot(chunks), np.array([1]), np.ones(1), cantle.parent("document"))
    assert found.texts == [HANDBOOK]
    # The heading that stands over all of it.
    assert found.cites == ["The handbook > Handbook"]


def test_merging_lifts_a_step_at_a_time() -> None:
    snapshot = handbook()
    found = passages(snapshot, cantle.auto_merge(0.6), "Old", "Rotate")
    assert texts_of(found) == ["Rotate a key every week. Old keys are revoked."]
    # Of the paragraph's two sentences one is a hit.
    assert texts_of(passages(snapshot, cantle.auto_merge(0.6), "Old")) == ["Old keys are revoked."]
    # Two of the section's three paragraphs are lifted to, and the heading is the third.
    found = passages(snapshot, cantle.auto_merge(0.6), "Old", "Rotate", "Tell")
    assert texts_of(found) == [KEYS]
    assert len(found[0].rows) == 3


def test_merging_without_parents_goes_by_sections() -> None:
    chunks = cantle.Structural(8, unit="words").split_all([HANDBOOK], ids=["handbook.md"])
    snapshot = Snapshot(chunks)
    keys = [i for i, path in enumerate(chunks.heading_paths) if path == ("Handbook", "Keys")]
    assert len(keys) > 2
    rows = np.array([keys[0], keys[-1]])
    lifted = expand(snapshot, rows, np.ones(2), cantle.auto_merge(2 / len(keys)))
    assert [p.spans for p in lifted] == [
        ((int(chunks.char_start[keys[0]]), int(chunks.char_end[keys[-1]])),)
    ]
    apart = expand(snapshot, rows, np.ones(2), cantle.auto_merge(2 / len(keys) + 0.01))
    assert len(apart) == 2


def test_the_overlap_of_neighbours_comes_once() -> None:
    text = "one two three four five six seven eight nine"
    chunks = cantle.Window(4, 2, unit="words").split(text)
    found = expand(Snapshot(chunks), np.array([1]), np.ones(1), cantle.neighbours())
    assert found.texts == ["one two three four five six seven eight"]


def test_what_lies_between_chunks_is_not_read_as_theirs() -> None:
    text = "Keys. ## Access"
    chunks = cantle.Chunks.from_spans([text], [[(0, 5), (9, 15)]])
    found = expand(Snapshot(chunks), np.array([0]), np.ones(1), cantle.neighbours())
    assert found[0].spans == ((0, 5), (9, 15))
    assert found.texts == ["Keys.\n\nAccess"]


def test_what_was_added_by_hand_is_a_passage_of_its_own() -> None:
    text = "First. Second."
    chunks = cantle.Chunks.from_spans([text], [[(0, 6), (7, 14)]], ids=["a"])
    snapshot = Snapshot(chunks, added=[(0, 0, "By hand.")])
    for how in (cantle.neighbours(3), cantle.parent(), cantle.window(9), cantle.auto_merge(0.1)):
        found = expand(snapshot, np.array([2, 1, 2]), np.array([3.0, 2.0, 3.0]), how)
        assert found.texts == [text, "By hand."]
        assert [p.spans for p in found] == [((0, 14),), ()]
        assert found[1].score == 3.0


def test_a_parent_that_is_too_large_leaves_its_hit_as_it_is() -> None:
    found = passages(handbook(), cantle.parent("document"), "Old", "Tell", "Logs", budget=10)
    assert texts_of(found) == ["Old keys are revoked. Tell the owner first."]
    assert found.left_out == (row_of(handbook(), "Logs"),)
    assert found.size == 8


def test_order_by_score() -> None:
    found = passages(handbook(), cantle.window(4), "Logs", "Old", order="score")
    assert texts_of(found) == ["Logs are kept for a month.", "Old keys are revoked."]
    first = found.as_dicts()[0]
    assert first["id"] == first["ids"][0] == handbook().ids([row_of(handbook(), "Logs")])[0]
    assert list(first) == [
        "id",
        "cite",
        "passage",
        "source",
        "heading_path",
        "spans",
        "score",
        "ids",
        "tokens",
    ]


def test_passages_are_a_sequence() -> None:
    found = passages(handbook(), cantle.window(4), "Old", "Logs")
    assert len(found) == 2
    assert found[-1].source == "handbook.md"
    assert found.sources == ["handbook.md"] * 2
    assert [p.passage for p in found[:1]] == ["Old keys are revoked."]
    assert repr(found).splitlines()[0] == "Passages(2, 10 words)"


def test_adaptive_needs_a_vector() -> None:
    with pytest.raises(cantle.SettingError) as raised:
        passages(handbook(), cantle.adaptive(), "Old")
    assert str(raised.value) == (
        "adaptive: the hits were found without a vector; use mode='dense' or 'hybrid'"
    )


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: cantle.neighbours(0), cantle.SettingError, "n (0) must be at least 1"),
        (lambda: cantle.neighbours("1"), TypeError, "n ('1') must be a whole number"),  # type: ignore[arg-type]
        (lambda: cantle.window(0), cantle.SettingError, "tokens (0) must be at least 1"),
        (lambda: cantle.parent(0), cantle.SettingError, "of (0) must be at least 1"),
        (lambda: cantle.parent(1.5), TypeError, "of (1.5) must be a string or a level"),  # type: ignore[arg-type]
        (
            lambda: cantle.adaptive(0),
            cantle.SettingError,
            "share (0) must be above 0 and at most 1",
        ),
        (lambda: cantle.auto_merge("x"), TypeError, "share ('x') must be a number"),  # type: ignore[arg-type]
        (
            lambda: passages(handbook(), cantle.parent("x"), "Old"),
            cantle.SettingError,
            "of ('x') must be one of 'section', 'document', 'sentence6', 'recursive12', "
            "'structural', or a level",
        ),
        (
            lambda: passages(handbook(), "x", "Old"),
            TypeError,
            "how ('x') must be a way of expanding, such as neighbours(1)",
        ),
        (
            lambda: passages(handbook(), cantle.parent(), "Old", order="rank"),
            cantle.SettingError,
            "order ('rank') must be 'document' or 'score'",
        ),
        (
            lambda: passages(handbook(), cantle.parent(), "Old", budget=0),
            cantle.SettingError,
            "budget (0) must be at least 1",
        ),
        (
            lambda: passages(handbook(), cantle.parent(), "Old", budget=1.5),
            TypeError,
            "budget (1.5) must be a whole number",
        ),
    ],
)
def test_what_cannot_be_asked_for(
    make: Callable[[], Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error) as raised:
        make()
    assert str(raised.value) == message
