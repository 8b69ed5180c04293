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


async def cut(texts: list[str]) -> tuple[list[cantle.Chunks], int]:
    """Cut two halves in two threads; return the chunks and what was served in the meantime."""
    served = [0]
    server = asyncio.create_task(serve(served))
    half = len(texts) // 2
    parts = await asyncio.gather(
        asyncio.to_thread(SPLITTER.split_all, texts[:half], threads=1),
        asyncio.to_thread(SPLITTER.split_all, texts[half:], threads=1),
    )
    server.cancel()
    return parts, served[0]


def main() -> None:
    """Cut the files that are named, or a text of its own, and print the counts."""
    texts = [Path(path).read_text("utf-8") for path in sys.argv[1:]]
    texts = texts or ["While this is cut, the loop goes on. It serves others.\n\n" * 20_000] * 8
    chunks, served = asyncio.run(cut(texts))
    print(f"{sum(map(len, chunks))} chunks; the loop went round {served} times meanwhile")


if __name__ == "__main__":
    main()
