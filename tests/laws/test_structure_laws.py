"""What `Structural`, and every strategy over blocks, keeps beyond the laws of all."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from table import UNITS, Cell

import cantle
import form_texts
import laws
import markdown_texts
import oracle
import samples
import structure_oracle
from cantle.strategies.text import REGISTRY

UNIT = st.sampled_from(["chars", "words", "bytes", "cl100k_base", "wordpiece with specials"])
documents = st.one_of(markdown_texts.sections, markdown_texts.sections, markdown_texts.documents)
depths = st.sampled_from(["auto", "all", 1, 2, 3])


def same_slice(text: str, start: int, end: int) -> str:
    """Return a span without the blanks around it."""
    inside = [i for i in range(start, end) if not oracle.is_blank(text[i])]
    return text[inside[0] : inside[-1] + 1] if inside else ""


@given(data=st.data(), text=documents, depth=depths)
def test_chunks_keep_to_sections_paths_and_tables(data, text, depth):
    counted = UNITS[data.draw(UNIT)]()
    size = data.draw(st.integers(4, 120))
    overlap = data.draw(st.sampled_from([0, 0, size // 4]))
    trim = data.draw(st.booleans())
    strategy = cantle.Structural(size, overlap, counted.unit, trim, depth=depth)
    chunks = strategy.split(text)
    laws.check(Cell(strategy, text, counted), chunks)
    blocks = structure_oracle.rows(cantle.blocks(text))

    (report,) = chunks.report or [None]
    if depth == "auto" and report is not None:

        def count(part):
            part = trim_as_we_do(strategy, part)
            return counted.count(part) if part else 0

        assert report.depth == structure_oracle.depth_of(blocks, text, size, count)
    used = {"all": 99, "auto": report.depth if report else 2}.get(depth, depth)
    spans = structure_oracle.sections(blocks, used, len(text))
    for chunk in chunks:
        assert [a <= chunk.char_start and chunk.char_end <= b for a, b in spans].count(True) == 1
        assert chunk.heading_path == structure_oracle.path_of(
            blocks, chunk.char_start, chunk.char_end
        )
    for block in blocks:
        if block["kind"] in structure_oracle.WHOLE:
            tables_are_whole_or_flagged(text, block, chunks, strategy, counted)


def trim_as_we_do(strategy, part: str) -> str:
    whole = cantle.Whole(strategy.size, unit="chars").split(part).texts
    return whole[0] if whole else ""


def tables_are_whole_or_flagged(text, block, chunks, strategy, counted):
    """Law 10, and the context of the later parts."""
    visible = same_slice(text, block["start"], block["end"])
    touching = [c for c in chunks if c.char_start < block["end"] and c.char_end > block["start"]]
    touching = [c for c in touching if same_slice(text, max(c.char_start, block["start"]),
                                                  min(c.char_end, block["end"]))]  # fmt: skip
    parts = [c for c in touching if visible not in c.text]
    assert all(c.flags & cantle.PART for c in parts)
    alone = trim_as_we_do(strategy, text[block["start"] : block["end"]])
    if counted.count(alone) <= strategy.size and strategy.trim:
        assert len(parts) < len(touching), "it fits, and no chunk holds it"
    head = text[block["start"] : block["head"]]
    for chunk in parts:
        if block["start"] <= chunk.char_start:
            behind = head and block["head"] <= chunk.char_start
            assert chunk.context == (head[: head.rindex(ends_with(head)) + 1] if behind else "")


def ends_with(text: str) -> str:
    """Return the last character that is no blank."""
    return next(c for c in reversed(text) if not oracle.is_blank(c))


@given(data=st.data(), text=documents)
def test_prefix_and_text_together_keep_the_size(data, text):
    """The law of B3."""
    name = data.draw(UNIT)
    counted = UNITS[name]()
    size = data.draw(st.integers(4, 120))
    template = data.draw(
        st.sampled_from(
            ["path", "{path}", "In {title}: {path}\n{context}\n", "> {text}\n-- {path} --"]
        )
    )
    title = data.draw(st.sampled_from(["", "T", "A rather long title of a document"]))
    strategy = cantle.Structural(
        size, unit=counted.unit, prefix=template, depth=data.draw(depths),
        min_size=data.draw(st.sampled_from([0, size // 2])),
    )  # fmt: skip
    chunks = strategy.split(text, metadata={"title": title})
    laws.nothing_is_lost(Cell(strategy, text, counted), chunks)
    for chunk in chunks:
        assert chunk.text in chunk.embed_text
        if not chunk.flags & cantle.OVERSIZE:
            assert counted.count(chunk.embed_text) <= size
        shown = cantle.TEMPLATE if template == "path" else template
        if not chunk.flags & cantle.SHORTENED:
            named = {"{path}": chunk.heading_path, "{context}": [chunk.context], "{title}": [title]}
            for field, values in named.items():
                assert field not in shown or all(value in chunk.embed_text for value in values)
    assert pickle.loads(pickle.dumps(chunks)).embed_texts == chunks.embed_texts
    assert chunks[::2].embed_texts == chunks.embed_texts[::2]


_rows = st.one_of(
    st.builds(
        cantle.Block,
        samples.texts,
        kind=st.sampled_from([kind for kind in cantle.KINDS if kind != "heading"]),
        page=st.sampled_from([None, 0, 7]),
        box=st.sampled_from([None, (0.0, 1.5, float("nan"), -2.0)]),
        header=st.sampled_from([0, 1, 2, 9]),
    ),
    st.builds(
        cantle.Block,
        samples.texts,
        kind=st.just("heading"),
        level=st.sampled_from([1, 2, 3, 32767]),
    ),
)


@pytest.mark.parametrize("name", sorted(REGISTRY))
@given(data=st.data(), rows=st.lists(_rows, max_size=8))
def test_blocks_of_any_rows_keep_the_laws(name, data, rows):
    counted = UNITS[data.draw(UNIT)]()
    size = data.draw(st.integers(4, 60))
    strategy = samples.built(name, size, 0, counted.unit, data.draw(st.booleans()))
    found = cantle.Blocks(rows)
    assert len(found) == len(rows)
    chunks = strategy.split(found)
    laws.check(Cell(strategy, found.text, counted), chunks)
    assert len(cantle.boundaries(chunks)) == len(chunks) == len(chunks.page)
    assert pickle.loads(pickle.dumps(chunks)).heading_paths == chunks.heading_paths


@pytest.mark.parametrize("name", sorted(REGISTRY))
@given(data=st.data(), text=documents)
def test_every_strategy_over_blocks_keeps_the_laws(name, data, text):
    """A16: kinds and paths ride along, and what fits whole is whole, but for blind windows."""
    counted = UNITS[data.draw(UNIT)]()
    size = data.draw(st.integers(4, 120))
    overlap = data.draw(st.sampled_from([0, 0, size // 3]))
    strategy = samples.built(name, size, overlap, counted.unit, data.draw(st.booleans()))
    found = cantle.blocks(text)
    chunks = strategy.split(found)
    laws.check(Cell(strategy, text, counted), chunks)
    assert strategy.split_all([found, text], threads=2)[: len(chunks)].texts == chunks.texts
    blocks = structure_oracle.rows(found)
    for chunk, path in zip(chunks, chunks.heading_paths, strict=True):
        assert chunk.heading_path == path
        # Clauses stand in the path as headings do.
        if chunks.numbering is None:
            want = structure_oracle.path_of(blocks, chunk.char_start, chunk.char_end)
            if name == "documentbased" and path != want:
                # Of a part of a section the last title goes on with a label.
                assert path[-1].startswith(f"{want[-1]} - ")
                path = (*path[:-1], want[-1])
            assert path == want
    laws.parents_are_unions(Cell(strategy, text, counted), chunks)
    whole = ("recursive", "sentence", "structural", "semantic", "optimal", "documentbased")
    if name in (*whole, "hierarchical", "nested"):
        for block in blocks:
            if block["kind"] in structure_oracle.WHOLE:
                tables_are_whole_or_flagged(text, block, chunks, strategy, counted)
    again = pickle.loads(pickle.dumps(chunks))
    assert again == chunks
    assert again.heading_paths == chunks.heading_paths
    assert np.array_equal(again.kind, chunks.kind)


@pytest.mark.parametrize("form", cantle.FORMATS)
@given(data=st.data())
def test_any_text_in_any_form_keeps_the_laws(form, data):
    """Marks of the form in any order, what trips readers, and noise: nothing fails or is lost."""
    text = data.draw(form_texts.of(form))
    found = cantle.blocks(text, format=form)
    assert (found.byte_start < found.byte_end).all()
    assert (found.byte_end[:-1] <= found.byte_start[1:]).all()
    source_start, source_end = found.locate(found.byte_start, found.byte_end)
    assert (source_start < source_end).all()
    assert not len(found) or source_end[-1] <= len(text.encode())
    counted = UNITS[data.draw(UNIT)]()
    size = data.draw(st.one_of(st.integers(4, 8), st.integers(4, 90)))
    template = data.draw(st.sampled_from([None, None, "path", "> {text}\n{path}|{context} --"]))
    strategy = cantle.Structural(
        size, unit=counted.unit, format=form, depth=data.draw(depths), prefix=template,
        min_size=data.draw(st.sampled_from([0, 0, size // 2, size])),
    )  # fmt: skip
    chunks = strategy.split(text, metadata={"title": "T"})
    cell = Cell(strategy, found.text, counted)
    if template is None:
        laws.check(cell, chunks)
    laws.nothing_is_lost(cell, chunks)
    for chunk in chunks:
        if template is not None and not chunk.flags & cantle.OVERSIZE:
            assert counted.count(chunk.embed_text) <= size
    faults = cantle.boundaries(chunks, format=form)
    assert strategy.min_size or not faults.straddles_heading.any()
    other = cantle.Recursive(size, unit=counted.unit).split(text)
    assert len(cantle.boundaries(other, format=form)) == len(other)
