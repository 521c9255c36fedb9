"""Tests for replacing and adding pages during an audit.

Visits replace URLs that are not pages, and add linked pages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from ipaddress import ip_network
from typing import Any

import pytest

from accounts.models import MonthlyUsage, Tier
from scans import tasks
from sites.models import Audit
from sites.monitors.comparison import _pages
from tests.factories import Member, member_of
from tests.sites.audits.cast import run_all_work
from tests.targets.many_pages import TEXT, XML, document, urlset
from tests.targets.server import Answer, Site

pytestmark = pytest.mark.django_db(transaction=True, serialized_rollback=True)

JSON = {"Content-Type": "application/json"}


@pytest.fixture
def owner(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Member:
    settings.SCAN_ALLOWED_NETWORKS = (ip_network("127.0.0.0/8"),)
    monkeypatch.setattr(tasks, "browser", lambda: None)
    member = member_of("Owner", "business")
    Tier.objects.update(pages_per_audit=1000, concurrent_scans=4)
    return member


def canonical_link(path: str) -> str:
    return f'<link rel="canonical" href="{path}">'


def make_site(listed_paths: Sequence[str], routes: Mapping[str, Answer]) -> Site:
    """Return a site whose sitemap lists these paths."""
    site = Site()
    site.routes["/"] = Answer(document("Start", []))
    site.routes.update(routes)
    base = site.url_as("localhost")
    site.routes["/robots.txt"] = Answer(f"User-agent: *\nDisallow: /forbidden\nSitemap: {base}/map.xml\n", headers=TEXT)
    urls = [path if "://" in path else f"{base}{path}" for path in ("/", *listed_paths)]
    site.routes["/map.xml"] = Answer(urlset(*urls), headers=XML)
    return site


def run_site_audit(owner: Member, site: Site, **body: object) -> Audit:
    with site:
        request_body = {"site": f"{site.url_as('localhost')}/", "types": ["seo"], **body}
        answer = owner.api.post("/v1/audits", request_body)
        assert answer.status_code == 202, answer.content
        return run_all_work(answer.json()["id"])


def audited_paths(audit: Audit, *statuses: str) -> list[str]:
    pages = audit.pages.filter(status__in=statuses or ("done", "failed")).order_by("position")
    return ["/" + page.url.partition("://")[2].partition("/")[2] for page in pages]


def make_paths(count: int) -> list[str]:
    """Return the paths `/page-a`, `/page-b` and so on."""
    return [f"/page-{chr(ord('a') + number)}" for number in range(count)]


def plain_pages(paths: Sequence[str]) -> dict[str, Answer]:
    return {path: Answer(document(path, ["/"])) for path in paths}


def used_quota(owner: Member) -> int:
    return MonthlyUsage.objects.get(organization=owner.organization).used


def omitted_messages(owner: Member, audit: Audit) -> dict[str, str]:
    listed = owner.api.get(f"/v1/audits/{audit.id}/pages?status=left_out&limit=100").json()["pages"]
    assert {page["error"]["code"] for page in listed} <= {"PAGE_LEFT_OUT"}
    return {"/" + page["url"].partition("://")[2].partition("/")[2]: page["error"]["message"] for page in listed}


def test_sitemap_urls_without_a_page_are_refunded(owner: Member) -> None:
    paths = make_paths(12)
    with Site({"/elsewhere": Answer(document("Another site"))}) as other:
        away = Answer.redirect(f"{other.url_as('127.0.0.1')}/elsewhere")
        copy = Answer(document("Copy", ["/"], head=canonical_link("/page-a")))
        routes = plain_pages(paths) | {"/copy": copy, "/data": Answer("{}", headers=JSON)}
        routes |= {"/moved": Answer.redirect("/page-b"), "/away": away}
        audit = run_site_audit(owner, make_site([*paths[:6], "/copy", "/data", "/moved", "/away", *paths[6:]], routes))
    assert (audit.status, sorted(audited_paths(audit))) == ("completed", sorted(["/", *paths]))
    assert audit.pages_planned == audit.pages_done == 13
    assert used_quota(owner) == 13
    assert sorted(page.url for batch in _pages(audit) for page in batch) == sorted(
        page.url for page in audit.pages.filter(status="done")
    ), "monitors compare pages only"
    messages = omitted_messages(owner, audit)
    reasons = {"/copy": "canonical", "/data": "application/json", "/moved": "another page", "/away": "another site"}
    assert messages, "discovery reads only a sample"
    assert all(reasons[path] in message for path, message in messages.items())


@pytest.mark.parametrize("is_omitted_first", [False, True])
def test_found_pages_are_counted_in_any_order(owner: Member, is_omitted_first: bool) -> None:
    """The last sitemap URLs need not be pages.

    Discovery reads only a sample of the pages.
    """
    paths = make_paths(16)
    ends = ["/data", "/links"] if is_omitted_first else ["/links", "/data"]
    routes = plain_pages([*paths, "/hidden"]) | {"/data": Answer("{}", headers=JSON)}
    routes["/links"] = Answer(document("Links", ["/hidden"]))
    audit = run_site_audit(owner, make_site([*paths, *ends], routes))
    assert set(audited_paths(audit)) == {"/", *paths, "/links", "/hidden"}
    assert audit.pages_found == audit.pages.count() == 20
    assert owner.api.get(f"/v1/audits/{audit.id}").json()["pages"]["found"] == 20


@pytest.mark.parametrize("types", [["seo"], ["security", "performance", "accessibility", "seo"]])
def test_audit_requests_robots_txt_once(owner: Member, types: list[str]) -> None:
    """The audit requests robots.txt and the sitemap once.

    Discovery, visits and omitted pages share the responses.
    """
    paths = make_paths(12)
    routes = plain_pages(paths) | {"/data": Answer("{}", headers=JSON), "/moved": Answer.redirect("/page-b")}
    site = make_site([*paths[:6], "/data", "/moved", *paths[6:]], routes)
    audit = run_site_audit(owner, site, types=types)
    assert audit.status == "completed"
    assert omitted_messages(owner, audit)
    requested = site.paths()
    assert {path: requested.count(path) for path in ("/robots.txt", "/map.xml")} == {"/robots.txt": 1, "/map.xml": 1}


def test_omitted_page_is_replaced_from_the_sitemap(owner: Member) -> None:
    paths = make_paths(20)
    routes = plain_pages(paths) | {"/data": Answer("{}", headers=JSON)}
    audit = run_site_audit(owner, make_site(["/data", *paths], routes), max_pages=8)
    assert (audit.status, audit.pages_done, audit.pages_planned) == ("completed", 8, 8)
    assert audited_paths(audit) == ["/", *paths[:7]]
    assert used_quota(owner) == 8


def test_redirected_page_is_replaced_by_its_target(owner: Member) -> None:
    paths = make_paths(12)
    routes = plain_pages([*paths, "/new"]) | {"/old": Answer.redirect("/new")}
    audit = run_site_audit(owner, make_site([*paths[:6], "/old", *paths[6:]], routes))
    assert sorted(audited_paths(audit)) == sorted(["/", *paths, "/new"])


def test_mutual_canonical_pages_are_not_both_omitted(owner: Member) -> None:
    paths = make_paths(12)
    routes = plain_pages(paths) | {
        "/one": Answer(document("One", head=canonical_link("/two"))),
        "/two": Answer(document("Two", head=canonical_link("/one"))),
    }
    audit = run_site_audit(owner, make_site([*paths[:6], "/one", "/two", *paths[6:]], routes))
    assert len({"/one", "/two"} & set(audited_paths(audit))) == 1


def test_links_are_followed_up_to_the_page_limit(owner: Member) -> None:
    paths = make_paths(12)
    links = ["/hidden", "/forbidden", "/broken", "/logout", "http://other.example.com/", "/hidden#part", "/file.pdf"]
    routes = plain_pages([*paths, "/hidden", "/deeper", "/forbidden"])
    routes |= {paths[7]: Answer(document("Links", links)), "/hidden": Answer(document("Hidden", ["/deeper"]))}
    audit = run_site_audit(owner, make_site(paths, routes))
    assert set(audited_paths(audit)) == {"/", *paths, "/hidden", "/deeper"}
    assert audit.status == "completed"
    assert omitted_messages(owner, audit).keys() <= {"/broken"}, "a link to an error is no page"
    assert used_quota(owner) == 15


def test_links_beyond_the_limit_are_recorded(owner: Member) -> None:
    paths = make_paths(12)
    routes = plain_pages(paths) | {paths[7]: Answer(document("Links", ["/hidden"]))}
    audit = run_site_audit(owner, make_site(paths, routes), max_pages=13)
    assert (audit.pages_done, sorted(audited_paths(audit))) == (13, sorted(["/", *paths]))
    assert any("link to more pages than 13" in note for note in audit.notes), audit.notes


def test_links_are_followed_only_on_request(owner: Member) -> None:
    paths = make_paths(12)
    routes = plain_pages([*paths, "/hidden"]) | {paths[7]: Answer(document("Links", ["/hidden"]))}
    audit = run_site_audit(owner, make_site(paths, routes), discover=["sitemap"])
    assert "/hidden" not in audited_paths(audit)


def test_endless_calendar_is_limited(owner: Member) -> None:
    paths = make_paths(12)
    site = make_site(paths, plain_pages(paths) | {paths[7]: Answer(document("Calendar", ["/day/1"]))})
    for number in range(1, 60):
        site.routes[f"/day/{number}"] = Answer(document(f"Day {number}", [f"/day/{number + 1}"]))
    audit = run_site_audit(owner, site)
    assert set(audited_paths(audit)) == {"/", *paths, "/day/1"}


def test_requested_pages_are_never_omitted(owner: Member) -> None:
    with Site({"/": Answer(document("Start")), "/data": Answer("{}", headers=JSON)}) as site:
        pages = [f"{site.url_as('localhost')}{path}" for path in ("/", "/data")]
        answer = owner.api.post("/v1/audits", {"pages": pages, "types": ["seo"]})
        audit = run_all_work(answer.json()["id"])
    assert not audit.pages.filter(status="left_out").exists()
