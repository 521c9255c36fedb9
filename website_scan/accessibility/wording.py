"""Sentences about faulty elements: the same for a check's static rule and for the axe-core rule of the same ID."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])
FORMS = re.compile(r"(?<![\w-])([\w-]+)\|([\w-]+)")


@dataclass(frozen=True, slots=True)
class Wording:
    """Subject and predicate of a sentence: ("image|images", "has|have no alternative text").

    `|` is between singular and plural. A subject without it, such as "the page", is not counted.
    """

    subject: str
    predicate: str

    @property
    def all(self) -> str:
        """The subject in the plural: "images"."""
        return in_number(self.subject, 2)

    def clause(self, faulty: int, judged: int | None = None) -> str:
        """Return "1 image has no alternative text", or "1 of 3 images has no alternative text" if 3 were judged."""
        predicate = in_number(self.predicate, faulty)
        if "|" not in self.subject:
            return f"{self.subject} {predicate}"
        if judged is None or judged == faulty:
            return f"{faulty:,} {in_number(self.subject, faulty)} {predicate}"
        return f"{faulty:,} of {judged:,} {in_number(self.subject, judged)} {predicate}"


def faulty(subject: str, predicate: str) -> Callable[[F], F]:
    """Declare how a check says what is wrong with elements. Goes below `@check`."""

    def mark(function: F) -> F:
        function.__wording__ = Wording(subject, predicate)  # type: ignore[attr-defined]  # functions take attributes
        return function

    return mark


def wording_of(check: Callable[..., object]) -> Wording:
    """Return what `faulty` declared for the check's function."""
    declared: Wording = check.__wording__  # type: ignore[attr-defined]  # `faulty` set it
    return declared


def sentence(clause: str) -> str:
    """Return the clause with a capital at its beginning."""
    return clause[:1].upper() + clause[1:]


def unclear(clause: str) -> str:
    """Return the sentence for a clause whose truth neither a static rule nor axe-core can tell."""
    return f"Only a person can tell whether {clause}"


def review_title(check: Callable[..., object]) -> str:
    """Return the title of a check's finding that a person has to review."""
    return f"Check by hand: {check.__check__.name}"  # type: ignore[attr-defined]  # `check` set it


def in_number(text: str, number: int) -> str:
    """Return the text with the forms for a number: ("hides it|them", 2) becomes "hides them"."""
    return FORMS.sub(r"\1" if number == 1 else r"\2", text)
