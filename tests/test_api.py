# ruff: noqa: E501  (a row of a table of errors stays on one line)
"""The public verbs: what they take, what they refuse and in which words, what stays the same."""

from __future__ import annotations

import dataclasses
import functools
import pickle
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given

import cantle
import samples
from cantle import Recursive, Sentence, Separator, Tokenizer, Whole, Window
from cantle.strategies.levelled import Levelled
from cantle.strategies.text import REGISTRY
from cases import builders
from processes import in_fresh_process

SPECIAL = Tokenizer.from_object(builders.wordpiece_mini(), count_special=True)
WINDOW = Window(3, unit="chars")
UNITS = (
    "'bytes', 'chars', 'words', 'cl100k_base', 'o200k_base', 'o200k_harmony', 'gpt2', "
    "'r50k_base', 'p50k_base', 'p50k_edit', 'minilm', 'bert-base-uncased'"
)
A_UNIT = f"must be one of {UNITS}, the path of a tokenizer.json, a tokenizer or a callable"
OFFLINE = (
    "cantle downloads nothing: on a machine with network, AutoTokenizer.from_pretrained({!r})"
    ".save_pretrained('folder') of the package transformers writes folder/tokenizer.json"
)

Bad = list[tuple[str, Callable[[], Any], type[Exception], str]]

SETTINGS: Bad = [
    ("size 0", lambda: Recursive(0), ValueError, "size (0) must be at least 1"),
    ("size -1", lambda: Window(-1), ValueError, "size (-1) must not be negative"),
    ("size text", lambda: Recursive("10"), TypeError, "size ('10') must be a whole number, not str"),
    ("size 1.5", lambda: Sentence(1.5), TypeError, "size (1.5) must be a whole number, not float"),
    ("size True", lambda: Whole(True), TypeError, "size (True) must be a whole number, not bool"),
    ("size None", lambda: Recursive(None), TypeError, "size (None) must be a whole number, not NoneType"),
    ("size 2**63", lambda: Recursive(2**63), ValueError, f"size ({2**63}) must be smaller than 2**63"),
    ("size 2**200", lambda: Recursive(2**200), ValueError, f"size ({2**200}) must be smaller than 2**63"),
    ("overlap = size", lambda: Recursive(10, 10), ValueError, "overlap (10) must be smaller than size (10)"),
    ("overlap > size", lambda: Window(512, 600), ValueError, "overlap (600) must be smaller than size (512)"),
    ("overlap of whole", lambda: Whole(5, 9), ValueError, "overlap (9) must be smaller than size (5)"),
    ("overlap -3", lambda: Recursive(10, -3), ValueError, "overlap (-3) must not be negative"),
    ("overlap text", lambda: Recursive(10, "1"), TypeError, "overlap ('1') must be a whole number, not str"),
    ("min_size > size", lambda: Recursive(10, min_size=11), ValueError, "min_size (11) must not be larger than size (10)"),
    ("min_size -1", lambda: Sentence(10, min_size=-1), ValueError, "min_size (-1) must not be negative"),
    ("min_size 2.0", lambda: Recursive(10, min_size=2.0), TypeError, "min_size (2.0) must be a whole number, not float"),
    ("trim 1", lambda: Recursive(10, trim=1), TypeError, "trim (1) must be True or False"),
    ("trim None", lambda: Recursive(10, trim=None), TypeError, "trim (None) must be True or False"),
    ("name empty", lambda: Recursive(name=""), TypeError, "name ('') must be a string that is not empty"),
    ("name 3", lambda: Window(name=3), TypeError, "name (3) must be a string that is not empty"),
    ("unit unknown", lambda: Recursive(unit="pages"), ValueError, f"unit ('pages') {A_UNIT}; {OFFLINE.format('pages')}"),
    ("unit empty", lambda: Recursive(unit=""), ValueError, f"unit ('') {A_UNIT}; {OFFLINE.format('')}"),
    ("unit None", lambda: Recursive(unit=None), TypeError, "unit (None) must be a string, a tokenizer or a callable"),
    ("unit bytes", lambda: Recursive(unit=b"chars"), TypeError, "unit (b'chars') must be a string, a tokenizer or a callable"),
    ("unit file", lambda: Recursive(unit="no/such.json"), OSError, "[Errno 2] No such file or directory: 'no/such.json'"),
    ("no room", lambda: Recursive(2, unit=SPECIAL), ValueError, "size (2) leaves no room for text: the tokenizer adds 2 special tokens and count_special is on"),
    ("separators text", lambda: Recursive(separators="abc"), TypeError, "separators ('abc') must be a list of separators"),
    ("separators 5", lambda: Recursive(separators=5), TypeError, "separators (5) must be a list of separators"),
    ("separator None", lambda: Recursive(separators=["a", None]), TypeError, "separators[1] (None) must be str, a compiled pattern or Separator"),
    ("separator of bytes", lambda: Recursive(separators=[re.compile(b"a")]), TypeError, "separators[0] (re.compile(b'a')) must be str, a compiled pattern or Separator"),
    ("'' not last", lambda: Recursive(separators=["", "a"]), ValueError, "separators[0] is empty: '' must come last"),
    ("separator surrogate", lambda: Recursive(separators=["a", "\ud800"]), ValueError, "separators[1] holds a lone surrogate at character 0"),
    ("flag", lambda: Recursive(separators=[re.compile("a", re.ASCII)]), ValueError, "separators[0]: the flag re.ASCII is not offered"),
    ("look-around", lambda: Recursive(separators=[re.compile("a(?=b)")]), ValueError, 'separators: the pattern "a(?=b)" cannot be used: look-around cannot be matched in linear time; put the separator on a side instead'),
    ("back-reference", lambda: Recursive(separators=[re.compile(r"(a)\1")]), ValueError, r'separators: the pattern "(a)\\1" cannot be used: back-references cannot be matched in linear time (nor are octal escapes known)'),
    ("open group", lambda: Recursive(separators=[Separator("(", regex=True)]), ValueError, 'separators: the pattern "(" cannot be used: unclosed group'),
    ("pattern 3", lambda: Separator(3), TypeError, "pattern (3) must be str"),
    ("side", lambda: Separator("a", side="left"), ValueError, "side ('left') must be 'start' or 'end'"),
]  # fmt: skip

