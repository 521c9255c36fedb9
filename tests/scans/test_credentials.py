"""Scans with credentials: validation, what is shown of them, and the places that must not contain them."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client, override_settings
from django.utils import timezone
from pytest_django import Settings

from accounts.models import REPORTS_KEPT_DAYS
from scans.browser import _warm, close_browser
from scans.closing import stop_scans
from scans.credentials import forget
from scans.models import Scan, sealed
from scans.services import requeue_scan
from scans.tasks import run_scan
from tests.database_dump import dump_of_database
from tests.factories import Member, attempt_deliveries, browser_of, make_scan, person_of, register_webhook
from tests.targets.repeating import OTHER, Canaries, site_that_repeats_everything
from tests.targets.server import Answer, Site
from tests.website_scan.net.loopback import NETWORKS
from website_scan.findings import ScanType
from website_scan.net.credentials import Credentials, parse
from website_scan.report.exports import FORMATS

GIVEN = {
    "headers": {"X-Key": "value-of-the-key"},
    "basic_auth": {"username": "u", "password": "p"},
    "cookies": {"sid": "1"},
}
NAMES = {"headers": ["X-Key"], "basic_auth": True, "cookies": ["sid"]}


def post(home: Member, url: str, request: object = GIVEN, **headers: str) -> Any:
    return home.api.post("/v1/scan", {"url": url, "type": "seo", "request": request}, **headers)


def test_the_answer_names_what_was_given_and_no_value(home: Member, target: str) -> None:
    created = post(home, target)
    assert created.status_code == 201
    assert created.json()["request"] == NAMES
    read = home.api.get(f"/v1/scan/{created.json()['id']}").content.decode()
    assert json.loads(read)["request"] == NAMES
    assert "value-of-the-key" not in created.content.decode() + read
    assert "request" not in home.api.get("/v1/scans").json()["scans"][0]


@pytest.mark.parametrize("nothing", [None, {}, {"headers": {}, "cookies": None}])
def test_a_scan_without_any_answers_as_ever(home: Member, target: str, nothing: object) -> None:
    created = post(home, target, nothing).json()
    assert len(created) == 13
    assert "request" not in created
    assert Scan.objects.get().encrypted_credentials is None


def test_it_is_encrypted_at_rest_and_whole_again(home: Member, target: str) -> None:
    post(home, target)
    scan = Scan.objects.get()
    assert b"value-of-the-key" not in bytes(scan.encrypted_credentials or b"")
    assert scan.credentials == parse(GIVEN)


def test_the_same_key_with_other_credentials_is_another_request(home: Member, target: str) -> None:
    first = post(home, target, Idempotency_Key="k")
    other_order = {name: GIVEN[name] for name in reversed(GIVEN)}
    again = post(home, target, other_order, Idempotency_Key="k")
    assert (again.json(), again["Idempotent-Replayed"]) == (first.json(), "true")
    for other in (None, GIVEN | {"cookies": {"sid": "2"}}, GIVEN | {"headers": {}}):
        refused = post(home, target, other, Idempotency_Key="k")
        assert (refused.status_code, refused.json()["code"]) == (422, "IDEMPOTENCY_MISMATCH")


def keyed_scan(member: Member, **columns: Any) -> Scan:
    return make_scan(member, **sealed(parse(GIVEN)), **columns)


def test_they_are_forgotten_with_the_report_and_not_before(home: Member, settings: Settings) -> None:
    edge = timezone.now() - timedelta(days=REPORTS_KEPT_DAYS)
    old, kept = (keyed_scan(home, created_at=edge + timedelta(minutes=by)) for by in (-1, 1))
    forget(Scan)
    assert Scan.objects.get(id=old.id).encrypted_credentials is None
    assert Scan.objects.get(id=kept.id).credentials == parse(GIVEN)
    assert home.api.get(f"/v1/scan/{old.id}").json()["request"] == NAMES


def test_they_are_forgotten_when_the_organization_closes(home: Member, stranger: Member) -> None:
    mine, other = keyed_scan(home), keyed_scan(stranger)
    stop_scans(organization=home.organization)
    assert Scan.objects.get(id=mine.id).encrypted_credentials is None
    assert Scan.objects.get(id=other.id).credentials == parse(GIVEN)


def test_a_new_ring_of_keys_holds_for_them_too(home: Member, settings: Settings) -> None:
    keyed_scan(home)
    settings.ENCRYPTION_KEYS = ["first-key-" * 4]
    output = StringIO()
    call_command("reencrypt_secrets", stdout=output)
    assert output.getvalue() == "1 secrets were encrypted anew.\n"
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "another-" * 5, []
    assert Scan.objects.get().credentials == parse(GIVEN)


def test_a_scan_that_takes_the_place_of_one_that_we_failed_has_them(home: Member) -> None:
    failed = keyed_scan(home, status="failed", error_code="INTERNAL_ERROR", error_message="-")
    operator = person_of(home, "owner", "operator@people.test")
    assert Scan.objects.get(id=requeue_scan(actor=operator, scan_id=failed.id).id).credentials == parse(GIVEN)


def test_scan_again_shows_the_same_unless_they_are_forgotten(home: Member, stranger: Member, target: str) -> None:
    scan = keyed_scan(home, url=target, status="failed", error_code="NOT_REACHABLE", error_message="-")
    again = f"/o/home/scans/{scan.id}/again"
    browser = browser_of(person_of(home, "member", "m@people.test"))
    assert browser_of(person_of(stranger, "owner", "s@people.test")).post(again).status_code == 404
    assert browser.post(again).status_code == 302
    assert Scan.objects.exclude(id=scan.id).get().credentials == parse(GIVEN)
    Scan.objects.filter(id=scan.id).update(encrypted_credentials=None)
    page = browser.post(again, follow=True).content.decode()
    assert "no longer kept" in page
    assert Scan.objects.count() == 2


def test_the_form_takes_them_and_never_shows_them_again(home: Member, target: str) -> None:
    browser = browser_of(person_of(home, "member", "m@people.test"))
    entered = {
        "url": target,
        "headers": "X-Key: value-of-the-key\r\n\r\nX-Other: b:c",
        "cookies": " sid = 1 \n",
        "username": "u",
        "password": " p ",
    }
    unticked = browser.post("/o/home/scans/new", entered)
    assert unticked.status_code == 400
    page = unticked.content.decode()
    assert '<details class="more key" open>' in page
    assert not any(each in page for each in ("value-of-the-key", "b:c", 'value="u"', "sid"))
    assert browser.post("/o/home/scans/new", entered | {"type": "seo"}).status_code == 302
    assert Scan.objects.get().credentials == Credentials(
        headers=(("X-Key", "value-of-the-key"), ("X-Other", "b:c")), basic_auth=("u", " p "), cookies=(("sid", "1"),)
    )
    assert '<details class="more key">' in browser.get("/o/home/scans/new").content.decode()


@pytest.mark.parametrize("lines", ["value-of-the-key", "X-A: value-of-the-key\nX-A: b"])
def test_a_line_that_is_none_is_refused_without_repeating_it(home: Member, target: str, lines: str) -> None:
    browser = browser_of(person_of(home, "member", "m@people.test"))
    answer = browser.post("/o/home/scans/new", {"url": target, "type": "seo", "headers": lines})
    assert answer.status_code == 400
    assert "Write name: value, one per line" in answer.content.decode()
    assert "value-of-the-key" not in answer.content.decode()
    assert not Scan.objects.exists()


@pytest.fixture
def places() -> Iterator[tuple[Site, Site, Site]]:
    """Sites for the target, another origin, and a receiver of webhooks."""
    with (
        override_settings(SCAN_ALLOWED_NETWORKS=NETWORKS),
        Site() as site,
        Site({"*": Answer("other")}, address=OTHER) as other,
        Site({"*": Answer("")}) as receiver,
    ):
        yield site, other, receiver


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
@pytest.mark.parametrize("browser", ["off", "auto"])
def test_they_stand_nowhere_afterwards(
    home: Member,
    places: tuple[Site, Site, Site],
    browser: str,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    site, other, receiver = places
    given = Canaries()
    site_that_repeats_everything(given, site, other)
    register_webhook(home, f"{receiver.url}/hook")
    caplog.set_level(logging.DEBUG)
    member = browser_of(person_of(home, "owner", "owner@people.test"))
    answers: dict[str, bytes] = {}
    with override_settings(SCAN_BROWSER=browser, SCAN_BROWSER_SANDBOX=True):
        _warm.cache_clear()
        for scan_type in ScanType:
            created = home.api.post("/v1/scan", {"url": f"{site.url}/", "type": scan_type, "request": given.request})
            assert created.status_code == 201, created.content
            id = created.json()["id"]
            run_scan(id)
            scan = Scan.objects.get(id=id)
            assert scan.status in Scan.REPORTED, (scan.error_code, scan.error_message)
            assert scan.report.facts["status"] == 200
            answers |= {
                f"{scan_type} {path}": home.api.get(path).content
                for path in (f"/v1/scan/{id}", f"/v1/report/{id}", "/v1/scans")
            }
            for form in FORMATS:
                answers[f"{scan_type} {form}"] = home.api.get(f"/v1/report/{id}/export?format={form}").content
            answers[f"{scan_type} page"] = member.get(f"/report/{id}").content
            assert member.post(f"/report/{id}/share", {"shared": "on"}).status_code == 302
            answers[f"{scan_type} shared"] = Client().get(f"/report/{id}").content
            for name in ("screenshot", "page_picture", "film"):
                answers[f"{scan_type} {name}"] = bytes(getattr(scan.report, name) or b"")
        close_browser()
        _warm.cache_clear()
    attempt_deliveries()
    answers |= {path: member.get(path).content for path in ("/o/home/scans/", "/o/home/scans/new", "/o/home/activity/")}
    assert {name: found for name, text in answers.items() if (found := given.found_in(text))} == {}
    assert len(receiver.requests) == len(ScanType)
    assert given.found_in("".join(f"{each.headers}{each.body!r}" for each in receiver.requests)) == []
    connection.close()
    assert given.found_in(dump_of_database(connection.settings_dict)) == []
    assert given.found_in(caplog.text + "".join(capfd.readouterr())) == []
    assert other.requests
    assert given.found_in("".join(f"{each.path}{each.headers}{each.body!r}" for each in other.requests)) == []
    assert bool(browser == "auto") == any("Chrome/" in (each.header("User-Agent") or "") for each in site.requests)
