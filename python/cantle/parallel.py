"""Calls that wait for something outside, several at a time, with their results in order."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


class Stop:
    """Tells calls that nobody waits for their result any more."""

    def __init__(self) -> None:
        """Make one that has not been asked to stop."""
        self._event = threading.Event()

    def ask(self) -> None:
        """Ask all who hold it to stop."""
        self._event.set()

    @property
    def asked(self) -> bool:
        """Whether it was asked to stop."""
        return self._event.is_set()


def in_order(
    call: Callable[[Item, Stop], Result], items: Sequence[Item], most: int
) -> Iterator[Result]:
    """Yield what `call` returns for each item, in the order of the items.

    The first failure, Ctrl-C, or leaving the loop ends it at once: no further call is begun, and
    those under way are asked to stop and not waited for.

    Args:
        call: Called with an item and a `Stop`; from threads of its own if `most` is above 1.
        items: The items.
        most: Most calls at a time, at least 1.
    """
    stop = Stop()
    if most == 1 or len(items) < 2:
        for item in items:
            yield call(item, stop)
        return
    waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
    done: queue.SimpleQueue[tuple[int, Result | None, BaseException | None]] = queue.SimpleQueue()
    for i in range(len(items)):
        waiting.put(i)

    def work() -> None:
        while not stop.asked:
            try:
                i = waiting.get_nowait()
            except queue.Empty:
                return
            try:
                done.put((i, call(items[i], stop), None))
            except BaseException as error:
                done.put((i, None, error))
                return

    # Daemons: an interrupted program does not wait for a server's answer.
    for _ in range(min(most, len(items))):
        threading.Thread(target=work, daemon=True).start()
    held: dict[int, Result] = {}
    try:
        for i in range(len(items)):
            while i not in held:
                number, result, error = done.get()
                if error is not None:
                    raise error
                held[number] = result  # type: ignore[assignment]
            yield held.pop(i)
    finally:
        stop.ask()
