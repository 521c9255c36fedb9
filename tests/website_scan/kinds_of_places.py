"""Hypothesis strategies for all kinds of places that checks return."""

from __future__ import annotations

import typing
from collections.abc import Iterator
from functools import cache

from hypothesis import strategies as st

from website_scan import catalogue
from website_scan.findings import ScanType
from website_scan.places import Place


@cache
def place_kinds() -> tuple[type[Place], ...]:
    """Return all types of places that checks report."""
    for scan_type in ScanType:
        catalogue.checks(scan_type)
    return tuple(sorted(_kinds(Place), key=lambda kind: f"{kind.kind} {kind.__qualname__}"))


def _kinds(base: type[Place]) -> Iterator[type[Place]]:
    for kind in base.__subclasses__():
        if kind.__module__.startswith("website_scan.") and hasattr(kind, "kind"):
            yield kind
        yield from _kinds(kind)


def places_of_kind(kind: type[Place], texts: st.SearchStrategy[str]) -> st.SearchStrategy[Place]:
    """Return a strategy for places of this kind, with the given texts."""
    strategies_by_type = {
        str: texts,
        bool: st.booleans(),
        int: st.integers(0, 9999),
        float: st.floats(0, 99),
        type(None): st.none(),
    }
    hints = typing.get_type_hints(kind)
    strategies = {
        name: st.one_of([strategies_by_type[one] for one in _types(hints[name])]) for name in kind.__struct_fields__
    }
    return st.builds(kind, **strategies)


def _types(hint: typing.Any) -> tuple[typing.Any, ...]:
    return typing.get_args(hint) or (hint,)
