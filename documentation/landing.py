"""Landing page, robots.txt, sitemap and similar files, and the error page for status 500."""

from __future__ import annotations

import functools
from datetime import timedelta
from pathlib import Path

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.templatetags.static import static
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from documentation.views import addresses
from infrastructure.api import errors
from infrastructure.logging import current_id
from infrastructure.web.cards import responses as cards
from infrastructure.web.cards.drawing import BRAND
from infrastructure.web.cards.previews import brand_address
from scans.policy import network_policy_from_settings
from scans.visits.other_sites import MAX_MAIL_BURST, MAX_MAIL_CONNECTIONS_PER_MINUTE
from website_scan.browser.visit import chrome_user_agent
from website_scan.check_ids import check_ids
from website_scan.findings import ScanType
from website_scan.messages import agreeing
from website_scan.net.budget import Limits
from website_scan.net.policy import PRODUCT
from website_scan.timestamps import timestamp

LANDING_DESCRIPTION = (
    "Scan a page, watch a site, gate a build: security, performance, accessibility and SEO in one visit, with four "
    "grades, what to fix first, and how."
)
# Output of website-scan, which `make pictures` writes.
GATE = Path(__file__).resolve().parent / "gate.txt"
ABOUT_DESCRIPTION = (
    "Who requests your site with the User-Agent WebsiteScanService, what is requested, how often at most, and how to "
    "opt out."
)
# Paths that search engines need not crawl. Reports are missing here, because they have their own `noindex`.
ROBOTS = """User-agent: *
Disallow: /admin/
Disallow: /api/
Disallow: /dashboard/
Disallow: /o/
Disallow: /organizations/
Disallow: /v1/

Sitemap: {base_url}/sitemap.xml
"""
SECURITY_TXT_LIFETIME = timedelta(days=180)


@require_safe
def landing(request: HttpRequest) -> HttpResponse:
    counts = check_counts()
    context = {
        "base_url": settings.BASE_URL,
        "description": LANDING_DESCRIPTION,
        "counts": counts,
        "total": sum(counts.values()),
        "samples": [(scan_type.value, scan_type.label) for scan_type in ScanType],
        "gate": _gate(),
    }
    return render(request, "documentation/landing.html", context)


@functools.cache
def _gate() -> str:
    return GATE.read_text(encoding="utf-8").rstrip()


@functools.cache
def check_counts() -> dict[str, int]:
    return {scan_type.value: len(check_ids(scan_type)) for scan_type in ScanType}


@require_safe
def about_our_scans(request: HttpRequest) -> HttpResponse:
    """Show the page that tells site owners about scans.

    The scanner's User-Agent contains its URL.
    """
    policy = network_policy_from_settings()
    agent = policy.user_agent
    contact = settings.SCAN_CONTACT or settings.SECURITY_CONTACT
    gap_s = settings.SCAN_GAP_PER_DOMAIN_S
    context = {
        "base_url": settings.BASE_URL,
        "description": ABOUT_DESCRIPTION,
        "product": PRODUCT,
        "user_agent": agent,
        "browser_user_agent": chrome_user_agent("140", agent),
        "addresses": [
            str(network).removesuffix(f"/{network.max_prefixlen}") for network in settings.SCAN_SOURCE_ADDRESSES
        ],
        "time_limit_s": settings.SCAN_TIME_LIMIT_S,
        "requests_per_host": Limits().requests_per_host,
        "visits": settings.SCAN_VISITS_PER_DOMAIN,
        "contacts_mail_servers": policy.contacts_mail_servers,
        "mail_name": policy.mail_name,
        "mail_burst": MAX_MAIL_BURST,
        "mail_rate": MAX_MAIL_CONNECTIONS_PER_MINUTE,
        "requests_unasked": settings.SCAN_REQUESTS_TO_OTHER_SITES,
        "gap": f"{gap_s:g} {agreeing(gap_s, 'second', 'seconds')}" if gap_s else "",
        "contact": contact,
        "contact_shown": contact.removeprefix("mailto:"),
    }
    return render(request, "documentation/about_our_scans.html", context)


