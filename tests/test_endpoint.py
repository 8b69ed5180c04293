"""The connection to an OpenAI-compatible server, against one that misbehaves on purpose."""

from __future__ import annotations

import pickle
import threading
from email.utils import formatdate
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

import cantle
from cantle.chat import resolve_model
from cantle.embed import Remote
from cantle.embed.named import resolve
from cantle.endpoint import OPENAI, Endpoint, EndpointError, endpoint_from_text
from cantle.pace import Pace
from cantle.parallel import in_order
from endpoint_server import Server, answer, half, refusal, reply, reset

pytest.importorskip("urllib3")

KEY = "a1b2c3d4-e5f6"
FINE = answer({"data": []})


class Clock:
    """Time that passes by sleeping alone."""

    def __init__(self):
        self.now = 0.0
        self.slept = []

    def __call__(self):
        return self.now

    def sleep(self, seconds):
        self.slept.append(seconds)
        self.now += seconds


@pytest.fixture
def key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def endpoint(server, clock, **settings):
    return Endpoint("m", url=server.url, **{"clock": clock, "sleep": clock.sleep} | settings)


def asked(server, clock, **settings):
    return endpoint(server, clock, **settings).post("/embeddings", {"input": ["a"]})


def test_a_request_is_one_and_carries_the_key(key):
    clock = Clock()
    with Server(FINE) as server:
        assert asked(server, clock) == {"data": []}
        assert asked(server, clock, key_env=None) == {"data": []}
        assert asked(server, clock, key_env="NO_SUCH_VARIABLE") == {"data": []}
    assert server.bodies == [{"model": "m", "input": ["a"]}] * 3
    sent = [headers.get("Authorization") for headers in server.headers]
    assert sent == [f"Bearer {KEY}", None, None]
    assert clock.slept == []


PASSING = {
    "too many": refusal(429, "slow down"),
    "a fault": reply(500, b"oops", "text/plain"),
    "a page of a proxy": reply(502, b"<html><title>Bad gateway</title></html>", "text/html"),
    "a reset": reset,
    "a short body": half(b'{"data": []}'),
    "half of JSON": reply(200, b'{"data": [{"ind'),
    "nothing": reply(200, b""),
}


@pytest.mark.parametrize("case", PASSING)
def test_what_passes_is_tried_again(case):
    clock = Clock()
    with Server(PASSING[case], PASSING[case], FINE) as server:
        assert asked(server, clock) == {"data": []}
    assert len(server.bodies) == 3
    assert len(clock.slept) == 2
    for number, pause in enumerate(clock.slept):
        assert 0.25 * 2**number <= pause <= 0.5 * 2**number


@pytest.mark.parametrize("case", PASSING)
def test_what_does_not_pass_in_time_is_told(case):
    clock = Clock()
    with Server(PASSING[case]) as server, pytest.raises(EndpointError) as caught:
        asked(server, clock, retries=7)
    assert len(server.bodies) == 8
    assert len(clock.slept) == 7
    assert max(clock.slept) <= 30
    words = str(caught.value)
    assert words.startswith(f"model 'm' at {server.url}/embeddings: ")
    assert words.endswith(" (8 tries)")


def test_the_words_of_a_failure():
    tells = {
        "too many": "429 slow down (2 tries)",
        "a fault": "500 oops (2 tries)",
        "a page of a proxy": "502 Bad gateway (2 tries)",
        "nothing": "half an answer (Expecting value: line 1 column 1 (char 0)) (2 tries)",
    }
    for case, words in tells.items():
        with Server(PASSING[case]) as server, pytest.raises(EndpointError) as caught:
            asked(server, Clock(), retries=1)
        assert str(caught.value) == f"model 'm' at {server.url}/embeddings: {words}"
    assert (caught.value.status, caught.value.model) == (200, "m")
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.status, again.url) == (
        str(caught.value),
        200,
        f"{server.url}/embeddings",
    )


