"""Views of the documentation. They use no database, and are the same for everybody."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass
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

from documentation.check_pages import deviations, neighbours, search
from documentation.contents import OVERVIEW, Link, guide_of, guides, navigation, rendered, resolver
from documentation.markdown import Heading, anchor_of, code_block, inline
from documentation.reference import api
from documentation.search import search_index
from infrastructure.api.framework import TAGS
from scans.check_catalogue import CheckEntry, entries
from website_scan.findings import ScanType

MAX_DESCRIPTION = 155
MAX_SEARCH = 60
ERROR_CODE = re.compile(r"<code>([A-Z][A-Z_]{3,40})</code>")
CHECKS_DESCRIPTION = (
    "Every check of the Website Scan Service by type and category, with what it finds, why it matters, how it is "
    "judged and how to fix it."
)


@dataclass(frozen=True, slots=True)
class Page:
    """A page of the documentation: `body` is its HTML below the heading of the first level."""

    title: str
    description: str
    body: SafeString
    headings: Sequence[Heading] = ()
    label: str = ""


@require_safe
def overview(request: HttpRequest) -> HttpResponse:
    """First page: how to start, and the rules of the whole API."""
    html, headings = rendered(OVERVIEW)
    start = render_to_string("documentation/start.html", {"base_url": settings.BASE_URL, "block": code_block})
    headings = (Heading(2, "Start in three steps", "start"), *headings)
    return _shown(request, Page(OVERVIEW.title, OVERVIEW.description, SafeString(start + html), headings))


@require_safe
def guide_page(request: HttpRequest, guide: str) -> HttpResponse:
    """Page of a document of docs/."""
    found = guide_of(guide)
    if found is None:
        raise Http404
    html, headings = rendered(found)
    return _shown(request, Page(found.title, found.description, html, headings))


@require_safe
def group_page(request: HttpRequest, group: str) -> HttpResponse:
    """Page of the operations of one group of the API."""
    if group not in map(anchor_of, TAGS):
        raise Http404
    return _shown(request, _group(group))


@functools.cache
def _group(slug: str) -> Page:
    """Return the page of a group. Cached, because it has thousands of cells and does not change in a process."""
    found = api().groups[slug]
    context = {
        "group": found,
        "common_errors": api().common_errors,
        "text": _text,
        "block": code_block,
        "errors": reverse("docs-guide", args=["errors"]),
    }
    headings = [Heading(2, each.title, each.anchor) for each in found.operations]
    description = f"The API of the Website Scan Service: {found.introduction} Parameters, fields, answers and errors."
    return Page(
        found.title,
        Truncator(description).chars(MAX_DESCRIPTION),
        SafeString(render_to_string("documentation/group.html", context)),
        headings,
        "API reference",
    )


@require_safe
def check_list(request: HttpRequest) -> HttpResponse:
    """List of checks, optionally filtered by `type` and by the words of `q`."""
    raw = request.GET.get("type", "")
    chosen = ScanType(raw) if raw in list(ScanType) else None
    words = request.GET.get("q", "")[:MAX_SEARCH]
    groups = search(chosen, words)
    all_types = [("", "All types"), *((each.value, each.label) for each in ScanType)]
    context = {
        "groups": groups,
        "count": sum(len(members) for *_, members in groups),
        "chosen": chosen,
        "words": words,
        "types": [(value, label, _list_address(value, words)) for value, label in all_types],
    }
    body = render_to_string("documentation/checks.html", context)
    title = f"{chosen.label} checks" if chosen else "Checks"
    return _shown(request, Page(title, CHECKS_DESCRIPTION, SafeString(body)), _list_address(raw if chosen else "", ""))


def _list_address(scan_type: str, words: str) -> str:
    query = urlencode({name: value for name, value in (("type", scan_type), ("q", words)) if value})
    return f"{reverse('docs-checks')}?{query}" if query else reverse("docs-checks")


@require_safe
def check_page(request: HttpRequest, check_id: str) -> HttpResponse:
    """Page of a check: what it finds, why it matters, how it is judged and how to fix it."""
    found = entries().get(check_id)
    if found is None:
        raise Http404
    context = {
        "check": found,
        "deviations": deviations(found),
        "neighbours": neighbours(found),
        "block": code_block,
        "text": _text,
    }
    body = render_to_string("documentation/check.html", context)
    description = f"What the check “{found.name}” finds, how it is judged and how to fix it. {found.why}"
    page = Page(
        found.name, Truncator(description).chars(MAX_DESCRIPTION), SafeString(body), label=f"{found.type.label} check"
    )
    return _shown(request, page, section=_list_address(found.type, ""))


@require_safe
def search_script(_request: HttpRequest) -> HttpResponse:
    """Search index, which pages of the documentation load when somebody uses their search field."""
    response = HttpResponse(_search_script(), content_type="text/javascript; charset=utf-8")
    response["Cache-Control"] = "public, max-age=3600"
    return response


@functools.cache
def _search_script() -> bytes:
    return search_index().encode()


def _text(markdown: str) -> SafeString:
    """Render a text of openapi.yaml, with links from error codes to their descriptions."""
    errors = reverse("docs-guide", args=["errors"])
    html = inline(markdown, resolver("api.md"))
    return SafeString(ERROR_CODE.sub(rf'<a href="{errors}#\1"><code>\1</code></a>', html))


def _shown(request: HttpRequest, page: Page, path: str | None = None, section: str | None = None) -> HttpResponse:
    """Render a page with navigation. `path` is its canonical address, `section` that of its entry in the navigation."""
    path = request.path if path is None else path
    groups = [Link(each, reverse("docs-group", args=[anchor_of(each)])) for each in TAGS]
    types = [Link(each.label, _list_address(each, "")) for each in ScanType]
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
    """Return the path of each page, for the sitemap."""
    return [
        reverse("docs"),
        *(reverse("docs-guide", args=[each.slug]) for each in guides()),
        *(reverse("docs-group", args=[anchor_of(each)]) for each in TAGS),
        reverse("docs-checks"),
        *(check_address(each) for each in entries().values()),
    ]


def check_address(check: CheckEntry) -> str:
    return reverse("docs-check", args=[check.id])
