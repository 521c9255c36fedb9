"""Tests for notices about mutes that end soon."""

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
from tests.reports.mutes.cast import finished_scan_with
from tests.reports.people import person


def create_mute(member: Member, check: str = "hsts", by: str = "", days: float = 7.5, **changes: str) -> Mute:
    """Create a mute that lasts `days` days.

    The creator is a member with the role `by`, or an API key.
    """
    body = {"check": check, "host": "example.com", "reason": "Accepted."} | changes
    assert member.api.post("/v1/mutes", body).status_code == 201
    mute = Mute.objects.latest("created_at")
    user = Membership.objects.get(organization=member.organization, role=by).user if by else None
    now = timezone.now()
    mute.created_by, mute.api_key = user, None if user else mute.api_key
    mute.expires_at, mute.notice_at = now + timedelta(days=days), now + timedelta(days=days - 8)
    mute.save()
    return mute


def sent_mails() -> list[tuple[str, str]]:
    return sorted(Mail.objects.values_list("user__email", "subject"))


@pytest.fixture
def organization_with_all_roles(home: Member) -> Member:
    for role in ("owner", "member", "viewer"):
        person(home.organization, role)
    return home


def test_creator_gets_one_notice_before_a_mute_ends(organization_with_all_roles: Member) -> None:
    create_mute(organization_with_all_roles, by="member")
    create_mute(organization_with_all_roles, "csp-present", by="member", days=30)
    announce_mutes()
    announce_mutes()
    assert sent_mails() == [
        ("member-1@people.test", "The mute of “HTTP Strict Transport Security” on example.com ends soon")
    ]
    (mail,) = Mail.objects.all()
    for body in (mail.text, mail.html):
        assert "Accepted." in body
        assert "csp-present" not in body
        assert f"/o/{organization_with_all_roles.organization.slug}/mutes/" in body
    assert "http://localhost:8000/docs/checks/hsts" in mail.html


def test_owners_get_notices_for_mutes_by_keys(
    organization_with_all_roles: Member,
) -> None:
    create_mute(organization_with_all_roles)
    create_mute(organization_with_all_roles, "csp-present", by="viewer")
    announce_mutes()
    assert sent_mails() == [("owner-0@people.test", "2 mutes of Home end soon")]


def test_many_ending_mutes_cause_one_email(organization_with_all_roles: Member) -> None:
    for n in range(25):
        create_mute(organization_with_all_roles, by="member", path_prefix=f"/{n}")
    announce_mutes()
    (mail,) = Mail.objects.all()
    assert "and 5 more." in mail.text


def test_organizations_get_separate_notices(organization_with_all_roles: Member, stranger: Member) -> None:
    person(stranger.organization, "owner")
    create_mute(organization_with_all_roles, by="owner")
    create_mute(stranger)
    announce_mutes()
    assert [email for email, _ in sent_mails()] == ["owner-0@people.test", "owner-3@people.test"]


def test_ended_and_expired_mutes_are_not_announced(organization_with_all_roles: Member) -> None:
    ended, expired = (
        create_mute(organization_with_all_roles, by="owner"),
        create_mute(organization_with_all_roles, "csp-present", by="owner", days=-1),
    )
    assert organization_with_all_roles.api.delete(f"/v1/mutes/{ended.id}").status_code == 204
    assert expired.expires_at < timezone.now()
    announce_mutes()
    assert sent_mails() == []


def test_renewed_mute_is_announced_again(organization_with_all_roles: Member) -> None:
    mute = create_mute(organization_with_all_roles, by="owner")
    announce_mutes()
    body = {"check": "hsts", "host": "example.com", "reason": "Still."}
    assert organization_with_all_roles.api.post("/v1/mutes", body).status_code == 200
    mute.refresh_from_db()
    assert mute.notice_at == mute.expires_at - timedelta(days=8)


def test_short_mute_gets_no_notice(home: Member) -> None:
    end = (timezone.now() + timedelta(days=5)).isoformat()
    home.api.post("/v1/mutes", {"check": "hsts", "host": "example.com", "reason": "Soon.", "expires_at": end})
    assert Mute.objects.get().notice_at is None


def test_notices_stay_due_after_a_crash(organization_with_all_roles: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    create_mute(organization_with_all_roles, by="owner")

    def die(**_: object) -> int:
        raise SystemExit

    with monkeypatch.context() as patch:
        patch.setattr(outbox, "post", die)
        with pytest.raises(SystemExit):
            announce_mutes()
    assert Mute.objects.get().notice_at is not None
    announce_mutes()
    assert len(sent_mails()) == 1


def test_html_in_a_reason_is_escaped(organization_with_all_roles: Member) -> None:
    create_mute(organization_with_all_roles, by="owner", reason="<b>now</b> https://evil.test/ \r\nBcc: all@evil.test")
    announce_mutes()
    (mail,) = Mail.objects.all()
    assert "<b>now" not in mail.html
    assert "https://evil.test/" not in mail.html
    assert "\n" not in mail.subject


def test_ended_mutes_are_deleted_after_90_days(home: Member) -> None:
    other = member_of("Other")
    finished_scan_with(home)
    now = timezone.now()
    recent, old, expired, active = (
        create_mute(member, check, days=300) for member in (home, other) for check in ("hsts", "csp-present")
    )
    Mute.objects.filter(id=recent.id).update(ended_at=now - timedelta(days=89))
    Mute.objects.filter(id=old.id).update(ended_at=now - timedelta(days=91))
    Mute.objects.filter(id=expired.id).update(expires_at=now - timedelta(days=91))
    delete_mutes()
    assert set(Mute.objects.values_list("id", flat=True)) == {recent.id, active.id}
