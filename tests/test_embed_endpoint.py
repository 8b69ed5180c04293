"""Vectors from a server: batches, order, limits, and answers that are wrong."""

from __future__ import annotations

import base64
import json
import pickle
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cantle
from cantle.embed import Remote, embed_all
from cantle.embed.door import identity
from cantle.embed.named import resolve
from cantle.endpoint import OPENAI, Endpoint, EndpointError
from cli_runs import cli, write
from endpoint_server import Server, answer, refusal

pytest.importorskip("urllib3")


def vector(text, dimensions=3):
    return [float(len(text)), *[float(sum(text.encode()) % (n + 7)) for n in range(dimensions - 1)]]


def rows(body):
    made = [vector(text, body.get("dimensions", 3)) for text in body["input"]]
    return [{"object": "embedding", "index": i, "embedding": v} for i, v in enumerate(made)]


def embeds(handler, body):
    answer({"object": "list", "data": rows(body)})(handler, body)


def backwards(handler, body):
    answer({"data": rows(body)[::-1]})(handler, body)


def in_base64(handler, body):
    found = rows(body)
    for row in found:
        row["embedding"] = base64.b64encode(np.array(row["embedding"], "<f4").tobytes()).decode()
    answer({"data": found})(handler, body)


def without_index(handler, body):
    found = [{"embedding": row["embedding"]} for row in rows(body)]
    answer({"data": found})(handler, body)


TEXTS = ["One.", "Two words.", "Three words here.", "caf\u00e9 \u6f22\u5b57"]


def remote(server, *, remote_settings=None, **settings):
    settings = {"sleep": lambda seconds: None, "retries": 0} | settings
    return Remote(Endpoint("m", url=server.url, **settings), **remote_settings or {})


@pytest.mark.parametrize("act", [embeds, backwards, in_base64, without_index])
def test_vectors_come_in_the_order_of_the_texts(act):
    with Server(act) as server:
        found = remote(server)(TEXTS)
    assert found.dtype == np.float32
    assert found.tolist() == [vector(text) for text in TEXTS]
    assert server.bodies == [{"model": "m", "input": TEXTS}]


def test_dimensions_are_asked_for_and_held_to():
    with Server(embeds) as server:
        found = remote(server, remote_settings={"dimensions": 5})(TEXTS)
    assert found.shape == (4, 5)
    assert server.bodies[0]["dimensions"] == 5
    with (
        Server(answer({"data": [{"index": 0, "embedding": [1, 2]}]})) as server,
        pytest.raises(EndpointError, match=r"vectors of 2 numbers, not of 5$"),
    ):
        remote(server, remote_settings={"dimensions": 5})(["a"])


def changed(change):
    def act(handler, body):
        found = rows(body)
        answer({"data": change(found) or found})(handler, body)

    return act


def put(i, value):
    return changed(lambda found: found[i].update(embedding=value))


WRONG = {
    "an answer without data": answer({"object": "list"}),
    "3 vectors for 4 texts": changed(lambda found: found[:3]),
    "0 vectors for 4 texts": answer({"data": []}),
    "two vectors with the index 0": changed(lambda found: found[1].update(index=0)),
    "a vector with the index 4 for 4 texts": changed(lambda found: found[0].update(index=4)),
    "a vector with the index -1 for 4 texts": changed(lambda found: found[0].update(index=-1)),
    "a vector with the index None for 4 texts": answer({"data": [[1.0]]}),
    "vectors of 2 and of 3 numbers": put(2, [1.0, 2.0]),
    "NaN or an infinity in the vector with the index 1": put(1, [1.0, float("nan"), 1.0]),
    "NaN or an infinity in the vector with the index 3": put(3, [1e300, 1.0, 1.0]),
    "no numbers as the vector with the index 0": put(0, None),
    "no numbers as the vector with the index 1": put(1, "***"),
    "no numbers as the vector with the index 2": put(2, []),
    "no numbers as the vector with the index 3": put(3, {"a": 1}),
}


