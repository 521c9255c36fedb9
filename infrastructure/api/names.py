"""The names that a request to an operation may use; every other is refused."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from infrastructure.api.errors import InvalidParams


@dataclass(frozen=True, slots=True)
class Names:
    """The names that an operation knows: query parameters, and fields of the body with those that it needs."""

    parameters: tuple[str, ...]
    fields: tuple[str, ...]
    needed: frozenset[str]

    def refuse_other_parameters(self, given: Iterable[str]) -> None:
        """Raises InvalidParams, which names the first that is not known."""
        _refuse_others(given, self.parameters, "parameter")

    def refuse_other_fields(self, body: Mapping[str, object]) -> None:
        """The same for the body. What it lacks is said first, by the view: a URL that is missing has its own code."""
        if self.needed <= body.keys():
            _refuse_others(body, self.fields, "field")


def _refuse_others(given: Iterable[str], known: Sequence[str], noun: str) -> None:
    for name in given:
        if name not in known:
            others = f"there are {', '.join(known)}" if known else "there are none"
            # In ASCII and short, whatever was sent.
            raise InvalidParams(f"{name!a:.60} is no {noun} here; {others}.")