ONE_TEXT = "texts must be a sequence of texts, not {}; use split for one text"
TEXTS: Bad = [
    ("None", lambda: WINDOW.split(None), TypeError, "text must be str or UTF-8 bytes, not NoneType"),
    ("number", lambda: cantle.split(5), TypeError, "text must be str or UTF-8 bytes, not int"),
    ("list", lambda: WINDOW.split(["a"]), TypeError, "text must be str or UTF-8 bytes, not list"),
    ("not UTF-8", lambda: WINDOW.split(b"ab\xff"), ValueError, "text is not UTF-8: the byte 0xff at position 2 is out of place"),
    ("cut UTF-8", lambda: WINDOW.split("a\u00e9".encode()[:-1]), ValueError, "text is not UTF-8: the byte 0xc3 at position 1 is out of place"),
    ("surrogate", lambda: WINDOW.split("\u00e9b\ud800c"), ValueError, "text holds a lone surrogate at character 2: it cannot be written as UTF-8"),
    ("sentences", lambda: cantle.sentences("a\udc00"), ValueError, "text holds a lone surrogate at character 1: it cannot be written as UTF-8"),
    ("one str", lambda: WINDOW.split_all("abc"), TypeError, ONE_TEXT.format("str")),
    ("one bytes", lambda: WINDOW.split_all(b"abc"), TypeError, ONE_TEXT.format("bytes")),
    ("stream of str", lambda: WINDOW.stream("abc"), TypeError, ONE_TEXT.format("str")),
    ("second None", lambda: WINDOW.split_all(["a", None]), TypeError, "texts[1] must be str or UTF-8 bytes, not NoneType"),
    ("second bytes", lambda: WINDOW.split_all(["a", b"\xff"]), ValueError, "texts[1] is not UTF-8: the byte 0xff at position 0 is out of place"),
    ("third surrogate", lambda: WINDOW.split_all(["a", "", "b\udc00"]), ValueError, "texts[2] holds a lone surrogate at character 1: it cannot be written as UTF-8"),
    ("threads -1", lambda: WINDOW.split_all(["a"], threads=-1), ValueError, "threads (-1) must not be negative"),
    ("threads text", lambda: WINDOW.split_all(["a"], threads="2"), TypeError, "threads ('2') must be a whole number, not str"),
    ("threads within", lambda: WINDOW.split_within(WINDOW.split("a"), threads=-1), ValueError, "threads (-1) must not be negative"),
    ("few ids", lambda: WINDOW.split_all(["a", "b"], ids=["x"]), ValueError, "ids has 1 entries for 2 texts"),
    ("ids text", lambda: WINDOW.split_all(["a", "b"], ids="xy"), TypeError, "ids must be a sequence of strings, not one string"),
    ("ids twice", lambda: WINDOW.split_all(["a", "b", "c"], ids=["x", "y", "x"]), ValueError, "ids[2] ('x') is also ids[0]"),
    ("ids surrogate", lambda: WINDOW.split_all(["a"], ids=["x\ud800"]), cantle.SettingError, "ids[0] ('x\\ud800') holds a lone surrogate at character 1: it cannot be written as UTF-8"),
    ("ids number", lambda: WINDOW.split_all(["a", "b"], ids=["x", 2]), TypeError, "ids[1] (2) must be str, not int"),
    ("few metadata", lambda: WINDOW.split_all(["a", "b"], metadata=[{}]), ValueError, "metadata has 1 entries for 2 texts"),
    ("one metadata", lambda: WINDOW.split_all(["a", "b"], metadata={}), TypeError, "metadata must be a sequence of mappings, one per text, not one mapping"),
    ("metadata number", lambda: WINDOW.split_all(["a", "b"], metadata=[{}, 3]), TypeError, "metadata[1] must be a mapping, not int"),
    ("one metadata number", lambda: WINDOW.split("a", metadata=3), TypeError, "metadata must be a mapping, not int"),
    ("one id number", lambda: WINDOW.split("a", id=3), TypeError, "id (3) must be str, not int"),
    ("id of sentences", lambda: cantle.sentences("a", id=3), TypeError, "id (3) must be str, not int"),
    ("texts number", lambda: WINDOW.split_all(5), TypeError, ONE_TEXT.format("int")),
    ("stream number", lambda: WINDOW.stream(5), TypeError, ONE_TEXT.format("int")),
    ("surplus ids", lambda: list(WINDOW.stream(["a"], ids=["x", "y"])), ValueError, "ids has more entries than the 1 texts"),
    ("surplus metadata", lambda: list(WINDOW.stream(["a"], metadata=[{}, {}])), ValueError, "metadata has more entries than the 1 texts"),
    ("batch 0", lambda: WINDOW.stream(["a"], batch=0), ValueError, "batch (0) must be at least 1"),
    ("batch 1.0", lambda: WINDOW.stream(["a"], batch=1.0), TypeError, "batch (1.0) must be a whole number"),
    ("batch True", lambda: WINDOW.stream(["a"], batch=True), TypeError, "batch (True) must be a whole number"),
    ("parents text", lambda: WINDOW.split_within("abc"), TypeError, "parents must be Chunks, not str"),
    ("parents mixed", lambda: WINDOW.split_within(WINDOW.split_all(["a", "b"])[::-1]), ValueError, "parents must be in the order of their documents"),
]  # fmt: skip