@pytest.mark.parametrize("words", WRONG)
def test_an_answer_that_is_wrong_is_told_and_not_asked_for_again(words):
    with Server(WRONG[words]) as server, pytest.raises(EndpointError) as caught:
        remote(server, retries=3)(TEXTS)
    assert str(caught.value) == f"model 'm' at {server.url}/embeddings: {words}"
    assert len(server.bodies) == 1


def test_vectors_of_different_requests_have_one_length():
    def act(handler, body):
        answer({"data": [{"index": 0, "embedding": [1.0] * len(body["input"][0])}]})(handler, body)

    with (
        Server(act) as server,
        pytest.raises(EndpointError, match=r"vectors of 1 and of 3 numbers$"),
    ):
        remote(server, remote_settings={"texts_per_request": 1})(["a", "aaa"])


@given(
    st.lists(st.integers(1, 12), max_size=40),
    st.integers(1, 9),
    st.integers(12, 40),
    st.sampled_from([None, 12, 30]),
)
def test_requests_hold_few_enough_texts_and_tokens(sizes, texts, tokens, minute):
    one = Remote(
        Endpoint("m", tokens_per_minute=minute),
        unit="words",
        texts_per_request=texts,
        tokens_per_request=tokens,
    )
    given = ["a " * size for size in sizes]
    if not given:
        return
    batches = one._batches(given)
    assert [text for batch, _ in batches for text in batch] == given
    most = min(tokens, minute or tokens)
    for number, (batch, total) in enumerate(batches):
        assert total == sum(len(text.split()) for text in batch) <= most
        assert 0 < len(batch) <= texts
        if number + 1 < len(batches):
            more = len(batches[number + 1][0][0].split())
            assert len(batch) == texts or total + more > most


def test_a_text_that_is_too_long_or_empty_is_no_request():
    long = "word " * 600
    cases = {
        "texts[1] ('word word word word word word word word '...) has 601 tokens in cl100k_base, "
        "over max_tokens (512) of the model 'm'": {},
        "texts[1] ('word word word word word word word word '...) has 600 tokens in words, over "
        "max_tokens (9) of the model 'm'": {"unit": "words", "max_tokens": 9},
        "texts[1] ('word word word word word word word word '...) has 600 tokens in words, over "
        "tokens_per_request (300) of the model 'm'": {"unit": "words", "tokens_per_request": 300},
    }
    with Server(embeds) as server:
        for words, settings in cases.items():
            with pytest.raises(cantle.SettingError) as caught:
                remote(server, remote_settings=settings)(["a", long])
            assert str(caught.value) == words
        with pytest.raises(cantle.SettingError, match=r"^texts\[2\] is empty: "):
            remote(server)(["a", "b", ""])
        assert server.bodies == []
        assert remote(server, remote_settings={"max_tokens": 700})([long]).shape == (1, 3)
        assert remote(server)([]).shape == (0, 0)
    known = Remote("text-embedding-3-small")
    assert known._batches(["word " * 8000])[0][1] == 8001


def test_requests_run_side_by_side_and_keep_their_order():
    together = threading.Barrier(4)

    def act(handler, body):
        together.wait(10)
        embeds(handler, body)

    texts = [f"text {i} " + "x" * (i % 5) for i in range(64)]
    with Server(act) as server:
        found = remote(server, remote_settings={"texts_per_request": 8})(texts)
    assert found.tolist() == [vector(text) for text in texts]
    assert len(server.bodies) == 8


def test_the_first_failure_ends_the_call():
    other = threading.Event()

    def act(handler, body):
        if body["input"] == ["text 1"]:
            other.wait()
            refusal(400, "not this one")(handler, body)
        else:
            other.set()
            server.released.wait()

    with Server(act) as server:
        one = remote(server, concurrency=2, remote_settings={"texts_per_request": 1})
        with pytest.raises(EndpointError, match=r"400 not this one$"):
            one([f"text {i}" for i in range(100)])
        assert len(server.bodies) == 2


