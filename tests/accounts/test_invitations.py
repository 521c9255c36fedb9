"""Tests for invitations to an organization."""

from __future__ import annotations

import re
import smtplib
from datetime import timedelta

import pytest
import pytest_django
from django.core import mail
from django.test import Client
from django.utils import timezone

from accounts import members
from accounts.mailing.filters import WORD_JOINER
from accounts.models import ActivityEvent, Invitation, Membership, User
from accounts.pages import organization
from accounts.pages.login import MAX_MAILS_PER_RECIPIENT
from accounts.services import AccountRefused
from tests.accounts.mailbox import link_in_mail
from tests.factories import Member, browser_of, person_of

EMAIL = "bob@people.test"
PASSWORD = "correct horse 9"


@pytest.fixture
def owner(home: Member) -> User:
    return person_of(home, "owner", "owner@people.test")


def invite(owner: User, email: str = EMAIL, role: str = "member") -> str:
    """Invite a person on the members page.

    Returns the path of the link in the e-mail.
    """
    response = browser_of(owner).post("/o/home/members/", {"email": email, "role": role})
    assert (response.status_code, response["Location"]) == (302, "/o/home/members/")
    return link_in_mail(email)


def role_of_person(home: Member, email: str = EMAIL) -> str | None:
    return home.organization.membership_set.filter(user__email=email).values_list("role", flat=True).first()


def test_new_person_creates_an_account_and_joins(home: Member, owner: User, client: Client) -> None:
    link = invite(owner)
    page = client.get(link).content.decode()
    assert "Join Home" in page
    assert role_of_person(home) is None, "looking is not accepting: scanners of mail follow links"
    response = client.post(link, {"password": PASSWORD})
    assert (response.status_code, response["Location"]) == (302, "/o/home/")
    assert role_of_person(home) == "member"
    assert User.objects.get(email=EMAIL).check_password(PASSWORD)
    assert client.session["organization"] == home.organization.pk
    assert list(ActivityEvent.objects.values_list("action", flat=True))[:2] == ["member.joined", "member.invited"]


def test_password_of_invited_person_is_validated(home: Member, owner: User, client: Client) -> None:
    link = invite(owner)
    assert "too common" in client.post(link, {"password": "password"}).content.decode()
    assert not User.objects.filter(email=EMAIL).exists()
    assert client.post(link, {"password": PASSWORD}).status_code == 302


def test_person_with_an_account_logs_in_and_joins(home: Member, owner: User, client: Client) -> None:
    bob = User.objects.create_user(EMAIL, PASSWORD)
    link = invite(owner, "Bob@people.test", "viewer")
    assert f"/login/?next={link}" in client.get(link).content.decode()
    assert client.post(link, {"password": "another horse 9"}).status_code == 200
    bob.refresh_from_db()
    assert bob.check_password(PASSWORD)
    login = client.post("/login/", {"login": EMAIL, "password": PASSWORD, "next": link})
    assert login["Location"] == link
    assert role_of_person(home) is None
    client.post(link)
    assert role_of_person(home) == "viewer"


def copied_link(owner: User) -> str:
    """Return the path of the link to the only open invitation."""
    page = browser_of(owner).get("/o/home/members/").content.decode()
    (link,) = re.findall(r"<code id=.inv_\w+.>http://localhost:8000(/invite/[^<]+)</code>", page)
    return str(link)


def test_copied_link_does_not_create_an_account(home: Member, owner: User, client: Client) -> None:
    mailed = invite(owner)
    copied = copied_link(owner)
    assert copied != mailed
    page = client.get(copied).content.decode()
    assert "Join Home" in page
    assert "Send me the link" in page
    assert 'name="password"' not in page
    mail.outbox.clear()
    response = client.post(copied, {"password": PASSWORD})
    assert response.status_code == 200
    assert "a link to create your account and join" in response.content.decode()
    assert not User.objects.filter(email=EMAIL).exists()
    assert client.post(link_in_mail(EMAIL), {"password": PASSWORD}).status_code == 302
    assert role_of_person(home) == "member"
    assert Client().get(copied).status_code == 410, "it is good for one use"