REFUSED = {
    400: (refusal(400, "no such dimension"), "400 no such dimension"),
    401: (refusal(401, f"wrong key {KEY}, or sk-proj-****abcd"), "401 wrong key ***, or ***"),
    404: (answer({"detail": "Not Found"}, 404), "404 Not Found"),
    413: (reply(413, b"x" * 999, "text/plain"), "413 " + "x" * 297 + "..."),
    # The key would go where a redirect leads.
    307: (reply(307, b"", Location="http://127.0.0.1:9/v1"), "307"),
}


@pytest.mark.parametrize("status", REFUSED)
def test_what_does_not_pass_is_not_tried_again(status, key):
    act, words = REFUSED[status]
    clock = Clock()
    with Server(act) as server, pytest.raises(EndpointError) as caught:
        asked(server, clock)
    assert str(caught.value) == f"model 'm' at {server.url}/embeddings: {words}"
    assert caught.value.status == status
    assert len(server.bodies) == 1
    assert clock.slept == []


def test_what_is_no_answer_is_told_at_once():
    page = reply(200, b"<html><title>Welcome</title>", "text/html")
    cases = {
        "an answer that is no JSON: 'Welcome'; url must be where the API starts, usually "
        ".../v1": page,
        "list where an object is expected": answer([1]),
        "200 it is loading": answer({"error": "it is loading"}),
    }
    for words, act in cases.items():
        with Server(act) as server, pytest.raises(EndpointError) as caught:
            asked(server, Clock())
        assert str(caught.value) == f"model 'm' at {server.url}/embeddings: {words}"
        assert len(server.bodies) == 1


def test_retry_after_is_honoured():
    clock = Clock()
    soon, zero = refusal(429, "x", Retry_After="7.5"), refusal(503, "x", Retry_After="0")
    past = refusal(429, "x", Retry_After=formatdate(0, usegmt=True))
    wrong = refusal(429, "x", Retry_After="tomorrow")
    with Server(soon, zero, past, wrong, FINE) as server:
        assert asked(server, clock) == {"data": []}
    assert clock.slept[0] == 7.5
    # Zero, a date in the past and nonsense leave the pause of our own.
    for number, pause in enumerate(clock.slept[1:], 1):
        assert 0.25 * 2**number <= pause <= 0.5 * 2**number
    long = refusal(429, "come back tomorrow", Retry_After="86400")
    with Server(long) as server, pytest.raises(EndpointError, match=r"429 come back tomorrow$"):
        asked(server, clock)
    assert len(server.bodies) == 1


def test_a_server_that_says_nothing_runs_into_the_timeout():
    def silent(handler, body):
        server.released.wait()

    # On a busy machine the answer may take longer than that as well.
    with Server(silent, FINE) as server:
        assert asked(server, Clock(), timeout=0.1, retries=200) == {"data": []}
    assert len(server.bodies) >= 2
    with Server(silent) as server, pytest.raises(EndpointError) as caught:
        asked(server, Clock(), timeout=0.05, retries=0)
    assert str(caught.value).endswith(": no answer within 0.05 s")


def test_an_answer_in_drops_runs_into_the_timeout():
    """Each byte would start a socket's own timeout anew."""

    def drops(handler, body):
        handler.send_response(200)
        handler.send_header("Content-Length", "100000")
        handler.end_headers()
        while not server.released.wait(0.005):
            handler.wfile.write(b" ")
            handler.wfile.flush()

    with Server(drops, FINE) as server:
        assert asked(server, Clock(), timeout=0.2, retries=200) == {"data": []}
    assert len(server.bodies) >= 2


def test_nobody_there():
    with Server(FINE) as server:
        pass
    clock = Clock()
    with pytest.raises(EndpointError, match=r"the connection failed \(.*refused\) \(3 tries\)$"):
        asked(server, clock, retries=2)
    assert len(clock.slept) == 2