def test_ctrl_c_ends_a_call_that_waits():
    def act(handler, body):
        if len(server.bodies) == 1:
            child.send_signal(signal.SIGINT)
        server.released.wait()

    code = """
import signal, sys
from cantle.embed import Remote
from cantle.endpoint import Endpoint
# A process that was started in the background may have been told to ignore the signal.
signal.signal(signal.SIGINT, signal.default_int_handler)
one = Remote(Endpoint("m", url=sys.argv[1], concurrency=int(sys.argv[2])), texts_per_request=1)
try:
    one(["a", "b", "c"])
except KeyboardInterrupt:
    print("interrupted")
"""
    for most in ("1", "2"):
        with Server(act) as server:
            command = [sys.executable, "-c", code, server.url, most]
            child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
            assert child.communicate(timeout=120)[0] == "interrupted\n"
            assert child.returncode == 0


def test_it_is_known_by_its_model_wherever_that_runs(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-of-mine")
    here, there = Remote("m@http://localhost:1/v1"), Remote("m@https://example.org/v1")
    assert identity(here) == identity(there) == "endpoint:m:"
    assert identity(Remote("m", dimensions=8)) == "endpoint:m:8"
    assert pickle.loads(pickle.dumps(here)) == here
    told = repr(here) + repr(cantle.Semantic(embedder=here)) + identity(here)
    assert "secret" not in told
    assert b"secret" not in pickle.dumps(here)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"endpoint": 3}, "endpoint (3) must be an Endpoint or a string"),
        ({"dimensions": 0}, "dimensions (0) must be at least 1"),
        ({"max_tokens": True}, "max_tokens (True) must be a whole number"),
        ({"texts_per_request": None}, "texts_per_request (None) must be a whole number"),
        ({"tokens_per_request": -1}, "tokens_per_request (-1) must be at least 1"),
    ],
)
def test_settings_are_checked(settings, message):
    with pytest.raises((TypeError, cantle.SettingError)) as caught:
        Remote(**{"endpoint": "m"} | settings)
    assert str(caught.value) == message


def test_names_of_endpoints():
    found = resolve("openai:nomic-embed-text:v1.5@http://localhost:11434/v1/")
    assert found == Remote(Endpoint("nomic-embed-text:v1.5", url="http://localhost:11434/v1"))
    assert resolve("openai:text-embedding-3-small").endpoint.url == OPENAI
    with pytest.raises(cantle.SettingError, match="names no model"):
        resolve("openai:")


def test_a_strategy_and_the_door_take_it():
    with Server(embeds) as server:
        one = remote(server)
        assert embed_all(one, TEXTS, batch_size=2).shape == (4, 3)
        text = "One. Two words. Three words here."
        spec = f"semantic:20:0:words,embedder=openai:m@{server.url}"
        assert cantle.strategy_from_text(spec).split(text).texts
        assert server.bodies[-1]["input"] == ["One.", "Two words.", "Three words here."]


def test_the_command_line(tmp_path, monkeypatch):
    file = write(tmp_path / "a.txt", "One. Two words.\n")
    with Server(embeds, refusal(401, "who are you?")) as server:
        name = f"openai:m@{server.url}"
        result = cli(file, "-s", "semantic", "--embedder", name)
        assert (result.status, len(result.rows)) == (0, 1)
        result = cli(file, "-s", "semantic", "--embedder", name)
    assert result.status == 1
    assert f"model 'm' at {server.url}/embeddings: 401 who are you?" in result.err
    assert "Traceback" not in result.err
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    result = cli(file, "-s", "semantic", "--embedder", "openai:text-embedding-3-small")
    assert result.status == 2
    assert "OPENAI_API_KEY is not set" in result.err
    assert json.dumps("sk-") not in result.err
