"""Test that frozen dataclasses behave like those of the standard library."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from dataclasses import FrozenInstanceError, field
from typing import Any, ClassVar

import pytest

from website_scan.dataclass import dataclass


def features(decorator: Any) -> dict[str, Any]:
    """Return classes that this decorator has made, by name."""

    @decorator(frozen=True, slots=True)
    class Point:
        """Point on a map."""

        origin: ClassVar[str] = "north"
        x: int
        y: int = 2
        names: list[str] = field(default_factory=list)
        note: str = field(default="", compare=False, repr=False)
        order: int = field(default=0, kw_only=True)
        cached: tuple[int, ...] = field(default=(), init=False)
        secret: dict[str, str] = field(default_factory=dict, hash=False, init=False)

    @decorator(frozen=True, slots=True)
    class Single:
        value: float

    @decorator(frozen=True, slots=True)
    class Empty:
        pass

    @decorator(frozen=True, slots=True)
    class Checked:
        value: int

        def __post_init__(self) -> None:
            if self.value < 0:
                raise ValueError("negative")

    @decorator(frozen=True, slots=True)
    class Special:
        value: int
        unhashable: list[int] = field(default_factory=list)

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Special)

        def __hash__(self) -> int:
            return 1

        def __repr__(self) -> str:
            return "special"

    @decorator(frozen=True, slots=True)
    class Derived(Single):
        unit: str = "s"

    @decorator(frozen=True, slots=True)
    class Partial:
        parts: dataclasses.InitVar[int]
        total: int = 0

        def __post_init__(self, parts: int) -> None:
            object.__setattr__(self, "total", parts + self.total)

    return {name: kind for name, kind in locals().items() if isinstance(kind, type)}


OURS, STANDARD = features(dataclass), features(dataclasses.dataclass)


@pytest.mark.parametrize("classes", [OURS, STANDARD], ids=["ours", "standard"])
def test_dataclass_behaves_like_the_one_of_the_standard_library(classes: dict[str, Any]) -> None:
    point, single, special = classes["Point"], classes["Single"], classes["Special"]
    assert repr(point(1)).endswith("Point(x=1, y=2, names=[], order=0, cached=(), secret={})")
    assert point(1) == point(1, note="x")
    assert point(1) != point(1, order=1)
    assert point(1) != (1, 2, [], "", 0, (), {})
    assert point(1).names is not point(1).names
    assert (single(float("nan")) == single(float("nan"))) is False
    nan = float("nan")
    assert single(nan) == single(nan)
    assert len({single(1), single(1.0), single(2)}) == 2
    with pytest.raises(TypeError):
        hash(point(1))
    assert classes["Empty"]() == classes["Empty"]()
    assert hash(classes["Empty"]()) == hash(())
    assert (special(1), repr(special(1)), hash(special(1))) == (special(2), "special", 1)
    assert classes["Derived"](1).unit == "s"
    assert classes["Derived"](1) != single(1)
    assert classes["Partial"](3, 4).total == 7
    assert dataclasses.replace(point(1), y=5) == point(1, 5)
    assert dataclasses.asdict(point(1))["names"] == []
    assert copy.deepcopy(point(1, names=["a"])) == point(1, names=["a"])
    assert point.__match_args__ == ("x", "y", "names", "note")
    assert list(inspect.signature(point).parameters) == ["x", "y", "names", "note", "order"]
    assert point.__doc__ == "Point on a map."
    assert not hasattr(point(1), "__dict__")


@pytest.mark.parametrize("classes", [OURS, STANDARD], ids=["ours", "standard"])
@pytest.mark.parametrize("arguments", [(), (1, 2, [], "", 0), ("1", 2, [], "", 0, 0)])
def test_dataclass_refuses_wrong_arguments(classes: dict[str, Any], arguments: tuple[Any, ...]) -> None:
    with pytest.raises(TypeError):
        classes["Point"](*arguments)


@pytest.mark.parametrize("classes", [OURS, STANDARD], ids=["ours", "standard"])
def test_dataclass_calls_post_init(classes: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="negative"):
        classes["Checked"](-1)


@pytest.mark.parametrize(
    ("classes", "name"),
    # For another name, the standard library raises TypeError, because of the slots.
    [
        pytest.param(OURS, "x", id="ours"),
        pytest.param(STANDARD, "x", id="standard"),
        pytest.param(OURS, "z", id="other"),
    ],
)
def test_frozen_dataclass_refuses_changes(classes: dict[str, Any], name: str) -> None:
    point = classes["Point"](1)
    with pytest.raises(FrozenInstanceError, match=f"cannot assign to field '{name}'"):
        setattr(point, name, 2)
    with pytest.raises(FrozenInstanceError, match=f"cannot delete field '{name}'"):
        delattr(point, name)


@pytest.mark.parametrize("decorator", [dataclass, dataclasses.dataclass], ids=["ours", "standard"])
def test_frozen_dataclass_can_have_subclasses_of_both_kinds(decorator: Any) -> None:
    for base in (OURS["Single"], STANDARD["Single"]):
        figure = decorator(frozen=True, slots=True)(type("Figure", (base,), {"__annotations__": {"unit": "str"}}))
        assert figure(1, "s") == figure(1, "s") != figure(1, "m")
        assert hash(figure(1, "s")) == hash((1, "s"))


class Base:
    """Base class that knows its subclasses."""


@pytest.mark.parametrize("decorator", [dataclass, dataclasses.dataclass], ids=["ours", "standard"])
def test_class_without_slots_can_be_used_until_it_is_collected(decorator: Any) -> None:
    original = type("Figure", (Base,), {"__annotations__": {"value": "int"}})
    created = decorator(frozen=True, slots=True)(original)
    for kind in (original, created):
        assert kind(1) == kind(value=1) != kind(2)
        assert repr(kind(1)) == "Figure(value=1)"


@dataclass(frozen=True, slots=True)
class Stored:
    """Class that pickle can import."""

    name: str
    values: tuple[int, ...] = ()


def test_frozen_dataclass_survives_pickling() -> None:
    assert pickle.loads(pickle.dumps(Stored("a", (1, 2)))) == Stored("a", (1, 2))
    assert copy.copy(Stored("b")) == Stored("b")


def test_only_the_constructor_is_compiled() -> None:
    files = {
        name: getattr(Stored, name).__code__.co_filename for name in ("__init__", "__eq__", "__hash__", "__setattr__")
    }
    assert {name for name, file in files.items() if file == "<string>"} == {"__init__"}
