"""Sample pages of an audit and a list, stored as HTML that was rendered once from real scans of demo pages.

`make pictures` renders them again (tests/e2e/pictures.py). Their rows are in no database, so they cannot be rendered on
request.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

from django.utils.safestring import SafeString

from reports.page.sample import FOLDER


@dataclass(frozen=True, slots=True)
class Frozen:
    """Sample page that was rendered once. `styles` names the style sheets of the page."""

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
    return next((page for page in FROZEN if page.slug == slug), None)


@functools.cache
def _html(slug: str) -> SafeString:
    # The HTML was escaped when it was rendered.
    return SafeString((FOLDER / f"{slug}.html").read_text(encoding="utf-8"))
