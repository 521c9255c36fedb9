"""Views for sample reports and for the sample pages of an audit and a list."""

from __future__ import annotations

import functools
from datetime import datetime
from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from infrastructure.web.cards import responses as cards
from reports.page.cached.parts import cached_parts
from reports.page.frozen import FROZEN, frozen_page
from reports.page.preview import card_address, card_of, preview_of
from reports.page.sample import PAGES, Sample, find_sample, page_of, samples_of_page
from reports.page.tabs import Tab
from scans.models import Scan
from website_scan.report.filters import Filter
from website_scan.report.linked_reports import OtherReport

GALLERY_DESCRIPTION = (
    "Sample reports of the Website Scan Service: a shop, a blog, a careful page, an old one, one with emergencies, a "
    "whole site and a list of sites."
)


@require_safe
def samples(request: HttpRequest) -> HttpResponse:
    """Show the gallery of sample reports."""
    pages = []
    for page in PAGES:
        samples = samples_of_page(page)
        reports = [
            Tab(scan_type, reverse("sample", args=[page.names[scan_type]]), sample.export_json["grade"])
            for scan_type, sample in samples.items()
        ]
        pages.append({"page": page, "url": next(iter(samples.values())).export_json["url"], "reports": reports})
    context = {
        "pages": pages,
        "frozen": FROZEN,
        "base_url": settings.BASE_URL,
        "description": GALLERY_DESCRIPTION,
    }
    return render(request, "reports/samples/gallery.html", context)


@require_safe
def frozen(request: HttpRequest, slug: str) -> HttpResponse:
    """Show a prerendered page of an audit or a list."""
    page = frozen_page(slug)
    if page is None:
        raise Http404
    return render(request, "reports/samples/frozen.html", {"sample": page, "base_url": settings.BASE_URL})


@require_safe
def sample(request: HttpRequest, name: str) -> HttpResponse:
    """Show a sample report as a stranger sees a shared report."""
    sample = find_sample(name)
    if sample is None:
        return _not_found(request)
    page = page_of(name)
    scan = _sample_scan(sample, name)
    page_filter = Filter.parse_query(request.GET, scan.type)
    addresses = {scan_type: reverse("sample", args=[other]) for scan_type, other in page.names.items()}
    siblings = samples_of_page(page)
    context = {
        "shell": "base.html",
        "section": "",
        "is_member": False,
        "may_scan": False,
        "sees_everything": False,
        "is_shared": False,
        "audit": None,
        "history": None,
        "past": "",
        "since": "",
        "formats": (),
        "scan": scan,
        "state": "",
        "report": sample,
        "link": None,
        "tabs": [
            Tab(scan_type, addresses[scan_type], other.export_json["grade"], is_current=scan_type == scan.type)
            for scan_type, other in siblings.items()
        ],
        "is_sample": True,
        "base_url": settings.BASE_URL,
        "preview": preview_of(scan),
    }

    def part_values() -> dict[str, Any]:
        others = [
            OtherReport(other.export_json, f"{addresses[scan_type]}#check-")
            for scan_type, other in siblings.items()
            if scan_type != scan.type
        ]
        return {"page": sample.page(page_filter, reverse("docs-checks"), reverse("sample", args=[name]), others)}

    context["parts"] = cached_parts(part_values, request, context, page_filter, key=("sample", name))
    return render(request, "reports/report.html", context)


@require_safe
def sample_picture(request: HttpRequest, name: str, path: str) -> HttpResponse:
    sample = find_sample(name)
    picture_and_type = sample.picture(path) if sample else None
    if picture_and_type is None:
        return _not_found(request)
    picture, media_type = picture_and_type
    response = HttpResponse(picture, content_type=media_type)
    response["Cache-Control"] = "public, max-age=86400"
    return response


@require_safe
def sample_card(request: HttpRequest, name: str, digest: str) -> HttpResponse:
    """Return the card of a sample report for link previews."""
    sample = find_sample(name)
    if sample is None:
        return _not_found(request)
    scan = _sample_scan(sample, name)
    return cards.card_at(request, card_of(scan), digest, functools.partial(card_address, scan), cards.PUBLIC)


def _sample_scan(sample: Sample, name: str) -> Scan:
    export = sample.export_json
    return Scan(
        id=f"sample/{name}",  # URLs that are built from this ID lead to the sample report.
        type=export["type"],
        url=export["url"],
        score=export["score"],
        grade=export["grade"],
        created_at=datetime.fromisoformat(export["created_at"]),
    )


def _not_found(request: HttpRequest) -> HttpResponse:
    return render(request, "reports/not_found.html", {"thing": "report"}, status=404)
