"""Tests for own requirements of scans, audits, monitors, lists and journeys in the API."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils import timezone

from accounts.models import Tier
from scans.models import Scan
from scans.own_requirements import requirements_of_scan
from scans.services import requeue_scan
from scans.visits.claims import claim_scan
from scans.visits.own_checks import extension_of_visit
from sites.lists.starting import start_entries
from sites.models import Audit, MonitorRun, SiteList
from sites.monitors.runs import start_run
from tests.factories import Member, browser_of, make_scan, person_of
from tests.sites.journeys.cast import LOG_IN, SECRETS, START
from tests.sites.lists.cast import make_entry, make_list
from website_scan.extension import NO_EXTENSION
from website_scan.requirements.model import RequirementsJson
from website_scan.requirements.reading import read_requirements

pytestmark = pytest.mark.django_db

OWN: RequirementsJson = {
    "rules": [
        {
            "name": "Imprint is linked",
            "severity": "high",
            "type": "seo",
            "pages": ["/shop/*", "/"],
            "link": "/imprint",
        },
        {
            "name": "Few scripts",
            "severity": "medium",
            "type": "performance",
            "requests": "script",
            "at_most": 20,
        },
    ],
    "weight": 0,
}
JOURNEY = {"steps": LOG_IN, "start": START, "secrets": SECRETS}
STORED = read_requirements(OWN)
OTHER: RequirementsJson = {"rules": [{"name": "Phone", "text": "Call us"}]}
# A request for each kind of object: the path, the body without own requirements, and the status of the response.
REQUESTS = (
    ("/v1/scan", {"url": "", "type": "seo"}, 201),
    ("/v1/audits", {"page": "", "types": ["seo"]}, 202),
    ("/v1/monitors", {"page": "", "types": ["seo"], "every": "day"}, 201),
    ("/v1/lists", {"name": "Teas"}, 201),
    ("/v1/journeys", JOURNEY, 201),
)


def post(member: Member, path: str, body: dict[str, Any], status: int) -> dict[str, Any]:
    response = member.api.post(path, body)
    assert response.status_code == status, response.content
    answer: dict[str, Any] = response.json()
    return answer


def filled(body: dict[str, Any], target: str) -> dict[str, Any]:
    return {name: value or target for name, value in body.items()}


@pytest.mark.parametrize(("path", "body", "status"), REQUESTS)
def test_object_has_the_requested_requirements(
    home: Member, target: str, path: str, body: dict[str, Any], status: int
) -> None:
    created = post(home, path, {**filled(body, target), "requirements": OWN}, status)
    assert created["requirements"] == OWN
    # The fields are in the order of the documentation, although PostgreSQL sorts them.
    assert list(created["requirements"]["rules"][0]) == ["name", "severity", "type", "pages", "link"]
    found = home.api.get(f"{path}/{created['id']}").json()
    assert found["requirements"] == OWN


@pytest.mark.parametrize(("path", "body", "status"), REQUESTS)
@pytest.mark.parametrize("nothing", [{}, {"requirements": None}, {"requirements": {"rules": []}}])
def test_object_without_requirements_has_no_such_field(
    home: Member, target: str, path: str, body: dict[str, Any], status: int, nothing: dict[str, Any]
) -> None:
    created = post(home, path, {**filled(body, target), **nothing}, status)
    assert "requirements" not in created
    assert "requirements" not in home.api.get(f"{path}/{created['id']}").json()


@pytest.mark.parametrize(("path", "body", "status"), REQUESTS)
def test_wrong_requirement_is_refused_with_its_rule_and_field(
    home: Member, target: str, path: str, body: dict[str, Any], status: int
) -> None:
    wrong = {"rules": [{"name": "Imprint", "link": "/imprint"}, {"name": "Fast", "metric": "speed", "at_most": 1}]}
    answer = post(home, path, {**filled(body, target), "requirements": wrong}, 400)
    assert answer["code"] == "INVALID_PARAMS"
    assert answer["error"].startswith("requirements: Rule 2 (“Fast”): “metric” must be one of ")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ([], "requirements: Requirements must be an object with a list of rules."),
        ({"rules": [{"name": "A", "text": "x\x00"}]}, "“text” contains characters that cannot be shown"),
        ({"rules": [{"name": "A", "text": "x", "pages": ["/\ud800"]}]}, "“pages” has the pattern"),
        ({"rules": [{"name": "A", "bytes": "script", "at_most": float("nan")}]}, None),
        ({"rules": [{"name": f"Rule {n}", "text": "x"} for n in range(51)]}, "There may be at most 50 rules"),
    ],
)
def test_what_the_model_refuses_is_no_error_of_the_service(
    home: Member, target: str, wrong: object, message: str | None
) -> None:
    answer = post(home, "/v1/scan", {"url": target, "type": "seo", "requirements": wrong}, 400)
    assert message is None or message in answer["error"]


def test_other_requirements_are_another_request(home: Member, target: str) -> None:
    body = {"url": target, "type": "seo"}
    assert home.api.post("/v1/scan", {**body, "requirements": OWN}, Idempotency_Key="k").status_code == 201
    replayed = home.api.post("/v1/scan", {**body, "requirements": OWN}, Idempotency_Key="k")
    assert (replayed["Idempotent-Replayed"], replayed.json()["requirements"]) == ("true", OWN)
    for other in (body, {**body, "requirements": OTHER}):
        response = home.api.post("/v1/scan", other, Idempotency_Key="k")
        assert response.json()["code"] == "IDEMPOTENCY_MISMATCH", response.content


def test_visit_of_a_scan_judges_its_requirements(home: Member, target: str) -> None:
    scan = post(home, "/v1/scan", {"url": target, "type": "seo", "requirements": OWN}, 201)
    claim = claim_scan(scan["id"])
    assert claim is not None
    assert [check.id for check in extension_of_visit(claim).checks] == [
        "own-imprint-is-linked",
        "own-few-scripts",
    ]


def test_visit_without_requirements_has_no_further_checks(home: Member, target: str) -> None:
    scan = post(home, "/v1/scan", {"url": target, "type": "seo"}, 201)
    claim = claim_scan(scan["id"])
    assert claim is not None
    assert extension_of_visit(claim) is NO_EXTENSION


def test_scans_of_an_audit_have_its_requirements_without_a_copy(home: Member, target: str) -> None:
    post(home, "/v1/audits", {"page": target, "types": ["accessibility", "seo"], "requirements": OWN}, 202)
    assert [scan.requirements for scan in Scan.objects.all()] == [None, None]
    assert {requirements_of_scan(scan.id) for scan in Scan.objects.all()} == {STORED}
    claim = claim_scan(Scan.objects.get(lead=None).id)
    assert claim is not None
    assert len(extension_of_visit(claim).checks) == 2


def test_entries_of_a_list_have_its_requirements_without_a_copy(home: Member, target: str) -> None:
    site_list = make_list(home, requirements=OWN)
    entry = make_entry(site_list, target)
    assert home.api.post(f"/v1/lists/{site_list.id}/entries/{entry.id}/scan", {}).status_code == 202
    start_entries(home.organization.id, timezone.now(), lambda: True)
    audit = Audit.objects.get()
    assert (audit.requirements, audit.own_requirements) == (None, STORED)
    assert "requirements" not in home.api.get(f"/v1/audits/{audit.id}").json()
    assert {requirements_of_scan(scan.id) for scan in Scan.objects.all()} == {STORED}
    site_list.delete()
    audit = Audit.objects.get()
    assert audit.own_requirements is None
    assert {requirements_of_scan(scan.id) for scan in Scan.objects.all()} == {None}


@pytest.mark.parametrize("is_of_audit", [False, True])
def test_scan_again_keeps_the_requirements(home: Member, target: str, is_of_audit: bool) -> None:
    if is_of_audit:
        post(home, "/v1/audits", {"page": target, "types": ["seo"], "requirements": OWN}, 202)
        Scan.objects.update(status="failed", error_code="NOT_REACHABLE", error_message="-")
    else:
        make_scan(home, url=target, requirements=OWN, status="failed", error_code="NOT_REACHABLE", error_message="-")
    scan = Scan.objects.get()
    user = person_of(home, "member", "ann@example.com")
    assert browser_of(user).post(f"/o/home/scans/{scan.id}/again").status_code == 302
    assert Scan.objects.exclude(id=scan.id).get().own_requirements == STORED


def test_replacement_of_a_failed_scan_keeps_the_requirements(home: Member) -> None:
    scan = make_scan(home, requirements=OWN, status="failed", error_code="INTERNAL_ERROR", error_message="-")
    user = person_of(home, "member", "ann@example.com")
    assert requeue_scan(actor=user, scan_id=scan.id).own_requirements == STORED


def test_audit_again_keeps_the_requirements(home: Member, target: str) -> None:
    audit = post(home, "/v1/audits", {"page": target, "types": ["seo"], "requirements": OWN}, 202)
    user = person_of(home, "member", "ann@example.com")
    assert browser_of(user).post(f"/o/home/audits/{audit['id']}/again").status_code == 302
    assert Audit.objects.exclude(id=audit["id"]).get().own_requirements == STORED


def test_monitor_runs_with_its_requirements(home: Member, target: str) -> None:
    body = {"page": target, "every": "day", "types": ["seo"], "requirements": OWN}
    post(home, "/v1/monitors", body, 201)
    run = MonitorRun.objects.get()
    start_run(run.id, run.monitor_id, timezone.now())
    assert Audit.objects.get().own_requirements == STORED


def test_change_of_a_monitor_replaces_its_requirements_only_if_it_names_them(home: Member, target: str) -> None:
    monitor = post(home, "/v1/monitors", {"page": target, "every": "day", "requirements": OWN}, 201)
    path = f"/v1/monitors/{monitor['id']}"
    assert home.api.patch(path, {"name": "Teas"}).json()["requirements"] == OWN
    assert home.api.patch(path, {"types": ["seo"]}).json()["requirements"] == OWN
    changed = home.api.patch(path, {"requirements": OTHER}).json()
    assert changed["requirements"]["rules"] == [
        {"name": "Phone", "severity": "medium", "type": "seo", "text": "Call us"}
    ]
    assert "requirements" not in home.api.patch(path, {"requirements": None}).json()


def test_recent_audit_with_other_requirements_is_no_first_result(home: Member, target: str) -> None:
    Tier.objects.update(schedules=10)
    now = timezone.now()
    audit = Audit.objects.create(
        organization=home.organization,
        kind="page",
        url=target,
        types=["seo"],
        max_pages=1,
        status="completed",
        started_at=now,
        completed_at=now,
        requirements=OWN,
    )
    body = {"page": target, "types": ["seo"], "every": "day"}
    for own, expected in (({}, None), ({"requirements": OTHER}, None), ({"requirements": OWN}, audit)):
        monitor = post(home, "/v1/monitors", {**body, **own}, 201)
        assert MonitorRun.objects.get(monitor=monitor["id"]).audit == expected, own


def test_change_of_a_list_replaces_its_requirements_only_if_it_names_them(home: Member) -> None:
    site_list = post(home, "/v1/lists", {"name": "Teas", "requirements": OWN}, 201)
    path = f"/v1/lists/{site_list['id']}"
    assert home.api.patch(path, {"name": "Coffees"}).json()["requirements"] == OWN
    assert "requirements" not in home.api.patch(path, {"requirements": None}).json()
    assert SiteList.objects.get().own_requirements is None


def test_monitor_of_a_journey_has_its_requirements(home: Member) -> None:
    journey = post(home, "/v1/journeys", {**JOURNEY, "requirements": OWN}, 201)
    path = f"/v1/journeys/{journey['id']}"
    assert home.api.patch(path, {"name": "Log-in"}).json()["requirements"] == OWN
    refused = post(home, "/v1/monitors", {"journey": journey["id"], "every": "day", "requirements": OTHER}, 400)
    assert refused["error"] == "requirements is not a field of a monitor with journey."
