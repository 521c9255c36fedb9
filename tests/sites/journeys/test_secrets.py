"""Tests that values of secrets are encrypted, deleted, and in no output of the service."""

from __future__ import annotations

import json
import logging
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import connection
from django.utils import timezone
from pytest_django import Settings

from accounts.closing.deletion import GRACE_PERIOD, delete_closed
from accounts.models import Membership, Organization, Tier
from sites.models import Audit, Journey
from tests.accounts.test_export import exported_files, run_export
from tests.database_dump import dump_of_database
from tests.factories import Member, browser_of, person_of
from tests.sites.journeys.cast import LOG_IN, SECRETS, START, make_journey
from tests.sites.journeys.test_api import RECORDING

# Not the name of a user: it is in the recording as well, where nobody marked it as a secret.
VALUES = ("correct-horse-7", "battery-staple-8", "kept-9-secret")


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_values_are_in_no_response_log_export_or_row(
    home: Member, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    Tier.objects.update(journeys=5)
    outputs: list[str] = []

    def send(method: str, path: str, body: object = None, **headers: str) -> str:
        data = b"" if body is None else json.dumps(body).encode()
        response = home.api.call(method, path, data, "application/json", **headers)
        outputs.append(f"{response.content.decode()} {response.headers}")
        return str(response.json().get("id", "")) if response.content else ""

    for _ in range(2):
        one = send("POST", "/v1/journeys", {"recording": RECORDING}, Idempotency_Key="one")
    body = {"steps": LOG_IN, "start": START, "secrets": {"user": "kept-9-secret", "password": "correct-horse-7"}}
    send("POST", "/v1/journeys", body, Idempotency_Key="two")
    send("POST", "/v1/journeys", body | {"types": ["speed"]})
    send("POST", "/v1/journeys", body | {"secrets": {"passwort": "battery-staple-8"}})
    send("POST", "/v1/journeys", body | {"steps": "open /\nfill “Password” with kept-9-secret\nfly away"})
    send("PATCH", f"/v1/journeys/{one}", {"secrets": {"password": "battery-staple-8"}})
    send("PATCH", f"/v1/journeys/{one}", {"secrets": {"password": ["battery-staple-8"]}})
    send("POST", f"/v1/journeys/{one}/runs")
    for path in ("/v1/journeys", f"/v1/journeys/{one}", f"/v1/journeys/{one}/runs"):
        send("GET", path)
    assert Journey.objects.get(id=one).secrets == {"password": "battery-staple-8"}
    owner = person_of(home, "owner", "owner@people.test")
    outputs.append(browser_of(owner).get("/o/home/activity/").content.decode())
    files = exported_files(run_export(Membership.objects.get(user=owner)))
    assert len(json.loads(files["journeys.json"])) == 2
    outputs += [content.decode("latin-1") for content in files.values()]
    outputs += [caplog.text, *capfd.readouterr()]
    connection.close()
    outputs.append(dump_of_database(connection.settings_dict))
    assert [value for value in VALUES for output in outputs if value in output] == []


def test_values_are_reencrypted_with_the_first_key(home: Member, settings: Settings) -> None:
    journey = make_journey(home)
    settings.ENCRYPTION_KEYS = ["first-key-" * 4]
    output = StringIO()
    call_command("reencrypt_secrets", stdout=output)
    assert output.getvalue() == "1 secrets were re-encrypted.\n"
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "another-" * 5, []
    assert Journey.objects.get(id=journey.id).secrets == SECRETS


def test_export_has_the_journeys_with_names_of_secrets(home: Member, stranger: Member) -> None:
    journey = make_journey(home)
    make_journey(stranger)
    owner = person_of(home, "owner", "owner@people.test")
    files = exported_files(run_export(Membership.objects.get(user=owner)))
    (exported,) = json.loads(files["journeys.json"])
    shown = home.api.get(f"/v1/journeys/{journey.id}").json()
    assert exported == shown | {"api_key": home.key.id, "created_by": None}
    assert exported["secrets"] == ["user", "password"]


def test_deletion_of_an_organization_leaves_no_journeys(home: Member, stranger: Member) -> None:
    audit = {"kind": "journey", "url": START, "types": ["seo"], "max_pages": 1}
    Audit.objects.create(organization=home.organization, journey=make_journey(home), **audit)
    other = make_journey(stranger)
    now = timezone.now()
    Organization.objects.filter(id=home.organization.id).update(closed_at=now - GRACE_PERIOD)
    assert delete_closed(now, 60)
    assert list(Journey.objects.all()) == [other]


def test_deleted_journey_leaves_its_runs(home: Member) -> None:
    journey = make_journey(home)
    run = Audit.objects.create(
        organization=home.organization, journey=journey, kind="journey", url=START, types=["seo"], max_pages=1
    )
    assert home.api.delete(f"/v1/journeys/{journey.id}").status_code == 204
    run.refresh_from_db()
    assert run.journey is None
    assert not Journey.objects.exists()