def test_the_key_is_nowhere(key):
    one = Endpoint("m", url="http://localhost:1/v1")
    assert KEY not in repr(one) + str(vars(one))
    assert KEY.encode() not in pickle.dumps(one)
    again = pickle.loads(pickle.dumps(one))
    assert again == one
    assert hash(again) == hash(one)


def test_a_forked_process_waits_for_no_thread_of_its_parent(monkeypatch):
    with Server(FINE) as server:
        one = endpoint(server, Clock(), concurrency=1)
        assert one._places.acquire(timeout=1), "as a thread of the parent does"
        parent = one._pool()
        monkeypatch.setattr("os.getpid", lambda: 1)
        assert one.post("/embeddings", {}) == {"data": []}
        assert one._pool() is not parent


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"model": ""}, "model ('') must be a string that is not empty"),
        ({"model": 3}, "model (3) must be a string that is not empty"),
        ({"url": "localhost/v1"}, "url ('localhost/v1') must begin with http:// or https:// and "
         "a host"),
        ({"url": "http://a:b@c/v1"}, "url must not hold a name or a password: the key is in "
         "key_env"),
        ({"url": "http://c/v1?key=1"}, "url ('http://c/v1?key=1') must end with a path, as in "
         "https://api.openai.com/v1"),
        ({"key_env": ""}, "key_env ('') must be a string that is not empty"),
        ({"timeout": 0}, "timeout (0) must be at least 0.001"),
        ({"timeout": float("nan")}, "timeout (nan) must be at least 0.001"),
        ({"timeout": None}, "timeout (None) must be a number"),
        ({"retries": -1}, "retries (-1) must be at least 0"),
        ({"retries": 1.5}, "retries (1.5) must be a whole number"),
        ({"concurrency": 0}, "concurrency (0) must be at least 1"),
        ({"requests_per_minute": 0}, "requests_per_minute (0) must be at least 1"),
        ({"tokens_per_minute": "9"}, "tokens_per_minute ('9') must be a number"),
    ],
)  # fmt: skip
def test_settings_are_checked(settings, message):
    with pytest.raises((TypeError, cantle.SettingError)) as caught:
        Endpoint(**{"model": "m"} | settings)
    assert str(caught.value) == message


def test_what_a_text_names():
    found = endpoint_from_text("a/b:c@d@https://e.example/v1/")
    assert (found.model, found.url) == ("a/b:c@d", "https://e.example/v1")
    assert endpoint_from_text("text-embedding-3-small").url == OPENAI
    for text in ("", "@http://localhost/v1"):
        with pytest.raises(cantle.SettingError, match="names no model: MODEL, or MODEL@URL"):
            endpoint_from_text(text)


@pytest.mark.parametrize(
    "url", ["nourl", "localhost:11434/v1", "ftp://host/v1", "HTTP//host", "", " "]
)
def test_what_stands_behind_an_at_must_be_a_url(url):
    """It was taken for a part of the model's name, so the texts went to OpenAI."""
    for text in (f"m@{url}", f"a@b@{url}"):
        for make in (endpoint_from_text, Remote, lambda text: resolve(f"openai:{text}"),
                     lambda text: resolve_model(f"openai:{text}")):  # fmt: skip
            with pytest.raises((TypeError, cantle.SettingError)) as caught:
                make(text)
            assert str(caught.value).startswith(f"url ({url!r}) must be")


