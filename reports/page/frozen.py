"""Prerendered sample pages for an audit and a list, made once from real scans of demo pages.

`make pictures` renders them again (tests/e2e/pictures.py). Their rows are in no database, so they cannot be rendered on
request.
"""

from __future__ import annotations

import functools

from django.utils.safestring import SafeString
from msgspec import Struct

from reports.page.sample import FOLDER


class PrerenderedPage(Struct, frozen=True):
    """Prerendered sample page. `styles` are the names of its style sheets."""

    slug: str
    title: str
    about: str
    styles: tuple[str, ...]

    @property
    def html(self) -> SafeString:
        return _load_html(self.slug)


FROZEN = (
    PrerenderedPage(
        "site",
        "A whole site",
        "An audit of six pages of the tea shop with all four types: each finding once, with the pages that have it, "
        "the most urgent first.",
        ("dashboard", "report", "audit"),
    ),
    PrerenderedPage(
        "list",
        "A list of sites",
        "The sites of this gallery judged together: mean scores, how many have adopted which standard, and the most "
        "frequent findings. Lists can have thousands of sites.",
        ("dashboard", "report", "audit", "shared-list"),
    ),
)


def frozen_page(slug: str) -> PrerenderedPage | None:
    return next((page for page in FROZEN if page.slug == slug), None)


@functools.cache
def _load_html(slug: str) -> SafeString:
    # The HTML is safe, because it was escaped when it was rendered.
    return SafeString((FOLDER / f"{slug}.html").read_text(encoding="utf-8"))
