"""Tests for the API of journeys."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.db.models import F
from django.utils import timezone
from pytest_django import Settings

from accounts.keys.services import create_api_key
from accounts.models import ActivityEvent, MonthlyUsage, Tier
from infrastructure.api.scopes import Scope
from scans.models import Scan
from scans.policy import scan_policy
from sites.journeys import services
from sites.journeys.requests import parse_new
from sites.models import Audit, AuditPage, Journey
from tests.factories import Api, Member, key_caller
from tests.page_reading import browser_of, text_of
from tests.project import ROOT
from tests.sites.journeys.cast import LOG_IN, SECRETS, START, make_journey, prove
from tests.targets.server import Answer, Site
from tests.website_scan.net.loopback import NETWORKS
from website_scan.journeys.recordings import read_recording

RECORDING = {
    "title": "Sign in",
    "steps": [
        {"type": "navigate", "url": "https://shop.example.com/login"},
        {"type": "change", "target": "main", "selectors": [["#mail"]], "value": "ada@shop.example.com"},
        {"type": "change", "target": "main", "selectors": [["#password"]], "value": "correct-horse-7"},
        {"type": "click", "target": "main", "selectors": [["aria/Sign in"]], "offsetX": 5, "offsetY": 5},
    ],
}
BODY = {"steps": LOG_IN, "start": START, "secrets": SECRETS}


@pytest.fixture(autouse=True)
def _many_journeys(db: None) -> None:
    Tier.objects.update(journeys=3, concurrent_scans=10)


@pytest.fixture
def journey(home: Member) -> Journey:
    return make_journey(home)


def body_of(response: Any, status: int = 200) -> Any:
    assert response.status_code == status, response.content
    return response.json()


def code_of(response: Any) -> tuple[int, str]:
    return response.status_code, response.json()["code"]


def test_journey_is_created_from_steps_as_text(home: Member) -> None:
    response = home.api.post("/v1/journeys", {**BODY, "name": "Log-in", "types": ["accessibility"], "widths": [320]})
    created = body_of(response, 201)
    assert response["Location"] == f"/v1/journeys/{created['id']}"
    assert created["steps"][:2] == ["Open https://shop.example.com/login.", "Enter the secret “user” in “E-mail”."]
    assert (created["name"], created["start_url"], created["site"]) == (
        *("Log-in", "https://shop.example.com/login", "example.com"),
    )
    assert (created["types"], created["widths"], created["judge"]) == (["accessibility"], [320], "steps")
    assert (created["secrets"], created["missing_secrets"], created["states_planned"]) == (["user", "password"], [], 1)
    assert created.pop("notes") == []
    assert body_of(home.api.get(f"/v1/journeys/{created['id']}")) == created
    (listed,) = body_of(home.api.get("/v1/journeys"))["journeys"]
    assert listed == {name: created[name] for name in listed}
    assert not {"recording", "steps", "proof"} & listed.keys()


def test_recording_is_stored_without_typed_passwords(home: Member) -> None:
    response = home.api.post("/v1/journeys", {"recording": RECORDING})
    created = body_of(response, 201)
    assert created["name"] == "Sign in"
    assert created["secrets"] == ["password"]
    assert created["notes"][0].endswith("The typed text is stored as the secret {{password}}, not in the journey.")
    stored = Journey.objects.get(id=created["id"])
    assert "correct-horse-7" not in response.content.decode() + json.dumps(stored.recording)
    assert b"correct-horse-7" not in bytes(stored.encrypted_secrets or b"")
    assert stored.secrets == {"password": "correct-horse-7"}
    # The recording can be imported into Chrome DevTools again.
    assert read_recording(json.dumps(created["recording"])).journey == stored.steps


@pytest.mark.parametrize("path", sorted((ROOT / "examples" / "journeys").glob("*.txt")), ids=lambda path: path.stem)
def test_example_journeys_are_accepted(home: Member, path: Path) -> None:
    created = body_of(home.api.post("/v1/journeys", {"steps": path.read_text(), "start": START}), 201)
    assert created["name"] == "shop.example.com"
    assert created["missing_secrets"] == created["secrets"]


@pytest.mark.parametrize(
    ("change", "code", "text"),
    [
        ({"steps": "open /\npush “Sign in”"}, "INVALID_JOURNEY", "Line 2: “push “Sign in”” is not a step."),
        ({"steps": "click “Sign in”"}, "INVALID_JOURNEY", "A journey begins with the address of a page."),
        ({"steps": "open https://other.org/\nopen https://victim.org/"}, "INVALID_JOURNEY", "Step 2 opens"),
        ({"steps": "open http://localhost/"}, "DOMAIN_BLOCKED", "localhost"),
        ({"steps": "open javascript:alert(1)"}, "INVALID_JOURNEY", "is not an address"),
        ({"steps": "open /", "start": None}, "INVALID_URL", "start"),
        ({"steps": "open /", "judge": "steps", "secrets": {}}, "INVALID_JOURNEY", "has no step “judge”"),
        ({"recording": RECORDING}, "INVALID_PARAMS", "either recording or steps"),
        ({"secrets": {"pin": "1234"}}, "INVALID_PARAMS", "No step contains {{pin}}."),
        ({"secrets": {"password": "a\u0000b"}}, "INVALID_PARAMS", "people can type"),
        ({"secrets": {"Pass word": "abcd"}}, "INVALID_PARAMS", "A name begins with a letter"),
        ({"secrets": {"password": None}}, "INVALID_PARAMS", "people can type"),
        ({"secrets": ["password"]}, "INVALID_PARAMS", "an object"),
        ({"name": "{{password}}"}, "INVALID_PARAMS", "printable"),
        ({"types": ["speed"]}, "INVALID_TYPE", "types"),
    ],
)
def test_invalid_journey_is_refused_with_a_reason(home: Member, change: dict[str, Any], code: str, text: str) -> None:
    response = home.api.post("/v1/journeys", BODY | change)
    assert code_of(response) == (403 if code == "DOMAIN_BLOCKED" else 400, code)
    assert text in response.json()["error"]
    assert not Journey.objects.exists()


def test_refusal_of_a_recording_names_line_and_step(home: Member) -> None:
    recording = {**RECORDING, "steps": [*RECORDING["steps"], {"type": "upload", "target": "main"}]}
    refusal = home.api.post("/v1/journeys", {"recording": recording}).json()
    lines = json.dumps(recording, indent=2).splitlines()
    line = next(number for number, line in enumerate(lines, 1) if '"upload"' in line) - 1
    assert refusal["code"] == "INVALID_JOURNEY"
    assert refusal["error"].startswith(f"Line {line}, step 5 (upload)")


def test_start_alone_or_without_steps_is_refused(home: Member, journey: Journey) -> None:
    path = f"/v1/journeys/{journey.id}"
    assert home.api.patch(path, {"start": START}).json()["error"] == "start can only be used with steps."
    assert code_of(home.api.post("/v1/journeys", {"start": START})) == (400, "INVALID_PARAMS")
    assert home.api.post("/v1/journeys", {}).json()["error"] == "Send either recording or steps."


def test_plan_limits_the_number_of_journeys(home: Member) -> None:
    Tier.objects.update(journeys=1)
    body_of(home.api.post("/v1/journeys", BODY), 201)
    refusal = home.api.post("/v1/journeys", BODY)
    assert code_of(refusal) == (409, "JOURNEY_LIMIT")
    assert "Your plan allows 1 journey." in refusal.json()["error"]


def test_repeated_idempotency_key_creates_one_journey(home: Member) -> None:
    first = home.api.post("/v1/journeys", {"recording": RECORDING}, Idempotency_Key="one")
    again = home.api.post("/v1/journeys", {"recording": RECORDING}, Idempotency_Key="one")
    assert (again.json(), again["Idempotent-Replayed"]) == (first.json(), "true")
    other = home.api.post("/v1/journeys", {"recording": RECORDING, "name": "Other"}, Idempotency_Key="one")
    assert code_of(other) == (422, "IDEMPOTENCY_MISMATCH")
    assert Journey.objects.count() == 1


def test_change_keeps_what_the_body_does_not_name(home: Member, journey: Journey) -> None:
    path = f"/v1/journeys/{journey.id}"
    changed = body_of(home.api.patch(path, {"name": "Members", "types": ["seo"], "color_scheme": "dark"}))
    assert (changed["name"], changed["recording"]["title"], changed["types"]) == ("Members", "Members", ["seo"])
    assert (changed["widths"], changed["color_scheme"]) == ([412, 1440], "dark")
    assert body_of(home.api.patch(path, {"widths": [320]}))["color_scheme"] == "dark"
    assert changed["proof"]["is_proven"]
    journey.refresh_from_db()
    assert journey.secrets == SECRETS
    assert body_of(home.api.patch(path, {"judge": "navigations"}))["states_planned"] > 1
    event = ActivityEvent.objects.filter(action="journey.changed").earliest("id")
    assert event.details["changed"] == ["name", "types", "viewing"]


def test_secrets_are_set_and_deleted_by_name(home: Member, journey: Journey) -> None:
    path = f"/v1/journeys/{journey.id}"
    changed = body_of(home.api.patch(path, {"secrets": {"user": None, "password": "another-horse"}}))
    assert (changed["secrets"], changed["missing_secrets"]) == (["user", "password"], ["user"])
    journey.refresh_from_db()
    assert journey.secrets == {"password": "another-horse"}
    home.api.patch(path, {"steps": "open /login\nfill “E-mail” with {{user}}", "secrets": {"user": "bob"}})
    journey.refresh_from_db()
    assert journey.secrets == {"user": "bob"}
    assert ActivityEvent.objects.filter(action="journey.changed", details__changed=["secrets"]).count() == 1


@pytest.mark.parametrize(
    ("steps", "start"),
    [
        (LOG_IN, "https://evil.example.org/"),
        (LOG_IN, "https://other.example.com/"),
        (LOG_IN, "http://shop.example.com/"),
        (f"{LOG_IN}\nallow log-in at evil.example.org", START),
    ],
)
def test_steps_at_new_hosts_delete_the_secrets_and_the_proof(
    home: Member, journey: Journey, steps: str, start: str
) -> None:
    changed = body_of(home.api.patch(f"/v1/journeys/{journey.id}", {"steps": steps, "start": start}))
    assert changed["missing_secrets"] == ["user", "password"]
    assert not changed["proof"]["is_proven"]
    journey.refresh_from_db()
    assert (journey.secrets, journey.encrypted_secrets) == ({}, None)


def test_new_steps_on_the_same_origin_keep_secrets_and_proof(home: Member, journey: Journey) -> None:
    changed = body_of(home.api.patch(f"/v1/journeys/{journey.id}", {"steps": f"{LOG_IN}\nclick “Orders”"}))
    assert changed["proof"]["is_proven"]
    assert changed["missing_secrets"] == []


def test_proof_lists_its_options_and_what_was_not_there(home: Member, settings: Settings) -> None:
    with Site({"/": Answer("<p>Hello")}) as site:
        settings.SCAN_ALLOWED_NETWORKS = NETWORKS
        created = body_of(home.api.post("/v1/journeys", {"steps": "open /", "start": f"{site.url}/"}), 201)
        options, path = created["proof"]["options"], f"/v1/journeys/{created['id']}"
        checked = body_of(home.api.post(f"{path}/proof", {}))
        assert (checked["is_proven"], checked["method"], checked["host"]) == (False, None, None)
        assert checked["problems"] == [
            f"{site.url}/.well-known/website-scan.txt was answered with status 404.",
            f"{site.url}/ has no meta element with the token.",
        ]
        site.routes["/.well-known/website-scan.txt"] = Answer(options["file"]["content"])
        assert options["file"]["url"] == f"{site.url}/.well-known/website-scan.txt"
        checked = body_of(home.api.post(f"{path}/proof", {}))
        assert (checked["method"], checked["host"], checked["problems"]) == ("file", f"127.0.0.1:{site.port}", [])
        del site.routes["/.well-known/website-scan.txt"]
        site.routes["/"] = Answer(f"<!doctype html>{options['meta_element']}")
        assert body_of(home.api.post(f"{path}/proof", {}))["method"] == "meta"
    assert body_of(home.api.get(path))["proof"]["is_proven"]
    assert ActivityEvent.objects.filter(action="journey.proven").count() == 1


@pytest.fixture
def local(home: Member, target: str, settings: Settings) -> Journey:
    """Journey on a server of this machine."""
    settings.SCAN_BROWSER = "auto"
    body = {"steps": LOG_IN, "start": target, "secrets": SECRETS, "types": ["security", "accessibility"]}
    request = parse_new(body, scan_policy())
    created = services.create_journey(caller=key_caller(home.organization.id), request=request)
    journey = Journey.objects.get(id=created.response["id"])
    prove(journey)
    return journey


def used_scans(home: Member) -> int:
    return sum(MonthlyUsage.objects.filter(organization=home.organization).values_list("used", flat=True))


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_run_is_an_audit_with_one_visit_that_reserves_all_states(home: Member, local: Journey) -> None:
    Tier.objects.update(journeys=3, concurrent_scans=10)
    home.api.patch(f"/v1/journeys/{local.id}", {"steps": f"{LOG_IN}\nclick “Orders”\njudge “Orders”"})
    response = home.api.post(f"/v1/journeys/{local.id}/runs", {}, Idempotency_Key="run")
    run = body_of(response, 202)
    assert response["Location"] == f"/v1/audits/{run['id']}"
    assert (run["kind"], run["journey_id"], run["status"], run["max_pages"]) == ("journey", local.id, "running", 2)
    page = AuditPage.objects.get(audit_id=run["id"])
    assert (page.position, page.url, page.state, page.step) == (0, local.start_url, "", None)
    lead, other = Scan.objects.order_by(F("lead_id").asc(nulls_first=True))
    assert (lead.type, lead.lead_id, other.type, other.lead_id) == ("accessibility", None, "security", lead.id)
    assert {scan.reserved_scans for scan in (lead, other)} == {2}
    assert all(scan.is_of_journey for scan in (lead, other))
    assert used_scans(home) == 4
    again = home.api.post(f"/v1/journeys/{local.id}/runs", {}, Idempotency_Key="run")
    assert (again.json()["id"], again["Idempotent-Replayed"]) == (run["id"], "true")
    assert [audit["id"] for audit in body_of(home.api.get(f"/v1/journeys/{local.id}/runs"))["audits"]] == [run["id"]]
    assert body_of(home.api.get(f"/v1/audits/{run['id']}"))["journey_id"] == local.id
    # A cancelled run costs nothing.
    body_of(home.api.delete(f"/v1/audits/{run['id']}"))
    assert used_scans(home) == 0
    home.api.delete(f"/v1/journeys/{local.id}")
    assert "journey_id" not in body_of(home.api.get(f"/v1/audits/{run['id']}"))


def test_run_is_refused_unless_the_journey_is_ready(home: Member, local: Journey, settings: Settings) -> None:
    path = f"/v1/journeys/{local.id}/runs"
    settings.SCAN_BROWSER = "off"
    assert code_of(home.api.post(path, {})) == (409, "MISSING_BROWSER")
    settings.SCAN_BROWSER = "auto"
    home.api.patch(f"/v1/journeys/{local.id}", {"secrets": {"password": None}})
    refusal = home.api.post(path, {})
    assert code_of(refusal) == (409, "MISSING_SECRET")
    assert refusal.json()["error"] == "The secret “password” has no value."
    Journey.objects.update(proven_at=None)
    assert code_of(home.api.post(path, {})) == (409, "JOURNEY_NOT_PROVEN")
    assert not Audit.objects.exists()


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_run_reserves_at_most_the_pages_that_the_plan_allows(home: Member, local: Journey) -> None:
    home.api.patch(f"/v1/journeys/{local.id}", {"steps": f"{LOG_IN}\nclick “Orders”\njudge “Orders”\njudge “Again”"})
    Tier.objects.update(pages_per_audit=2, scans_per_month=4)
    page = browser_of(home).get(f"/o/home/journeys/{local.id}")
    assert "A run judges up to 2 states by 2 types and uses up to 4 scans." in text_of(page)
    assert "1 state is left out, because your plan allows 2 pages in one audit." in text_of(page)
    run = body_of(home.api.post(f"/v1/journeys/{local.id}/runs", {}), 202)
    assert (run["max_pages"], used_scans(home)) == (2, 4)


def test_run_needs_quota_for_all_planned_states(home: Member, local: Journey) -> None:
    Tier.objects.update(scans_per_month=1)
    refusal = home.api.post(f"/v1/journeys/{local.id}/runs", {})
    assert code_of(refusal) == (429, "QUOTA_EXCEEDED")
    assert "This needs 2 scans, and 1 is left" in refusal.json()["error"]
    assert used_scans(home) == 0


def test_blocked_start_cannot_run(home: Member, local: Journey, settings: Settings) -> None:
    settings.SCAN_ALLOWED_NETWORKS = ()
    assert code_of(home.api.post(f"/v1/journeys/{local.id}/runs", {})) == (403, "DOMAIN_BLOCKED")


def test_other_organizations_do_not_see_the_journey(home: Member, stranger: Member, journey: Journey) -> None:
    path = f"/v1/journeys/{journey.id}"
    refusals = [
        stranger.api.get(path),
        stranger.api.patch(path, {"name": "Mine"}),
        stranger.api.delete(path),
        stranger.api.post(f"{path}/proof", {}),
        stranger.api.post(f"{path}/runs", {}),
        stranger.api.get(f"{path}/runs"),
    ]
    assert {code_of(refusal) for refusal in refusals} == {(404, "JOURNEY_NOT_FOUND")}
    assert body_of(stranger.api.get("/v1/journeys"))["total"] == 0
    journey.refresh_from_db()
    assert journey.name == "shop.example.com"


def test_scopes_of_keys_limit_what_they_can_do(home: Member, local: Journey) -> None:
    reader, scanner = (
        Api(create_api_key(organization=home.organization, name=scope.value, scope=scope)[1])
        for scope in (Scope.READ, Scope.SCAN)
    )
    path = f"/v1/journeys/{local.id}"
    for api in (reader, scanner):
        assert api.get(path).status_code == 200
        for refusal in (api.patch(path, {"name": "A"}), api.post(f"{path}/proof", {}), api.post("/v1/journeys", BODY)):
            assert code_of(refusal) == (403, "INSUFFICIENT_SCOPE")
    assert code_of(reader.post(f"{path}/runs", {})) == (403, "INSUFFICIENT_SCOPE")
    assert scanner.post(f"{path}/runs", {}).status_code == 202


def test_expired_runs_are_not_listed(home: Member, journey: Journey) -> None:
    old = timezone.now().replace(year=2020)
    audit = {"organization": home.organization, "kind": "journey", "url": START, "types": ["seo"], "max_pages": 1}
    Audit.objects.create(journey=journey, status="completed", created_at=old, released_at=old, **audit)
    recent = Audit.objects.create(journey=journey, status="completed", **audit)
    runs = body_of(home.api.get(f"/v1/journeys/{journey.id}/runs"))
    assert ([run["id"] for run in runs["audits"]], runs["total"]) == ([recent.id], 1)
