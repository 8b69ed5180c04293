"""Real texts that are installed anyway, cut into documents that no round sees twice."""

from __future__ import annotations

import glob
import random
import sysconfig
from functools import cache
from pathlib import Path

LENGTH = 120_000
"""Characters in a document of one round."""


@cache
def prose() -> tuple[str, ...]:
    """English: the topics of Python's own help and the descriptions of installed packages."""
    from pydoc_data.topics import topics

    site = sysconfig.get_paths()["purelib"]
    files = sorted(glob.glob(f"{site}/*.dist-info/METADATA"))
    descriptions = (Path(file).read_text("utf-8", "replace") for file in files)
    return _documents([*topics.values(), *descriptions])


@cache
def code() -> tuple[str, ...]:
    """Python: the standard library."""
    root = sysconfig.get_paths()["stdlib"]
    files = sorted(glob.glob(f"{root}/*.py"))
    return _documents([Path(file).read_text("utf-8", "replace") for file in files])


@cache
def multilingual() -> tuple[str, ...]:
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
    return _documents(parts)


def _documents(parts: list[str]) -> tuple[str, ...]:
    """Join the parts, in an order fixed by a seed, and cut them into documents."""
    random.Random(1).shuffle(parts)
    text = "".join(parts)
    return tuple(text[at : at + LENGTH] for at in range(0, len(text) - LENGTH, LENGTH))


CORPORA = {"prose": prose, "code": code, "multilingual": multilingual}
