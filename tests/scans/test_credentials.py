"""Tests for scan credentials.

Credentials must be validated, encrypted, deleted and never displayed.
"""

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
from scans.browser import _cached_browser, close_browser
from scans.closing import stop_scans
from scans.credentials import forget
from scans.models import Scan, credential_columns
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

CREDENTIALS = {
    "headers": {"X-Key": "value-of-the-key"},
    "basic_auth": {"username": "u", "password": "p"},
    "cookies": {"sid": "1"},
}
NAMES = {"headers": ["X-Key"], "basic_auth": True, "cookies": ["sid"]}


def post(home: Member, url: str, request: object = CREDENTIALS, **headers: str) -> Any:
    return home.api.post("/v1/scan", {"url": url, "type": "seo", "request": request}, **headers)


def test_response_contains_no_credential_values(home: Member, target: str) -> None:
    response = post(home, target)
    assert response.status_code == 201
    assert response.json()["request"] == NAMES
    scan_json = home.api.get(f"/v1/scan/{response.json()['id']}").content.decode()
    assert json.loads(scan_json)["request"] == NAMES
    assert "value-of-the-key" not in response.content.decode() + scan_json
    assert "request" not in home.api.get("/v1/scans").json()["scans"][0]


@pytest.mark.parametrize("nothing", [None, {}, {"headers": {}, "cookies": None}])
def test_plain_scan_has_no_request_field(home: Member, target: str, nothing: object) -> None:
    scan_json = post(home, target, nothing).json()
    assert len(scan_json) == 13
    assert "request" not in scan_json
    assert Scan.objects.get().encrypted_credentials is None


def test_credentials_are_encrypted(home: Member, target: str) -> None:
    post(home, target)
    scan = Scan.objects.get()
    assert b"value-of-the-key" not in bytes(scan.encrypted_credentials or b"")
    assert scan.credentials == parse(CREDENTIALS)


def test_other_credentials_are_a_mismatch(home: Member, target: str) -> None:
    first = post(home, target, Idempotency_Key="k")
    other_order = {name: CREDENTIALS[name] for name in reversed(CREDENTIALS)}
    repeated = post(home, target, other_order, Idempotency_Key="k")
    assert (repeated.json(), repeated["Idempotent-Replayed"]) == (first.json(), "true")
    for other_credentials in (None, CREDENTIALS | {"cookies": {"sid": "2"}}, CREDENTIALS | {"headers": {}}):
        refusal = post(home, target, other_credentials, Idempotency_Key="k")
        assert (refusal.status_code, refusal.json()["code"]) == (422, "IDEMPOTENCY_MISMATCH")


def scan_with_credentials(member: Member, **columns: Any) -> Scan:
    return make_scan(member, **credential_columns(parse(CREDENTIALS)), **columns)


def test_expired_report_has_no_credentials(home: Member, settings: Settings) -> None:
    limit = timezone.now() - timedelta(days=REPORTS_KEPT_DAYS)
    expired, recent = (
        scan_with_credentials(home, created_at=limit + timedelta(minutes=minutes)) for minutes in (-1, 1)
    )
    forget(Scan)
    assert Scan.objects.get(id=expired.id).encrypted_credentials is None
    assert Scan.objects.get(id=recent.id).credentials == parse(CREDENTIALS)
    assert home.api.get(f"/v1/scan/{expired.id}").json()["request"] == NAMES


def test_closed_organization_has_no_credentials(home: Member, stranger: Member) -> None:
    own, other = scan_with_credentials(home), scan_with_credentials(stranger)
    stop_scans(organization=home.organization)
    assert Scan.objects.get(id=own.id).encrypted_credentials is None
    assert Scan.objects.get(id=other.id).credentials == parse(CREDENTIALS)


def test_credentials_are_reencrypted(home: Member, settings: Settings) -> None:
    scan_with_credentials(home)
    settings.ENCRYPTION_KEYS = ["first-key-" * 4]
    output = StringIO()
    call_command("reencrypt_secrets", stdout=output)
    assert output.getvalue() == "1 secrets were re-encrypted.\n"
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "another-" * 5, []
    assert Scan.objects.get().credentials == parse(CREDENTIALS)


def test_replaced_scan_keeps_its_credentials(home: Member) -> None:
    failed = scan_with_credentials(home, status="failed", error_code="INTERNAL_ERROR", error_message="-")
    operator = person_of(home, "owner", "operator@people.test")
    assert Scan.objects.get(id=requeue_scan(actor=operator, scan_id=failed.id).id).credentials == parse(CREDENTIALS)


def test_repeated_scan_keeps_its_credentials(home: Member, stranger: Member, target: str) -> None:
    scan = scan_with_credentials(home, url=target, status="failed", error_code="NOT_REACHABLE", error_message="-")
    repeat_path = f"/o/home/scans/{scan.id}/again"
    browser = browser_of(person_of(home, "member", "m@people.test"))
    assert browser_of(person_of(stranger, "owner", "s@people.test")).post(repeat_path).status_code == 404
    assert browser.post(repeat_path).status_code == 302
    assert Scan.objects.exclude(id=scan.id).get().credentials == parse(CREDENTIALS)
    Scan.objects.filter(id=scan.id).update(encrypted_credentials=None)
    page = browser.post(repeat_path, follow=True).content.decode()
    assert "no longer stored" in page
    assert Scan.objects.count() == 2