def test_existing_account_joins_by_copied_link(home: Member, owner: User) -> None:
    bob = User.objects.create_user(EMAIL, PASSWORD)
    invite(owner)
    copied = copied_link(owner)
    eve = browser_of(User.objects.create_user("eve@people.test"))
    assert "for someone else" in eve.post(copied).content.decode()
    assert "Log in to accept" in Client().get(copied).content.decode()
    assert browser_of(bob).post(copied)["Location"] == "/o/home/"
    assert role_of_person(home) == "member"


def test_link_of_a_superuser_lets_a_person_join(home: Member, owner: User, client: Client) -> None:
    owner.is_superuser = True
    owner.save()
    invite(owner)
    assert client.post(copied_link(owner), {"password": PASSWORD}).status_code == 302
    assert role_of_person(home) == "member"


def test_link_for_a_higher_role_is_hidden(home: Member, owner: User) -> None:
    invite(owner, role="owner")
    admin = person_of(home, "admin", "admin@people.test")
    member = person_of(home, "member", "member@people.test")
    assert "Pending invitations" in browser_of(admin).get("/o/home/members/").content.decode()
    for person in (admin, member):
        assert "/invite/" not in browser_of(person).get("/o/home/members/").content.decode()


def test_mails_for_a_copied_link_are_limited(home: Member, owner: User, client: Client) -> None:
    invite(owner)
    copied = copied_link(owner)
    statuses = [client.post(copied).status_code for _ in range(MAX_MAILS_PER_RECIPIENT)]
    assert (statuses[0], statuses[-1]) == (200, 429)


def test_invitation_is_refused_for_another_person(home: Member, owner: User) -> None:
    link = invite(owner)
    eve = browser_of(User.objects.create_user("eve@people.test"))
    for response in (eve.get(link), eve.post(link)):
        assert "for someone else" in response.content.decode()
    assert not home.organization.members.filter(email="eve@people.test").exists()
    assert Client().post(link, {"password": PASSWORD}).status_code == 302


def test_invitation_link_works_once(home: Member, owner: User, client: Client) -> None:
    link = invite(owner)
    client.post(link, {"password": PASSWORD})
    home.organization.membership_set.get(user__email=EMAIL).delete()
    assert client.get(link).status_code == 410
    assert client.post(link).status_code == 410
    assert role_of_person(home) is None


def test_invitation_expires_after_seven_days(home: Member, owner: User, client: Client) -> None:
    link = invite(owner)
    invitation = Invitation.objects.get()
    assert invitation.expires_at - invitation.created_at == timedelta(days=7)
    Invitation.objects.update(expires_at=timezone.now())
    for response in (client.get(link), client.post(link, {"password": PASSWORD})):
        assert response.status_code == 410
    assert not User.objects.filter(email=EMAIL).exists()


