"""Settings of strategies: defaults, equality, fingerprints, and strategies as text."""

from __future__ import annotations

import dataclasses
import functools
import pickle
import re
from collections.abc import Callable

import numpy as np
import pytest

import cantle
import samples
from cantle import Recursive, Sentence, Separator, Tokenizer, Whole, Window
from cantle.strategies.levelled import Levelled
from cantle.strategies.text import REGISTRY
from cases import builders
from processes import in_fresh_process


@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_defaults_and_order_are_the_same_everywhere(name):
    strategy = REGISTRY[name]()
    names = [field.name for field in dataclasses.fields(strategy)]
    assert names[:4] == ["size", "overlap", "unit", "trim"]
    # The size of a strategy with levels is that of the finest: 2048 / 512 / 128.
    size = 128 if issubclass(REGISTRY[name], Levelled) else 512
    assert [getattr(strategy, n) for n in names[:4]] == [size, 0, "cl100k_base", True]
    assert all(field.kw_only for field in dataclasses.fields(strategy)[4:])
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


def test_a_setting_is_given_once():
    with pytest.raises(cantle.SettingError, match=re.escape("'window:5,size=6') sets size twice")):
        cantle.strategy_from_text("window:5,size=6")
