"""Speed of counting tokens, every boundary found, beside the libraries that are installed.

    python benches/bench_tokens.py [--tokenizers cl100k_base,...] [--texts prose,...] [--json FILE]
    pytest benches/bench_tokens.py            # the answers checked on small texts, untimed

*Fresh*: a library reads the first half of a text, then its time is taken once on the second half,
which it has not seen. *Warm*: the same half once more. Each measurement is a process of its own, in
turns; the best round counts, since other work on the machine only makes slower. CPU time of one
thread. The UTF-8 that CPython keeps with a string is there before. A library whose count differs
from the reference (tiktoken, or tokenizers where tiktoken has no such vocabulary) is marked: its
speed is no answer.

cantle's figure is of `Tokenizer.measure`: the count, and where every token and pretoken ends. The
others count, or encode and take the length.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import cantle
import corpora
import figures
import peers
import token_peers
from cantle.bench.table import figure, markdown

REFERENCES = ("tiktoken", "tokenizers")
SIZE = 16_000_000
"""Bytes of a text, half of them timed."""


def corpus(name: str) -> str:
    """Return a text by its kind, or of a file or folder, or a megabyte of one character."""
    if name.startswith("one "):
        letter = name.removeprefix("one ")
        return letter * (2_000_000 // len(letter.encode()))
    return "".join(corpora.documents(name, size=SIZE))


def _keep_utf8(text: str) -> None:
    """Have CPython make the UTF-8 that it keeps with a string: each library would ask for it first.

    It takes as long as cantle takes to count, and is no library's own.
    """
    ctypes.pythonapi.PyUnicode_AsUTF8(ctypes.py_object(text))


def measured(library: str, tokenizer: str, text: str) -> dict[str, Any]:
    """Make a library's tokenizer, warm it on one half of a text, and time it on the other."""
    count = token_peers.LIBRARIES[library][1](tokenizer)
    half = len(text) // 2
    first, second = text[:half], text[half:]
    _keep_utf8(second)
    count(first)
    gc.collect()
    gc.disable()
    start = time.process_time()
    found = count(second)
    fresh = time.process_time() - start
    start = time.process_time()
    again = count(second)
    warm = time.process_time() - start
    assert found == again
    return {"count": found, "fresh": fresh, "warm": warm, "bytes": len(second.encode())}


def in_a_process(library: str, tokenizer: str, text: str) -> dict[str, Any] | None:
    """Return what `measured` does; None where the library fails."""
    command = [sys.executable, __file__, "--one", library, tokenizer, text]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        print(f"{library} fails: {done.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
        return None
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def version(library: str) -> str:
    return f"cantle {cantle.__version__}" if library == "cantle" else peers.version(library)


def test_counts_agree() -> None:
    for tokenizer in token_peers.EVERY:
        if tokenizer not in (*token_peers.BPE, *token_peers.files()):
            continue
        libraries = token_peers.installed(tokenizer)
        kinds = ("prose", "code", "multilingual")
        text = "".join(corpora.documents(kind)[0][:20_000] for kind in kinds)
        counts = {
            library: measured(library, tokenizer, text * 2)["count"]  # The second half counts.
            for library in libraries
            if library in ("cantle", *REFERENCES)
        }
        assert len(set(counts.values())) == 1, (tokenizer, counts)


def taken(tokenizer: str, text: str, rounds: int) -> Iterator[dict[str, Any]]:
    """Yield what every library gives for a tokenizer and a text; the best of the rounds."""
    best: dict[str, dict[str, Any]] = {}
    for _ in range(rounds):
        for library in token_peers.installed(tokenizer):
            if library in best and best[library]["fresh"] > 10:
                continue
            answer = in_a_process(library, tokenizer, text)
            if answer is None:
                continue
            kept = best.setdefault(library, answer)
            for key in ("fresh", "warm"):
                kept[key] = min(kept[key], answer[key])
    expected = next(best[name]["count"] for name in REFERENCES if name in best)
    ours = best["cantle"]
    assert ours["count"] == expected
    for library, answer in best.items():
        named = {"tokenizer": tokenizer, "text": text, "library": version(library)}
        times = {key: answer[key] / ours[key] for key in ("fresh", "warm")}
        yield named | answer | {"times_cantle": times, "off_by": answer["count"] - expected}


def table(results: Sequence[dict[str, Any]]) -> str:
    """Return the Markdown table: below 1 the library is faster than cantle."""
    rows = []
    for result in results:
        size, times = result["bytes"] / 1e6, result["times_cantle"]
        ours = result["library"].startswith("cantle ")
        rows.append(
            [
                result["tokenizer"],
                result["text"],
                result["library"],
                figure(size / result["fresh"]),
                figure(size / result["warm"]),
                "-" if ours else figure(times["fresh"]),
                "-" if ours else figure(times["warm"]),
                f"count off by {result['off_by']:,}" if result["off_by"] else "",
            ]
        )
    heads = ["tokenizer", "text", "library", "MB/s fresh", "MB/s warm"]
    return markdown([*heads, "times cantle, fresh", "times cantle, warm", "wrong"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description="Speed of counting tokens, beside others.")
    parser.add_argument("--tokenizers", default=",".join(token_peers.EVERY))
    parser.add_argument(
        "--texts",
        default="prose,markdown,code,cjk,multilingual,hostile-base64,one a,one \u6f22",
        help="kinds of corpora.py, files, or `one X`: a megabyte of X",
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path, metavar="FILE")
    given = parser.parse_args()
    texts = given.texts.split(",")
    results: list[dict[str, Any]] = []
    for tokenizer in given.tokenizers.split(","):
        if not token_peers.installed(tokenizer):
            parser.error(f"--tokenizers: {tokenizer!r} is known to no library that is installed")
        for text in texts:
            found = list(taken(tokenizer, text, given.rounds))
            print(table(found), flush=True)
            results += found
    if given.json:
        described = [
            figures.described(text, [corpus(text)], "made" if text.startswith("one ") else None)
            for text in texts
        ]
        told = figures.figures("tokens", described, rounds=given.rounds, results=results)
        figures.write(given.json, told)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        library, tokenizer, text = sys.argv[2:]
        print(json.dumps(measured(library, tokenizer, corpus(text))))
    else:
        main()
