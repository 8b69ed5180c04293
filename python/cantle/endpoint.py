"""`Endpoint`: a model behind an OpenAI-compatible server, asked by HTTP."""

from __future__ import annotations

import json
import os
import re
import threading
import time
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from cantle import _core
from cantle.pace import Pace
from cantle.parallel import Stop

if TYPE_CHECKING:
    import urllib3

OPENAI = "https://api.openai.com/v1"
_RETRIED = frozenset({408, 409, 425, 429})
"""Statuses that another try may mend, beside those from 500 on."""
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 30.0
_LONGEST_ASKED = 120.0
"""A server that asks for a longer pause than this has said no."""
_TOLD = 300
"""Characters of a server's message that are told."""
_PIECE = 1 << 16
_SECRET = re.compile(r"\bsk-[\w*-]{4,}")
"""What a key of OpenAI's looks like: its server repeats half of a wrong one."""


class EndpointError(RuntimeError):
    """A server could not be reached, refused a request, or its answer cannot be read.

    Attributes:
        status: The HTTP status, or None where there was no answer.
        model: The model that was asked.
        url: Where it was asked.
    """

    def __init__(self, words: str, *, model: str, url: str, status: int | None = None) -> None:
        """Keep what is known of the failure."""
        super().__init__(f"model {model!r} at {url}: {words}")
        self.status = status
        self.model = model
        self.url = url
        self.words = words

    def __reduce__(self) -> tuple[Any, ...]:
        return _error, (self.words, self.model, self.url, self.status)


def _error(words: str, model: str, url: str, status: int | None) -> EndpointError:
    return EndpointError(words, model=model, url=url, status=status)


class _Passing(Exception):
    """A failure that another try may mend."""

    def __init__(self, words: str, status: int | None = None, pause: float | None = None) -> None:
        super().__init__(words)
        self.status = status
        self.pause = pause