@require_safe
def robots(_request: HttpRequest) -> HttpResponse:
    """Return robots.txt (RFC 9309)."""
    return HttpResponse(ROBOTS.format(base_url=settings.BASE_URL), content_type="text/plain; charset=utf-8")


@require_safe
def security_txt(request: HttpRequest) -> HttpResponse:
    """Return security.txt (RFC 9116) if the operator has set SECURITY_CONTACT, else 404."""
    if not settings.SECURITY_CONTACT:
        raise Http404
    lines = [
        f"Contact: {settings.SECURITY_CONTACT}",
        f"Expires: {timestamp(timezone.now() + SECURITY_TXT_LIFETIME)}",
        f"Canonical: {settings.BASE_URL}{request.path}",
    ]
    return HttpResponse("\n".join(lines) + "\n", content_type="text/plain; charset=utf-8")


@require_safe
def favicon(_request: HttpRequest) -> HttpResponse:
    """Redirect /favicon.ico to an ICO file, for programs that do not read HTML or cannot display SVG."""
    return redirect(static("img/favicon.ico"))


@require_safe
def manifest(_request: HttpRequest) -> HttpResponse:
    """Return the web application manifest (W3C), which browsers use for home screens."""
    icons = [
        {
            "src": static(f"img/icon-{size}.png"),
            "sizes": f"{size}x{size}",
            "type": "image/png",
            "purpose": "any maskable",
        }
        for size in (192, 512)
    ]
    content = {
        "name": "Website Scan Service",
        "short_name": "Scans",
        "start_url": reverse("dashboard"),
        "display": "browser",
        "background_color": "#f6f7fa",
        "theme_color": "#3949c6",
        "icons": icons,
    }
    return JsonResponse(content, content_type="application/manifest+json")


@require_safe
def brand_card(request: HttpRequest, digest: str) -> HttpResponse:
    """Return the picture for the public pages' link previews."""
    return cards.card_at(request, BRAND, digest, brand_address, cards.PUBLIC)


@require_safe
def licence(_request: HttpRequest) -> HttpResponse:
    return HttpResponse(_licence(), content_type="text/plain; charset=utf-8")


@functools.cache
def _licence() -> bytes:
    return (settings.BASE_DIR / "LICENSE").read_bytes()


@require_safe
def sitemap(request: HttpRequest) -> HttpResponse:
    """Return the sitemap for the public pages (sitemaps.org)."""
    paths = (reverse("landing"), reverse("about-our-scans"), *addresses(), reverse("samples"))
    urls = [f"{settings.BASE_URL}{path}" for path in paths]
    return render(request, "documentation/sitemap.xml", {"urls": urls}, content_type="application/xml; charset=utf-8")


@require_safe
def openapi(_request: HttpRequest) -> HttpResponse:
    """Return the committed openapi.yaml with this installation's URL. Generating it would take a second."""
    return HttpResponse(_openapi(), content_type="application/yaml; charset=utf-8")


@functools.cache
def _openapi() -> bytes:
    text = (settings.BASE_DIR / "openapi.yaml").read_text(encoding="utf-8")
    return text.replace("\nservers:\n- url: /\n", f"\nservers:\n- url: {settings.BASE_URL}\n", 1).encode()


def server_error(request: HttpRequest) -> HttpResponse:
    """Return the error page for status 500.

    It needs no user, session or database, which may have failed.
    """
    if errors.is_api(request):
        return errors.server_error(request)
    context = {
        "status": 500,
        "message": "Something went wrong on our side.",
        "request_id": current_id.get(),
        "messages": (),
    }
    try:
        page = render_to_string("error.html", context)
    except ValueError:
        # The manifest may lack one of the page's static files. That may also have caused the error.
        return errors.server_error(request)
    return HttpResponse(page, status=500)
