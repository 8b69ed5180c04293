"""A process that writes a store is killed: what was committed is there, and nothing is half there.

`CANTLE_SLOW_TESTS=1` takes 20 moments of each kind, others every time; by default a few.
"""

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

MOMENTS = 20 if SLOW else 4
SEED = random.SystemRandom().randrange(1 << 32) if SLOW else 10

# Tells of every SQL statement, call of the embedder, step of an index and rename; at the moment it
# was told to, it says so and waits to be killed.
WRITER = """
import os
import sys

import cantle
from cantle.store import loading, sync
from stores import Hashing, opened, words

path, moment = sys.argv[1], int(sys.argv[2])
loading._AT_ONCE = 2
sync._AT_ONCE = 3
happened = 0


def event(*_):
    global happened
    happened += 1
    if happened == moment:
        print("here", flush=True)
        sys.stdin.read()
    if moment < 0 and happened == -moment:
        print("here", flush=True)  # And on: it is killed while it works.


class Telling(Hashing):
    def __call__(self, texts):
        event()
        return super().__call__(texts)


def rename(old, new, really=os.replace):
    event()
    really(old, new)
    event()


os.replace = rename


def texts(version, docs):
    return [
        " ".join(f"{doc}.{i}.{version if i % 3 == 0 else 0}" for i in range(doc % 5 * 4 + 1))
        for doc in docs
    ]


def cut(version, docs):
    names = [f"d{doc}" for doc in docs]
    return words(3).split_all(texts(version, docs), ids=names)


store = opened(path, embedder=Telling(), index=cantle.index.Hnsw(m=4, ef_construction=16))
store._database._connection.set_trace_callback(event)
PHASES = (
    lambda: store.load(cut(0, range(20)), min_chars=0),
    lambda: store.backfill(batch_size=4),
    lambda: store.load(cut(1, range(5, 10)), min_chars=0, embed=True),
    lambda: store.add("d3", "window", "a text that was added"),
    lambda: store.build_index(progress=event),
    lambda: store.delete("d0"),
    lambda: store.load(cut(2, range(8, 14)), min_chars=0),
    lambda: store.sync(
        texts(3, range(4, 22)), ids=[f"d{doc}" for doc in range(4, 22)], strategy=words(3),
        min_chars=0,
    ),
    lambda: store.build_index(progress=event),
)
for number, phase in enumerate(PHASES):
    print("begin", number, flush=True)
    phase()
    print("done", number, flush=True)
print("events", happened)
"""
PHASES = 9


def run(path: Path, moment: int) -> tuple[int, int]:
    """Run the writer until it is killed; return the last phase that was done, and the events."""
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), str(moment)],
        env=environment() | {"PYTHONPATH": os.pathsep.join([*sys.path, os.path.dirname(__file__)])},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdin is not None
    done, events = -1, 0
    for line in process.stdout:
        said = line.split()
        if said == ["here"]:
            process.send_signal(signal.SIGKILL)
        elif said[0] == "done":
            done = int(said[1])
        elif said[0] == "events":
            events = int(said[1])
    process.stdin.close()
    process.stdout.close()
    assert process.wait() == (0 if events else -signal.SIGKILL)
    return done, events


def state(store: cantle.Store) -> dict[str, tuple[list[str], bool]]:
    """Return the texts of each document, and whether they have vectors."""
    snapshot = store.snapshot()
    found = {}
    for at, source in enumerate(snapshot.sources):
        rows = np.flatnonzero(snapshot.source == at)
        found[source.id] = snapshot.texts(rows), bool(snapshot.embedded[rows].all())
    return found


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    """Return what the store holds after each phase, and how many events there are in all."""
    states: list[dict[str, tuple[list[str], bool]]] = [{}]
    source = WRITER.replace('print("done", number, flush=True)', "tell()")
    told = """
import json, numpy as np
from test_store_crash import state
def tell():
    store._database._connection.set_trace_callback(None)
    print(json.dumps(state(store)))
    store._database._connection.set_trace_callback(event)
"""
    source = source.replace("PHASES = (", f"{told}\nPHASES = (")
    path = tmp_path_factory.mktemp("whole") / "kb"
    done = subprocess.run(
        [sys.executable, "-c", source, str(path), "0"],
        env=environment() | {"PYTHONPATH": os.pathsep.join([*sys.path, os.path.dirname(__file__)])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for line in done.stdout.splitlines():
        if line.startswith("{"):
            states.append({name: tuple(told) for name, told in json.loads(line).items()})
    events = int(done.stdout.split()[-1])
    assert len(states) == PHASES + 1
    assert events > 300
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
def test_a_killed_writer_leaves_a_whole_store(tmp_path, uninterrupted, number, kind):
    print("seed", SEED)
    states, events = uninterrupted
    # One of each part of the run, so that few moments reach all phases.
    choice = random.Random(f"{SEED} {number} {kind}").random()
    moment = 1 + int((number + choice) / MOMENTS * (events - 1))
    path = tmp_path / "kb"
    done, _ = run(path, moment if kind == "at an event" else -moment)
    check_left(path, states, done)
    # Nothing but the store and its index is left when it was closed.
    assert {entry.name for entry in tmp_path.iterdir()} <= {"kb", "kb.hnsw"}


def test_a_writer_may_be_killed_again_and_again(tmp_path, uninterrupted):
    _, events = uninterrupted
    path = tmp_path / "kb"
    chosen = random.Random(f"{SEED} again")
    for _ in range(MOMENTS):
        run(path, chosen.randrange(1, events // 2))
        with opened(path) as store:
            assert_sound(store)
    assert run(path, 0)[0] == PHASES - 1
    with opened(path) as store:
        assert_sound(store)
        assert store.info()["waiting"] == 0
