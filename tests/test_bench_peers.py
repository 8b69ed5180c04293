"""Libraries that `cantle bench` compares with answer in chunks of the text, fail, or never end."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

import cantle
from cantle.bench import measure, peers
from cantle.bench.corpus import Corpus
from cantle.bench.faults import faults
from cantle.bench.peers import Library, Peer
from cantle.strategies import Splitting
from cli_runs import TEXT

# Peers of our own, which other processes find by name.


def broken(question: Splitting) -> Peer | None:
    """Fails at work."""

    def cut(text: str) -> None:
        raise ValueError("no such luck")

    return Peer(cut, lambda answer: [])


def endless(question: Splitting) -> Peer | None:
    """Does not end."""
    return Peer(lambda text: time.sleep(60), lambda answer: [])


def test_a_peer_that_does_not_end_is_ended(tmp_path: Path) -> None:
    corpus = Corpus.write(str(tmp_path), [TEXT])
    library = Library("pytest", "pytest", endless)
    request = measure.Request("peer", corpus, cantle.Window(9), library=library)
    with pytest.raises(measure.Failed, match=r"^it took more than 1 s$"):
        measure.in_a_process(request, 1.0)


def test_why_a_process_failed_is_told(tmp_path: Path) -> None:
    corpus = Corpus.write(str(tmp_path), [TEXT])
    library = Library("pytest", "pytest", broken)
    request = measure.Request("peer", corpus, cantle.Window(9), library=library)
    with pytest.raises(measure.Failed, match=r"^ValueError: no such luck$"):
        measure.in_a_process(request)


# Those that are installed.

INSTALLED = [name for name, library in peers.LIBRARIES.items() if library.installed]


@pytest.mark.parametrize("name", INSTALLED)
@pytest.mark.parametrize(
    "question",
    [
        cantle.Window(60, 7, "chars"),
        cantle.Recursive(60, unit="chars"),
        cantle.Sentence(60, unit="chars"),
        cantle.Window(20, 4),
        cantle.Recursive(20),
        cantle.Sentence(20),
    ],
    ids=repr,
)
def test_a_library_answers_in_chunks_of_the_text(name: str, question: Splitting) -> None:
    library = peers.LIBRARIES[name]
    peer = library.adapt(question)
    if peer is not None:
        answer = peer.read(peer.cut(TEXT * 5))
        assert len(answer) > 3
        assert faults(TEXT * 5, answer, question) == {}


@pytest.mark.parametrize("name", INSTALLED)
def test_what_others_do_not_have_is_not_answered(name: str) -> None:
    library = peers.LIBRARIES[name]
    for question in (
        cantle.Whole(),
        cantle.Recursive(9, unit="words"),
        cantle.Recursive(9, unit="bytes"),
        cantle.Recursive(9, unit="chars", min_size=5),
    ):
        assert library.adapt(question) is None


def test_a_reference_for_every_vocabulary_that_others_have() -> None:
    for name in peers._ENCODINGS:
        text = "Words,  12345 of them\n\n\u6f22\u5b57 <|endoftext|>"
        expected = cantle.Tokenizer.from_name(name).encode(text).ids.tolist()
        assert peers.reference(name).encode_ordinary(text) == expected