FORM = "name[:size[:overlap[:unit]]][,key=value...]"
KNOWN = (
    "must be one of whole, window, recursive, sentence, structural, clauses, rows, routed, "
    "semantic, optimal, documentbased, llm, hierarchical, nested"
)
IN_TEXT: Bad = [
    ("unknown", lambda: cantle.strategy_from_text("nope"), ValueError, f"strategy ('nope') {KNOWN}"),
    ("empty", lambda: cantle.strategy_from_text(""), ValueError, f"strategy ('') {KNOWN}"),
    ("too many parts", lambda: cantle.strategy_from_text("window:1:2:3:4"), ValueError, f"strategy ('window:1:2:3:4') has too many parts: {FORM}"),
    ("size", lambda: cantle.strategy_from_text("window:x"), ValueError, "size ('x') must be a whole number"),
    ("overlap", lambda: cantle.strategy_from_text("window:60:60"), ValueError, "overlap (60) must be smaller than size (60)"),
    ("unit", lambda: cantle.strategy_from_text("window:60:12:pages"), ValueError, f"unit ('pages') {A_UNIT}; {OFFLINE.format('pages')}"),
    ("unknown key", lambda: cantle.strategy_from_text("window,min_size=2"), ValueError, "strategy ('window,min_size=2'): 'min_size=2' sets nothing of window"),
    ("no value", lambda: cantle.strategy_from_text("window,trim"), ValueError, "strategy ('window,trim'): 'trim' sets nothing of window"),
    ("separators", lambda: cantle.strategy_from_text("recursive,separators=a"), ValueError, "strategy ('recursive,separators=a'): 'separators=a' sets nothing of recursive"),
    ("maybe", lambda: cantle.strategy_from_text("window,trim=maybe"), ValueError, "trim ('maybe') must be true or false"),
    ("trim 3", lambda: cantle.strategy_from_text("window,trim=3"), ValueError, "trim ('3') must be true or false"),
    ("open quote", lambda: cantle.strategy_from_text("window:1:0:'a"), ValueError, "strategy (\"window:1:0:'a\"): a quote is not closed"),
    ("no such default", lambda: cantle.strategy_from_text("window", overlpa=3), TypeError, "overlpa (3) is a setting of no strategy"),
    ("no such setting", lambda: cantle.route("a", overlpa=3), TypeError, "overlpa (3) is a setting of no strategy"),
    ("id of facts", lambda: cantle.facts("a", id=3), TypeError, "id (3) must be str"),
    ("kind of route", lambda: cantle.route("a", kind=3), TypeError, "kind (3) must be str"),
    ("empty item", lambda: cantle.strategies_from_text("window,,recursive"), ValueError, f"strategy ('') {KNOWN}"),
]  # fmt: skip

