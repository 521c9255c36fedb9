"""Audit of a whole site by the real services and engine: its requests and its findings."""

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
from tests.sites.audits.cast import places_of, work_off
from tests.targets.server import Site
from tests.targets.templated import FAULTS, TEMPLATES, page_paths, template_of, templated_site
from website_scan.performance.probes import timing

PAGES = 16
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


def audited(owner: Member, site: Site, **body: object) -> Audit:
    response = owner.api.post("/v1/audits", {"site": f"{site.url_as('localhost')}/", "max_pages": PAGES, **body})
    assert response.status_code == 202, response.content
    return work_off(response.json()["id"])


def test_site_of_three_templates_has_three_findings_per_template(
    owner: Member, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timing, "AGREEMENT_S", 60.0)  # on a busy machine, times to first byte differ
    audit = audited(owner, site)
    assert (audit.status, audit.pages_done, audit.scans_done) == ("completed", PAGES, 4 * PAGES), audit.error_message

    # Every page is judged once for every type.
    assert Counter(Scan.objects.values_list("url", "type")) == Counter(
        (f"{site.url_as('localhost')}{path}", each) for path in page_paths(PAGES) for each in TYPES
    )
    assert Report.objects.count() == 4 * PAGES
    assert set(AuditPage.objects.values_list("status", flat=True)) == {"done"}

    # A template's fault is one place on all pages of the template.
    per_template = Counter(template_of(number) for number in range(PAGES))
    for template in TEMPLATES:
        for check in FAULTS[template]:
            assert [each.pages_affected for each in places_of(audit, check)] == [per_template[template]], check

    asked = Counter(each.path for each in site.requests)
    # Requests for a page: its own visit, or one that tests a link to it, reads it; one or two more time it if they
    # agree, and one requests it as a foreign origin. Discovery reads the start page, too.
    assert sum(asked[path] for path in page_paths(PAGES)) <= 4 * PAGES + 1
    assert asked["/robots.txt"] <= 3, "discovery, the evidence of the origin, and what visits may add to the list"
    assert asked["/sitemap.xml"] <= 2
    files = {path: count for path, count in asked.items() if path.startswith(("/js/", "/css/")) and path[-1] != "/"}
    assert set(files.values()) == {1}, "what pages share is asked for once"
    of_pages = sum(asked[path] for path in page_paths(PAGES)) + sum(map(asked.__getitem__, files))
    assert sum(asked.values()) - of_pages < 150 + 3 * PAGES, "what is the origin's is asked for once"

    # No fault of a template, or of the whole site, is reported page by page.
    alone = AuditPlace.objects.filter(finding__audit=audit, pages_affected__lt=PAGES // 3)
    assert [(each.finding.check_id, each.samples) for each in alone] == []


def test_worker_processes_share_responses_of_the_site(
    owner: Member, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timing, "TRIES", 0)
    body = {"site": f"{site.url_as('localhost')}/", "max_pages": PAGES}
    audit_id = owner.api.post("/v1/audits", body).json()["id"]
    audit = work_off(audit_id, lambda _: answers_of.cache_clear())  # each visit is that of another process
    assert audit.status == "completed", audit.error_message
    asked = Counter(each.path for each in site.requests if not each.header("Origin"))
    assert sum(asked[path] for path in page_paths(PAGES)) <= 1.1 * PAGES
    shared = {path: count for path, count in asked.items() if path.startswith(("/js/", "/css/")) and path[-1] != "/"}
    assert set(shared.values()) == {1}
