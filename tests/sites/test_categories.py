"""Tests for scans, audits and lists that are limited to categories of security."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from dashboard.sites import page_results
from reports.page.history import previous_scan
from scans.models import Scan
from scans.services import requeue_scan
from scans.visits.claims import claim_scan, finish_scan
from sites.lists import adoption, runs
from sites.lists.asked_facts import is_asked
from sites.lists.collecting import facts_of
from sites.lists.differences import calculate_difference
from sites.lists.pages.forms import CATEGORY_HINTS
from sites.lists.starting import start_entries
from sites.lists.targets import points_of
from sites.models import Audit, ListRun, MonitorRun, SiteFinding, SiteList, SiteState
from tests import page_reading
from tests.factories import Member, browser_of, finished_scan, make_result, make_scan, person_of
from tests.page_reading import page_of, text_of
from tests.sites.lists.cast import make_entry, make_list
from tests.sites.lists.running import FakeWorker, get_entry, make_check, make_numbered_list
from tests.sites.lists.snapshot_cast import SnapshotSite, snapshot
from tests.sites.monitors.pages.test_views import form_errors
from tests.targets.typical import SITES
from tests.website_scan.security.typical_scan import running_typical_site
from website_scan.report.explanations import grade_meaning
from website_scan.result import CategoryResult
from website_scan.security_categories import CATEGORIES_RULE, NEEDS_SECURITY, SecurityCategory, limitation

pytestmark = pytest.mark.django_db

LIGHT = ["mail", "names"]
# A request for each kind of object: the path, the body without categories, and the status of the response.
REQUESTS = (
    ("/v1/scan", {"url": "", "type": "security"}, 201),
    ("/v1/audits", {"page": "", "types": ["security"]}, 202),
    ("/v1/lists", {"name": "Teas", "types": ["security"]}, 201),
)
NEW_LIST = "/o/home/lists/new"
FORM = {"name": "Schools", "type": ["security"], "pages_per_entry": "1", "every": "", "window_hours": "0"}
URL = "https://example.com/"
NOW = timezone.now()


def post(member: Member, path: str, body: Mapping[str, Any], status: int) -> dict[str, Any]:
    response = member.api.post(path, dict(body))
    assert response.status_code == status, response.content
    answer: dict[str, Any] = response.json()
    return answer


def filled(body: Mapping[str, Any], target: str, **more: Any) -> dict[str, Any]:
    return {name: value or target for name, value in body.items()} | more


@pytest.mark.parametrize(("path", "body", "status"), REQUESTS)
def test_object_has_the_chosen_categories_in_the_usual_order(
    home: Member, target: str, path: str, body: dict[str, Any], status: int
) -> None:
    created = post(home, path, filled(body, target, categories=["names", "mail", "names"]), status)
    assert created["categories"] == LIGHT
    assert home.api.get(f"{path}/{created['id']}").json()["categories"] == LIGHT


@pytest.mark.parametrize(("path", "body", "status"), REQUESTS)
@pytest.mark.parametrize("nothing", [{}, {"categories": None}])
def test_object_without_categories_has_no_such_field(
    home: Member, target: str, path: str, body: dict[str, Any], status: int, nothing: dict[str, Any]
) -> None:
    created = post(home, path, filled(body, target, **nothing), status)
    assert "categories" not in created
    assert "categories" not in home.api.get(f"{path}/{created['id']}").json()


@pytest.mark.parametrize(("path", "body", "_status"), REQUESTS)
@pytest.mark.parametrize("categories", [[], ["mail", "tls"], ["Mail"], "mail", ["log_in"]])
def test_invalid_categories_are_refused(
    home: Member, target: str, path: str, body: dict[str, Any], _status: int, categories: object
) -> None:
    refused = post(home, path, filled(body, target, categories=categories), 400)
    assert (refused["code"], refused["error"]) == ("INVALID_PARAMS", CATEGORIES_RULE)


@pytest.mark.parametrize(("path", "body", "_status"), REQUESTS)
def test_categories_without_security_are_refused(
    home: Member, target: str, path: str, body: dict[str, Any], _status: int
) -> None:
    types: dict[str, Any] = {"type": "seo"} if "type" in body else {"types": ["seo"]}
    refused = post(home, path, filled(body, target, categories=["mail"], **types), 400)
    assert (refused["code"], refused["error"]) == ("INVALID_PARAMS", NEEDS_SECURITY)


def test_change_of_a_list_judges_types_and_categories_together(home: Member) -> None:
    site_list = post(home, "/v1/lists", {"name": "Teas", "types": ["security", "seo"], "categories": LIGHT}, 201)
    path = f"/v1/lists/{site_list['id']}"
    assert home.api.patch(path, {"name": "Coffees"}).json()["categories"] == LIGHT
    assert home.api.patch(path, {"types": ["security"]}).json()["categories"] == LIGHT
    assert home.api.patch(path, {"types": ["seo"]}).json()["error"] == NEEDS_SECURITY
    assert home.api.patch(path, {"categories": ["headers"]}).json()["categories"] == ["headers"]
    assert "categories" not in home.api.patch(path, {"types": ["seo"], "categories": None}).json()
    assert home.api.patch(path, {"categories": ["headers"]}).json()["error"] == NEEDS_SECURITY


def test_monitor_refuses_categories(home: Member, target: str) -> None:
    refused = post(home, "/v1/monitors", {"page": target, "every": "day", "categories": ["mail"]}, 400)
    assert refused["code"] == "INVALID_PARAMS"


def test_visit_of_an_audit_judges_its_categories(home: Member, target: str) -> None:
    post(home, "/v1/audits", {"page": target, "types": ["security", "seo"], "categories": LIGHT}, 202)
    claim = claim_scan(Scan.objects.get(lead=None).id)
    assert claim is not None
    assert claim.categories == (SecurityCategory.MAIL, SecurityCategory.NAMES)
    details = [home.api.get(f"/v1/scan/{scan.id}").json() for scan in Scan.objects.all()]
    assert {scan["type"]: scan.get("categories") for scan in details} == {"security": LIGHT, "seo": None}
    # The scan for SEO is compared with other scans for SEO, and counts for badges and the site.
    assert dict(Scan.objects.values_list("type", "categories")) == {"security": LIGHT, "seo": None}


def test_repeated_scans_keep_the_categories(home: Member) -> None:
    scan = make_scan(
        home, type="security", categories=LIGHT, status="failed", error_code="INTERNAL_ERROR", error_message="-"
    )
    user = person_of(home, "member", "ann@example.com")
    assert requeue_scan(actor=user, scan_id=scan.id).categories == LIGHT


def test_audit_again_keeps_the_categories(home: Member, target: str) -> None:
    audit = post(home, "/v1/audits", {"page": target, "types": ["security"], "categories": LIGHT}, 202)
    user = person_of(home, "member", "ann@example.com")
    assert browser_of(user).post(f"/o/home/audits/{audit['id']}/again").status_code == 302
    assert Audit.objects.exclude(id=audit["id"]).get().categories == LIGHT


def test_recent_audit_of_some_categories_is_no_first_result_of_a_monitor(home: Member, target: str) -> None:
    Audit.objects.create(
        organization=home.organization,
        kind="page",
        url=target,
        types=["security"],
        max_pages=1,
        status="completed",
        started_at=NOW,
        completed_at=NOW,
        categories=LIGHT,
    )
    post(home, "/v1/monitors", {"page": target, "types": ["security"], "every": "day"}, 201)
    assert MonitorRun.objects.get().audit is None


def test_previous_report_has_the_same_categories(home: Member) -> None:
    whole = finished_scan(home, type="security")
    light = finished_scan(home, type="security", categories=LIGHT)
    other = finished_scan(home, type="security", categories=["headers"])
    assert [previous_scan(scan) for scan in (light, other)] == [None, None]
    assert previous_scan(finished_scan(home, type="security", categories=LIGHT)) == light
    assert previous_scan(finished_scan(home, type="security")) == whole


def finish(home: Member, *checks: Any, score: int, categories: list[str] | None = None) -> Scan:
    scan = make_scan(home, url=URL, type="security", categories=categories)
    claim = claim_scan(scan.id)
    assert claim is not None
    chosen = claim.categories
    things = (CategoryResult("things", "Things", 10, checks, score),)
    facts = {"notice": limitation(chosen)}
    assert finish_scan(claim, make_result(scan, categories=things, score=score, chosen_categories=chosen, facts=facts))
    scan.refresh_from_db()
    return scan


@pytest.mark.parametrize("categories", [None, ["mail"]])
def test_report_page_of_some_categories_names_them_in_place_of_what_the_grade_means(
    home: Member, categories: list[str] | None
) -> None:
    scan = finish(home, make_check("spf", "pass"), score=100, categories=categories)
    page = text_of(page_reading.browser_of(home).get(f"/report/{scan.id}"))
    assert (limitation(["mail"]) in page) is (categories is not None)
    assert (grade_meaning("security", scan.grade or "") in page) is (categories is None)


def test_results_of_a_site_are_those_of_whole_scans(home: Member) -> None:
    whole = finish(home, make_check("hsts"), score=40)
    finish(home, make_check("spf", "pass"), score=100, categories=["mail"])
    results = page_results(home.organization.id, [URL], limit=5)[URL]["security"]
    assert [result.score for result in results] == [whole.score] == [40]


def test_scan_of_some_categories_leaves_other_findings_and_the_score_of_a_site(home: Member) -> None:
    finish(home, make_check("hsts"), make_check("spf"), score=40)
    finish(home, make_check("spf", "pass"), score=100, categories=["mail"])
    fixed = {finding.check_id: finding.fixed_at is not None for finding in SiteFinding.objects.all()}
    assert fixed == {"hsts": False, "spf": True}
    state = SiteState.objects.get()
    assert (state.security_score, state.high) == (40, 1)


def test_first_whole_scan_after_one_of_some_categories_has_no_new_findings(home: Member) -> None:
    finish(home, make_check("spf", "pass"), score=100, categories=["mail"])
    finish(home, make_check("hsts"), score=40)
    assert not SiteFinding.objects.get().is_new


def test_run_of_a_list_keeps_the_categories_that_it_began_with(home: Member) -> None:
    site_list = make_numbered_list(home, 1, categories=LIGHT)
    run = runs.begin_run(list_id=site_list.id)
    SiteList.objects.update(categories=["headers"])
    FakeWorker(lambda _: (80, [])).start_entries(site_list)
    assert (run.categories, Audit.objects.get().categories, Scan.objects.get().categories) == (LIGHT, LIGHT, LIGHT)
    path = f"/v1/lists/{site_list.id}/runs/{run.id}"
    assert home.api.get(path).json()["categories"] == LIGHT


def test_single_scan_of_an_entry_has_the_categories_of_its_list(home: Member, target: str) -> None:
    site_list = make_list(home, types=["security"], categories=LIGHT)
    entry = make_entry(site_list, target)
    assert home.api.post(f"/v1/lists/{site_list.id}/entries/{entry.id}/scan", {}).status_code == 202
    start_entries(home.organization.id, timezone.now(), lambda: True)
    assert Scan.objects.get().categories == LIGHT


def test_score_of_an_entry_has_no_change_after_other_categories(home: Member) -> None:
    site_list = make_numbered_list(home, 1)
    changes = []
    for score, categories in ((40, None), (60, LIGHT), (70, LIGHT), (50, None), (55, None)):
        SiteList.objects.update(categories=categories)
        site_list.refresh_from_db()
        FakeWorker(lambda _, score=score: (score, [make_check("spf")])).run(site_list)  # type: ignore[misc]  # called with one argument
        changes.append(get_entry(site_list, 0).security_change)
    assert changes == [None, None, 10, None, 5]


def make_snapshots(home: Member) -> tuple[SiteList, ListRun, ListRun]:
    """Return a list with a snapshot of all categories, and one of mail only."""
    site_list = make_list(home, types=["security"], categories=["mail"])
    whole = snapshot(site_list, [SnapshotSite(URL, {"security": 40}, "ff")], checks=("hsts", "spf"), at=NOW)
    later = NOW + timedelta(days=7)
    light = snapshot(
        site_list, [SnapshotSite(URL, {"security": 90}, "p")], checks=("spf",), at=later, categories=["mail"]
    )
    return site_list, whole, light


def test_snapshots_of_other_categories_compare_no_scores_of_security(home: Member) -> None:
    _, whole, light = make_snapshots(home)
    difference = calculate_difference(light, whole)
    assert (difference["types"], difference["better"], difference["fewer_failures"]) == ([], [], [])
    assert difference["checks_removed"] == ["hsts"]


def test_adoption_and_targets_have_no_point_for_what_was_not_asked(home: Member) -> None:
    site_list, whole, light = make_snapshots(home)
    assert [run for run, _, _ in adoption.adoption(site_list, "hsts")] == [whole]
    assert [run for run, _, _ in adoption.adoption(site_list, "spf")] == [whole, light]
    target: Any = {"tag": "", "check": "", "type": "security", "least": 80, "percent": 50, "by": "2030-01-01"}
    assert [(point.created_at, point.share) for point in points_of(site_list, target)] == [(light.started_at, 100)]


def test_facts_of_other_categories_are_missing() -> None:
    with running_typical_site(SITES[0]) as world, world.open_network() as network:
        facts = facts_of(world.scan(network, (SecurityCategory.MAIL,)))
    assert {"mx", "spf", "dmarc"} <= facts.keys()
    assert facts.keys().isdisjoint({"https", "hsts", "csp", "tls_versions", "https_redirect", "caa", "title", "status"})


@pytest.mark.parametrize(
    ("types", "categories", "asked"),
    [
        (("security",), (SecurityCategory.MAIL,), []),
        (("security",), (SecurityCategory.NAMES,), ["status", "hsts", "generator", "language"]),
        (("security",), (SecurityCategory.HEADERS,), ["status", "hsts", "generator", "language"]),
        (("security", "seo"), (SecurityCategory.MAIL,), ["status", "hsts", "generator", "language"]),
        (("security",), None, ["status", "hsts", "generator", "language"]),
    ],
)
def test_fact_is_asked_if_a_chosen_check_needs_its_evidence(
    types: tuple[str, ...], categories: tuple[SecurityCategory, ...] | None, asked: list[str]
) -> None:
    facts = ("status", "hsts", "generator", "language")
    assert [fact for fact in facts if is_asked(fact, types, categories)] == asked


def test_table_says_that_a_fact_was_not_asked(home: Member) -> None:
    site_list = make_list(home, types=["security"], categories=["mail"])
    make_entry(site_list, URL, facts={"spf": False})
    page = page_reading.browser_of(home).get(f"/o/home/lists/{site_list.id}?show_hsts=yes")
    assert page_of(page).xpath("string(//td[@data-label='HSTS'])") == "Not asked"


def test_form_offers_all_categories() -> None:
    assert tuple(CATEGORY_HINTS) == tuple(SecurityCategory)


def test_form_creates_and_changes_a_list_of_categories(home: Member) -> None:
    client = page_reading.browser_of(home)
    assert client.post(NEW_LIST, {**FORM, "categories": ["names", "mail"]}).status_code == 302
    site_list = SiteList.objects.get()
    assert site_list.categories == LIGHT
    path = f"/o/home/lists/{site_list.id}"
    ticked = page_of(client.get(f"{path}/edit")).xpath("//input[@name='categories'][@checked]/@value")
    assert sorted(ticked) == LIGHT
    assert client.post(f"{path}/edit", FORM).status_code == 302
    assert SiteList.objects.get().categories is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"type": ["seo"], "categories": ["mail"]}, NEEDS_SECURITY),
        ({"categories": ["tls"]}, CATEGORIES_RULE),
    ],
)
def test_form_shows_invalid_categories_at_their_field(home: Member, change: dict[str, Any], message: str) -> None:
    assert form_errors(page_reading.browser_of(home).post(NEW_LIST, {**FORM, **change})) == {"id_categories": message}
    assert not SiteList.objects.exists()


def test_pages_of_a_list_name_its_categories(home: Member) -> None:
    site_list, whole, light = make_snapshots(home)
    client, path = page_reading.browser_of(home), f"/o/home/lists/{site_list.id}"
    sentence = limitation(["mail"])
    assert sentence in text_of(client.get(path))
    assert sentence in text_of(client.get(f"{path}/runs/{light.id}"))
    assert sentence not in text_of(client.get(f"{path}/runs/{whole.id}"))
    compared = text_of(client.get(f"{path}/runs/{light.id}/compare?with={whole.id}"))
    assert "The two snapshots judged different categories of security" in compared
