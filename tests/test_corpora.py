"""The corpora of the benchmarks: same input, same bytes; the size asked for; text that is fresh.

No test here reaches for a network: packages are made on the spot.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import re
import struct
import tarfile
import zipfile
from itertools import islice
from pathlib import Path

import pytest

import archives
import corpora
import forms
import hostile
import markov
import readable
import recipes
import registries

TEXT = (
    "# Lids\n\nA cantle is a piece cut off. The rim of a saddle is one too, and so is a crust.\n\n"
    "Why is it a crust? A loaf is cut from the rim, and 12 pieces are 3 too many.\n\n"
    "```python\nwhile loaf:\n    rim = loaf.cut(12)\n```\n\n"
    "* Краюха хлеба is a cantle. 面包的一角也是。\n"
    "* Nobody's saddle was ever cut, said 2047 riders.\n\n"
)


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


@pytest.fixture
def cache(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("CANTLE_CORPORA", str(tmp_path / "cache"))
    corpora.documents.cache_clear()
    corpora._own.cache_clear()
    yield tmp_path / "cache"
    corpora.documents.cache_clear()


# Packages


def deb(path: Path, files: dict[str, bytes], compression: str = "xz") -> Path:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode=f"w:{compression}") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(f"./{name}")
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    parts = {"debian-binary": b"2.0\n", "control.tar.xz": b"odd", f"data.tar.{compression}": b""}
    parts[f"data.tar.{compression}"] = data.getvalue()
    with path.open("wb") as file:
        file.write(b"!<arch>\n")
        for name, content in parts.items():
            head = f"{name:16}{0:<12}{0:<6}{0:<6}{100644:<8}{len(content):<10}`\n"
            file.write(head.encode() + content + b"\n" * (len(content) % 2))
    return path


def catalogue(pairs: list[tuple[str, str]]) -> bytes:
    """A compiled gettext catalogue, as `msgfmt` makes."""
    tables, strings, at = [b"", b""], b"", 28 + 16 * len(pairs)
    for side in (0, 1):
        for pair in pairs:
            text = pair[side].encode()
            tables[side] += struct.pack("<2I", len(text), at + len(strings))
            strings += text + b"\0"
    head = struct.pack("<7I", 0x950412DE, 0, len(pairs), 28, 28 + 8 * len(pairs), 0, 0)
    return head + b"".join(tables) + strings


@pytest.mark.parametrize("compression", ["xz", "gz", "bz2"])
def test_a_debian_package_is_read_without_unpacking(tmp_path, compression) -> None:
    files = {"usr/b.md": b"two", "usr/a.md.gz": gzip.compress(b"one"), "usr/c/d.html": b"<p>3"}
    path = deb(tmp_path / "x_1_all.deb", files, compression)
    found = list(archives.members(path))
    assert found == [("usr/b.md", b"two"), ("usr/a.md", b"one"), ("usr/c/d.html", b"<p>3")]


def test_what_is_no_package_is_named(tmp_path) -> None:
    path = tmp_path / "x_1_all.deb"
    path.write_bytes(b"<html>404")
    with pytest.raises(ValueError, match="is not a Debian package"):
        list(archives.members(path))
    path.write_bytes(b"!<arch>\n")
    with pytest.raises(ValueError, match="without files, or a damaged one"):
        list(archives.members(path))


def test_wheels_source_packages_folders_and_files_are_read(tmp_path) -> None:
    with zipfile.ZipFile(tmp_path / "x-1-py3-none-any.whl", "w") as wheel:
        wheel.writestr("x/__init__.py", "pass")
    assert list(archives.members(tmp_path / "x-1-py3-none-any.whl")) == [("x/__init__.py", b"pass")]
    folder = tmp_path / "folder"
    (folder / ".git").mkdir(parents=True)
    (folder / ".git" / "config").write_bytes(b"hidden")
    (folder / "b.txt").write_bytes(b"b")
    (folder / "a.txt").write_bytes(b"a")
    assert list(archives.members(folder)) == [("a.txt", b"a"), ("b.txt", b"b")]
    assert list(archives.members(folder / "b.txt")) == [("b.txt", b"b")]
    with tarfile.open(tmp_path / "x.tar.gz", "w:gz") as archive:
        archive.add(folder / "a.txt", "x/a.txt")
    assert list(archives.members(tmp_path / "x.tar.gz")) == [("x/a.txt", b"a")]


READ = {
    "paragraphs": (
        "a.html",
        "<title>T</title><head><style>p{}</style></head><body><nav>Home</nav><h1>One\n two</h1>"
        "<p>A &amp; <b>b</b>c<script>x</script><ul><li>i<li>j</ul><table><tr><td>1<td>2</table>",
        "T\n\nOne two\n\nA & bc\n\ni\n\nj\n\n1 2",
    ),
    "preformatted": (
        "a.html",
        "<p>is</p><pre>\n if x:\n   <b>y</b>\n</pre>",
        "is\n\n if x:\n   y",
    ),
    "catalogue": (
        "a.mo",
        catalogue([("", "Project-Id-Version: 1"), ("File", "~Datei"), ("%d", "eine\0viele")]),
        "Datei\n\neine",
    ),
    "mallard": (
        "a.page",
        '<page xmlns="http://projectmallard.org/1.0/"><title>A</title>'
        "<p>b <gui>c</gui>\nd</p></page>",
        "A\n\nb c d",
    ),
    "licence": ("a.LICENSE", "---\nkey: mit\n---\n\nPermission\n", "Permission"),
    "plain": ("a.md", "\ufeffone\r\ntwo\rthree\n", "one\ntwo\nthree"),
}


@pytest.mark.parametrize("name", READ)
def test_readable_text(name) -> None:
    file, data, text = READ[name]
    data = data if isinstance(data, bytes) else data.encode()
    assert readable.text(file, data) == text


def package(path: Path, version: str, files: dict[str, bytes]) -> registries.Package:
    file = deb(path / f"tiny_{version}_all.deb", files)
    return registries.Package("debian", "tiny", version, file, registries.digest(file))


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    """A kind `thai` of one package whose version and files the test sets."""
    serves: dict[str, registries.Package] = {}
    monkeypatch.setitem(recipes.KINDS, "thai", (recipes.Source("debian:tiny", r"\.html$"),))
    monkeypatch.setattr(registries, "fetch", lambda key, cache, say: serves[key])

    def serve(version: str, page: str = "<p>แคนเทิล คือชิ้นส่วน {0}</p>", files: int = 60) -> None:
        made = {f"d/{i}.html": page.format(i).encode() for i in range(files)}
        serves["debian:tiny"] = package(tmp_path, version, {**made, "d/x.png": b"\0"})

    return serve


def test_versions_are_recorded_beside_each_other(tmp_path, cache, tiny) -> None:
    lock = tmp_path / "corpora.lock"
    tiny("1")
    first = corpora.build("thai", lock)
    text = cache / "text" / "thai.txt"
    assert registries.digest(text) == first["sha256"]
    assert corpora.check("thai", None, lock) == []

    # Built once more from nothing, and once more over what is there: the same.
    written = lock.read_bytes()
    text.unlink()
    assert corpora.build("thai", lock) == corpora.build("thai", lock) == first
    assert lock.read_bytes() == written

    tiny("2", files=70)
    second = corpora.build("thai", lock)
    held = json.loads(lock.read_text())
    assert held["corpora"]["thai"] == [first, second]
    assert set(held["packages"]["debian:tiny"]) == {"1", "2"}

    text.write_text("changed")
    assert "was changed" in corpora.check("thai", None, lock)[0]


def test_one_version_has_one_content(tmp_path, cache, tiny) -> None:
    lock = tmp_path / "corpora.lock"
    tiny("1")
    corpora.build("thai", lock)
    written = lock.read_bytes()
    tiny("1", files=61)
    (cache / "text" / "thai.txt").unlink()
    with pytest.raises(corpora.Missing, match=r"is not what corpora\.lock records for 1"):
        corpora.build("thai", lock)
    assert lock.read_bytes() == written


def test_documents_and_menus_come_once_and_other_scripts_never(tmp_path) -> None:
    pages = {
        "a.html": "<p>เมนู</p><p>หน้าแรก</p>",
        "b.html": "<p>เมนู</p><p>Not translated</p><p>หน้าสอง</p>",
        "c.html": "<p>เมนู</p>",
    }
    made = package(tmp_path, "1", {name: page.encode() for name, page in pages.items()})
    pairs = [(recipes.Source("debian:tiny", "html$"), made)]
    found = recipes.documents("thai", pairs, lambda _: None)
    assert sorted(found) == ["หน้าสอง", "เมนู\n\nหน้าแรก"]


def test_without_a_client_what_was_fetched_before_serves(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    said: list[str] = []
    with pytest.raises(registries.Unreachable, match="there is no apt-get here"):
        registries.fetch("debian:tiny", tmp_path, said.append)
    made = package(tmp_path / "packages" / "debian", "1%3a2.0", {"a.md": b"one"})
    (tmp_path / "packages" / "debian" / "empty.behind").write_text("tiny")
    for key in ("debian:tiny", "debian:empty>"):
        found = registries.fetch(key, tmp_path, said.append)
        assert (found.name, found.version, found.sha256) == ("tiny", "1:2.0", made.sha256)
    assert "was fetched before and serves" in said[-1]


def test_the_lock_file_has_its_format() -> None:
    held = json.loads(corpora.LOCK.read_text("utf-8"))
    assert set(held) == {"packages", "corpora"}
    assert set(held["corpora"]) == set(recipes.KINDS)
    for records in held["corpora"].values():
        made = [json.dumps([record["sources"], record["recipe"]]) for record in records]
        assert len(made) == len(set(made))
        for record in records:
            assert set(record) == {"sources", "recipe", "bytes", "sha256"}
            assert re.fullmatch("[0-9a-f]{64}", record["sha256"])
            for key, version in record["sources"].items():
                assert re.fullmatch("[0-9a-f]{64}", held["packages"][key][version])


# Made text


def test_the_model_makes_the_same_bytes_everywhere() -> None:
    model = markov.Model(TEXT * 3 + "Only once: zwieback, breadcrumb.\n\n")
    made = model.documents(7, 0, walks=8, steps=64)
    assert sha(b"".join(made)) == "405b717701f10140"
    assert made == model.documents(7, 0, walks=8, steps=64)
    assert made != model.documents(8, 0, walks=8, steps=64)
    assert all(document.endswith(b"\n\n") for document in made)


def test_fences_stay_paired() -> None:
    made = list(markov.Model(TEXT * 5).documents(0, 0, walks=64, steps=200))
    fences = [document.count(b"```") for document in made]
    assert sum(fences) > 2
    assert all(count % 2 == 0 for count in fences)


def test_made_text_is_fresh_and_keeps_the_share_of_new_words() -> None:
    # A quarter of these words come once, so a quarter of what is made must be new.
    model = markov.Model("".join(f"the rim of {word} " for word in coined(600)))
    parts = [b"".join(model.documents(0, block, 16)).split() for block in (0, 1)]
    known = set(parts[0])
    new = sum(word not in known for word in parts[1])
    assert 0.15 < new / len(parts[1]) < 0.25

    words = coined(900)
    model = markov.Model("".join(f"{' '.join(words[i : i + 9])}.\n\n" for i in range(0, 900, 9)))
    lines = [set(b"".join(model.documents(0, block, 16)).splitlines()) for block in (0, 1)]
    long = [{line for line in part if len(line) > 40} for part in lines]
    assert len(long[0]) > 100
    assert len(long[0] & long[1]) <= len(long[0]) // 100


def coined(number: int) -> list[str]:
    """Words that differ, of letters alone."""
    heads, tails = ("bran", "kest", "lorm", "pild", "quon"), ("ater", "ible", "onic", "umen", "a")
    made = (
        f"{head}{a}{b}{tail}"
        for a in "aeiou"
        for b in "bdgklmnr"
        for head in heads
        for tail in tails
    )
    return list(islice(made, number))


@pytest.mark.parametrize("size", [1, 2, 100, 4_097, 100_003])
def test_a_corpus_of_ones_own_has_the_size_asked_for(tmp_path, cache, size) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (own / "a.md").write_text(TEXT)
    (own / "b.png").write_bytes(b"\0\1")
    path = corpora.corpus(str(own), size)
    data = path.read_bytes()
    assert len(data) == size
    assert data.startswith(TEXT.strip().encode()[: max(0, size - 3)])
    assert not [p for p in path.parent.iterdir() if p.name.startswith(".")]
    path.unlink()
    assert corpora.corpus(str(own), size).read_bytes() == data
    assert corpora.check(str(own), size) == []


def test_what_is_neither_kind_nor_path_is_named(cache) -> None:
    with pytest.raises(corpora.Missing, match="'proze' is neither a kind nor a path; kinds are "):
        corpora.corpus("proze", 10)
    with pytest.raises(corpora.Missing, match=r"was not built: python benches/corpora\.py build"):
        corpora.corpus("prose", 10)


FORMS = {
    "chat": "5d44b7e0b9d5dd76",
    "tickets": "b91190f0a69967e2",
    "contracts": "d41d67d4b77d4fc1",
}


@pytest.mark.parametrize("kind", FORMS)
def test_forms_are_as_they_were(kind) -> None:
    assert sha(next(forms.write(kind, markov.Model(TEXT * 3).write()))) == FORMS[kind]


@pytest.mark.parametrize("kind", ["chat", "tickets"])
def test_rows_are_whole(kind, cache) -> None:
    blocks = forms.write(kind, markov.Model(TEXT * 3).write())
    data = b"".join(corpora._sized(blocks, 50_000, rows=True))
    assert len(data) == 50_000
    rows = [json.loads(line) for line in data.decode().splitlines()]
    assert len({row["id"] for row in rows}) == len(rows) > 20
    assert all(row["text"] for row in rows)
    made = corpora.documents(kind, size=20_000)
    assert len(made) > 5
    assert all(made)


def test_a_contract_refers_to_what_is_there() -> None:
    words = forms.Words(markov.Model(TEXT * 3).write())
    for number in range(1, 30):
        text = forms.contract(words, forms.Dice(number), number).decode()
        clauses = set(re.findall(r"(?m)^\d+\.\d+(?= )", text))
        items = {
            f"{clause}({letter})"
            for clause, block in re.findall(r"(?ms)^(\d+\.\d+) (.*?)\n\n", text)
            for letter in re.findall(r"(?m)^    \((\w)\)", block)
        }
        schedules = set(re.findall(r"(?m)^SCHEDULE (\d)", text))
        named = re.findall(r"clause (\d+\.\d+(?:\(\w\))?)", text)
        assert len(named) > 5
        assert set(named) <= clauses | items
        assert set(re.findall(r"Schedule (\d)", text)) <= schedules


HOSTILE = {
    "hostile-repeated": "8ff233ec0ca84b56",
    "hostile-no-blanks": "38094f07208aefe2",
    "hostile-blanks": "b126bc300ada9e73",
    "hostile-base64": "0ab83e8d5ed49549",
    "hostile-one-line": "17f2b418a98b6c27",
    "hostile-ideographs": "0b2c24e0d3e622f1",
    "hostile-nested": "f17bc44da4da2692",
    "hostile-combining": "d317edd6268fdd9d",
    "hostile-emoji": "81fdd3a2f35563f0",
}


def test_hostile_kinds_are_as_they_were(cache) -> None:
    found = {}
    for kind in hostile.KINDS:
        data = b"".join(corpora._sized(hostile.write(kind), 30_001, rows=False))
        assert len(data) == 30_001
        assert data.decode().encode() == data
        found[kind] = sha(data)
    assert found == HOSTILE
    line = b"".join(corpora._sized(hostile.write("hostile-one-line"), 10_000_000, rows=False))
    assert b"\n" not in line


def test_a_mix_holds_all_of_its_parts_everywhere() -> None:
    texts = [f"{letter * 99}\n\n" * 200 for letter in "abc"]
    text = recipes.mixed(texts, 10_000)
    for at in range(0, 25_000, 12_500):
        assert set(text[at : at + 12_500]) == {*"abc\n"}
    assert all(text.count(letter) >= 9_500 for letter in "abc")


# The rest


def test_benchmarks_run_where_nothing_was_built(cache) -> None:
    for kind in ("prose", "code", "multilingual"):
        assert corpora.origin(kind) == "installed"
        made = corpora.documents(kind, 50_000, 500_000)
        assert len(made) == len(set(made)) > 3
        assert {len(document) for document in made} == {50_000}
    assert not cache.exists()


SIZES = {"100MB": 10**8, "2GB": 2 * 10**9, "2.5 kB": 2500, "17": 17, "0.25G": 250_000_000}


@pytest.mark.parametrize("words", SIZES)
def test_sizes(words) -> None:
    assert corpora.parsed_size(words) == SIZES[words]


def test_the_command(cache, capsys) -> None:
    assert corpora.main(["build", "hostile-emoji", "--size", "2kB"]) == 0
    assert [len(p.read_bytes()) for p in (cache / "made").iterdir()] == [2000]
    assert corpora.main(["check", "hostile-emoji", "--size", "2kB"]) == 0
    assert corpora.main(["list"]) == 0
    assert "made/hostile-emoji-2000-" in capsys.readouterr().out
    assert corpora.main(["check", "prose", "nonsense"]) == 1
    error = capsys.readouterr().err
    assert "'prose' was not built" in error
    assert "'nonsense' is neither a kind nor a path" in error


def test_a_corpus_larger_than_the_disk_is_refused_before_it_is_written(cache) -> None:
    with pytest.raises(corpora.Missing, match=r"needs 10,0.* bytes, and .* are free"):
        corpora.corpus("hostile-repeated", 10**16)


def test_blocks_do_not_depend_on_each_other() -> None:
    model = markov.Model(TEXT * 3)
    assert [sha(block) for block in islice(model.write(), 2)] == [
        sha(model.block(0, 0)),
        sha(model.block(0, 1)),
    ]