@dataclass(frozen=True)
class Endpoint:
    """A model behind an OpenAI-compatible server: OpenAI itself, vLLM, Ollama, llama.cpp, TEI.

    A request that failed for a reason that passes (429, 408, 409, 425 or 5xx, a timeout, a broken
    connection, half an answer) is made again after 0.5 s, 1 s, 2 s and so on, at most 30 s, less up
    to half of it by chance, or after what `Retry-After` says. All limits hold for the object:
    threads share them. Redirects are not followed. Proxies are those of the system or the
    environment.

    The key is read from the environment for each request. It is sent to `url` and stands in no
    message, fingerprint, `repr` or pickle.

    Args:
        model: The model's name, as the server knows it.
        url: Where the server's API starts, `/v1` included.
        key_env: The environment variable that holds the key. None, or a variable that is not set:
            no key is sent, as local servers want none.
        timeout: Most seconds for one try, from the connection to the answer's last byte; an answer
            that comes in drops is given up with the first drop behind it.
        retries: How often a failed request is made again at most.
        concurrency: Most requests at a time.
        requests_per_minute: Most requests in any minute, tries that failed included.
        tokens_per_minute: Most tokens in them, as the caller counts.
        clock: Returns the time in seconds; for tests.
        sleep: Waits for so many seconds; for tests.

    Example:
        >>> import cantle
        >>> cantle.Endpoint("nomic-embed-text", url="http://localhost:11434/v1").url
        'http://localhost:11434/v1'
    """

    model: str
    _: KW_ONLY
    url: str = OPENAI
    key_env: str | None = "OPENAI_API_KEY"
    timeout: float = 60.0
    retries: int = 5
    concurrency: int = 4
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    clock: Callable[[], float] = field(default=time.monotonic, repr=False, compare=False)
    sleep: Callable[[float], None] = field(default=time.sleep, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name in ("model", "url", "key_env"):
            value = getattr(self, name)
            if (value is not None or name != "key_env") and (
                not isinstance(value, str) or not value.strip()
            ):
                raise TypeError(f"{name} ({value!r}) must be a string that is not empty")
        object.__setattr__(self, "url", _checked_url(self.url))
        numbers = (("timeout", float, 0.001), ("retries", int, 0), ("concurrency", int, 1),
                   ("requests_per_minute", float, 1), ("tokens_per_minute", float, 1))  # fmt: skip
        for name, kind, least in numbers:
            value = getattr(self, name)
            if value is None and name.endswith("_minute"):
                continue
            wanted = (int,) if kind is int else (int, float)
            if isinstance(value, bool) or not isinstance(value, wanted):
                words = "a whole number" if kind is int else "a number"
                raise TypeError(f"{name} ({value!r}) must be {words}")
            if not value >= least:
                raise _core.SettingError(f"{name} ({value}) must be at least {least}")
        self._begin()

    def _begin(self) -> None:
        """Set what is no setting: it belongs to this object in this process."""
        pace = Pace(self.requests_per_minute, self.tokens_per_minute, self.clock)
        object.__setattr__(self, "_pace", pace)
        object.__setattr__(self, "_places", threading.BoundedSemaphore(self.concurrency))
        object.__setattr__(self, "_lock", threading.Lock())
        object.__setattr__(self, "_opened", None)
        object.__setattr__(self, "_pid", os.getpid())

    def _begin_in_child(self) -> None:
        """Begin anew in a forked process: its parent's threads hold places that none gives back.

        Nor may it write into its parent's connections.
        """
        if self._pid != os.getpid():  # type: ignore[attr-defined]
            self._begin()

    def __getstate__(self) -> dict[str, Any]:
        own = ("_pace", "_places", "_lock", "_opened", "_pid")
        return {name: value for name, value in self.__dict__.items() if name not in own}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._begin()

    def check(self) -> None:
        """Raise where no request could be made.

        Raises:
            ImportError: urllib3 is not installed.
            SettingError: The server is OpenAI's, and there is no key.
        """
        self._pool()
        if self.url == OPENAI and not self._key():
            name = self.key_env or "OPENAI_API_KEY"
            raise _core.SettingError(f"{name} is not set: {OPENAI} wants a key")

    def post(
        self, path: str, body: dict[str, Any], *, tokens: int = 0, stop: Stop | None = None
    ) -> dict[str, Any]:
        """Return the answer to one request, an object of JSON.

        Args:
            path: What follows `url`, as `"/embeddings"`.
            body: What is sent beside the model's name.
            tokens: How many tokens it holds, for `tokens_per_minute`.
            stop: No try is begun once it was asked.

        Raises:
            EndpointError: The request failed for a reason that does not pass, or too often; or the
                answer is no object of JSON.
            ImportError: urllib3 is not installed.
        """
        self._begin_in_child()
        url = self.url + path
        data = json.dumps({"model": self.model, **body}, ensure_ascii=False).encode()
        with self._places:  # type: ignore[attr-defined]
            for tried in range(self.retries + 1):
                try:
                    self._wait(self._pace.wait(tokens), stop, url)  # type: ignore[attr-defined]
                    return self._answer(url, data)
                except _Passing as failure:
                    pause = _pause(tried, failure.pause)
                    if tried == self.retries or pause is None:
                        tries = f" ({tried + 1} tries)" if tried else ""
                        raise self._failed(f"{failure}{tries}", url, failure.status) from None
                self._wait(pause, stop, url)
        raise AssertionError("retries is at least 0")

    def _wait(self, seconds: float, stop: Stop | None, url: str) -> None:
        if seconds > 0 and not (stop and stop.asked):
            self.sleep(seconds)
        if stop and stop.asked:
            raise self._failed("stopped, as another request failed", url)

    def _failed(self, words: str, url: str, status: int | None = None) -> EndpointError:
        return EndpointError(words, model=self.model, url=url, status=status)

    def _answer(self, url: str, data: bytes) -> dict[str, Any]:
        status, headers, content = self._exchange(url, data)
        if status in _RETRIED or status >= 500:
            words = f"{status} {self._message(content)}".strip()
            raise _Passing(words, status, _asked_pause(headers))
        if status != 200:
            raise self._failed(f"{status} {self._message(content)}".strip(), url, status)
        try:
            answer = json.loads(content)
        except (ValueError, RecursionError) as error:
            if content.lstrip()[:1] in (b"{", b""):
                raise _Passing(f"half an answer ({error})", status) from None
            raise self._failed(
                f"an answer that is no JSON: {self._message(content)!r}; url must be where the "
                "API starts, usually .../v1",
                url,
                status,
            ) from None
        if not isinstance(answer, dict):
            raise self._failed(f"{type(answer).__name__} where an object is expected", url, status)
        if answer.get("error"):
            raise self._failed(f"{status} {self._message(content)}", url, status)
        return answer

    def _exchange(self, url: str, data: bytes) -> tuple[int, Any, bytes]:
        """Return status, headers and body of one answer, all within `timeout`."""
        pool = self._pool()
        import urllib3

        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if key := self._key():
            headers["Authorization"] = f"Bearer {key}"
        end = time.monotonic() + self.timeout
        response = None
        try:
            response = pool.request(
                "POST", url, body=data, headers=headers, retries=False, redirect=False,
                timeout=self.timeout, preload_content=False,
            )  # fmt: skip
            # A socket's timeout starts anew with each byte: a slow server would never end it.
            pieces = []
            while piece := response.read1(_PIECE):
                pieces.append(piece)
                if time.monotonic() > end:
                    raise _Passing(f"no whole answer within {self.timeout:g} s")
            response.release_conn()
            return response.status, response.headers, b"".join(pieces)
        except urllib3.exceptions.SSLError as error:
            raise self._failed(f"no trusted connection ({error})", url) from None
        except urllib3.exceptions.NewConnectionError as error:  # It counts as a timeout there.
            raise _Passing(f"the connection failed ({_plain(error)})") from None
        except urllib3.exceptions.TimeoutError:
            raise _Passing(f"no answer within {self.timeout:g} s") from None
        except urllib3.exceptions.HTTPError as error:
            raise _Passing(f"the connection failed ({_plain(error)})") from None
        finally:
            if response is not None:
                response.close()

    def _message(self, content: bytes) -> str:
        """Return what an answer says went wrong, without the key."""
        text = content.decode("utf-8", "replace")
        try:
            said: Any = json.loads(text)
        except (ValueError, RecursionError):
            title = re.search(r"<title>(.*?)</title>", text, re.DOTALL | re.IGNORECASE)
            said = title[1] if title else text
        for name in ("error", "detail", "message"):
            if isinstance(said, dict) and said.get(name):
                said = said[name]
        words = " ".join(str(said).split())
        if key := self._key():
            words = words.replace(key, "***")
        words = _SECRET.sub("***", words)
        return words if len(words) <= _TOLD else words[: _TOLD - 3] + "..."

    def _key(self) -> str:
        return os.environ.get(self.key_env, "").strip() if self.key_env else ""

    def _pool(self) -> urllib3.PoolManager:
        with self._lock:  # type: ignore[attr-defined]
            if self._opened is None:  # type: ignore[attr-defined]
                object.__setattr__(self, "_opened", _open(self.url, self.concurrency))
            pool: urllib3.PoolManager = self._opened  # type: ignore[attr-defined]
            return pool


def endpoint_from_text(text: str) -> Endpoint:
    """Return the endpoint that `MODEL` (at OpenAI) or `MODEL@URL` names.

    Raises:
        SettingError: It names none, or what stands behind the last @ is no url.

    Example:
        >>> from cantle.endpoint import endpoint_from_text
        >>> endpoint_from_text("nomic-embed-text:v1.5@http://localhost:11434/v1").model
        'nomic-embed-text:v1.5'
    """
    # A model's own name may hold an @, but none at OpenAI does.
    model, at, url = re.sub(r"@(?=https?://)", "\n", text, count=1).partition("\n")
    if not at and "@" in text:
        model, at, url = text.rpartition("@")
    if not model.strip():
        raise _core.SettingError(f"{text!r} names no model: MODEL, or MODEL@URL")
    return Endpoint(model, url=url if at else OPENAI)


def _checked_url(url: str) -> str:
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        port, parts = None, urlsplit("")
    if parts.password or parts.username:
        raise _core.SettingError("url must not hold a name or a password: the key is in key_env")
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        raise _core.SettingError(f"url ({url!r}) must begin with http:// or https:// and a host")
    if parts.query or parts.fragment:
        raise _core.SettingError(f"url ({url!r}) must end with a path, as in {OPENAI}")
    return url.rstrip("/")


def _open(url: str, most: int) -> urllib3.PoolManager:
    from urllib.parse import urlsplit
    from urllib.request import getproxies, proxy_bypass

    if find_spec("urllib3") is None:
        raise ImportError(
            "an endpoint needs the package urllib3: install cantle[endpoint]. Without a network: "
            "`pip download urllib3` elsewhere, then `pip install` the file"
        )
    import urllib3

    parts = urlsplit(url)
    proxies = getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    if not proxy or proxy_bypass(parts.netloc):
        return urllib3.PoolManager(maxsize=most)
    given = urlsplit(proxy)
    headers = None
    if given.username:
        login = f"{given.username}:{given.password or ''}"
        headers = urllib3.make_headers(proxy_basic_auth=login)
    return urllib3.ProxyManager(proxy, maxsize=most, proxy_headers=headers)


def _pause(tried: int, asked: float | None) -> float | None:
    """Return the seconds before the next try, or None where the server asks for too many."""
    if asked is not None and asked > _LONGEST_ASKED:
        return None
    import random  # `import cantle` stays light.

    longest: float = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2.0**tried)
    # Clients that failed together do not come back together. Nothing that is cut depends on it.
    return asked or longest * (1 - random.random() / 2)


def _asked_pause(headers: Any) -> float | None:
    """Return the seconds that `Retry-After` asks for, given as a number or a date."""
    said = (headers.get("Retry-After") or "").strip()
    if not said:
        return None
    try:
        return max(0.0, float(said))
    except ValueError:
        from email.utils import parsedate_to_datetime

        try:
            return max(0.0, parsedate_to_datetime(said).timestamp() - time.time())
        except (ValueError, TypeError):
            return None


def _plain(error: Exception) -> str:
    """Return what an error of the connection says, without addresses of objects."""
    return re.sub(r"<[^>]*>:? ?|\w+\([^)]*\): ?", "", str(error)) or type(error).__name__
