"""Tests for closing an organization or an account."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest
from django.apps import apps
from django.core import mail
from django.db import connection
from django.test import Client
from django.utils import timezone

from accounts import members
from accounts.closing.deletion import GRACE_PERIOD, delete_closed
from accounts.closing.services import NO_ADDRESS, close_account, close_organization_as_owner
from accounts.keys.services import create_api_key
from accounts.models import ActivityEvent, Membership, Organization, User
from accounts.services import AccountRefused, ensure_organization
from infrastructure.postgresql import deletion as batches
from reports.models import Report
from scans.models import Scan, ScanCount
from scans.visits.claims import claim_scan, finish_scan
from tests.factories import Api, Member, browser_of, finished_scan, make_result, make_scan, member_of, person_of
from webhooks.models import Webhook

RECEIVER = {"url": "https://hooks.example.com/", "events": ["scan.completed"]}


def client_of_owner(member: Member, email: str = "owner@people.test") -> Membership:
    return Membership.objects.get(user=person_of(member, "owner", email))


def delete_after_grace_period() -> bool:
    return delete_closed(timezone.now() + GRACE_PERIOD + timedelta(seconds=1), time_limit_s=60)


def remaining_row_counts(organization_id: int) -> dict[str, int]:
    """Count the organization's rows in each table that is not empty."""
    counts = {}
    for model in apps.get_models():
        if any(field.attname == "organization_id" for field in model._meta.concrete_fields):
            counts[model.__name__] = model._default_manager.filter(organization_id=organization_id).count()
    return {name: count for name, count in counts.items() if count}


def test_closed_organization_is_unusable_at_once(home: Member, stranger: Member) -> None:
    actor = client_of_owner(home)
    browser = browser_of(actor.user)
    finished = finished_scan(home)
    Report.objects.update(shared_at=timezone.now())
    queued, running = make_scan(home), make_scan(home)
    claim = claim_scan(running.id)
    invitation = members.invite(actor=actor, email="bob@people.test", role="member")
    assert Client().get(f"/report/{finished.id}").status_code == 200

    close_organization_as_owner(actor=actor)

    answer = home.api.get("/v1/scans")
    assert (answer.status_code, answer.json()["code"]) == (401, "KEY_REVOKED")
    for client in (browser, Client()):
        assert client.get(f"/report/{finished.id}").status_code in (302, 404)
    assert members.find_invitation(members.invitation_token(invitation)) is None
    assert not Membership.objects.filter(organization=home.organization).exists()
    assert claim is not None
    assert not finish_scan(claim, make_result(running)), "its worker has lost the claim"
    assert not Scan.objects.filter(id__in=[queued.id, running.id]).exclude(error_code="SCAN_CANCELLED").exists()
    assert stranger.api.get("/v1/scans").status_code == 200


def test_name_of_closed_organization_can_be_reused(home: Member) -> None:
    close_organization_as_owner(actor=client_of_owner(home))
    again = ensure_organization(name="Home")
    assert again.id != home.organization.id
    with pytest.raises(AccountRefused, match="has been deleted"):
        create_api_key(organization=home.organization, name="late")
    _, key = create_api_key(organization=again, name="new")
    assert Api(key).get("/v1/usage").json()["quota"]["used"] == 0


