"""Strict access to the fields of a recorded step."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

from website_scan.journeys.journey import JourneyRefused
from website_scan.journeys.rules import check_text
from website_scan.messages import excerpt


class StepFields:
    """Fields of one step of a recording.

    Each method raises JourneyRefused, which names the line, the number and the kind of the step.
    """

    def __init__(self, step: object, number: int, line: int) -> None:
        self.number = number
        self.line = line
        self.kind = ""
        if not isinstance(step, dict):
            self.refuse("The step is not an object.")
        self._fields: Mapping[str, Any] = step
        self._used: set[str] = {"type"}
        kind = step.get("type")
        if not isinstance(kind, str):
            self.refuse("The step has no “type”.")
        self.kind = excerpt(kind, 40)

    def refuse(self, reason: object) -> NoReturn:
        """Refuse the journey because of this step."""
        kind = f" ({self.kind})" if self.kind else ""
        raise JourneyRefused(f"Line {self.line}, step {self.number}{kind}: {reason}") from None

    def value(self, name: str) -> Any:
        """Return a field of any type, or None if it is missing."""
        self._used.add(name)
        return self._fields.get(name)

    def text(self, name: str, limit: int) -> str:
        """Return a text that is not empty."""
        value = self.value(name)
        if not isinstance(value, str) or not value.strip():
            self.refuse(f"“{name}” is missing or not a text.")
        try:
            return check_text(value, limit, f"“{name}”")
        except ValueError as error:
            self.refuse(error)

    def choice(self, name: str, choices: Iterable[str], default: str) -> str:
        """Return one of the choices."""
        value = self.value(name)
        if value is None:
            return default
        if not isinstance(value, str) or value not in choices:
            self.refuse(f"“{name}” is none of {', '.join(choices)}.")
        return value

    def number_between(self, name: str, low: float, high: float, default: float | None = None) -> float:
        """Return a finite number between both limits. Without a default, the field must be present."""
        value = self.value(name)
        if value is None and default is not None:
            return default
        if not isinstance(value, float) or not math.isfinite(value) or not low <= value <= high:
            self.refuse(f"“{name}” is not a number from {low:,.0f} to {high:,.0f}.")
        return value

    def flag(self, name: str, *, default: bool) -> bool:
        """Return true or false."""
        value = self.value(name)
        if value is None:
            return default
        if not isinstance(value, bool):
            self.refuse(f"“{name}” is not true or false.")
        return value

    def items(self, name: str, limit: int) -> list[Any]:
        """Return a list, which is empty if the field is missing."""
        value = self.value(name)
        if value is None:
            return []
        if not isinstance(value, list) or len(value) > limit:
            self.refuse(f"“{name}” is not a list of at most {limit} items.")
        return value

    def table(self, name: str, limit: int) -> Mapping[str, Any]:
        """Return an object, which is empty if the field is missing."""
        value = self.value(name)
        if value is None:
            return {}
        if not isinstance(value, dict) or len(value) > limit:
            self.refuse(f"“{name}” is not an object of at most {limit} fields.")
        return value

    def unused(self) -> list[str]:
        """Return the names of the fields that have not been read."""
        return [excerpt(name, 40) for name in self._fields if name not in self._used]


def did_you_mean(text: str, choices: Iterable[str]) -> str:
    """Return a question that names the most similar choice, after a space, or an empty string."""
    near = difflib.get_close_matches(text[:40], list(choices), 1)
    return f" Did you mean “{near[0]}”?" if near else ""