def test_form_does_not_show_credentials_again(home: Member, target: str) -> None:
    browser = browser_of(person_of(home, "member", "m@people.test"))
    fields = {
        "url": target,
        "headers": "X-Key: value-of-the-key\r\n\r\nX-Other: b:c",
        "cookies": " sid = 1 \n",
        "username": "u",
        "password": " p ",
    }
    without_type = browser.post("/o/home/scans/new", fields)
    assert without_type.status_code == 400
    page = without_type.content.decode()
    assert '<details class="more key" open>' in page
    assert not any(secret in page for secret in ("value-of-the-key", "b:c", 'value="u"', "sid"))
    assert browser.post("/o/home/scans/new", fields | {"type": "seo"}).status_code == 302
    assert Scan.objects.get().credentials == Credentials(
        headers=(("X-Key", "value-of-the-key"), ("X-Other", "b:c")), basic_auth=("u", " p "), cookies=(("sid", "1"),)
    )
    assert '<details class="more key">' in browser.get("/o/home/scans/new").content.decode()


@pytest.mark.parametrize("lines", ["value-of-the-key", "X-A: value-of-the-key\nX-A: b"])
def test_error_does_not_repeat_credentials(home: Member, target: str, lines: str) -> None:
    browser = browser_of(person_of(home, "member", "m@people.test"))
    response = browser.post("/o/home/scans/new", {"url": target, "type": "seo", "headers": lines})
    assert response.status_code == 400
    assert "Write name: value, one per line" in response.content.decode()
    assert "value-of-the-key" not in response.content.decode()
    assert not Scan.objects.exists()


@pytest.fixture
def sites() -> Iterator[tuple[Site, Site, Site]]:
    """Start the target and two other sites.

    The others are another origin and a webhook receiver.
    """
    with (
        override_settings(SCAN_ALLOWED_NETWORKS=NETWORKS),
        Site() as site,
        Site({"*": Answer("other")}, address=OTHER) as other,
        Site({"*": Answer("")}) as receiver,
    ):
        yield site, other, receiver


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
@pytest.mark.parametrize("browser", ["off", "auto"])
def test_credentials_never_appear_in_outputs(
    home: Member,
    sites: tuple[Site, Site, Site],
    browser: str,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    site, other, receiver = sites
    canaries = Canaries()
    site_that_repeats_everything(canaries, site, other)
    register_webhook(home, f"{receiver.url}/hook")
    caplog.set_level(logging.DEBUG)
    member = browser_of(person_of(home, "owner", "owner@people.test"))
    outputs: dict[str, bytes] = {}
    with override_settings(SCAN_BROWSER=browser, SCAN_BROWSER_SANDBOX=True):
        _cached_browser.cache_clear()
        for scan_type in ScanType:
            response = home.api.post(
                "/v1/scan", {"url": f"{site.url}/", "type": scan_type, "request": canaries.request}
            )
            assert response.status_code == 201, response.content
            scan_id = response.json()["id"]
            run_scan(scan_id)
            scan = Scan.objects.get(id=scan_id)
            assert scan.status in Scan.REPORTED, (scan.error_code, scan.error_message)
            assert scan.report.facts["status"] == 200
            outputs |= {
                f"{scan_type} {path}": home.api.get(path).content
                for path in (f"/v1/scan/{scan_id}", f"/v1/report/{scan_id}", "/v1/scans")
            }
            for export_format in FORMATS:
                outputs[f"{scan_type} {export_format}"] = home.api.get(
                    f"/v1/report/{scan_id}/export?format={export_format}"
                ).content
            outputs[f"{scan_type} page"] = member.get(f"/report/{scan_id}").content
            assert member.post(f"/report/{scan_id}/share", {"shared": "on"}).status_code == 302
            outputs[f"{scan_type} shared"] = Client().get(f"/report/{scan_id}").content
            for name in ("screenshot", "page_picture", "film"):
                outputs[f"{scan_type} {name}"] = bytes(getattr(scan.report, name) or b"")
        close_browser()
        _cached_browser.cache_clear()
    attempt_deliveries()
    outputs |= {path: member.get(path).content for path in ("/o/home/scans/", "/o/home/scans/new", "/o/home/activity/")}
    assert {name: leaked for name, text in outputs.items() if (leaked := canaries.found_in(text))} == {}
    assert len(receiver.requests) == len(ScanType)
    assert canaries.found_in("".join(f"{request.headers}{request.body!r}" for request in receiver.requests)) == []
    connection.close()
    assert canaries.found_in(dump_of_database(connection.settings_dict)) == []
    assert canaries.found_in(caplog.text + "".join(capfd.readouterr())) == []
    assert other.requests
    assert (
        canaries.found_in("".join(f"{request.path}{request.headers}{request.body!r}" for request in other.requests))
        == []
    )
    assert bool(browser == "auto") == any(
        "Chrome/" in (request.header("User-Agent") or "") for request in site.requests
    )
