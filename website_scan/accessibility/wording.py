"""Sentences about faulty elements.

A check's static rule shares them with the axe-core rule of the same ID.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar

from msgspec import Struct

from website_scan.catalogue import Declaration
from website_scan.places import Element
from website_scan.values import Share, Value

F = TypeVar("F", bound=Callable[..., Any])
FORMS = re.compile(r"(?<![\w-])([\w-]+)\|([\w-]+)")


class Wording(Struct, frozen=True):
    """Subject and predicate of a check's summary.

    They have singular and plural forms. `|` separates singular and plural, as in "image|images" and "has|have no
    alternative text". A subject without `|`, such as "the page", is not counted. `place` creates the place of an
    element that axe-core reports. The class is also the decorator `@faulty`, which goes below `@check`.
    """

    subject: str
    predicate: str
    place: Callable[..., Element] = Element

    def __call__(self, function: F) -> F:
        function.__wording__ = self  # type: ignore[attr-defined]  # functions take attributes
        return function

    @property
    def all(self) -> str:
        """Return the check's subject in the plural, such as "images"."""
        return FORMS.sub(r"\2", self.subject)

    @property
    def template(self) -> str:
        """Return the message template.

        An example is "{faulty} {faulty:has|have} no alternative text".
        """
        return (
            f"{{faulty}} {insert_agreement(self.predicate)}"
            if "|" in self.subject
            else f"{self.subject} {self.predicate}"
        )

    def values(self, faulty: int, judged: int | None = None) -> dict[str, Value]:
        """Return the values for the message template.

        `faulty` and `judged` are the numbers of faulty and judged elements.
        """
        if "|" not in self.subject:
            return {}
        return {"faulty": Share(faulty, judged or faulty, FORMS.sub(r"\1", self.subject), self.all)}


faulty = Wording


def get_wording(check: Callable[..., object]) -> Wording:
    """Return the wording that `@faulty` stored on a check."""
    declared: Wording = check.__wording__  # type: ignore[attr-defined]  # the decorator set it
    return declared


def first_declared_outcome(check: Callable[..., object]) -> str:
    """Return the name of the first outcome that a check declares.

    Its static rule and its axe-core rule both use the outcome.
    """
    declared: Declaration = check.__check__  # type: ignore[attr-defined]  # `check` set it
    return next(iter(declared.outcomes))


def capitalize_clause(clause: str) -> str:
    """Return a clause with its first letter capitalized."""
    return clause[:1].upper() + clause[1:]


def needs_review_sentence(clause: str) -> str:
    """Return the sentence for a verdict that needs a manual review."""
    return f"Only a person can tell whether {clause}."


def insert_agreement(text: str) -> str:
    """Convert alternatives to template fields.

    "hides it|them" becomes "hides {faulty:it|them}".
    """
    return FORMS.sub(r"{faulty:\1|\2}", text)
