"""Sentences about faulty elements: the same for a check's static rule and for the axe-core rule of the same ID."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from website_scan.catalogue import Declaration
from website_scan.places import Element
from website_scan.values import Share, Value

F = TypeVar("F", bound=Callable[..., Any])
FORMS = re.compile(r"(?<![\w-])([\w-]+)\|([\w-]+)")


@dataclass(frozen=True)
class Wording:
    """How a check says what is wrong: subject and predicate, ("image|images", "has|have no alternative text").

    `|` is between singular and plural. A subject without it, such as "the page", is not counted. `place` makes the
    place of an element that axe-core reports. As the decorator `@faulty`, it goes below `@check`.
    """

    subject: str
    predicate: str
    place: Callable[..., Element] = Element

    def __call__(self, function: F) -> F:
        function.__wording__ = self  # type: ignore[attr-defined]  # functions take attributes
        return function

    @property
    def all(self) -> str:
        """The subject in the plural: "images"."""
        return FORMS.sub(r"\2", self.subject)

    @property
    def template(self) -> str:
        """Return the clause as a template: "{faulty} {faulty:has|have} no alternative text"."""
        return (
            f"{{faulty}} {insert_agreement(self.predicate)}"
            if "|" in self.subject
            else f"{self.subject} {self.predicate}"
        )

    def values(self, faulty: int, judged: int | None = None) -> dict[str, Value]:
        """Return the values of the template, for the number of faulty elements and of all that were judged."""
        if "|" not in self.subject:
            return {}
        return {"faulty": Share(faulty, judged or faulty, FORMS.sub(r"\1", self.subject), self.all)}


faulty = Wording


def wording_of(check: Callable[..., object]) -> Wording:
    """Return what `faulty` declared for the check's function."""
    declared: Wording = check.__wording__  # type: ignore[attr-defined]  # the decorator set it
    return declared


def first_outcome(check: Callable[..., object]) -> str:
    """Return the first outcome that the check declares: that of its own rule, and of axe-core's."""
    declared: Declaration = check.__check__  # type: ignore[attr-defined]  # `check` set it
    return next(iter(declared.outcomes))


def sentence(clause: str) -> str:
    """Return the clause with a capital at its beginning."""
    return clause[:1].upper() + clause[1:]


def unclear(clause: str) -> str:
    """Return the sentence for a clause whose truth neither a static rule nor axe-core can tell."""
    return f"Only a person can tell whether {clause}."


def insert_agreement(text: str) -> str:
    """Return the text as a template that agrees with the value `faulty`: "hides {faulty:it|them}"."""
    return FORMS.sub(r"{faulty:\1|\2}", text)
