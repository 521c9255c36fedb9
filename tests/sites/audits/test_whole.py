"""End-to-end test for auditing a whole site.

It uses the real services and engine.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from ipaddress import ip_network

import pytest
from pytest_django import Settings

from accounts.models import Tier
from reports.models import Report
from scans import tasks
from scans.models import Scan
from scans.visits.shared_responses import answers_of
from sites.models import Audit, AuditPage, AuditPlace
from tests.factories import Member, member_of
from tests.redis_commands import counted_redis_commands
from tests.sites.audits.cast import list_places, run_all_work
from tests.targets.server import Site
from tests.targets.templated import FAULTS, TEMPLATES, page_paths, template_name, templated_site
from website_scan.performance.probes import timing

PAGES = 16
MAX_REDIS_COMMANDS_PER_PAGE = 35
TYPES = ["security", "performance", "accessibility", "seo"]

pytestmark = pytest.mark.django_db(transaction=True, serialized_rollback=True)


@pytest.fixture
def owner(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Member:
    settings.SCAN_ALLOWED_NETWORKS = (ip_network("127.0.0.0/8"),)
    monkeypatch.setattr(tasks, "browser", lambda: None)
    member = member_of("Owner", "business")
    Tier.objects.update(pages_per_audit=1000, concurrent_scans=4, scans_per_month=100_000)
    return member


@pytest.fixture
def site() -> Iterator[Site]:
    with templated_site(PAGES) as site:
        yield site


def run_site_audit(owner: Member, site: Site, **body: object) -> Audit:
    response = owner.api.post("/v1/audits", {"site": f"{site.url_as('localhost')}/", "max_pages": PAGES, **body})
    assert response.status_code == 202, response.content
    return run_all_work(response.json()["id"])


def test_template_has_three_findings(owner: Member, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timing, "MAX_DIFFERENCE_S", 60.0)  # On a busy machine, times to first byte differ.
    audit = run_site_audit(owner, site)
    assert (audit.status, audit.pages_done, audit.scans_done) == ("completed", PAGES, 4 * PAGES), audit.error_message

    # A page is scanned once per type.
    assert Counter(Scan.objects.values_list("url", "type")) == Counter(
        (f"{site.url_as('localhost')}{path}", scan_type) for path in page_paths(PAGES) for scan_type in TYPES
    )
    assert Report.objects.count() == 4 * PAGES
    assert set(AuditPage.objects.values_list("status", flat=True)) == {"done"}

    # A failed check of a template is one place on all pages of the template.
    pages_by_template = Counter(template_name(number) for number in range(PAGES))
    for template in TEMPLATES:
        for check in FAULTS[template]:
            assert [place.pages_affected for place in list_places(audit, check)] == [pages_by_template[template]], check

    requests_by_path = Counter(request.path for request in site.requests)
    # A visit or a link check requests a page once. Two more requests measure times, and one has a foreign Origin
    # header. Discovery also requests the start page, and one page is requested with three origins that resemble its
    # own.
    assert sum(requests_by_path[path] for path in page_paths(PAGES)) <= 4 * PAGES + 4
    assert requests_by_path["/robots.txt"] <= 3, (
        "discovery, the evidence of the origin, and what visits may add to the list"
    )
    assert requests_by_path["/sitemap.xml"] <= 2
    files = {
        path: count
        for path, count in requests_by_path.items()
        if path.startswith(("/js/", "/css/")) and path[-1] != "/"
    }
    assert set(files.values()) == {1}, "what pages share is asked for once"
    page_requests = sum(requests_by_path[path] for path in page_paths(PAGES)) + sum(
        map(requests_by_path.__getitem__, files)
    )
    assert sum(requests_by_path.values()) - page_requests < 150 + 3 * PAGES, "what is the origin's is asked for once"

    # A failed check of a template or a site is reported once, not for every page.
    single_page_places = AuditPlace.objects.filter(finding__audit=audit, pages_affected__lt=PAGES // 3)
    assert [(place.finding.check_id, place.samples) for place in single_page_places] == []


def test_workers_share_responses(owner: Member, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timing, "TRIES", 0)
    body = {"site": f"{site.url_as('localhost')}/", "max_pages": PAGES}
    audit_id = owner.api.post("/v1/audits", body).json()["id"]
    audit = run_all_work(
        audit_id, lambda _: answers_of.cache_clear()
    )  # Without a cache, a visit runs as in a new process.
    assert audit.status == "completed", audit.error_message
    requests_by_path = Counter(request.path for request in site.requests if not request.header("Origin"))
    assert sum(requests_by_path[path] for path in page_paths(PAGES)) <= 1.1 * PAGES
    shared = {
        path: count
        for path, count in requests_by_path.items()
        if path.startswith(("/js/", "/css/")) and path[-1] != "/"
    }
    assert set(shared.values()) == {1}


def test_page_needs_few_redis_commands(owner: Member, site: Site) -> None:
    """A page reads the origin's evidence at once, and its responses one by one.

    Messages are not received here. A worker needs about ten more commands for each.
    """
    with counted_redis_commands() as commands:
        assert run_site_audit(owner, site).status == "completed"
    assert commands["HGETALL"] == PAGES
    assert commands.total() <= MAX_REDIS_COMMANDS_PER_PAGE * PAGES, commands
