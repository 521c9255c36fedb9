"""Notices of ending mutes: recipients, one e-mail for several mutes, and no second or lost notice."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.mailing import outbox
from accounts.models import Mail, Membership
from reports.models import Mute
from reports.retention import delete_mutes
from reports.tasks import announce_mutes
from tests.factories import Member, member_of
from tests.reports.mutes.cast import reported
from tests.reports.people import person


def muted(member: Member, check: str = "hsts", by: str = "", days: float = 7.5, **changes: str) -> Mute:
    """Create a mute by the member with this role, by default by an API key, that ends in `days` days."""
    body = {"check": check, "host": "example.com", "reason": "Accepted."} | changes
    assert member.api.post("/v1/mutes", body).status_code == 201
    mute = Mute.objects.latest("created_at")
    user = Membership.objects.get(organization=member.organization, role=by).user if by else None
    now = timezone.now()
    mute.created_by, mute.api_key = user, None if user else mute.api_key
    mute.expires_at, mute.notice_at = now + timedelta(days=days), now + timedelta(days=days - 8)
    mute.save()
    return mute


def told() -> list[tuple[str, str]]:
    return sorted(Mail.objects.values_list("user__email", "subject"))


@pytest.fixture
def staffed(home: Member) -> Member:
    for role in ("owner", "member", "viewer"):
        person(home.organization, role)
    return home


def test_who_muted_is_told_once_a_week_before(staffed: Member) -> None:
    muted(staffed, by="member")
    muted(staffed, "csp-present", by="member", days=30)
    announce_mutes()
    announce_mutes()
    assert told() == [("member-1@people.test", "The mute of “HTTP Strict Transport Security” on example.com ends soon")]
    (mail,) = Mail.objects.all()
    for body in (mail.text, mail.html):
        assert "Accepted." in body
        assert "csp-present" not in body
        assert f"/o/{staffed.organization.slug}/mutes/" in body
    assert "http://localhost:8000/docs/checks/hsts" in mail.html


def test_owners_are_told_of_what_keys_and_people_without_the_role_have_muted(staffed: Member) -> None:
    muted(staffed)
    muted(staffed, "csp-present", by="viewer")
    announce_mutes()
    assert told() == [("owner-0@people.test", "2 mutes of Home end soon")]


def test_a_hundred_mutes_are_one_mail(staffed: Member) -> None:
    for n in range(25):
        muted(staffed, by="member", path_prefix=f"/{n}")
    announce_mutes()
    (mail,) = Mail.objects.all()
    assert "and 5 more." in mail.text


def test_organizations_are_told_apart(staffed: Member, stranger: Member) -> None:
    person(stranger.organization, "owner")
    muted(staffed, by="owner")
    muted(stranger)
    announce_mutes()
    assert [email for email, _ in told()] == ["owner-0@people.test", "owner-3@people.test"]


def test_ended_and_expired_ones_are_not_announced(staffed: Member) -> None:
    ended, expired = muted(staffed, by="owner"), muted(staffed, "csp-present", by="owner", days=-1)
    assert staffed.api.delete(f"/v1/mutes/{ended.id}").status_code == 204
    assert expired.expires_at < timezone.now()
    announce_mutes()
    assert told() == []


def test_a_new_end_is_announced_anew(staffed: Member) -> None:
    mute = muted(staffed, by="owner")
    announce_mutes()
    body = {"check": "hsts", "host": "example.com", "reason": "Still."}
    assert staffed.api.post("/v1/mutes", body).status_code == 200
    mute.refresh_from_db()
    assert mute.notice_at == mute.expires_at - timedelta(days=8)


def test_who_chooses_a_near_end_needs_no_notice(home: Member) -> None:
    end = (timezone.now() + timedelta(days=5)).isoformat()
    home.api.post("/v1/mutes", {"check": "hsts", "host": "example.com", "reason": "Soon.", "expires_at": end})
    assert Mute.objects.get().notice_at is None


def test_a_process_that_dies_while_it_writes_has_written_nothing(
    staffed: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    muted(staffed, by="owner")

    def die(**_: object) -> int:
        raise SystemExit

    with monkeypatch.context() as patched:
        patched.setattr(outbox, "post", die)
        with pytest.raises(SystemExit):
            announce_mutes()
    assert Mute.objects.get().notice_at is not None
    announce_mutes()
    assert len(told()) == 1


def test_hostile_reasons_stay_text(staffed: Member) -> None:
    muted(staffed, by="owner", reason="<b>now</b> https://evil.test/ \r\nBcc: all@evil.test")
    announce_mutes()
    (mail,) = Mail.objects.all()
    assert "<b>now" not in mail.html
    assert "https://evil.test/" not in mail.html
    assert "\n" not in mail.subject


def test_what_has_ended_is_kept_for_ninety_days(home: Member) -> None:
    other = member_of("Other")
    reported(home)
    now = timezone.now()
    kept, old, expired, active = (
        muted(member, check, days=300) for member in (home, other) for check in ("hsts", "csp-present")
    )
    Mute.objects.filter(id=kept.id).update(ended_at=now - timedelta(days=89))
    Mute.objects.filter(id=old.id).update(ended_at=now - timedelta(days=91))
    Mute.objects.filter(id=expired.id).update(expires_at=now - timedelta(days=91))
    delete_mutes()
    assert set(Mute.objects.values_list("id", flat=True)) == {kept.id, active.id}
