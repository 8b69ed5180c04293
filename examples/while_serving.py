"""Cut documents beside a running event loop: `asyncio.to_thread` overlaps, since cutting in Rust
releases the interpreter's lock.

    python examples/while_serving.py [FILE...]
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import cantle

SPLITTER = cantle.Recursive(256, 32)


async def serve(served: list[int]) -> None:
    """Stand for what an event loop does all day."""
    while True:
        served[0] += 1
        await asyncio.sleep(0)


async def cut(texts: list[str]) -> tuple[list[cantle.Chunks], list[int]]:
    """Cut two halves in two threads; return the chunks, and what was served during each call."""
    served = [0]

    def work(part: list[str]) -> tuple[cantle.Chunks, int]:
        before = served[0]
        chunks = SPLITTER.split_all(part, threads=1)
        return chunks, served[0] - before

    server = asyncio.create_task(serve(served))
    half = len(texts) // 2
    parts = await asyncio.gather(
        asyncio.to_thread(work, texts[:half]), asyncio.to_thread(work, texts[half:])
    )
    server.cancel()
    return [chunks for chunks, _ in parts], [rounds for _, rounds in parts]


def main() -> None:
    """Cut the files that are named, or a text of its own, and print the counts."""
    texts = [Path(path).read_text("utf-8") for path in sys.argv[1:]]
    texts = texts or ["While this is cut, the loop goes on. It serves others.\n\n" * 20_000] * 8
    chunks, rounds = asyncio.run(cut(texts))
    print(f"{sum(map(len, chunks))} chunks")
    print("the loop went round {} and {} times during the two calls".format(*rounds))


if __name__ == "__main__":
    main()