@pytest.mark.django_db
def test_deletion_keeps_rows_of_other_organizations(
    home: Member, stranger: Member, monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    monkeypatch.setattr(batches, "BATCH", 2)
    for member in (home, stranger):
        assert member.api.post("/api/webhooks", {"url": target, "events": ["scan.completed"]}).status_code == 201
        for _ in range(3):
            finished_scan(member)
        created = member.api.post("/v1/scan", {"url": target, "type": "seo"}, Idempotency_Key="once")
        assert created.status_code == 201
    actor = client_of_owner(home)
    members.invite(actor=actor, email="bob@people.test", role="member")
    before = remaining_row_counts(stranger.organization.id)
    assert remaining_row_counts(home.organization.id).keys() >= {
        "Scan",
        "ScanCount",
        "Report",
        "Event",
        "Webhook",
        "ApiKey",
    }

    close_organization_as_owner(actor=actor)
    assert delete_closed(timezone.now(), time_limit_s=60)
    assert Organization.objects.filter(id=home.organization.id).exists(), "requests that began before may still run"
    assert delete_after_grace_period()
    assert remaining_row_counts(home.organization.id) == {}
    assert not Organization.objects.filter(id=home.organization.id).exists()
    assert remaining_row_counts(stranger.organization.id) == before


def test_deletion_continues_after_the_time_limit(home: Member) -> None:
    finished_scan(home)
    close_organization_as_owner(actor=client_of_owner(home))
    assert not delete_closed(timezone.now() + 2 * GRACE_PERIOD, time_limit_s=-1)
    assert Organization.objects.exists()
    assert delete_after_grace_period()
    assert not ScanCount.objects.exists()


@pytest.mark.parametrize("role", ["admin", "member", "viewer"])
def test_only_owner_can_delete_an_organization(home: Member, role: str) -> None:
    actor = Membership.objects.get(user=person_of(home, role, "other@people.test"))
    with pytest.raises(AccountRefused):
        close_organization_as_owner(actor=actor)
    assert home.api.get("/v1/scans").status_code == 200


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_organization_under_load_can_be_deleted(target: str) -> None:
    """Regression test: deletion of an organization in use failed.

    It also made other requests fail.
    """
    member = member_of("Busy", "enterprise")
    answers: list[tuple[int, str]] = []
    ended = threading.Event()

    def post() -> None:
        api = Api(member.plaintext)
        while True:
            answer = api.post("/v1/scan", {"url": target, "type": "security"})
            answers.append((answer.status_code, answer.json().get("code", "")))
            if answer.status_code == 401 or ended.is_set():
                break
        connection.close()

    threads = [threading.Thread(target=post) for _ in range(3)]
    for thread in threads:
        thread.start()
    while len(answers) < 12:
        threads[0].join(0.01)
    close_organization_as_owner(actor=client_of_owner(member))
    assert delete_after_grace_period(), "even while requests that began before still run"
    ended.set()
    for thread in threads:
        thread.join()
    assert {status for status, _ in answers} <= {201, 401, 429}
    assert {code for status, code in answers if status == 401} == {"KEY_REVOKED"}
    assert remaining_row_counts(member.organization.id) == {}


def test_closed_account_leaves_only_activity_log(home: Member) -> None:
    client_of_owner(home)
    ada = person_of(home, "admin", "ada@people.test")
    browser = browser_of(ada)
    membership = Membership.objects.get(user=ada)
    invitation = members.invite(actor=membership, email="bob@people.test", role="member")
    _, key = create_api_key(organization=home.organization, name="CI", created_by=ada)

    close_account(user=ada, actor=ada)

    assert browser.get("/account/").status_code == 302
    assert members.find_invitation(members.invitation_token(invitation)) is None
    assert ActivityEvent.objects.filter(action="member.left", actor_email="ada@people.test").exists()
    assert User.objects.create_user("ada@people.test"), "the address is free"
    assert delete_after_grace_period()
    assert not User.objects.filter(email__endswith=NO_ADDRESS).exists()
    assert Api(key).get("/v1/usage").status_code == 200, "the organization's key is not the person's"


def test_sole_owner_cannot_close_the_account(home: Member) -> None:
    actor = client_of_owner(home)
    with pytest.raises(AccountRefused, match="You are the only owner of Home"):
        close_account(user=actor.user, actor=actor.user)
    client_of_owner(home, "second@people.test")
    close_account(user=actor.user, actor=actor.user)
    assert mail.outbox == []


def test_operator_deletes_organization_and_owner(home: Member) -> None:
    operator = browser_of(User.objects.create_superuser("operator@people.test"))
    actor = client_of_owner(home)
    person = f"/admin/accounts/user/{actor.user.pk}/delete/"
    assert operator.post(person, {"post": "yes"}).status_code == 403, "nobody would own the organization"
    page = f"/admin/accounts/organization/{home.organization.pk}/delete/"
    assert "All their scans" in operator.get(page).content.decode()
    operator.post(page, {"post": "yes"})
    assert home.api.get("/v1/scans").json()["code"] == "KEY_REVOKED"
    operator.post(person, {"post": "yes"})
    actor.user.refresh_from_db()
    assert actor.user.closed_at is not None
    assert delete_after_grace_period()
    assert set(User.objects.values_list("email", flat=True)) == {"operator@people.test"}


def test_only_superusers_can_delete_an_organization(home: Member) -> None:
    helper = browser_of(User.objects.create_user("helper@people.test", is_staff=True))
    page = f"/admin/accounts/organization/{home.organization.pk}/delete/"
    assert helper.post(page, {"post": "yes"}).status_code == 403
    assert Organization.objects.get().closed_at is None
    assert not Webhook.objects.exists()


@pytest.mark.parametrize("typed", ["", "Somewhere else", "Hom"])
def test_deletion_requires_the_typed_name(home: Member, typed: str) -> None:
    actor = client_of_owner(home)
    browser = browser_of(actor.user)
    slug = home.organization.slug
    assert browser.post(f"/o/{slug}/settings/delete", {"confirmation": typed}).status_code == 200
    assert browser.post("/account/delete", {"confirmation": typed}).status_code == 200
    assert home.api.get("/v1/scans").status_code == 200
    assert User.objects.get(id=actor.user.pk).is_active


def test_owner_deletes_organization_then_account(home: Member) -> None:
    actor = client_of_owner(home)
    browser = browser_of(actor.user)
    refused = browser.post("/account/delete", {"confirmation": actor.user.email})
    slug = home.organization.slug
    for page in (refused, browser.get("/account/delete")):
        text = page.content.decode()
        assert "You are the only owner" in text
        assert f"/o/{slug}/members/" in text
        assert 'name="confirmation"' not in text
    assert f"/o/{slug}/settings/delete" in browser.get(f"/o/{slug}/settings/").content.decode()
    response = browser.post(f"/o/{slug}/settings/delete", {"confirmation": "Home"})
    assert (response.status_code, response["Location"]) == (302, "/organizations/")
    assert "Home has been deleted." in browser.get("/organizations/").content.decode()
    assert browser.get(f"/o/{slug}/").status_code == 404
    account_response = browser.post("/account/delete", {"confirmation": "OWNER@people.test"})
    assert (account_response.status_code, account_response["Location"]) == (302, "/")
    assert browser.get("/account/").status_code == 302
    assert delete_after_grace_period()
    assert not User.objects.exists()