def test_what_is_missing_is_told_before_a_request(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(cantle.SettingError, match=r"^OPENAI_API_KEY is not set: https://api"):
        Endpoint("m").check()
    Endpoint("m", url="http://localhost:1/v1").check()
    monkeypatch.setattr("cantle.endpoint.find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"install cantle\[endpoint\]. Without a network:"):
        Endpoint("m").check()


def test_a_proxy_is_taken_from_the_environment(monkeypatch):
    with Server(FINE) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url.replace("http://", "http://u:p@"))
        monkeypatch.setenv("no_proxy", "localhost,127.0.0.1")
        one = Endpoint("m", url="http://embeddings.invalid/v1", key_env=None)
        assert one.post("/embeddings", {}) == {"data": []}
        with pytest.raises(EndpointError):
            Endpoint("m", url="http://127.0.0.1:1/v1", retries=0).post("/embeddings", {})
    assert [headers["proxy-authorization"] for headers in proxy.headers] == ["Basic dTpw"]


def test_only_so_many_requests_run_at_a_time():
    """Each request waits until as many as are allowed stand beside it."""
    together = threading.Barrier(3)
    seen = []

    def act(handler, body):
        seen.append(together.wait(10))
        FINE(handler, body)

    with Server(act) as server:
        one = endpoint(server, Clock(), concurrency=3, retries=0)
        calls = in_order(lambda i, stop: one.post("/x", {"i": i}), range(9), 9)
        assert list(calls) == [{"data": []}] * 9
    assert sorted(seen) == [0, 0, 0, 1, 1, 1, 2, 2, 2]


@given(
    st.lists(st.tuples(st.integers(0, 10), st.integers(0, 90)), max_size=40),
    st.sampled_from([None, 1, 3, 5]),
    st.sampled_from([None, 10, 25]),
)
def test_no_minute_holds_more_than_is_allowed(asks, requests, tokens):
    """For each request, the minute that ends with it holds few enough; and none waits too long."""
    clock = Clock()
    pace = Pace(requests, tokens, clock)
    started = []
    for size, later in asks:
        clock.now += later
        start = clock.now + pace.wait(size)
        started.append((start, size))
        before = [(at, n) for at, n in started if at > start - 60]
        assert requests is None or len(before) <= requests
        assert tokens is None or sum(n for _, n in before) <= tokens
        if start > clock.now:
            # A little sooner would have been too soon.
            others = [(at, n) for at, n in started[:-1] if at >= start - 60]
            full = requests is not None and len(others) + 1 > requests
            heavy = tokens is not None and sum(n for _, n in others) + size > tokens
            behind = len(started) > 1 and started[-2][0] == start
            assert full or heavy or behind
    assert all(a[0] <= b[0] for a, b in pairwise(started))


def test_requests_keep_the_pace_and_tries_count():
    clock = Clock()
    with Server(refusal(500, "x"), FINE) as server:
        one = endpoint(server, clock, requests_per_minute=2)
        one.post("/x", {})
        one.post("/x", {})
    assert len(server.bodies) == 3
    assert clock.slept[0] < 1
    assert clock.now == 60
    with pytest.raises(cantle.SettingError, match=r"11 tokens is over tokens_per_minute \(10\)"):
        Endpoint("m", tokens_per_minute=10).post("/x", {}, tokens=11)


def test_results_come_in_order_and_the_first_failure_ends_all():
    gate = threading.Event()

    def later(i, stop):
        if i == 0:
            gate.wait(10)
        elif i == 3:
            gate.set()
        return i

    assert list(in_order(later, range(8), 4)) == list(range(8))
    begun, over = [], threading.Barrier(2)

    def fails(i, stop):
        begun.append(i)
        if i == 0:
            over.wait(10)
            raise ConnectionError("gone")
        if i == 1:
            over.wait(10)
            while not stop.asked:
                pass
        return i

    with pytest.raises(ConnectionError, match=r"^gone$"):
        list(in_order(fails, range(100), 2))
    assert set(begun) <= {0, 1}


@pytest.mark.parametrize("most", [1, 2, 5])
def test_leaving_early_begins_no_more(most):
    begun = []

    def call(i, stop):
        begun.append(i)
        while i and not stop.asked:
            pass
        return i

    calls = in_order(call, range(10_000), most)
    assert next(calls) == 0
    calls.close()
    assert len(begun) <= most + 1
