"""A process that writes a store is killed: what was committed is there, and nothing is half there.

It is killed at 24 moments, always the same; `CANTLE_SLOW_TESTS=1` takes 60, others every time.
"""

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import cantle
from conftest import SLOW
from processes import environment
from stores import assert_found, assert_sound, nearest, opened, rows_of, vector_of, words

MOMENTS = 20 if SLOW else 8
SEED = random.SystemRandom().randrange(1 << 32) if SLOW else 10

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")

# Forks for each line it is told, so that what a writer needs is imported once. The fork tells of
# every SQL statement, call of the embedder, step of an index and rename; at the moment it was told
# to, it says so and waits to be killed.
WRITER = """
import json
import os
import signal
import sys
import traceback

import faiss

import cantle
from cantle.store import loading, sync
from stores import Hashing, numbered, opened, words
from test_store_crash import state

loading._AT_ONCE = 2
sync._AT_ONCE = 3
happened = 0


def say(*words):
    # At once: of a line that it printed in pieces, a killed writer left the first one.
    os.write(1, (" ".join(map(str, words)) + "\\n").encode())


def event(*_):
    global happened
    happened += 1
    if happened == abs(moment):
        say("here", os.getpid())
        while moment > 0:
            signal.pause()
        # Otherwise on: it is killed while it works.


class Telling(Hashing):
    def __call__(self, texts):
        event()
        return super().__call__(texts)


def rename(old, new, really=os.replace):
    event()
    really(old, new)
    event()


os.replace = rename


def cut(version, docs):
    names = [f"d{doc}" for doc in docs]
    return words(3).split_all(numbered(docs, version), ids=names)


PHASES = (
    lambda: store.load(cut(0, range(20)), min_chars=0),
    lambda: store.backfill(batch_size=4),
    lambda: store.load(cut(1, range(5, 10)), min_chars=0, embed=True),
    lambda: store.add("d3", "window", "a text that was added"),
    lambda: store.build_index(progress=event),
    lambda: store.delete("d0"),
    lambda: store.load(cut(2, range(8, 14)), min_chars=0),
    lambda: store.sync(
        numbered(range(4, 22), 3), ids=[f"d{doc}" for doc in range(4, 22)], strategy=words(3),
        min_chars=0,
    ),
    lambda: store.build_index(progress=event),
)


def write():
    for number, phase in enumerate(PHASES):
        phase()
        say("done", number)
        if not moment:
            store._database._connection.set_trace_callback(None)
            say("state", json.dumps(state(store)))
            store._database._connection.set_trace_callback(event)
    say("events", happened)


for line in sys.stdin:
    path, moment = json.loads(line)
    child = os.fork()
    if not child:
        try:
            index = cantle.index.Hnsw(m=4, ef_construction=16)
            store = opened(path, embedder=Telling(), index=index)
            store._database._connection.set_trace_callback(event)
            write()
            store.close()
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    say("ended", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
PHASES = 9


@pytest.fixture(scope="module")
def writer():
    """Return a process that writes a store for each line it is told."""
    path = os.pathsep.join([*sys.path, os.path.dirname(__file__)])
    with subprocess.Popen(
        [sys.executable, "-c", WRITER],
        env=environment() | {"PYTHONPATH": path},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield process


def run(writer, path: Path, moment: int):
    """Write until the moment; return the last phase that was done, the events and the states."""
    writer.stdin.write(json.dumps([str(path), moment]) + "\n")
    writer.stdin.flush()
    done, events, states = -1, 0, []
    for line in writer.stdout:
        said, told = line.split(maxsplit=1)
        if said == "here":
            with contextlib.suppress(ProcessLookupError):  # It came to its end meanwhile.
                os.kill(int(told), signal.SIGKILL)
        elif said == "done":
            done = int(told)
        elif said == "state":
            states.append({name: tuple(found) for name, found in json.loads(told).items()})
        elif said == "events":
            events = int(told)
        elif said == "ended":
            assert int(told) == -signal.SIGKILL or (events and int(told) == 0)
            return done, events, states
        else:
            raise AssertionError(line)
    raise AssertionError("the writer broke down")


def state(store: cantle.Store) -> dict[str, tuple[list[str], bool]]:
    """Return the texts of each document, and whether they have vectors."""
    snapshot = store.snapshot()
    found = {}
    for at, source in enumerate(snapshot.sources):
        rows = np.flatnonzero(snapshot.source == at)
        found[source.id] = snapshot.texts(rows), bool(snapshot.embedded[rows].all())
    return found


@pytest.fixture(scope="module")
def uninterrupted(writer, tmp_path_factory):
    """Return what the store holds after each phase, and how many events there are in all."""
    done, events, states = run(writer, tmp_path_factory.mktemp("whole") / "kb", 0)
    assert done == PHASES - 1
    assert events > 300
    states = [{}, *states]
    assert len(states) == PHASES + 1
    assert len({json.dumps(state) for state in states}) == PHASES - 1  # Two build an index.
    return states, events


def check_left(path: Path, states, done: int) -> None:
    """Check what a killed writer left: each document as before the phase, or as after it."""
    before, after = states[done + 1], states[min(done + 2, PHASES)]
    with opened(path, index=cantle.index.Hnsw(m=4, ef_construction=16)) as store:
        assert_sound(store)
        found = state(store)
        for name in before.keys() | after.keys() | found.keys():
            assert found.get(name) in (before.get(name), after.get(name)), name
        snapshot = store.snapshot()
        rows = [row for row, there in zip(rows_of(store), snapshot.embedded, strict=True) if there]
        for question in ("3.0.0 3.1.0 3.2.0", "nothing like it"):
            hits = store.search(question, k=5)
            assert_found(hits, nearest(rows, vector_of(question), 5))

        store.backfill()
        assert store.info()["waiting"] == 0
        assert_sound(store)
        assert_found(
            store.search("a question", k=7), nearest(rows_of(store), vector_of("a question"), 7)
        )
        store.load(words(3).split("what comes after", id="new"), embed=True, min_chars=0)
        assert store.search("what comes after", k=1).ids == ["new_window_0"]
        assert_sound(store)


@pytest.mark.parametrize("kind", ["at an event", "while it works"])
@pytest.mark.parametrize("number", range(MOMENTS))
def test_a_killed_writer_leaves_a_whole_store(tmp_path, writer, uninterrupted, number, kind):
    print("seed", SEED)
    states, events = uninterrupted
    # One of each part of the run, so that few moments reach all phases.
    choice = random.Random(f"{SEED} {number} {kind}").random()
    moment = 1 + int((number + choice) / MOMENTS * (events - 1))
    path = tmp_path / "kb"
    done, *_ = run(writer, path, moment if kind == "at an event" else -moment)
    check_left(path, states, done)
    # Nothing but the store and its index is left when it was closed.
    assert {entry.name for entry in tmp_path.iterdir()} <= {"kb", "kb.hnsw"}


def test_a_writer_may_be_killed_again_and_again(tmp_path, writer, uninterrupted):
    _, events = uninterrupted
    path = tmp_path / "kb"
    chosen = random.Random(f"{SEED} again")
    for _ in range(MOMENTS):
        run(writer, path, chosen.randrange(1, events // 2))
        with opened(path) as store:
            assert_sound(store)
    assert run(writer, path, 0)[0] == PHASES - 1
    with opened(path) as store:
        assert_sound(store)
        assert store.info()["waiting"] == 0
