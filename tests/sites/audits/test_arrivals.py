"""Arrivals of visits: a listed URL that is no page is left out, refunded and replaced, and links lead to new pages."""

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
from tests.sites.audits.cast import work_off
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


def canonical(path: str) -> str:
    return f'<link rel="canonical" href="{path}">'


def site_of(named: Sequence[str], routes: Mapping[str, Answer]) -> Site:
    """Return a site whose sitemap names these paths; discovery reads a sample of three for their links."""
    site = Site()
    site.routes["/"] = Answer(document("Start", []))
    site.routes.update(routes)
    base = site.url_as("localhost")
    site.routes["/robots.txt"] = Answer(f"User-agent: *\nDisallow: /forbidden\nSitemap: {base}/map.xml\n", headers=TEXT)
    urls = [each if "://" in each else f"{base}{each}" for each in ("/", *named)]
    site.routes["/map.xml"] = Answer(urlset(*urls), headers=XML)
    return site


def audited(owner: Member, site: Site, **body: object) -> Audit:
    with site:
        asked = {"site": f"{site.url_as('localhost')}/", "types": ["seo"], **body}
        answer = owner.api.post("/v1/audits", asked)
        assert answer.status_code == 202, answer.content
        return work_off(answer.json()["id"])


def paths_of(audit: Audit, *statuses: str) -> list[str]:
    pages = audit.pages.filter(status__in=statuses or ("done", "failed")).order_by("position")
    return ["/" + each.url.partition("://")[2].partition("/")[2] for each in pages]


def many(count: int) -> list[str]:
    """Return paths of pages that discovery does not read: it samples the sitemap."""
    return [f"/page-{chr(ord('a') + number)}" for number in range(count)]


def plain(paths: Sequence[str]) -> dict[str, Answer]:
    return {path: Answer(document(path, ["/"])) for path in paths}


def used(owner: Member) -> int:
    return MonthlyUsage.objects.get(organization=owner.organization).used


def left_out(owner: Member, audit: Audit) -> dict[str, str]:
    listed = owner.api.get(f"/v1/audits/{audit.id}/pages?status=left_out&limit=100").json()["pages"]
    assert {each["error"]["code"] for each in listed} <= {"PAGE_LEFT_OUT"}
    return {"/" + each["url"].partition("://")[2].partition("/")[2]: each["error"]["message"] for each in listed}


def test_sitemap_entries_that_are_no_pages_are_omitted_and_refunded(owner: Member) -> None:
    paths = many(12)
    with Site({"/elsewhere": Answer(document("Another site"))}) as other:
        away = Answer.redirect(f"{other.url_as('127.0.0.1')}/elsewhere")
        copy = Answer(document("Copy", ["/"], head=canonical("/page-a")))
        routes = plain(paths) | {"/copy": copy, "/data": Answer("{}", headers=JSON)}
        routes |= {"/moved": Answer.redirect("/page-b"), "/away": away}
        audit = audited(owner, site_of([*paths[:6], "/copy", "/data", "/moved", "/away", *paths[6:]], routes))
    assert (audit.status, sorted(paths_of(audit))) == ("completed", sorted(["/", *paths]))
    assert audit.pages_planned == audit.pages_done == 13
    assert used(owner) == 13
    assert sorted(each.url for batch in _pages(audit) for each in batch) == sorted(
        each.url for each in audit.pages.filter(status="done")
    ), "monitors compare pages only"
    said = left_out(owner, audit)
    reasons = {"/copy": "canonical", "/data": "application/json", "/moved": "another page", "/away": "another site"}
    assert said, "discovery reads only a sample"
    assert all(reasons[path] in message for path, message in said.items())


def test_omitted_page_is_replaced_by_the_next_page_of_the_sitemap(owner: Member) -> None:
    paths = many(20)
    routes = plain(paths) | {"/data": Answer("{}", headers=JSON)}
    audit = audited(owner, site_of(["/data", *paths], routes), max_pages=8)
    assert (audit.status, audit.pages_done, audit.pages_planned) == ("completed", 8, 8)
    assert paths_of(audit) == ["/", *paths[:7]]
    assert used(owner) == 8


def test_page_is_replaced_by_the_target_of_its_redirect(owner: Member) -> None:
    paths = many(12)
    routes = plain([*paths, "/new"]) | {"/old": Answer.redirect("/new")}
    audit = audited(owner, site_of([*paths[:6], "/old", *paths[6:]], routes))
    assert sorted(paths_of(audit)) == sorted(["/", *paths, "/new"])


def test_pages_with_each_others_canonical_url_are_not_both_omitted(owner: Member) -> None:
    paths = many(12)
    routes = plain(paths) | {
        "/one": Answer(document("One", head=canonical("/two"))),
        "/two": Answer(document("Two", head=canonical("/one"))),
    }
    audit = audited(owner, site_of([*paths[:6], "/one", "/two", *paths[6:]], routes))
    assert len({"/one", "/two"} & set(paths_of(audit))) == 1


def test_links_of_visited_pages_are_followed_up_to_the_page_limit(owner: Member) -> None:
    paths = many(12)
    links = ["/hidden", "/forbidden", "/broken", "/logout", "http://other.example.com/", "/hidden#part", "/file.pdf"]
    routes = plain([*paths, "/hidden", "/deeper", "/forbidden"])
    routes |= {paths[7]: Answer(document("Links", links)), "/hidden": Answer(document("Hidden", ["/deeper"]))}
    audit = audited(owner, site_of(paths, routes))
    assert set(paths_of(audit)) == {"/", *paths, "/hidden", "/deeper"}
    assert audit.status == "completed"
    assert left_out(owner, audit).keys() <= {"/broken"}, "a link to an error is no page"
    assert used(owner) == 15


def test_links_beyond_the_page_limit_are_recorded(owner: Member) -> None:
    paths = many(12)
    routes = plain(paths) | {paths[7]: Answer(document("Links", ["/hidden"]))}
    audit = audited(owner, site_of(paths, routes), max_pages=13)
    assert (audit.pages_done, sorted(paths_of(audit))) == (13, sorted(["/", *paths]))
    assert any("link to more pages than 13" in note for note in audit.notes), audit.notes


def test_no_link_is_followed_unless_discover_includes_links(owner: Member) -> None:
    paths = many(12)
    routes = plain([*paths, "/hidden"]) | {paths[7]: Answer(document("Links", ["/hidden"]))}
    audit = audited(owner, site_of(paths, routes), discover=["sitemap"])
    assert "/hidden" not in paths_of(audit)


def test_endless_calendar_is_crawled_up_to_a_limit(owner: Member) -> None:
    paths = many(12)
    site = site_of(paths, plain(paths) | {paths[7]: Answer(document("Calendar", ["/day/1"]))})
    for number in range(1, 60):
        site.routes[f"/day/{number}"] = Answer(document(f"Day {number}", [f"/day/{number + 1}"]))
    audit = audited(owner, site)
    assert set(paths_of(audit)) == {"/", *paths, "/day/1"}


def test_requested_page_keeps_its_address(owner: Member) -> None:
    with Site({"/": Answer(document("Start")), "/data": Answer("{}", headers=JSON)}) as site:
        pages = [f"{site.url_as('localhost')}{path}" for path in ("/", "/data")]
        answer = owner.api.post("/v1/audits", {"pages": pages, "types": ["seo"]})
        audit = work_off(answer.json()["id"])
    assert not audit.pages.filter(status="left_out").exists()
