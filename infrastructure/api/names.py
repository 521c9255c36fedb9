"""Refuse unknown query parameters and body fields."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from infrastructure.api.errors import InvalidParams


class Names(Struct, frozen=True):
    """Names that an operation accepts as query parameters and body fields, and which fields are required."""

    parameters: tuple[str, ...]
    fields: tuple[str, ...]
    required: frozenset[str]

    def refuse_other_parameters(self, names: Iterable[str]) -> None:
        """Raise InvalidParams for the first unknown query parameter."""
        _refuse_others(names, self.parameters, "parameter")

    def refuse_other_fields(self, body: Mapping[str, object]) -> None:
        """Raise InvalidParams for the first unknown field of the body.

        Returns if a required field is missing: the view refuses that first, because a missing URL has its own code.
        """
        if self.required <= body.keys():
            _refuse_others(body, self.fields, "field")


def _refuse_others(names: Iterable[str], known_names: Sequence[str], noun: str) -> None:
    for name in names:
        if name not in known_names:
            allowed = ", ".join(known_names) or "none"
            # `!a:.60` escapes the client's name to ASCII and cuts it to 60 characters.
            raise InvalidParams(f"Unknown {noun} {name!a:.60}. Allowed: {allowed}.")
