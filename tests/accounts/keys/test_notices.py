"""Tests for notices about expiring API keys."""

from __future__ import annotations

import threading
from datetime import datetime, timedelta

import pytest
from django.db import connection
from django.utils import timezone

from accounts.keys.services import change_api_key, create_api_key, regenerate_api_key, revoke_api_key
from accounts.mailing import outbox
from accounts.models import ApiKey, Mail, Membership, User
from accounts.tasks import tell_of_ending_keys
from tests.factories import Api, Member, person_of


@pytest.fixture
def ada(home: Member) -> User:
    return person_of(home, "admin", "ada@home.test")


@pytest.fixture
def others(home: Member, stranger: Member) -> None:
    person_of(home, "owner", "owner@home.test")
    person_of(home, "member", "member@home.test")
    person_of(stranger, "owner", "owner@stranger.test")


def expiring_key(home: Member, days: float, created_by: User | None = None, name: str = "Nightly build") -> ApiKey:
    """Return an API key that was created long ago and expires after this number of days."""
    key, _ = create_api_key(organization=home.organization, name=name, created_by=created_by)
    ApiKey.objects.filter(id=key.id).update(expires_at=timezone.now() + timedelta(days=days))
    key.refresh_from_db()
    return key


def post_notices() -> list[tuple[str, str]]:
    """Run the task that posts notices, and return recipient and subject of all e-mails, oldest first."""
    tell_of_ending_keys()
    return list(Mail.objects.order_by("created_at", "user__email").values_list("user__email", "subject"))


@pytest.mark.parametrize(("days", "mails"), [(15, 0), (13.9, 1), (3.5, 1), (2.9, 1), (0.01, 1), (-1, 0)])
def test_key_expiry_notice_is_due_14_and_3_days_before(home: Member, ada: User, days: float, mails: int) -> None:
    expiring_key(home, days, ada)
    assert len(post_notices()) == mails
    assert len(post_notices()) == mails, "once"


def test_both_key_expiry_notices_are_sent(home: Member, ada: User, others: None) -> None:
    key = expiring_key(home, 14, ada)
    post_notices()
    assert key.expires_at is not None
    ApiKey.objects.filter(id=key.id).update(expires_at=key.expires_at - timedelta(days=11))
    assert post_notices() == [
        ("ada@home.test", "The API key Nightly build of Home expires in 14 days"),
        ("ada@home.test", "The API key Nightly build of Home expires in 3 days"),
    ]


@pytest.mark.parametrize("change", ["left", "demoted", "closed", "command line"])
def test_owners_and_admins_get_the_notice_if_the_creator_cannot_manage_keys(
    home: Member, ada: User, others: None, change: str
) -> None:
    expiring_key(home, 10, None if change == "command line" else ada)
    membership = Membership.objects.filter(user=ada)
    if change in ("left", "command line"):
        membership.delete()
    elif change == "demoted":
        membership.update(role="member")
    else:
        User.objects.filter(pk=ada.pk).update(is_active=False)
    person_of(home, "admin", "bert@home.test")
    assert {email for email, _ in post_notices()} == {"owner@home.test", "bert@home.test"}


def test_revoked_and_unlimited_keys_have_no_expiry_notice(home: Member, ada: User) -> None:
    revoke_api_key(expiring_key(home, 10, ada))
    create_api_key(organization=home.organization, name="For ever", created_by=ada)
    assert post_notices() == []


@pytest.mark.parametrize(("days", "due"), [(30, [14, 3]), (14, [3]), (10, [3]), (3, []), (1, [])])
def test_notice_is_not_sent_if_expiry_was_already_near_at_creation(
    home: Member, ada: User, days: int, due: list[int]
) -> None:
    end = timezone.now() + timedelta(days=days)
    key, _ = create_api_key(organization=home.organization, name="Short", created_by=ada, expires_at=end)
    assert post_notices() == []
    written = []
    for remaining_days in (14, 3, 0.5):
        before = Mail.objects.count()
        ApiKey.objects.filter(id=key.id).update(expires_at=timezone.now() + timedelta(days=remaining_days))
        if len(post_notices()) > before:
            written.append(remaining_days)
    assert written == due


def test_regeneration_or_new_expiry_deletes_unsent_notices(home: Member, ada: User) -> None:
    actor = Membership.objects.select_related("organization", "user").get(user=ada)
    later = timezone.now() + timedelta(days=60)
    renewed, moved, revoked = (expiring_key(home, 10, ada, name) for name in ("Renewed", "Moved", "Revoked"))
    assert len(post_notices()) == 3
    regenerate_api_key(actor=actor, key_id=renewed.id, prefix=renewed.prefix, expires_at=later, at_once=False)
    change_api_key(moved, ada, {"expires_at": later})
    revoke_api_key(revoked)
    assert post_notices() == []
    ApiKey.objects.filter(id=renewed.id).update(expires_at=timezone.now() + timedelta(days=14))
    assert len(post_notices()) == 1, "the new expiry causes a notice again"


def test_expiry_notice_names_last_use_and_links_to_regeneration(home: Member, ada: User) -> None:
    key = expiring_key(home, 13.5, ada, "<b>Deploys</b> http://evil.test")
    ApiKey.objects.filter(id=key.id).update(
        last_used_at=datetime(2026, 11, 22, 9, 30, tzinfo=timezone.get_default_timezone()), last_used_from="192.0.2.7"
    )
    post_notices()
    mail = Mail.objects.get()
    assert mail.topic == f"keys:{home.organization.pk}"
    assert mail.subject == "The API key <b>Deploys</b> http://evil.test of Home expires in 14 days"
    for text in (mail.text, mail.html):
        assert f"/o/home/keys/{key.id}/regenerate" in text
        assert "2026-11-22 09:30 UTC" in text
        assert "192.0.2.7" in text
        assert key.prefix in text
        assert home.plaintext not in text
        assert "http://evil.test" not in text.partition("</title>")[2], "a name is no link"
    assert "http://evil.test" not in mail.text
    assert "<b>Deploys" not in mail.html


def test_crash_while_posting_notices_rolls_back(home: Member, ada: User, monkeypatch: pytest.MonkeyPatch) -> None:
    expiring_key(home, 10, ada)

    def die(**_: object) -> int:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(outbox, "post", die)
        with pytest.raises(KeyboardInterrupt):
            tell_of_ending_keys()
    assert not Mail.objects.exists()
    assert len(post_notices()) == 1


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_concurrent_tasks_post_each_notice_once(home: Member, ada: User) -> None:
    for number in range(5):
        expiring_key(home, 10, ada, f"Key {number}")
    together = threading.Barrier(2)

    def run() -> None:
        together.wait(30)
        tell_of_ending_keys()
        connection.close()

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert Mail.objects.count() == 5


def test_expiry_notice_lists_former_secrets_in_use(home: Member, ada: User) -> None:
    actor = Membership.objects.select_related("organization", "user").get(user=ada)
    Api(home.plaintext, "192.0.2.9").get("/v1/usage")
    regenerate_api_key(actor=actor, key_id=home.key.id, prefix=home.key.prefix, expires_at=None, at_once=False)
    ApiKey.objects.update(expires_at=timezone.now() + timedelta(days=2))
    post_notices()
    text = Mail.objects.get().text
    assert "Its current secret has never been used." in text
    assert f"{home.plaintext[:12]}…, last used on" in text
    assert "192.0.2.9" in text