EVERY = [*SETTINGS, *TEXTS, *IN_TEXT]


@pytest.mark.parametrize(
    ("call", "kind", "message"), [bad[1:] for bad in EVERY], ids=[b[0] for b in EVERY]
)
def test_an_error_names_the_argument_and_the_value(call, kind, message):
    with pytest.raises(kind) as caught:
        call()
    assert str(caught.value) == message
    assert type(caught.value) is not Exception


def test_errors_are_of_ordinary_kinds():
    for kind in (cantle.SettingError, cantle.TextError, cantle.TokenizerError):
        assert issubclass(kind, ValueError)
    assert issubclass(cantle.InternalError, RuntimeError)


# ------------------------------------------------------------------------------- settings


@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_defaults_and_order_are_the_same_everywhere(name):
    strategy = REGISTRY[name]()
    names = [field.name for field in dataclasses.fields(strategy)]
    assert names[:4] == ["size", "overlap", "unit", "trim"]
    # The size of a strategy with levels is that of the finest: 2048 / 512 / 128.
    size = 128 if issubclass(REGISTRY[name], Levelled) else 512
    assert [getattr(strategy, n) for n in names[:4]] == [size, 0, "cl100k_base", True]
    assert all(field.kw_only for field in dataclasses.fields(strategy)[4:])
    assert REGISTRY[name].__name__.lower() == name.replace("_", "")
    assert strategy.strategy == name
    with pytest.raises(TypeError):
        REGISTRY[name](512, 0, "chars", True, "five")


@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_settings_are_frozen(name):
    strategy = REGISTRY[name]()
    for field in dataclasses.fields(strategy):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(strategy, field.name, 3)
    with pytest.raises(dataclasses.FrozenInstanceError):
        Separator("a").side = "end"


def test_equality_and_hash_of_strategies():
    assert Recursive(10, 2, "chars") == Recursive(size=10, overlap=2, unit="chars")
    assert hash(Recursive(10, 2, "chars")) == hash(Recursive(10, 2, "chars"))
    assert Recursive(np.int64(10), np.int32(2), "chars") == Recursive(10, 2, "chars")
    different = {
        Recursive(10, unit="chars"),
        Recursive(11, unit="chars"),
        Recursive(10, 1, unit="chars"),
        Recursive(10, unit="bytes"),
        Recursive(10, unit="chars", trim=False),
        Recursive(10, unit="chars", min_size=3),
        Recursive(10, unit="chars", separators=["a"]),
        Recursive(10, unit="chars", separators=[Separator("a", side="start")]),
        Recursive(10, unit="chars", name="other"),
        Sentence(10, unit="chars"),
        Window(10, unit="chars"),
    }
    assert len(different) == 11
    # All settings tell fingerprints apart, but for the name.
    assert len({strategy.fingerprint for strategy in different}) == 10
    assert Recursive(separators=["a"]) == Recursive(separators=(Separator("a"),))


