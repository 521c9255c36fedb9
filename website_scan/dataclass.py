"""Dataclasses whose creation takes a quarter of the usual time.

`dataclasses.dataclass` compiles six methods for each class. The command imports about 500 dataclasses, which took a
tenth of the processor time of a small page's scan. `dataclass` of this module compiles only `__init__`, if the class is
frozen, has slots, and is no subclass of another dataclass. All other methods do the same as those of the standard
library. Other classes are created by the standard library.
"""

from __future__ import annotations

import dataclasses
import operator
import reprlib
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

MISSING = dataclasses.MISSING
PSEUDO_FIELDS = ("InitVar", "KW_ONLY")

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(cls=None, /, *, frozen=False, slots=False, **options):
        """Make a class a dataclass, like `dataclasses.dataclass`."""

        def create(cls):
            if frozen and slots and not options and not _has_dataclass_features(cls):
                return _create_frozen(cls)
            return dataclasses.dataclass(cls, frozen=frozen, slots=slots, **options)

        return create if cls is None else create(cls)


def _has_dataclass_features(cls: type) -> bool:
    """Return True if a base class is a dataclass, or if an annotation is no field but an option."""
    return dataclasses.is_dataclass(cls) or any(
        name in str(annotation)
        for annotation in vars(cls).get("__annotations__", {}).values()
        for name in PSEUDO_FIELDS
    )


def _create_frozen(cls: type) -> Any:
    own = vars(cls)
    defined = {name for name in ("__init__", "__eq__", "__repr__") if name in own}
    if own.get("__hash__") is not None:
        defined.add("__hash__")
    if not cls.__doc__:
        cls.__doc__ = cls.__name__  # The standard library would describe the signature of `__init__`.
    created: Any = dataclasses.dataclass(init=False, repr=False, eq=False, slots=True)(cls)
    created.__dataclass_params__.frozen = True  # Only then may a frozen dataclass inherit from this class.
    fields = dataclasses.fields(created)
    key = _key([field.name for field in fields if field.compare])
    hash_key = _key([field.name for field in fields if (field.compare if field.hash is None else field.hash)])
    methods: dict[str, Callable[..., Any]] = {
        "__init__": _init(fields, calls_post_init=hasattr(created, "__post_init__")),
        "__eq__": lambda self, other: key(self) == key(other) if other.__class__ is self.__class__ else NotImplemented,
        "__hash__": lambda self: hash(hash_key(self)),
        "__repr__": _repr([field.name for field in fields if field.repr]),
        "__setattr__": _refuse_assignment,
        "__delattr__": _refuse_deletion,
        "__getstate__": _get_state,
        "__setstate__": _set_state,
    }
    for name in methods.keys() - defined:
        setattr(created, name, methods[name])
        setattr(cls, name, methods[name])  # The class without slots remains a subclass until it is collected.
    return created


def _key(names: list[str]) -> Callable[[object], object]:
    """Return a function that returns a tuple of these attributes."""
    if len(names) > 1:
        return operator.attrgetter(*names)
    return lambda value: tuple(getattr(value, name) for name in names)


def _init(fields: Collection[dataclasses.Field[Any]], *, calls_post_init: bool) -> Callable[..., None]:
    """Compile `__init__`."""
    scope: dict[str, Any] = {"__set": object.__setattr__, "__missing": MISSING}
    parameters: list[str] = []
    keyword_parameters: list[str] = []
    statements: list[str] = []
    for field in fields:
        name = field.name
        value, default = name, ""
        if field.default_factory is not MISSING:
            scope[f"__new_{name}"] = field.default_factory
            value = f"__new_{name}() if {name} is __missing else {name}" if field.init else f"__new_{name}()"
            default = "=__missing"
        elif field.default is not MISSING:
            scope[f"__default_{name}"] = field.default
            default = f"=__default_{name}"
            value = name if field.init else f"__default_{name}"
        elif not field.init:
            continue
        if field.init:
            (keyword_parameters if field.kw_only else parameters).append(name + default)
        statements.append(f"__set(self, {name!r}, {value})")
    if keyword_parameters:
        parameters += ["*", *keyword_parameters]
    if calls_post_init:
        statements.append("self.__post_init__()")
    source = f"def __init__({', '.join(['self', *parameters])}): {'; '.join(statements) or 'pass'}"
    exec(source, scope)  # noqa: S102 -- the names of fields are identifiers of this program
    init: Callable[..., None] = scope["__init__"]
    init.__annotations__ = {field.name: field.type for field in fields if field.init} | {"return": None}
    return init


def _repr(names: list[str]) -> Callable[[Any], str]:
    @reprlib.recursive_repr()
    def describe(self: Any) -> str:
        values = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{self.__class__.__qualname__}({values})"

    return describe


def _refuse_assignment(_self: object, name: str, _value: object) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_deletion(_self: object, name: str) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


def _get_state(self: Any) -> list[object]:
    return [getattr(self, field.name) for field in dataclasses.fields(self)]


def _set_state(self: Any, state: list[object]) -> None:
    for field, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, field.name, value)
