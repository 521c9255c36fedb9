"""Parts of records for `repr`, equality and hashing, for which all fields of a struct count by default."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import asdict


def repr_without(record: Struct, *hidden: str) -> str:
    """Return the `repr` of a record without secret or long fields, for tracebacks and logs."""
    shown = (f"{name}={value!r}" for name, value in asdict(record).items() if name not in hidden)
    return f"{type(record).__name__}({', '.join(shown)})"


def values_without(record: Struct, *ignored: str) -> tuple[object, ...]:
    """Return the values of all other fields of a record, by which records are compared."""
    return tuple(value for name, value in asdict(record).items() if name not in ignored)
