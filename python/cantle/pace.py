"""`Pace`: at most so many requests and tokens in any minute, kept by the client itself."""

from __future__ import annotations

import math
import threading
from collections import deque
from collections.abc import Callable

from cantle import _core

_MINUTE = 60.0


class Pace:
    """Says when a request may go out. Requests go in the order in which they asked.

    In every span of a minute, the requests that start in it are at most `requests`, and hold at
    most `tokens`: both are counted exactly, in a sliding window.
    """

    def __init__(
        self, requests: float | None, tokens: float | None, clock: Callable[[], float]
    ) -> None:
        """Keep the limits, of which each may be None.

        Args:
            requests: Most requests in a minute.
            tokens: Most tokens in a minute.
            clock: Returns the time in seconds, from any start.
        """
        self._requests = math.inf if requests is None else requests
        self._tokens = math.inf if tokens is None else tokens
        self._clock = clock
        self._lock = threading.Lock()
        self._started: deque[tuple[float, int]] = deque()
        self._sum = 0

    def wait(self, tokens: int) -> float:
        """Return the seconds until a request of so many tokens may start, and count it as started.

        Raises:
            SettingError: It holds more tokens than may go out in a minute.
        """
        if self._requests == self._tokens == math.inf:
            return 0.0
        if tokens > self._tokens:
            raise _core.SettingError(
                f"a request of {tokens} tokens is over tokens_per_minute ({self._tokens:g})"
            )
        with self._lock:
            now = self._clock()
            start = now
            if self._started:  # Others may be waiting already.
                start = max(start, self._started[-1][0])
            while self._started:
                first, size = self._started[0]
                full = len(self._started) + 1 > self._requests or self._sum + tokens > self._tokens
                if full:
                    start = max(start, first + _MINUTE)
                elif first + _MINUTE > start:
                    break
                self._started.popleft()
                self._sum -= size
            self._started.append((start, tokens))
            self._sum += tokens
            return start - now
