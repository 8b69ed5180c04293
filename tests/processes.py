"""Runs code in a new interpreter, and watches another thread while a call runs."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any


def environment() -> dict[str, str]:
    """Return the environment in which a new interpreter finds what this one does."""
    return os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}


def in_fresh_process(
    code: str, *arguments: str, timeout: float | None = None, seed: int | None = None
) -> str:
    """Run code in a new interpreter with the same path; return what it printed.

    `seed` is that of `hash`; by default another one in every process.
    """
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env=environment() | {"PYTHONHASHSEED": "random" if seed is None else str(seed)},
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def other_thread_steps(run: Callable[[], Any], wanted: int, most: int = 50) -> int:
    """Return how far another thread comes while `run` runs, at most `most` times.

    No thread is ever made to give the lock up, and the other one gives it up after every step: it
    advances inside `run` if and only if `run` gives the lock away.
    """
    steps, done = 0, False

    def count() -> None:
        nonlocal steps
        while not done:
            steps += 1
            time.sleep(0)

    interval = sys.getswitchinterval()
    other = threading.Thread(target=count)
    sys.setswitchinterval(1_000)
    inside = 0
    try:
        other.start()
        for _ in range(most):
            before = steps
            run()
            inside += steps - before
            if inside >= wanted:
                break
    finally:
        sys.setswitchinterval(interval)
        done = True
        other.join()
    return inside
