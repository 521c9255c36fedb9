"""Journeys on sites of this machine, and their runs in a worker with Chromium."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from django.db import transaction
from django.test import override_settings
from django.utils import timezone
from msgspec import Struct, field

from accounts import usage
from scans.browser import _cached_browser, close_browser
from scans.models import Scan
from scans.tasks import run_scan
from sites.audits.dispatch import dispatch_pages
from sites.journeys.services import start_run
from sites.models import Audit, Journey
from sites.models.journey import secret_columns
from tests.factories import Member
from tests.project import ROOT
from tests.targets.journeys.account import PASSWORD, USER, account_site
from tests.targets.journeys.app import app_site
from tests.targets.journeys.shop import CARD, shop_site
from tests.targets.server import Route
from tests.website_scan.net.loopback import NETWORKS
from website_scan.browser.warm import WarmBrowser
from website_scan.findings import ScanType
from website_scan.journeys.journey import Journey as Steps
from website_scan.journeys.recordings import recording_of
from website_scan.journeys.short_form import read_short_form
from website_scan.urls import Url


class Example(Struct, frozen=True):
    """Example journey with its site, secrets, and names of states."""

    make: Callable[..., dict[str, Route]]
    states: tuple[str, ...]
    secrets: Mapping[str, str] = field(default_factory=dict)


EXAMPLES = {
    "account": Example(account_site, ("Account", "Loans", "Signed out"), {"user": USER, "password": PASSWORD}),
    "checkout": Example(shop_site, ("Filtered", "In the cart", "Payment", "Paid"), {"card": CARD}),
    "booking": Example(app_site, ("Removed", "Dialog", "Refused")),
}


def example_steps(name: str) -> str:
    return (ROOT / "examples/journeys" / f"{name}.txt").read_text("utf-8")


def make_journey(
    member: Member,
    site: str,
    steps: str,
    secrets: Mapping[str, str] | None = None,
    types: Sequence[ScanType] = tuple(ScanType),
    **columns: Any,
) -> Journey:
    """Create a journey in the short form on a site whose control the operator's exemption proves."""
    journey: Steps = read_short_form(steps, title="Test", base_url=site).journey
    return Journey.objects.create(
        organization=member.organization,
        name=journey.title,
        recording=recording_of(journey),
        start_url=journey.start_url,
        site=Url.of(site).host,
        types=[str(scan_type) for scan_type in types],
        proof_token="token",
        proof_method=Journey.Proof.EXEMPT,
        proven_at=timezone.now(),
        **secret_columns(secrets or {}),
        **columns,
    )


def start(journey: Journey) -> Audit:
    """Start a run of the journey, and put its visit into the queue."""
    with transaction.atomic():
        audit = start_run(journey, usage.lock(journey.organization_id))
    dispatch_pages(journey.organization_id)
    return audit


def run(journey: Journey) -> Audit:
    """Run the journey to its end in this process, and return its audit."""
    audit = start(journey)
    run_scan(lead_of(audit).id)
    audit.refresh_from_db()
    return audit


def lead_of(audit: Audit) -> Scan:
    """Return the lead scan of a run that has not ended."""
    return Scan.objects.get(audit_page__audit=audit, lead=None)


@contextmanager
def worker_with_browser() -> Iterator[None]:
    """Let this process be a worker with Chromium that may act on this machine."""
    with override_settings(
        SCAN_ALLOWED_NETWORKS=NETWORKS,
        SCAN_JOURNEY_NETWORKS=NETWORKS,
        SCAN_BROWSER="auto",
        SCAN_BROWSER_SANDBOX=True,
        SCAN_GAP_PER_DOMAIN_S=0.0,
    ):
        _cached_browser.cache_clear()
        try:
            yield
        finally:
            close_browser()
            _cached_browser.cache_clear()


def browser_of_worker() -> WarmBrowser:
    browser = _cached_browser()
    assert browser is not None
    return browser
