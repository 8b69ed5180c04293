"""Texts that are there without fetching anything; a few MB, and others on another machine."""

from __future__ import annotations

import glob
import random
import sysconfig
from functools import cache
from pathlib import Path


@cache
def prose() -> str:
    """English: the topics of Python's own help and the descriptions of installed packages."""
    from pydoc_data.topics import topics

    site = sysconfig.get_paths()["purelib"]
    files = sorted(glob.glob(f"{site}/*.dist-info/METADATA"))
    descriptions = (Path(file).read_text("utf-8", "replace") for file in files)
    return _shuffled([*topics.values(), *descriptions])


@cache
def markdown() -> str:
    """Markdown: the descriptions of installed packages that are written in it."""
    site = sysconfig.get_paths()["purelib"]
    parts = []
    for file in sorted(glob.glob(f"{site}/*.dist-info/METADATA")):
        head, _, body = Path(file).read_text("utf-8", "replace").partition("\n\n")
        if "text/markdown" in head:
            parts.append(body + "\n\n")
    return _shuffled(parts)


@cache
def code() -> str:
    """Python: the standard library."""
    root = sysconfig.get_paths()["stdlib"]
    files = sorted(glob.glob(f"{root}/*.py"))
    return _shuffled([Path(file).read_text("utf-8", "replace") for file in files])


@cache
def multilingual() -> str:
    """Sentences of several scripts, drawn with a fixed seed from the sounds of each."""
    rng = random.Random(7)
    scripts = [
        ("абвгдежзиклмнопрстуфхцчшыэюя", " ", ". "),
        ("αβγδεζηθικλμνξοπρστυφχψω", " ", ". "),
        ("ابتثجحخدذرزسشصضطظعغفقكلمنهوي", " ", "۔ "),
        ("日月火水木金土山川田人口車門東西南北上下中大小学校生先", "", "。"),
        ("あいうえおかきくけこさしすせそたちつてとなにぬねの", "", "。"),
        ("가나다라마바사아자차카타파하한국어말글", " ", ". "),
        ("äöüßéèêçñabcdefghilmnoprstu", " ", ". "),
    ]
    parts = []
    for number in range(16_000):
        letters, blank, stop = scripts[number % len(scripts)]
        words = ("".join(rng.choices(letters, k=rng.randint(1, 7))) for _ in range(14))
        parts.append(blank.join(words) + stop + ("\n\n" if number % 5 == 4 else ""))
    return _shuffled(parts)


def _shuffled(parts: list[str]) -> str:
    """Join the parts in an order fixed by a seed."""
    random.Random(1).shuffle(parts)
    return "".join(parts)


TEXTS = {"markdown": markdown, "prose": prose, "code": code, "multilingual": multilingual}
