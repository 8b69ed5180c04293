"""Which files of which packages make a kind of corpus, and how they become one text."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import archives
import readable
import registries


@dataclass(frozen=True)
class Source:
    """The files of one package (a key of `registries.fetch`) whose names match."""

    package: str
    names: str


def _handbook(*languages: str) -> Source:
    return Source("debian:debian-handbook", rf"/({'|'.join(languages)})/.*\.html$")


def _help(language: str) -> Source:
    return Source(f"debian:libreoffice-help-{language}", r"/text/.*\.html$")


def _guide(*languages: str) -> Source:
    return Source("debian:installation-guide-amd64", rf"/({'|'.join(languages)})/.*\.html$")


def _gnome(*languages: str) -> Source:
    return Source("debian:gnome-user-docs", rf"/({'|'.join(languages)})/.*\.page$")


def _reference(language: str) -> Source:
    return Source(f"debian:debian-reference-{language}", r"\.html$")


def _interface(language: str) -> Source:
    return Source(f"debian:libreoffice-l10n-{language}", r"\.mo$")


KINDS: dict[str, tuple[Source, ...]] = {
    "prose": (
        Source("debian:linux-doc>", r"/_sources/(?!translations/).*\.rst\.txt$"),
        Source("debian:python3-doc>", r"/_sources/.*\.rst\.txt$"),
        Source("debian:postgresql-doc>", r"\.html$"),
        Source("debian:git-doc", r"\.txt$"),
        _handbook("en-US"),
    ),
    "markdown": (
        Source("debian:rust-src", r"\.md$"),
        Source("debian:nodejs-doc", r"/api/(?!all\.).*\.md$"),
        Source("debian:docker-doc", r"\.md$"),
    ),
    "legal": (Source("pypi:licensedcode-data", r"/licenses/.*\.LICENSE$"),),
    "python": (
        Source("pypi:django", r"\.py$"),
        Source("pypi:sympy", r"\.py$"),
        Source("pypi:transformers", r"\.py$"),
    ),
    "rust": (Source("debian:rust-src", r"/(library|compiler)/.*\.rs$"),),
    "arabic": (_handbook("ar-MA", "fa-IR"), _gnome("ar", "fa"), _interface("ar"), _interface("fa")),
    "cjk": (
        _handbook("ja-JP", "zh-CN", "zh-TW"),
        *map(_reference, ("ja", "zh-cn", "zh-tw")),
        *map(_help, ("ja", "zh-cn", "zh-tw")),
        _guide("ja", "zh_CN"),
        _gnome("ja", "zh_CN", "zh_TW", "zh_HK"),
        *map(_interface, ("ja", "zh-cn", "zh-tw")),
    ),
    "cyrillic": (
        _handbook("ru-RU"),
        _help("ru"),
        _guide("ru"),
        _gnome("ru", "uk", "sr", "bg"),
        *map(_interface, ("ru", "uk", "bg")),
    ),
    "greek": (_help("el"), _guide("el"), _gnome("el"), _interface("el")),
    "hangul": (_help("ko"), _guide("ko"), _gnome("ko"), _interface("ko")),
    "hebrew": (_gnome("he"), _interface("he")),
    "indic": (
        _help("hi"),
        _gnome("as", "bn", "bn_IN", "gu", "hi", "kn", "ml", "mr", "pa", "ta", "te"),
        *map(_interface, ("bn", "ta")),
    ),
    "latin": (_handbook("de-DE", "fr-FR", "pl-PL", "vi-VN"), *map(_help, ("de", "fr", "vi"))),
    "thai": (_gnome("th"), _interface("th")),
}
"""Real text. `latin` is every language with accents; English is under `prose`."""

SCRIPTS: dict[str, str] = {
    "arabic": "\u0600-\u06ff",
    "cjk": "\u3040-\u30ff\u3400-\u9fff",
    "cyrillic": "\u0400-\u04ff",
    "greek": "\u0370-\u03ff\u1f00-\u1fff",
    "hangul": "\uac00-\ud7a3",
    "hebrew": "\u0590-\u05ff",
    "indic": "\u0900-\u0dff",
    "thai": "\u0e00-\u0e7f",
}
"""Translations are rarely whole: a paragraph with less than a quarter in its script is left out."""

MIXES: dict[str, tuple[str, ...]] = {
    "code": ("python", "rust"),
    "multilingual": (*SCRIPTS, "latin"),
}


def stamp(kind: str) -> str:
    """Return what a corpus is recorded under beside the versions: a hash of how it is made."""
    sources = [(source.package, source.names) for source in KINDS[kind]]
    made = json.dumps([readable.VERSION, sources, SCRIPTS.get(kind)])
    return hashlib.sha256(made.encode()).hexdigest()[:12]


def documents(
    kind: str, fetched: Iterable[tuple[Source, registries.Package]], say: Callable[[str], None]
) -> list[str]:
    """Return the documents of a kind, in an order that only their content fixes.

    Sorted by their hash, they are mixed well, and the first megabytes are a sample of the whole.
    The same document twice, as packages have it, would flatter whatever remembers: it comes once.
    So does the same paragraph of pages and catalogues, where it is a menu or a button.
    """
    found: dict[bytes, str] = {}
    seen: set[int] = set()
    for source, package in fetched:
        size = sum(map(len, found.values()))
        for name, data in archives.members(package.file):
            if not re.search(source.names, name):
                continue
            text = readable.text(name, data)
            if name.endswith((".html", ".mo", ".page")):
                text = _paragraphs(text, seen, SCRIPTS.get(kind))
            # An odd fence would turn all text after it inside out.
            odd = kind == "markdown" and len(re.findall(r"(?m)^ *```", text)) % 2
            if text.strip() and not odd:
                found[hashlib.sha256(text.encode()).digest()] = text
        size = sum(map(len, found.values())) - size
        say(f"  {package.name} {package.version}: {size / 1e6:.1f} million characters")
    return [found[key] for key in sorted(found)]


def _paragraphs(text: str, seen: set[int], script: str | None) -> str:
    kept = []
    for paragraph in text.split("\n\n"):
        key = int.from_bytes(hashlib.blake2b(paragraph.encode(), digest_size=8).digest(), "big")
        if key in seen:
            continue
        seen.add(key)
        if script and len(re.sub(f"[^{script}]+", "", paragraph)) * 4 < len(paragraph):
            continue
        kept.append(paragraph)
    return "\n\n".join(kept)


def mixed(texts: list[str], most: int, piece: int = 4000) -> str:
    """Return the first `most` characters of each text, spread evenly among those of the others.

    The pieces end at blank lines.
    """
    pieces: list[tuple[int, int, str]] = []
    for number, text in enumerate(texts):
        cuts, text = [0], text[:most]
        while (at := text.find("\n\n", cuts[-1] + piece)) >= 0:
            cuts.append(at + 2)
        spans = list(zip(cuts, [*cuts[1:], len(text)], strict=True))
        for i, (start, end) in enumerate(spans):
            place = ((2 * i + 1) << 32) // (2 * len(spans))
            pieces.append((place, number, text[start:end].rstrip("\n") + "\n\n"))
    return "".join(text for _, _, text in sorted(pieces))
