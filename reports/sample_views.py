"""Views of the sample reports: their gallery, reports, pictures, and the frozen pages of an audit and a list."""

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
from reports.page.frozen import FROZEN, frozen_page
from reports.page.kept.parts import parts_of
from reports.page.preview import card_address, card_of, preview_of
from reports.page.sample import PAGES, Sample, page_of, sample_of, samples_of
from reports.page.tabs import Tab
from scans.models import Scan
from website_scan.report.elsewhere import OtherReport
from website_scan.report.filters import Filter

GALLERY_DESCRIPTION = (
    "Sample reports of the Website Scan Service: a shop, a blog, a careful page, an old one, one with emergencies, a "
    "whole site and a list of sites."
)


@require_safe
def samples(request: HttpRequest) -> HttpResponse:
    """Gallery of the sample reports."""
    shown = []
    for page in PAGES:
        found = samples_of(page)
        reports = [
            Tab(each, reverse("sample", args=[page.names[each]]), sample.document["grade"])
            for each, sample in found.items()
        ]
        shown.append({"page": page, "url": next(iter(found.values())).document["url"], "reports": reports})
    context = {
        "pages": shown,
        "frozen": FROZEN,
        "base_url": settings.BASE_URL,
        "description": GALLERY_DESCRIPTION,
    }
    return render(request, "reports/samples/gallery.html", context)


@require_safe
def frozen(request: HttpRequest, slug: str) -> HttpResponse:
    """Page of an audit or a list that was made once."""
    found = frozen_page(slug)
    if found is None:
        raise Http404
    return render(request, "reports/samples/frozen.html", {"sample": found, "base_url": settings.BASE_URL})


@require_safe
def sample(request: HttpRequest, name: str) -> HttpResponse:
    """Page of a sample report, shown as a shared report to strangers."""
    found = sample_of(name)
    if found is None:
        return _not_found(request)
    page = page_of(name)
    scan = _scan_of(found, name)
    chosen = Filter.asked_by(request.GET, scan.type)
    addresses = {each: reverse("sample", args=[other]) for each, other in page.names.items()}
    siblings = samples_of(page)
    context = {
        "shell": "base.html",
        "section": "",
        "is_member": False,
        "may_scan": False,
        "is_shared": False,
        "audit": None,
        "history": None,
        "past": "",
        "since": "",
        "formats": (),
        "scan": scan,
        "report": found,
        "link": None,
        "tabs": [
            Tab(each, addresses[each], other.document["grade"], is_current=each == scan.type)
            for each, other in siblings.items()
        ],
        "is_sample": True,
        "base_url": settings.BASE_URL,
        "preview": preview_of(scan),
    }

    def of_parts() -> dict[str, Any]:
        others = [
            OtherReport(other.document, f"{addresses[each]}#check-")
            for each, other in siblings.items()
            if each != scan.type
        ]
        return {"page": found.page(chosen, reverse("docs-checks"), reverse("sample", args=[name]), others)}

    context["parts"] = parts_of(of_parts, request, context, chosen, key=("sample", name))
    return render(request, "reports/report.html", context)


@require_safe
def sample_picture(request: HttpRequest, name: str, path: str) -> HttpResponse:
    sample = sample_of(name)
    found = sample.picture(path) if sample else None
    if found is None:
        return _not_found(request)
    picture, media_type = found
    response = HttpResponse(picture, content_type=media_type)
    response["Cache-Control"] = "public, max-age=86400"
    return response


@require_safe
def sample_card(request: HttpRequest, name: str, digest: str) -> HttpResponse:
    """Card of a sample report for previews of its link."""
    found = sample_of(name)
    if found is None:
        return _not_found(request)
    scan = _scan_of(found, name)
    return cards.card_at(request, card_of(scan), digest, functools.partial(card_address, scan), cards.PUBLIC)


def _scan_of(found: Sample, name: str) -> Scan:
    document = found.document
    return Scan(
        id=f"sample/{name}",  # so that URLs made from the ID lead to the sample
        type=document["type"],
        url=document["url"],
        score=document["score"],
        grade=document["grade"],
        created_at=datetime.fromisoformat(document["created_at"]),
    )


def _not_found(request: HttpRequest) -> HttpResponse:
    return render(request, "reports/not_found.html", {"thing": "report"}, status=404)
