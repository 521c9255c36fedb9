"""Parts of records for `repr`, equality and hashing, for which all fields of a struct count by default."""

from __future__ import annotations

from msgspec import Struct


def repr_without(record: Struct, *hidden: str) -> str:
    """Return the `repr` of a record without secret or long fields, for tracebacks and logs."""
    shown = (name for name in record.__struct_fields__ if name not in hidden)
    return f"{type(record).__name__}({', '.join(f'{name}={getattr(record, name)!r}' for name in shown)})"


def values_without(record: Struct, *ignored: str) -> tuple[object, ...]:
    """Return the values of all other fields of a record, by which records are compared."""
    return tuple(getattr(record, name) for name in record.__struct_fields__ if name not in ignored)
