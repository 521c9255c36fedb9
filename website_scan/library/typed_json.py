"""Validate JSON values by the types of `website_scan.report_json`."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from functools import cache
from types import UnionType
from typing import Annotated, Any, Literal, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict

from website_scan.json_types import Keywords, Values

SCALARS: Mapping[Any, tuple[type, ...]] = {str: (str,), bool: (bool,), int: (int,), float: (int, float)}


class InvalidJson(ValueError):
    """Raised for a value of another type. The message names its path, such as `categories[0].name`."""


def validated(kind: Any, value: object, path: str = "") -> Any:
    """Return a JSON value with only the keys that its type has, in their order. Raises InvalidJson."""
    origin, arguments = get_origin(kind), get_args(kind)
    if kind is object:
        return value
    if origin is Annotated:
        return _constrained(validated(arguments[0], value, path), arguments[1:], path)
    if origin in (Union, UnionType):
        return _member(arguments, value, path)
    if origin is Literal:
        if value not in arguments:
            raise InvalidJson(f"{path} must be one of {', '.join(map(str, arguments))}.")
        return value
    if origin is list and isinstance(value, list):
        return [validated(arguments[0], item, f"{path}[{number}]") for number, item in enumerate(value)]
    if origin is dict and isinstance(value, dict):
        return {key: validated(arguments[1], item, f"{path}.{key}") for key, item in value.items()}
    if is_typeddict(kind) and isinstance(value, dict):
        return _object(kind, value, path)
    if kind is type(None) and value is None:
        return None
    # True and False are numbers in Python, but not in JSON.
    if type(value) in SCALARS.get(kind, ()) and (not isinstance(value, float) or math.isfinite(value)):
        return value
    raise InvalidJson(f"{path or 'the document'} has another type.")


def _member(kinds: tuple[Any, ...], value: object, path: str) -> Any:
    """Return a value of one of the types. The message is that of the last type that the value could have."""
    problem = InvalidJson(f"{path} has another type.")
    for kind in [kind for kind in kinds if _is_chosen(kind, value)] or kinds:
        try:
            return validated(kind, value, path)
        except InvalidJson as error:
            problem = error
    raise problem


def _is_chosen(kind: Any, value: object) -> bool:
    """Return False if a key of the object, such as `status`, chooses another type."""
    if not is_typeddict(kind) or not isinstance(value, dict):
        return True
    literals = {key: get_args(hint) for key, (hint, _) in _hints(kind).items() if get_origin(hint) is Literal}
    return all(value.get(key) in choices for key, choices in literals.items())


@cache
def _hints(kind: type) -> Mapping[str, tuple[Any, bool]]:
    """Return the type of each key, and True if the key is required."""
    hints = get_type_hints(kind, include_extras=True)
    return {
        key: (get_args(hint)[0], False) if get_origin(hint) is NotRequired else (hint, True)
        for key, hint in hints.items()
    }


def _object(kind: type, value: Mapping[str, object], path: str) -> dict[str, Any]:
    before = f"{path}." if path else ""
    result = {}
    for key, (hint, is_required) in _hints(kind).items():
        if key in value:
            result[key] = validated(hint, value[key], f"{before}{key}")
        elif is_required:
            raise InvalidJson(f"{before}{key} is missing.")
    return result


def _constrained(value: Any, constraints: tuple[object, ...], path: str) -> Any:
    for constraint in constraints:
        if value is None:
            continue
        if isinstance(constraint, Values) and value not in [choice for choice, _ in constraint.choices]:
            # A failed scan has a status that reports of a service do not have.
            is_valid = path.endswith("status") and value == "failed"
        elif isinstance(constraint, Keywords):
            is_valid = _fits(value, constraint)
        else:
            is_valid = True
        if not is_valid:
            raise InvalidJson(f"{path} is invalid.")
    return value


def _fits(value: Any, keywords: Keywords) -> bool:
    # IDs are empty in reports of scans that could not start.
    return (
        (keywords.pattern is None or value == "" or re.search(keywords.pattern, value) is not None)
        and (keywords.minimum is None or value >= keywords.minimum)
        and (keywords.maximum is None or value <= keywords.maximum)
    )
