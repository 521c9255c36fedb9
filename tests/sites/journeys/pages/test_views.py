"""Tests for the list of journeys, a journey's page, proofs and runs."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from accounts.models import Membership, Tier
from sites.journeys import proof
from sites.models import Audit, Journey
from tests.factories import Member, person_of
from tests.page_reading import browser_of, page_of, strings, text_of
from tests.populated_audits import make_audit
from tests.sites.journeys.cast import make_journey

LIST = "/o/home/journeys/"


@pytest.fixture
def client(home: Member) -> Client:
    return browser_of(home)


def page(journey: Journey, rest: str = "") -> str:
    return f"{LIST}{journey.id}{rest}"


def score(value: int, grade: str) -> dict[str, Any]:
    return {"seo": {"score": value, "grade": grade}}


def test_empty_list_explains_journeys_and_offers_both_ways(client: Client, home: Member) -> None:
    response = client.get(LIST)
    assert "No journeys yet" in text_of(response)
    links = strings(page_of(response), "//main//a/@href")
    assert links[:2] == [f"{LIST}new#recording", f"{LIST}new#written"]
    assert f"{LIST}new" not in browser_of(home, "viewer").get(LIST).content.decode()


def test_list_shows_control_missing_secrets_and_the_limit(client: Client, home: Member) -> None:
    Tier.objects.filter(name=home.organization.tier_id).update(journeys=2)
    make_journey(home, name="Ready")
    make_journey(home, name="Open", secrets={}, is_proven=False)
    text = text_of(client.get(LIST))
    assert "Ready https://shop.example.com/login Proven" in text
    assert "Open https://shop.example.com/login 2 secrets missing Not proven" in text
    assert "2 of 2 journeys in your plan are used." in text


def test_list_finds_journeys_by_name_and_address(client: Client, home: Member) -> None:
    make_journey(home, name="Checkout")
    assert "Checkout" in text_of(client.get(f"{LIST}?q=shop.example"))
    assert "No journey matches" in text_of(client.get(f"{LIST}?q=nowhere"))


def test_list_shows_the_latest_ended_run_during_another_one(client: Client, home: Member) -> None:
    journey, now = make_journey(home), timezone.now()
    columns = {"kind": "journey", "journey": journey, "url": journey.start_url, "types": ["seo"]}
    make_audit(home, **columns, status="failed", created_at=now - timedelta(hours=3), completed_at=now)
    make_audit(home, **columns, status="completed", created_at=now - timedelta(hours=2), pages_done=4)
    make_audit(home, **columns, status="running", created_at=now)
    (row,) = page_of(client.get(LIST)).xpath("//tbody/tr")
    text = " ".join(row.text_content().split())
    assert "States4 Running now" in text


def test_journey_page_shows_the_texts_of_the_proof(client: Client, home: Member) -> None:
    journey = make_journey(home, is_proven=False)
    response = client.get(page(journey))
    assert strings(page_of(response), "//code[starts-with(@id, 'proof-')]/text()") == [
        proof.dns_value(journey.proof_token),
        journey.proof_token,
        f'<meta name="website-scan" content="{journey.proof_token}">',
    ]
    assert "Run now" not in text_of(response)


def test_journey_page_contains_no_value_of_a_secret(client: Client, home: Member) -> None:
    journey = make_journey(home)
    for rest in ("", "/edit", "/steps", "/recording.json"):
        content = client.get(page(journey, rest)).content.decode()
        assert not [value for value in journey.secrets.values() if value in content]


def test_texts_of_journeys_are_escaped(client: Client, home: Member) -> None:
    steps = "open /\nclick “<img src=x onerror=alert(1)>”\njudge “<script>alert(2)</script>”"
    journey = make_journey(home, steps=steps, secrets={}, name="<b>Name</b>")
    for path in (LIST, page(journey), page(journey, "/edit"), page(journey, "/delete")):
        content = client.get(path).content.decode()
        assert "<img src=x" not in content
        assert "<script>alert" not in content
        assert "<b>Name" not in content


def test_recording_is_downloaded_with_secrets_by_name(client: Client, home: Member) -> None:
    journey = make_journey(home)
    response = client.get(page(journey, "/recording.json"))
    assert response["Content-Disposition"] == f'attachment; filename="{journey.id}.json"'
    assert json.loads(response.content) == journey.recording


def test_failed_check_of_control_says_why(client: Client, home: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    journey = make_journey(home, is_proven=False)
    problems = ("The DNS records of <b>example.com</b> do not contain the token.",)
    monkeypatch.setattr(proof, "_find_proof", lambda *_: proof.ProofCheck(None, problems))
    response = client.post(page(journey, "/check"))
    assert "Control is not proven yet. The DNS records of <b>example.com</b> do not" in text_of(response)
    assert client.get(page(journey, "/check"))["Location"] == f"{page(journey)}#proof"


def test_successful_check_of_control_allows_runs(client: Client, home: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    journey = make_journey(home, is_proven=False)
    found = proof.Proof(Journey.Proof.FILE, "shop.example.com")
    monkeypatch.setattr(proof, "_find_proof", lambda *_: proof.ProofCheck(found))
    text = text_of(client.post(page(journey, "/check"), follow=True))
    assert "Your control of shop.example.com is proven." in text
    assert "The file of shop.example.com proves that you control this host" in text
    assert "Run now" in text


@pytest.mark.parametrize(
    ("columns", "browser", "reason"),
    [
        ({"is_proven": False}, "auto", "has not proven that it controls example.com"),
        ({"secrets": {}}, "auto", "The secret “user” has no value."),
        ({}, "off", "this service has none"),
    ],
)
def test_run_that_cannot_start_says_why(
    client: Client, home: Member, settings: Settings, columns: dict[str, Any], browser: str, reason: str
) -> None:
    settings.SCAN_BROWSER = browser
    journey = make_journey(home, **columns)
    text = text_of(client.post(page(journey, "/run"), follow=True))
    assert "The run was not started." in text
    assert reason in text
    assert not Audit.objects.exists()


def test_delete_asks_first_and_deletes_the_secrets(client: Client, home: Member) -> None:
    journey = make_journey(home)
    assert "Delete this journey?" in text_of(client.get(page(journey, "/delete")))
    assert "was deleted" in text_of(client.post(page(journey, "/delete"), follow=True))
    assert not Journey.objects.exists()


def test_limited_members_see_no_journeys(home: Member) -> None:
    journey = make_journey(home)
    person = person_of(home, "member", "limited@people.test")
    Membership.objects.filter(user=person).update(limited_to=["shop.example.com"])
    client = Client()
    client.force_login(person)
    assert {client.get(path).status_code for path in (LIST, page(journey), page(journey, "/edit"))} == {403}
    assert client.post(page(journey, "/run")).status_code == 403
