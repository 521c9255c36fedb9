"""Sample pages of an audit and a list, kept as the HTML that their templates made of real scans of demo pages.

`make pictures` makes them again (tests/e2e/pictures.py). Their rows are in no database, so they cannot be rendered.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

from django.utils.safestring import SafeString

from reports.page.sample import FOLDER


@dataclass(frozen=True, slots=True)
class Frozen:
    """A page that was made once: `styles` are the style sheets that it needs."""

    slug: str
    title: str
    about: str
    styles: tuple[str, ...]

    @property
    def html(self) -> SafeString:
        return _html(self.slug)


FROZEN = (
    Frozen(
        "site",
        "A whole site",
        "An audit of six pages of the tea shop with all four types: each finding once, with the pages that have it, "
        "the most urgent first.",
        ("dashboard", "report", "audit"),
    ),
    Frozen(
        "list",
        "A list of sites",
        "The sites of this gallery judged together: mean scores, how many have adopted which standard, and the most "
        "frequent findings. Lists hold thousands of sites.",
        ("dashboard", "report", "audit", "shared-list"),
    ),
)


def frozen_page(slug: str) -> Frozen | None:
    return next((each for each in FROZEN if each.slug == slug), None)


@functools.cache
def _html(slug: str) -> SafeString:
    return SafeString((FOLDER / f"{slug}.html").read_text(encoding="utf-8"))  # ours, escaped when it was made
