"""Tables of the public names of the library `website_scan` for docs/library.md.

A test compares them with those of the previous release.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator

from msgspec import Struct

import website_scan

Row = tuple[str, ...]


def functions(_old_table: str) -> Iterator[Row]:
    """Yield the functions with their parameters. Those after `*` are passed by name only."""
    yield "function", "parameters", "result"
    for name, value in _public(inspect.isfunction):
        signature = inspect.signature(value)
        parameters = (f"`{parameter}`" for parameter in _parameters(signature))
        yield f"`{name}`", ", ".join(parameters), f"`{signature.return_annotation}`"


def classes(_old_table: str) -> Iterator[Row]:
    """Yield the classes with their fields, properties and methods."""
    yield "class", "attributes", "meaning"
    for name, value in _public(inspect.isclass):
        attributes = (f"`{attribute}`" for attribute in _attributes(value))
        yield f"`{name}`", ", ".join(attributes), (inspect.getdoc(value) or "").split("\n\n")[0].replace("\n", " ")


def _public(condition: Callable[[object], bool]) -> Iterator[tuple[str, type]]:
    for name in website_scan.__all__:
        value = getattr(website_scan, name)
        if condition(value):
            yield name, value


def _parameters(signature: inspect.Signature) -> Iterator[str]:
    has_star = False
    for parameter in signature.parameters.values():
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY and not has_star:
            has_star = True
            yield "*"
        has_default = parameter.default is not inspect.Parameter.empty
        yield f"{parameter.name}={parameter.default!r}" if has_default else parameter.name


def _attributes(value: type) -> Iterator[str]:
    """Yield the public attributes: constructor's parameters of ordinary classes, fields, properties and methods."""
    if issubclass(value, Struct):
        yield from (name for name in value.__struct_fields__ if not name.startswith("_"))
    elif not issubclass(value, Exception):
        yield f"{value.__name__}({', '.join(_parameters(inspect.signature(value)))})"
    elif "__init__" in vars(value):
        yield from list(inspect.signature(value).parameters)
    for name, member in vars(value).items():
        if isinstance(member, property):
            yield name
        elif inspect.isfunction(member) and not name.startswith("_"):
            yield f"{name}()"
