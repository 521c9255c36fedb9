"""Validation of names in requests: unknown query parameters and body fields are refused."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from infrastructure.api.errors import InvalidParams


@dataclass(frozen=True, slots=True)
class Names:
    """The names that an operation knows: query parameters, fields of the body, and which fields are required."""

    parameters: tuple[str, ...]
    fields: tuple[str, ...]
    needed: frozenset[str]

    def refuse_other_parameters(self, given: Iterable[str]) -> None:
        """Raise InvalidParams for the first unknown query parameter."""
        _refuse_others(given, self.parameters, "parameter")

    def refuse_other_fields(self, body: Mapping[str, object]) -> None:
        """Raise InvalidParams for the first unknown field of the body.

        Does nothing if a required field is missing: the view reports that first, as a missing URL has its own code.
        """
        if self.needed <= body.keys():
            _refuse_others(body, self.fields, "field")


def _refuse_others(given: Iterable[str], known: Sequence[str], noun: str) -> None:
    for name in given:
        if name not in known:
            others = f"there are {', '.join(known)}" if known else "there are none"
            # `!a:.60` keeps the sent name ASCII and short.
            raise InvalidParams(f"{name!a:.60} is no {noun} here; {others}.")