def test_invitation_signature_expires(owner: User, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    link = invite(owner)
    monkeypatch.setattr(members, "INVITATION_LIFETIME", timedelta(seconds=-1))
    assert client.get(link).status_code == 410


def test_revoked_invitation_returns_410(home: Member, owner: User, client: Client) -> None:
    link = invite(owner)
    invitation = Invitation.objects.get()
    browser_of(owner).post(f"/o/home/invitations/{invitation.id}/revoke")
    assert client.get(link).status_code == 410
    assert client.post(link, {"password": PASSWORD}).status_code == 410
    assert ActivityEvent.objects.filter(action="invitation.revoked", object_name=EMAIL).exists()


def test_second_invitation_replaces_the_first(home: Member, owner: User, client: Client) -> None:
    first, second = invite(owner, role="admin"), invite(owner, "BOB@people.test", "viewer")
    assert client.get(first).status_code == 410
    client.post(second, {"password": PASSWORD})
    assert home.organization.membership_set.get(user__email__iexact=EMAIL).role == "viewer"


@pytest.mark.parametrize("token", ["x", "a:b:c", "%00", ":", "é", "inv_0000000000000000000000"])
def test_forged_invitation_returns_410(db: None, client: Client, token: str) -> None:
    assert client.get(f"/invite/{token}").status_code == 410
    assert client.post(f"/invite/{token}", {"password": PASSWORD}).status_code == 410


def test_invitation_keeps_the_role_of_a_member(home: Member, owner: User) -> None:
    link = invite(owner, role="viewer")
    bob = person_of(home, "admin", EMAIL)
    browser_of(bob).post(link)
    assert role_of_person(home) == "admin"


def test_member_cannot_be_invited_again(home: Member, owner: User) -> None:
    response = browser_of(owner).post("/o/home/members/", {"email": "OWNER@people.test", "role": "member"})
    assert "is already a member" in response.content.decode()
    assert mail.outbox == []


def test_admin_cannot_invite_an_owner(home: Member, owner: User) -> None:
    admin = browser_of(person_of(home, "admin", "admin@people.test"))
    response = admin.post("/o/home/members/", {"email": EMAIL, "role": "owner"})
    assert "Select a valid choice" in response.content.decode()
    link = invite(owner, role="owner")
    invitation = Invitation.objects.get()
    admin.post(f"/o/home/invitations/{invitation.id}/revoke")
    assert Client().get(link).status_code == 200, "nor takes an owner's invitation back"


@pytest.mark.parametrize("role", ["member", "viewer"])
def test_members_and_viewers_cannot_invite(home: Member, role: str) -> None:
    client = browser_of(person_of(home, role, "other@people.test"))
    assert "Invite someone" not in client.get("/o/home/members/").content.decode()


def test_invitations_work_while_sign_up_is_closed(
    home: Member, owner: User, client: Client, settings: pytest_django.Settings
) -> None:
    settings.SIGN_UP_OPEN = False
    client.post(invite(owner), {"password": PASSWORD})
    assert role_of_person(home) == "member"


def test_invitations_have_a_rate_limit(owner: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(organization, "MAX_INVITATIONS_PER_HOUR", 1)
    invite(owner)
    response = browser_of(owner).post("/o/home/members/", {"email": "carl@people.test", "role": "viewer"})
    assert response.status_code == 429
    assert len(mail.outbox) == 1


def test_open_invitations_are_limited(owner: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(members, "MAX_OPEN_INVITATIONS", 1)
    invite(owner)
    response = browser_of(owner).post("/o/home/members/", {"email": "carl@people.test", "role": "viewer"})
    assert "which is the maximum" in response.content.decode()
    invite(owner)  # A second invitation to the same address replaces the first.


def test_invitations_are_limited_per_mailbox(
    home: Member, stranger: Member, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(organization, "MAX_INVITATIONS_PER_RECIPIENT_AND_DAY", 2)
    other = person_of(stranger, "owner", "other@people.test")
    invite(owner)
    fields = {"email": "Bob+x@people.test", "role": "member"}
    assert browser_of(other).post("/o/stranger/members/", fields).status_code == 302
    for page, person in (("/o/home/members/", owner), ("/o/stranger/members/", other)):
        refused = browser_of(person).post(page, fields)
        assert (refused.status_code, refused["Retry-After"]) == (429, "86400")
    assert len(mail.outbox) == 2


def test_invitations_are_limited_per_sender(
    home: Member, stranger: Member, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(organization, "MAX_INVITATIONS_PER_HOUR", 1)
    Membership.objects.create(organization=stranger.organization, user=owner, role="owner")
    invite(owner)
    fields = {"email": "carl@people.test", "role": "member"}
    assert browser_of(owner).post("/o/stranger/members/", fields).status_code == 429


def test_invitation_mail_links_only_to_this_host(home: Member, owner: User) -> None:
    # Operators may set names with addresses, and old names were not validated.
    home.organization.name = "Your invoice is due, pay at evil.example.com/pay"
    home.organization.save()
    link = invite(owner)
    sent = mail.outbox[-1]
    assert sent.subject == "owner@people.test invites you to localhost:8000"
    words = sent.body.replace(WORD_JOINER, "")
    assert "owner@people.test has invited you to join this organization at http://localhost:8000 as a member:" in words
    assert "If you do not know owner@people.test" in words
    assert "evil.example.com" in words
    assert "evil.example.com" not in sent.body, "no mail program makes a link of it"
    assert re.findall(r"https?://\S+", str(sent.body)) == ["http://localhost:8000", f"http://localhost:8000{link}"]


def test_invitation_is_revoked_if_its_mail_fails(owner: User, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise smtplib.SMTPServerDisconnected("gone")

    monkeypatch.setattr("django.core.mail.EmailMessage.send", fail)
    response = browser_of(owner).post("/o/home/members/", {"email": EMAIL, "role": "viewer"})
    assert response.status_code == 503
    assert not Invitation.objects.filter(revoked_at=None).exists()


def test_hostile_organization_name_is_escaped(home: Member, owner: User, client: Client) -> None:
    home.organization.name = "<script>alert(1)</script>\r\nBcc: eve@people.test"
    home.organization.save()
    link = invite(owner)
    assert mail.outbox[-1].subject == "owner@people.test invites you to localhost:8000"
    assert "Bcc" not in mail.outbox[-1].message()
    assert "eve@people.test" not in mail.outbox[-1].body, "no mail program makes a link of it"
    page = client.get(link).content.decode()
    assert "<script>alert" not in page
    assert "&lt;script&gt;" in page


def test_double_acceptance_creates_one_membership(home: Member, owner: User) -> None:
    invite(owner)
    invitation = Invitation.objects.get()
    bob = User.objects.create_user(EMAIL)
    members.accept_invitation(invitation=invitation, user=bob)
    with pytest.raises(AccountRefused):
        members.accept_invitation(invitation=invitation, user=bob)
    assert Membership.objects.filter(user=bob).count() == 1


@pytest.mark.parametrize(
    ("change", "left"),
    [
        # Admins may not invite owners.
        ({"role": "admin"}, ["admin@people.test", "viewer@people.test"]),
        ({"role": "member"}, []),
        ({"role": "owner"}, ["admin@people.test", "owner2@people.test", "viewer@people.test"]),
        (None, []),
    ],
    ids=["admin", "member", "owner", "removed"],
)
def test_invitations_need_a_sender_who_may_invite(
    home: Member, owner: User, change: dict[str, str] | None, left: list[str]
) -> None:
    boss = home.organization.membership_set.get(user=owner)
    inviter = home.organization.membership_set.get(user=person_of(home, "owner", "second@people.test"))
    for email, role in (("owner2", "owner"), ("admin", "admin"), ("viewer", "viewer")):
        members.invite(actor=inviter, email=f"{email}@people.test", role=role)
    others = members.invite(actor=boss, email="others@people.test", role="owner")
    if change:
        members.change_role(actor=boss, subject=inviter, **change)
    else:
        members.remove_member(actor=boss, subject=inviter)
    open_invitation_emails = members.open_invitations(home.organization.id).exclude(id=others.id)
    assert sorted(open_invitation_emails.values_list("email", flat=True)) == left
    assert members.open_invitations(home.organization.id).filter(id=others.id).exists()
    revoked = ActivityEvent.objects.filter(action="invitation.revoked", actor=owner)
    assert revoked.count() == 3 - len(left)


def test_invitation_of_former_member_is_revoked(home: Member, owner: User, client: Client) -> None:
    admin = home.organization.membership_set.get(user=person_of(home, "admin", "admin@people.test"))
    token = members.invitation_token(members.invite(actor=admin, email=EMAIL, role="admin"))
    members.remove_member(actor=admin, subject=admin)
    assert client.get(f"/invite/{token}").status_code == 410
