"""Documentation views.

They use no database and are the same for all visitors.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.safestring import SafeString
from django.utils.text import Truncator
from django.views.decorators.http import require_safe
from msgspec import Struct

from documentation.check_pages import deviations, neighbours, search
from documentation.contents import OVERVIEW, Link, guide_of, guides, navigation, render_guide, resolver
from documentation.markdown import Heading, anchor_of, code_block, inline
from documentation.reference import api
from documentation.search import search_index
from infrastructure.api.framework import TAGS
from scans.check_catalogue import CheckEntry, entries
from website_scan.findings import ScanType

MAX_DESCRIPTION_LENGTH = 155
MAX_SEARCH_LENGTH = 60
ERROR_CODE = re.compile(r"<code>([A-Z][A-Z_]{3,40})</code>")
CHECKS_DESCRIPTION = (
    "Every check of the Website Scan Service by type and category, with what it finds, why it matters, how it is "
    "judged and how to fix it."
)


class Page(Struct, frozen=True):
    """A documentation page. `body` is the HTML below the first-level heading."""

    title: str
    description: str
    body: SafeString
    headings: Sequence[Heading] = ()
    label: str = ""


@require_safe
def overview(request: HttpRequest) -> HttpResponse:
    """Show the first page, which explains how to start and the whole API's conventions."""
    html, headings = render_guide(OVERVIEW)
    start = render_to_string("documentation/start.html", {"base_url": settings.BASE_URL, "block": code_block})
    headings = (Heading(2, "Start in three steps", "start"), *headings)
    return _render_page(request, Page(OVERVIEW.title, OVERVIEW.description, SafeString(start + html), headings))


@require_safe
def guide_page(request: HttpRequest, guide: str) -> HttpResponse:
    """Show a guide, which is a document in docs/."""
    document = guide_of(guide)
    if document is None:
        raise Http404
    html, headings = render_guide(document)
    return _render_page(request, Page(document.title, document.description, html, headings))


@require_safe
def group_page(request: HttpRequest, group: str) -> HttpResponse:
    """Show the page with an API group's operations."""
    if group not in map(anchor_of, TAGS):
        raise Http404
    return _render_page(request, _group_content(group))


@functools.cache
def _group_content(slug: str) -> Page:
    """Return the page for an API group.

    Cached because it has thousands of cells and never changes in a process.
    """
    group = api().groups[slug]
    context = {
        "group": group,
        "common_errors": api().common_errors,
        "text": _text,
        "block": code_block,
        "errors": reverse("docs-guide", args=["errors"]),
    }
    headings = [Heading(2, operation.title, operation.anchor) for operation in group.operations]
    description = f"The API of the Website Scan Service: {group.introduction} Parameters, fields, answers and errors."
    return Page(
        group.title,
        Truncator(description).chars(MAX_DESCRIPTION_LENGTH),
        SafeString(render_to_string("documentation/group.html", context)),
        headings,
        "API reference",
    )


@require_safe
def check_list(request: HttpRequest) -> HttpResponse:
    """Show the list of checks, optionally filtered by `type` and by the words in `q`."""
    raw = request.GET.get("type", "")
    scan_type = ScanType(raw) if raw in list(ScanType) else None
    words = request.GET.get("q", "")[:MAX_SEARCH_LENGTH]
    groups = search(scan_type, words)
    all_types = [("", "All types"), *((option.value, option.label) for option in ScanType)]
    context = {
        "groups": groups,
        "count": sum(len(members) for *_, members in groups),
        "chosen": scan_type,
        "words": words,
        "types": [(value, label, _list_address(value, words)) for value, label in all_types],
    }
    body = render_to_string("documentation/checks.html", context)
    title = f"{scan_type.label} checks" if scan_type else "Checks"
    return _render_page(
        request, Page(title, CHECKS_DESCRIPTION, SafeString(body)), _list_address(raw if scan_type else "", "")
    )


def _list_address(scan_type: str, words: str) -> str:
    query = urlencode({name: value for name, value in (("type", scan_type), ("q", words)) if value})
    return f"{reverse('docs-checks')}?{query}" if query else reverse("docs-checks")


@require_safe
def check_page(request: HttpRequest, check_id: str) -> HttpResponse:
    """Show a check's page: what it finds, why that matters, how it is judged and how to fix it."""
    check = entries().get(check_id)
    if check is None:
        raise Http404
    context = {
        "check": check,
        "deviations": deviations(check),
        "neighbours": neighbours(check),
        "block": code_block,
        "text": _text,
    }
    body = render_to_string("documentation/check.html", context)
    description = f"What the check “{check.name}” finds, how it is judged and how to fix it. {check.why}"
    page = Page(
        check.name,
        Truncator(description).chars(MAX_DESCRIPTION_LENGTH),
        SafeString(body),
        label=f"{check.type.label} check",
    )
    return _render_page(request, page, section=_list_address(check.type, ""))


@require_safe
def search_script(_request: HttpRequest) -> HttpResponse:
    """Return the search index, which the pages load when somebody uses the search field."""
    response = HttpResponse(_search_script(), content_type="text/javascript; charset=utf-8")
    response["Cache-Control"] = "public, max-age=3600"
    return response


@functools.cache
def _search_script() -> bytes:
    return search_index().encode()


def _text(markdown: str) -> SafeString:
    """Render a text from openapi.yaml. Error codes link to their descriptions."""
    errors = reverse("docs-guide", args=["errors"])
    html = inline(markdown, resolver("api.md"))
    return SafeString(ERROR_CODE.sub(rf'<a href="{errors}#\1"><code>\1</code></a>', html))


def _render_page(request: HttpRequest, page: Page, path: str | None = None, section: str | None = None) -> HttpResponse:
    """Render a page with navigation.

    `path` is its canonical path, `section` the navigation entry's path.
    """
    path = request.path if path is None else path
    groups = [Link(tag, reverse("docs-group", args=[anchor_of(tag)])) for tag in TAGS]
    types = [Link(scan_type.label, _list_address(scan_type, "")) for scan_type in ScanType]
    context: dict[str, Any] = {
        "page": page,
        "description": page.description,
        "base_url": settings.BASE_URL,
        "path": path,
        "section": section or path,
        "navigation": navigation(groups, types),
    }
    return render(request, "documentation/page.html", context)


def addresses() -> list[str]:
    """Return every page's path, for the sitemap."""
    return [
        reverse("docs"),
        *(reverse("docs-guide", args=[guide.slug]) for guide in guides()),
        *(reverse("docs-group", args=[anchor_of(tag)]) for tag in TAGS),
        reverse("docs-checks"),
        *(check_address(check) for check in entries().values()),
    ]


def check_address(check: CheckEntry) -> str:
    return reverse("docs-check", args=[check.id])
