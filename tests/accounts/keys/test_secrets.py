"""Tests for regenerating API keys."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from accounts.authentication import LAST_USED_UPDATE_INTERVAL
from accounts.keys import services
from accounts.keys.services import (
    OVERLAP,
    end_former_key,
    regenerate_api_key,
    rename_api_key,
    revoke_api_key,
)
from accounts.models import ActivityEvent, ApiKey, FormerKey, Membership
from accounts.services import AccountRefused
from tests.factories import Api, Member, person_of
from tests.queries import counted


@pytest.fixture
def actor(home: Member) -> Membership:
    return Membership.objects.select_related("organization", "user").get(user=person_of(home, "admin", "a@people.test"))


def regenerate(actor: Membership, key: ApiKey, expires_at: datetime | None = None, *, at_once: bool = False) -> str:
    key.refresh_from_db()
    _, plaintext = regenerate_api_key(
        actor=actor, key_id=key.id, prefix=key.prefix, expires_at=expires_at, at_once=at_once
    )
    key.refresh_from_db()
    return plaintext


def status_and_code(plaintext: str) -> tuple[int, str]:
    response = Api(plaintext).get("/v1/usage")
    return response.status_code, response.json().get("code", "")


def test_former_and_new_secret_both_work_after_regeneration(home: Member, actor: Membership) -> None:
    before = home.key.id, home.key.name, home.key.scope
    new = regenerate(actor, home.key)
    assert (home.key.id, home.key.name, home.key.scope) == before
    assert status_and_code(new) == status_and_code(home.plaintext) == (200, "")
    former = FormerKey.objects.get()
    assert abs(former.expires_at - timezone.now() - OVERLAP) < timedelta(minutes=1)
    assert home.plaintext.startswith(former.prefix)
    assert new.startswith(home.key.prefix)
    event = ActivityEvent.objects.latest("id")
    until = f"works until {former.expires_at:%Y-%m-%d %H:%M}"
    assert (event.action, event.details) == ("key.regenerated", {"former secret": until, "ends": "never"})


def test_expired_former_secret_is_refused_with_KEY_REVOKED(home: Member, actor: Membership) -> None:
    new = regenerate(actor, home.key)
    FormerKey.objects.update(expires_at=timezone.now())
    assert status_and_code(home.plaintext) == (401, "KEY_REVOKED")
    assert status_and_code(new) == (200, "")


def test_immediate_regeneration_ends_all_former_secrets(home: Member, actor: Membership) -> None:
    second = regenerate(actor, home.key)
    third = regenerate(actor, home.key, at_once=True)
    assert [status_and_code(secret) for secret in (home.plaintext, second, third)] == [
        (401, "KEY_REVOKED"),
        (401, "KEY_REVOKED"),
        (200, ""),
    ]


def test_former_secret_can_be_ended_early(home: Member, actor: Membership) -> None:
    new = regenerate(actor, home.key)
    former = FormerKey.objects.get()
    assert end_former_key(actor=actor, key_id=home.key.id, former_id=former.pk)
    assert not end_former_key(actor=actor, key_id=home.key.id, former_id=former.pk), "the second click"
    assert status_and_code(home.plaintext) == (401, "KEY_REVOKED")
    assert status_and_code(new) == (200, "")
    assert ActivityEvent.objects.filter(action="key.former_ended").count() == 1


def test_revoked_key_accepts_no_secrets_and_no_changes(home: Member, actor: Membership) -> None:
    new = regenerate(actor, home.key)
    revoke_api_key(home.key)
    assert status_and_code(new) == status_and_code(home.plaintext) == (401, "KEY_REVOKED")
    with pytest.raises(AccountRefused):
        regenerate(actor, home.key)
    with pytest.raises(AccountRefused):
        rename_api_key(actor=actor, key_id=home.key.id, name="Another")


def test_former_secret_does_not_outlive_the_key_expiry(home: Member, actor: Membership) -> None:
    soon = timezone.now() + timedelta(hours=1)
    ApiKey.objects.update(expires_at=soon)
    new = regenerate(actor, home.key)
    assert FormerKey.objects.get().expires_at == soon
    assert home.key.expires_at is None
    assert status_and_code(new) == (200, "")


def test_regenerating_an_expired_key_does_not_revive_its_former_secret(home: Member, actor: Membership) -> None:
    ApiKey.objects.update(expires_at=timezone.now() - timedelta(days=1))
    assert status_and_code(home.plaintext) == (401, "UNAUTHORIZED")
    new = regenerate(actor, home.key, timezone.now() + timedelta(days=30))
    assert status_and_code(home.plaintext) == (401, "KEY_REVOKED")
    assert status_and_code(new) == (200, "")


def test_new_key_expiry_also_ends_the_former_secret(home: Member, actor: Membership) -> None:
    regenerate(actor, home.key)
    ApiKey.objects.update(expires_at=timezone.now())
    assert status_and_code(home.plaintext) == (401, "UNAUTHORIZED")


def test_regeneration_form_sent_twice_replaces_one_secret(home: Member, actor: Membership) -> None:
    prefix = home.key.prefix
    new = regenerate(actor, home.key)
    with pytest.raises(AccountRefused, match="has just been regenerated"):
        regenerate_api_key(actor=actor, key_id=home.key.id, prefix=prefix, expires_at=None, at_once=True)
    assert status_and_code(new) == status_and_code(home.plaintext) == (200, "")


def test_number_of_valid_former_secrets_is_limited(
    home: Member, actor: Membership, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(services, "MAX_FORMER_KEYS", 1)
    regenerate(actor, home.key)
    with pytest.raises(AccountRefused, match="End one of them first"):
        regenerate(actor, home.key)
    regenerate(actor, home.key, at_once=True)


def test_each_secret_records_its_own_last_use(home: Member, actor: Membership) -> None:
    Api(home.plaintext, "192.0.2.1").get("/v1/usage")
    new = regenerate(actor, home.key)
    assert (home.key.last_used_at, home.key.last_used_from) == (None, ""), "not yet in its place"
    former = FormerKey.objects.get()
    assert former.last_used_from == "192.0.2.1"
    FormerKey.objects.update(last_used_at=timezone.now() - 2 * LAST_USED_UPDATE_INTERVAL)
    Api(home.plaintext, "192.0.2.2").get("/v1/usage")
    Api(new, "2001:db8::1").get("/v1/usage")
    home.key.refresh_from_db()
    former.refresh_from_db()
    assert (former.last_used_from, home.key.last_used_from) == ("192.0.2.2", "2001:db8::1")


def test_authentication_needs_one_query_for_any_secret(home: Member, actor: Membership) -> None:
    new = regenerate(actor, home.key)
    for plaintext in (new, home.plaintext):
        Api(plaintext).get("/v1/usage")
        with counted() as queries:
            Api(plaintext).get("/v1/usage")
        assert sum("accounts_apikey" in query for query in queries) == 1
        assert not [query for query in queries if query.lstrip().startswith("UPDATE")], "used within this minute"


def test_name_of_an_active_key_cannot_be_reused(home: Member, actor: Membership) -> None:
    other, _ = services.create_api_key(organization=home.organization, name="Deploys")
    with pytest.raises(AccountRefused, match="active key with this name"):
        rename_api_key(actor=actor, key_id=home.key.id, name="Deploys")
    revoke_api_key(other)
    rename_api_key(actor=actor, key_id=home.key.id, name="Deploys")
    rename_api_key(actor=actor, key_id=home.key.id, name="Deploys")
    (event,) = ActivityEvent.objects.filter(action="key.changed")
    assert event.details == {"name": {"from": "tests", "to": "Deploys"}}


def test_keys_of_another_organization_cannot_be_changed(stranger: Member, actor: Membership) -> None:
    for change in (
        lambda: regenerate(actor, stranger.key),
        lambda: rename_api_key(actor=actor, key_id=stranger.key.id, name="Mine"),
        lambda: end_former_key(actor=actor, key_id=stranger.key.id, former_id=1),
    ):
        with pytest.raises(AccountRefused):
            change()
    assert status_and_code(stranger.plaintext) == (200, "")
