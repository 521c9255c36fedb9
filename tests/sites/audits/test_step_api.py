"""Tests for the API of the steps of a journey's run."""

from __future__ import annotations

import pytest
from django.conf import settings
from django.utils import timezone

from sites.models import Audit, JourneyStep
from tests.factories import Member, person_of
from tests.populated_journeys import HOST, JPEG, PICTURE, populate_journeys
from tests.sites.journeys.test_api import body_of, code_of


@pytest.fixture
def ids(home: Member) -> dict[str, str]:
    return populate_journeys(home, 0, timezone.now(), person_of(home, "owner", "owner@people.test"))


def test_steps_have_words_durations_states_and_what_was_prevented(home: Member, ids: dict[str, str]) -> None:
    audit_id = ids["journey_audit_id"]
    steps = body_of(home.api.get(f"/v1/audits/{audit_id}/steps"))["steps"]
    assert [step["number"] for step in steps] == list(range(1, len(steps) + 1))
    assert {step["status"] for step in steps} == {"done"}
    assert steps[2] == {
        "number": 3,
        "text": "Enter the secret “password” in “Password”.",
        "status": "done",
        "duration_ms": 420,
        "url": f"{HOST}/account",
        "error": None,
        "prevented": [],
        "picture": {
            "url": f"{settings.BASE_URL}/v1/audits/{audit_id}/steps/3/picture",
            "width": 1440,
            "height": 900,
        },
    }
    assert steps[3]["prevented"] == ["A new window was closed."]
    pages = body_of(home.api.get(f"/v1/audits/{audit_id}/pages"))["pages"]
    states = {step["number"]: step["state"] for step in steps if "state" in step}
    assert states == {page["step"]: page["state"] for page in pages}
    assert [step["picture"] for step in steps if "state" in step] == [None] * len(states)


def test_failed_step_has_its_problem_and_near_matches(home: Member, ids: dict[str, str]) -> None:
    steps = body_of(home.api.get(f"/v1/audits/{ids['stopped_journey_audit_id']}/steps"))["steps"]
    failed = next(step for step in steps if step["status"] == "failed")
    assert failed["error"] == {
        "message": "Step 7: no element is named “Orders”.",
        "near_matches": ["link “My orders”", "button “Order <again>”"],
    }
    assert all(step["error"] is None for step in steps if step is not failed)
    last = steps[-1]
    assert (last["status"], last["url"], last["duration_ms"], last["picture"]) == ("not_reached", None, 0, None)


def test_picture_has_the_type_of_its_content(home: Member, ids: dict[str, str]) -> None:
    JourneyStep.objects.filter(audit=ids["journey_audit_id"], position=0).update(picture=JPEG)
    response = home.api.get(f"/v1/audits/{ids['journey_audit_id']}/steps/1/picture")
    assert (response["Content-Type"], response.content) == ("image/jpeg", JPEG)


def test_pictures_are_for_keys_of_the_organization_only(home: Member, stranger: Member, ids: dict[str, str]) -> None:
    audit_id = ids["journey_audit_id"]
    steps = body_of(home.api.get(f"/v1/audits/{audit_id}/steps"))["steps"]
    path = steps[0]["picture"]["url"].removeprefix(settings.BASE_URL)
    response = home.api.get(path)
    assert (response.status_code, response["Content-Type"], response.content) == (200, "image/webp", PICTURE)
    assert (response["Cache-Control"], response["Vary"]) == ("private, no-cache", "Authorization")
    assert home.api.get(path, If_None_Match=response["ETag"]).status_code == 304
    assert code_of(home.api.get(path.replace("/1/", "/6/"))) == (404, "STEP_NOT_FOUND")
    assert code_of(home.api.get(path.replace("/1/", "/51/"))) == (404, "STEP_NOT_FOUND")
    # A shared run is public as a page, and not in the API.
    Audit.objects.update(shared_at=timezone.now())
    for foreign in (path, f"/v1/audits/{audit_id}/steps"):
        assert code_of(stranger.api.get(foreign)) == (404, "AUDIT_NOT_FOUND")
    Audit.objects.update(kept_days=0)
    for expired in (path, f"/v1/audits/{audit_id}/steps"):
        assert code_of(home.api.get(expired)) == (404, "AUDIT_NOT_FOUND")


def test_running_run_and_other_audits_have_no_steps(home: Member, ids: dict[str, str]) -> None:
    JourneyStep.objects.filter(audit=ids["running_journey_audit_id"]).delete()
    other = Audit.objects.create(
        organization=home.organization, kind="page", url="https://example.com/", types=["seo"], max_pages=1
    )
    for audit_id in (ids["running_journey_audit_id"], other.id):
        assert body_of(home.api.get(f"/v1/audits/{audit_id}/steps")) == {"steps": []}


def test_dry_run_has_steps_with_the_states_that_a_run_judges(home: Member, ids: dict[str, str]) -> None:
    audit = body_of(home.api.get(f"/v1/audits/{ids['dry_run_id']}"))
    assert (audit["is_dry_run"], audit["types"], audit["results"]) == (True, [], {})
    steps = body_of(home.api.get(f"/v1/audits/{ids['dry_run_id']}/steps"))["steps"]
    run = body_of(home.api.get(f"/v1/audits/{ids['journey_audit_id']}/steps"))["steps"]
    assert [step.get("state") for step in steps] == [step.get("state") for step in run]