def test_repr_of_a_strategy_can_be_read():
    assert repr(Window(60, 12, "words")) == (
        "Window(size=60, overlap=12, unit='words', trim=True, name=None)"
    )
    assert repr(Recursive(5, unit="chars", separators=["a"])) == (
        "Recursive(size=5, overlap=0, unit='chars', trim=True, separators=(Separator(pattern='a', "
        "regex=False, side=None),), min_size=0, name=None)"
    )


_FINGERPRINTS = """
import sys
import samples
from cases import builders
from cantle import Recursive, Separator, Window
for strategy in (
    Recursive(60, 12, "words", name="x"),
    Window(60, unit="o200k_base", trim=False),
    Recursive(9, unit=builders.wordpiece_mini(), separators=["a", Separator("b+", regex=True)]),
    Recursive(9, unit=samples.weighed),
):
    print(strategy.fingerprint)
"""


def test_fingerprints_are_the_same_in_every_process():
    printed = {in_fresh_process(_FINGERPRINTS) for _ in range(2)}
    expected = [
        Recursive(60, 12, "words").fingerprint,
        Window(60, 0, "o200k_base", False).fingerprint,
        Recursive(
            9, unit=builders.wordpiece_mini(), separators=["a", Separator("b+", regex=True)]
        ).fingerprint,
        Recursive(9, unit=samples.weighed).fingerprint,
    ]
    assert printed == {"".join(f"{f}\n" for f in expected)}
    assert all(re.fullmatch("[0-9a-f]{16}", f) for f in expected)


def scaled(factor: int) -> Callable[[str], int]:
    return lambda text: factor * len(text)


def test_fingerprints_tell_callables_apart():
    """They were known by their names alone, so that every lambda of a function was the same."""
    units = [
        samples.weighed,
        samples.Padded(),
        lambda text: len(text),
        lambda text: 2 * len(text),
        scaled(2),
        scaled(3),
        functools.partial(len),
        functools.partial(samples.weighed),
    ]
    assert len({Recursive(9, unit=unit).fingerprint for unit in units}) == len(units)
    assert Recursive(9, unit=scaled(2)).fingerprint == Recursive(9, unit=scaled(2)).fingerprint


_SET = """
from cantle import Recursive
print(Recursive(9, unit=lambda text: sum(c in {"a", "b", "c", "d", "e"} for c in text)).fingerprint)
"""


def test_a_fingerprint_does_not_depend_on_the_hash_seed():
    """A set among a function's constants prints in another order in another process."""
    assert len({in_fresh_process(_SET, seed=seed) for seed in range(3)}) == 1


@pytest.mark.parametrize(
    "strategy",
    [
        Whole(),
        Window(60, 12, "words", False, name="w"),
        Recursive(9, 2, Tokenizer.from_object(builders.words()), separators=["a", ""], min_size=3),
        Recursive(9, unit=samples.weighed),
        Recursive(9, separators=[re.compile("a|B", re.IGNORECASE)]),
        Sentence(20, unit="o200k_base"),
    ],
)
def test_strategies_pickle(strategy):
    again = pickle.loads(pickle.dumps(strategy))
    assert again == strategy
    assert hash(again) == hash(strategy)
    assert again.fingerprint == strategy.fingerprint
    assert again.split("a b. c d") == strategy.split("a b. c d")


# ------------------------------------------------------------------------------ the verbs


def test_split():
    text = "One two. Three four."
    assert cantle.split(text, 2, unit="words").texts == ["One two.", "Three four."]
    assert cantle.split(text, 2, 1, "words", False) == Recursive(2, 1, "words", False).split(text)
    assert cantle.split(text) == Recursive().split(text)
    assert cantle.split("").texts == []
    assert cantle.split(" \n ").texts == []
    assert cantle.split(" \n ", trim=False).texts == [" \n "]
    assert Window(1, unit="chars").split("ab", id="d").ids == ["d_window_0", "d_window_1"]
    assert Window(1, unit="chars", name="n").split("a").ids == ["doc0_n_0"]


