"""`DocumentBased`: sections, divided where their subject shifts, with headings for the parts."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import cantle
import samples
from cantle import DocumentBased
from cantle.embed import Keyword
from cantle.labels import opening_words

STUDY = (
    "# Study Design\n\n"
    "We combined a quantitative survey with qualitative interviews. The quantitative part fitted "
    "a linear model of reported satisfaction on age, region and tenure. Nested models were "
    "compared by their AIC values. The qualitative part coded every open answer into themes. Two "
    "coders worked alone on the qualitative answers and agreed with \u03ba=0.85.\n"
)
TOPICS = Keyword(["quantitative linear model nested", "qualitative coded open themes coders"])


def test_worked_example_x4():
    strategy = DocumentBased(40, unit="words", target=30, embedder=TOPICS)
    chunks = strategy.split(STUDY)
    distances = chunks.distances.distance
    assert np.allclose(distances[:-1], [1 - 0.5**0.5, 0, 1, 0], atol=1e-6)
    assert distances[:-1].round(3).tolist() == [0.293, 0, 1, 0]
    assert chunks.heading_paths == [
        ("Study Design - Quantitative",),
        ("Study Design - Qualitative",),
    ]
    assert chunks.texts == [
        STUDY[: STUDY.index(" The qualitative part")],
        STUDY[STUDY.index("The qualitative part") :].strip(),
    ]
    assert [chunk.text.count(".") for chunk in chunks] == [3, 3]
    assert chunks.ids == ["doc0_documentbased_0", "doc0_documentbased_1"]
    assert chunks[1].embed_text.startswith("Study Design - Qualitative\n\nThe qualitative part")
    assert pickle.loads(pickle.dumps(chunks)) == copy.deepcopy(chunks) == chunks
    assert chunks[1:].heading_paths == chunks.heading_paths[1:]


SECTIONS = f"Before any heading.\n\n## Tea\n\nWarm the pot.\n\n{STUDY}\n## Rain\n\nIt rains.\n"


def test_sections_that_fit_are_left_alone_and_not_embedded():
    seen = []

    def embedder(texts):
        seen.extend(texts)
        return TOPICS(texts)

    strategy = DocumentBased(40, unit="words", target=30, embedder=embedder, depth="all")
    together = strategy.split_all([SECTIONS, "## Tea\n\nWarm the pot.\n", STUDY], ids=list("abc"))
    assert len(seen) == 10
    assert seen[0] == "We combined a quantitative survey with qualitative interviews."
    first = together[together.doc == 0]
    assert first.heading_paths == [
        (),
        ("Tea",),
        ("Study Design - Quantitative",),
        ("Study Design - Qualitative",),
        ("Study Design", "Rain"),
    ]
    assert together[together.doc == 1].heading_paths == [("Tea",)]
    assert together[together.doc == 2].texts == strategy.split(STUDY).texts
    plain = cantle.Structural(40, unit="words", depth="all").split(SECTIONS)
    assert first.texts[:2] == plain.texts[:2]
    seen.clear()
    strategy.split("## Tea\n\nWarm the pot.\n")
    assert seen == [], "nothing is over the limit, and nothing is embedded"


def test_each_section_has_a_threshold_of_its_own():
    text = STUDY + "\n# Other\n\n" + "Open themes. Linear model. " * 12
    chunks = DocumentBased(40, unit="words", target=30, embedder=TOPICS, depth=1).split(text)
    found = chunks.distances
    assert len(set(found.threshold.tolist())) == 2
    assert np.isnan(found.distance).sum() == 2


def test_labels_go_to_the_heading_in_force():
    body = "Linear models are nested here. " * 4 + "Open themes were coded there. " * 4
    text = f"# A\n\n{body}\n\n## B\n\n{body}\n"
    chunks = DocumentBased(24, unit="words", embedder=TOPICS, depth=1, distance=0.5).split(text)
    assert chunks.heading_paths == [
        ("A - Linear",), ("A - Open",), ("A", "B - Linear"), ("A", "B - Open"),
    ]  # fmt: skip


def test_a_labeller_of_ones_own():
    told = []

    def label(heading, parts):
        told.append((heading, [len(part) for part in parts]))
        return ["", "Coded"]

    strategy = DocumentBased(40, unit="words", target=30, embedder=TOPICS, label=label)
    assert strategy.split(STUDY).heading_paths == [("Study Design",), ("Study Design - Coded",)]
    assert told == [("Study Design", [3, 2])]


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["one"], "label: 1 labels for 2 parts"),
        (["one", 2], "label: ['one', 2] where a list of strings is expected"),
        (None, "label: None where a list of strings is expected"),
    ],
)
def test_labels_are_checked(labels, message):
    strategy = DocumentBased(
        40, unit="words", target=30, embedder=TOPICS, label=lambda heading, parts: labels
    )
    with pytest.raises((TypeError, cantle.SettingError)) as caught:
        strategy.split(STUDY)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("heading", "parts", "labels"),
    [
        # Neither stop words, nor numerals, nor words of the heading.
        ("The Pot", [["The pot is 3 times warm."], ["It's one cup."]], ["Times", "Cup"]),
        # Counts in the other parts are taken off; of two the earlier.
        ("", [["Rain fell.", "Tea cooled.", "Tea again."], ["Rain. Tea. Tea."]], ["Rain", "Rain"]),
        ("", [["It was."], ["Of 12 and 2nd."]], ["", ""]),
        ("", [["\u00c9t\u00e9 chaud."], ["\u6f22\u5b57\u3002"]], ["\u00c9t\u00e9", "\u6f22\u5b57"]),
    ],
)
def test_labels_are_words_that_open_sentences(heading, parts, labels):
    assert opening_words(heading, parts) == labels


def test_plain_text_and_pages_have_sections_too():
    text = STUDY.replace("# Study Design", "Study Design\n============")
    chunks = DocumentBased(40, unit="words", target=30, embedder=TOPICS, format="text").split(text)
    assert [path[-1] for path in chunks.heading_paths] == [
        "Study Design - Quantitative",
        "Study Design - Qualitative",
    ]
    html = f"<h1>Study Design</h1><p>{STUDY.partition(chr(10))[2].strip()}</p>"
    chunks = DocumentBased(40, unit="words", target=30, embedder=TOPICS).split(html, id="a.html")
    assert [path[-1] for path in chunks.heading_paths] == [
        "Study Design - Quantitative",
        "Study Design - Qualitative",
    ]


def test_a_callable_unit_and_its_failure():
    strategy = DocumentBased(40, unit=words, target=30, embedder=TOPICS)
    assert len(strategy.split(STUDY)) == 2

    def fails(text):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        DocumentBased(40, unit=fails, embedder=TOPICS).split(STUDY)


def words(text):
    return len(text.split())


def test_arrow_and_other_settings():
    chunks = DocumentBased(40, unit="words", target=30, embedder=TOPICS).split(STUDY)
    pa = pytest.importorskip("pyarrow")
    assert pa.table(chunks).num_rows == 2
    parents = cantle.Whole(99, unit="words").split_all([SECTIONS, STUDY])
    children = DocumentBased(40, unit="words", target=30, embedder=TOPICS).split_within(parents)
    assert children[children.doc == 1].texts == chunks.texts
    with pytest.raises(TypeError, match="label \\(3\\) must be callable or None"):
        DocumentBased(40, embedder=samples.letters, label=3)


def test_labels_read_a_section_once():
    """A sentence larger than many chunks was once handed to the labeller for each of them."""
    for text in ("# A\n\n" + "word " * 3_000, "# A\n\n" + "Open themes. " * 1_500):
        seen = []

        def label(heading, parts, seen=seen):
            seen.append(sum(len(sentence) for part in parts for sentence in part))
            return [""] * len(parts)

        chunks = DocumentBased(10, unit="words", embedder=TOPICS, label=label).split(text)
        assert len(chunks) >= 300
        assert sum(seen) <= len(text)