def test_split_all():
    texts = ["ab", "", b"c\xc3\xa9"]
    chunks = Window(1, unit="chars").split_all(texts)
    assert chunks.ids == ["doc0_window_0", "doc0_window_1", "doc2_window_0", "doc2_window_1"]
    assert chunks.texts == ["a", "b", "c", "\u00e9"]
    for iterable in (tuple(texts), iter(texts), (t for t in texts), dict.fromkeys(texts)):
        assert Window(1, unit="chars").split_all(iterable) == chunks
    assert len(Window().split_all([])) == 0
    named = Window(1, unit="chars").split_all(
        texts, ids=iter("xyz"), metadata=iter([{}, {}, {"k": 1}])
    )
    assert named.ids[-1] == "z_window_1"
    assert named[-1].metadata == {"k": 1}


def test_stream_reads_as_it_is_asked_and_numbers_through():
    read = []

    def texts():
        for i in range(5):
            read.append(i)
            yield f"text {i}"

    parts = WINDOW.stream(texts(), batch=2)
    assert read == []
    first = next(parts)
    assert read == [0, 1]
    rest = list(parts)
    assert [len(part.documents) for part in (first, *rest)] == [2, 2, 1]
    ids = [i for part in (first, *rest) for i in part.ids]
    assert ids == WINDOW.split_all([f"text {i}" for i in range(5)]).ids
    assert list(WINDOW.stream([])) == []


def test_stream_hands_ids_and_metadata_on():
    parts = list(
        WINDOW.stream(
            ["a", "b", "c"], batch=2, ids=iter("xyz"), metadata=[{"n": i} for i in range(3)]
        )
    )
    assert [chunk.id for part in parts for chunk in part] == [
        "x_window_0",
        "y_window_0",
        "z_window_0",
    ]
    assert [chunk.metadata for part in parts for chunk in part] == [{"n": 0}, {"n": 1}, {"n": 2}]
    with pytest.raises(cantle.SettingError) as caught:
        list(WINDOW.stream(["a", "b"], batch=1, ids=["x"]))
    assert str(caught.value) == "ids has 0 entries for 1 texts"


def test_split_within():
    parents = Recursive(9, unit="chars").split_all(
        ["\u00e9\u00e9 bb cc dd", "", "ee ff gg hh"], ids=["x", "y", "z"]
    )
    children = Window(2, unit="chars").split_within(parents)
    assert children.ids[:2] == ["x_window2_0", "x_window2_1"]
    assert children.name == "window2"
    assert children.parents is parents
    for child in children:
        assert child.parent.char_start <= child.char_start < child.char_end <= child.parent.char_end
        assert child.parent.byte_start <= child.byte_start < child.byte_end <= child.parent.byte_end
        assert child.text in child.parent.text
    named = Window(2, unit="chars", name="small").split_within(parents)
    assert named.ids[0] == "x_small_0"
    some = Window(2, unit="chars").split_within(parents[parents.doc == 2])
    assert set(some.doc.tolist()) == {2}
    assert len(Window(2).split_within(parents[:0])) == 0
    grandchildren = Window(1, unit="chars").split_within(children)
    assert grandchildren[-1].parent.parent.id == parents[-1].id


def test_sentences():
    chunks = cantle.sentences("  One here. Two \u00e9!  \n\nThree", id="d")
    assert chunks.texts == ["  One here.", "Two \u00e9!", "Three"]
    assert chunks.ids == ["d_sentences_0", "d_sentences_1", "d_sentences_2"]
    assert chunks.size.tolist() == [11, 6, 5]
    assert cantle.sentences(b"One. Two.") == cantle.sentences("One. Two.")
    assert len(cantle.sentences("")) == len(cantle.sentences(" \n")) == 0


@given(text=samples.texts)
def test_sentences_are_slices_in_order(text):
    reached = 0
    for chunk in cantle.sentences(text):
        assert chunk.char_start >= reached
        assert chunk.text == text[chunk.char_start : chunk.char_end]
        reached = chunk.char_end


# --------------------------------------------------------------------- strategies as text


@pytest.mark.parametrize(
    ("text", "strategy"),
    [
        ("recursive", Recursive()),
        ("window:60:12:words", Window(60, 12, "words")),
        ("Window : 60", Window(60)),
        ("sentence:100", Sentence(100)),
        ("window::12", Window(512, 12)),
        ("window:60::words", Window(60, unit="words")),
        ("whole,trim=false,name=w", Whole(trim=False, name="w")),
        (
            "recursive:1_000:0:bytes,min_size=40,trim=TRUE",
            Recursive(1_000, unit="bytes", min_size=40),
        ),
        ("recursive, size = 9, unit = chars", Recursive(9, unit="chars")),
        ("recursive:'9':0:\"chars\"", Recursive(9, unit="chars")),
    ],
)
def test_a_strategy_from_text(text, strategy):
    assert cantle.strategy_from_text(text) == strategy


def test_defaults_fill_what_the_text_leaves_out():
    made = cantle.strategy_from_text("window:60", size=5, unit="words", min_size=3)
    assert made == Window(60, unit="words")
    assert cantle.strategy_from_text("recursive", size=5, min_size=3) == Recursive(5, min_size=3)


def test_an_item_with_an_equals_sign_belongs_to_the_strategy_before_it():
    made = cantle.strategies_from_text(
        "window:60:12:words,trim=false,recursive:40:8,whole,name=w", unit="chars"
    )
    assert made == [
        Window(60, 12, "words", False),
        Recursive(40, 8, "chars"),
        Whole(unit="chars", name="w"),
    ]


def test_a_path_with_colons_and_commas_is_quoted(tmp_path):
    path = tmp_path / "a,b:c.json"
    path.write_text(builders.words().to_str(), encoding="utf-8")
    want = Window(4, 1, builders.words())
    assert cantle.strategy_from_text(f'window:4:1:"{path}"') == want
    assert cantle.strategies_from_text(f"whole,window:4:1:'{path}',trim=true") == [Whole(), want]


def test_a_number_too_long_to_write_is_named_all_the_same():
    """Python refuses to print it, which once ended up on standard error."""
    for size, message in [
        (10**5000, "must be smaller than 2**63"),
        (-(10**5000), "not be negative"),
    ]:
        with pytest.raises(
            cantle.SettingError, match=re.escape("size (a number too long to write)")
        ) as e:
            Recursive(size)
        assert message in str(e.value)


def test_separators_are_levels_of_a_stack():
    """Ten thousand of them once overflowed it, which ends a process."""
    many = Recursive(2, unit="chars", separators=["ab", *"cdef" * 60])
    assert many.split("abcabc").texts == ["ab", "c", "ab", "c"]
    with pytest.raises(cantle.SettingError, match="separators has 257 entries; at most 256"):
        Recursive(2, unit="chars", separators=["ab"] * 257)


def test_a_verbose_pattern_may_end_in_a_comment():
    splitter = Recursive(3, unit="chars", separators=[re.compile("a | b  # either", re.X)])
    assert splitter.split("xxaybzz").texts == ["xxa", "yb", "zz"]


def test_a_setting_is_given_once():
    with pytest.raises(cantle.SettingError, match=re.escape("'window:5,size=6') sets size twice")):
        cantle.strategy_from_text("window:5,size=6")


def test_a_callable_that_captured_a_name_bound_later_has_a_fingerprint():
    def unit(text):
        return later(text)

    assert Recursive(9, unit=unit).fingerprint
    later = len
    assert Recursive(9, unit=unit).split("abc").size.tolist() == [3]


def test_a_callable_may_say_its_own_fingerprint():
    def unit(text):
        return len(text)

    plain = Recursive(9, unit=unit).fingerprint
    unit.fingerprint = "length 2"
    assert Recursive(9, unit=unit).fingerprint != plain


def test_a_chunk_equals_itself_read_again():
    chunks = Recursive(9, unit="chars").split("some words to cut")
    assert chunks[0] == chunks[0] != chunks[1]
    assert chunks[1] in chunks
    assert list(chunks).index(chunks[1]) == 1
    assert pickle.loads(pickle.dumps(chunks[0])) == chunks[0]
    assert len({*chunks, *chunks}) == len(chunks)
