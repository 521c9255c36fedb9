"""Roles of members: permissions to change others, and protection of the last owner."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from accounts.members import change_role, remove_member
from accounts.models import ActivityEvent, Membership, User
from accounts.pages import organization
from accounts.services import AccountRefused
from tests.factories import Member, browser_of, member_of, person_of

ROLES = ("owner", "admin", "member", "viewer")


@pytest.fixture
def cast(home: Member) -> dict[str, Membership]:
    """Memberships: one person in every role, and a second owner."""
    people = {role: person_of(home, role, f"{role}@people.test") for role in ROLES}
    people["second"] = person_of(home, "owner", "second@people.test")
    return {name: Membership.objects.get(user=person) for name, person in people.items()}


def may(call: object) -> bool:
    try:
        call()  # type: ignore[operator]
    except AccountRefused:
        return False
    return True


@pytest.mark.parametrize(
    ("actor", "subject", "allowed"),
    [
        *[("owner", subject, True) for subject in ("second", "admin", "member", "viewer")],
        *[("admin", subject, subject != "owner") for subject in ROLES],
        *[(actor, subject, False) for actor in ("member", "viewer") for subject in ROLES if actor != subject],
    ],
)
def test_role_decides_who_may_change_and_remove_members(
    cast: dict[str, Membership], actor: str, subject: str, allowed: bool
) -> None:
    role = "viewer" if subject != "viewer" else "member"
    assert may(lambda: change_role(actor=cast[actor], subject=cast[subject], role=role)) is allowed
    if actor != subject:
        # Restore the role, which the assertion above may have changed.
        Membership.objects.filter(pk=cast[subject].pk).update(role=cast[subject].role)
        assert may(lambda: remove_member(actor=cast[actor], subject=cast[subject])) is allowed


def test_only_owner_can_grant_the_role_owner(cast: dict[str, Membership]) -> None:
    assert not may(lambda: change_role(actor=cast["admin"], subject=cast["member"], role="owner"))
    assert not may(lambda: change_role(actor=cast["admin"], subject=cast["admin"], role="owner"))
    assert may(lambda: change_role(actor=cast["owner"], subject=cast["member"], role="owner"))


def test_unknown_role_is_refused(cast: dict[str, Membership]) -> None:
    assert not may(lambda: change_role(actor=cast["owner"], subject=cast["member"], role="emperor"))


def test_last_owner_cannot_leave_or_change_role(cast: dict[str, Membership]) -> None:
    remove_member(actor=cast["owner"], subject=cast["second"])
    assert not may(lambda: change_role(actor=cast["owner"], subject=cast["owner"], role="admin"))
    assert not may(lambda: remove_member(actor=cast["owner"], subject=cast["owner"]))
    change_role(actor=cast["owner"], subject=cast["admin"], role="owner")
    assert may(lambda: remove_member(actor=cast["owner"], subject=cast["owner"]))


def test_inactive_owner_does_not_count_as_owner(cast: dict[str, Membership]) -> None:
    User.objects.filter(email="second@people.test").update(is_active=False)
    assert not may(lambda: remove_member(actor=cast["owner"], subject=cast["owner"]))


def test_members_of_other_roles_may_leave(cast: dict[str, Membership]) -> None:
    for role in ("admin", "member", "viewer"):
        remove_member(actor=cast[role], subject=cast[role])
    assert ActivityEvent.objects.filter(action="member.left").count() == 3


def test_outdated_role_of_the_actor_is_reloaded(cast: dict[str, Membership]) -> None:
    stale = cast["admin"]
    change_role(actor=cast["owner"], subject=cast["admin"], role="viewer")
    assert stale.role == "admin"
    assert not may(lambda: remove_member(actor=stale, subject=cast["member"]))


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_concurrent_leaving_keeps_one_owner() -> None:
    home = member_of("Home")
    pair = [Membership.objects.get(user=person_of(home, "owner", f"{name}@people.test")) for name in "ab"]

    def leave(membership: Membership) -> bool:
        try:
            return may(lambda: remove_member(actor=membership, subject=membership))
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(leave, pair))
    assert sorted(results) == [False, True]
    assert home.organization.membership_set.count() == 1


def test_role_change_on_the_page_is_recorded(home: Member, cast: dict[str, Membership]) -> None:
    client = browser_of(cast["admin"].user)
    response = client.post(f"/o/home/members/{cast['member'].pk}/role", {"role": "viewer"}, follow=True)
    assert "member@people.test now has the role viewer." in response.content.decode()
    event = ActivityEvent.objects.latest("id")
    assert (event.action, event.object_name, event.details) == (
        "member.role_changed",
        "member@people.test",
        {"role": {"from": "member", "to": "viewer"}},
    )
    assert (event.actor, event.actor_email) == (cast["admin"].user, "admin@people.test")


@pytest.mark.parametrize("role", ["owner", "", "x", "admin\0"])
def test_admin_cannot_grant_invalid_or_higher_roles(cast: dict[str, Membership], role: str) -> None:
    client = browser_of(cast["admin"].user)
    page = client.post(f"/o/home/members/{cast['member'].pk}/role", {"role": role}, follow=True).content.decode()
    assert "Your role does not allow this." in page
    cast["member"].refresh_from_db()
    assert cast["member"].role == "member"


def test_admin_cannot_remove_an_owner(cast: dict[str, Membership]) -> None:
    client = browser_of(cast["admin"].user)
    page = client.get("/o/home/members/").content.decode()
    owner = cast["owner"]
    assert f"/o/home/members/{owner.pk}/" not in page
    assert f"/o/home/members/{cast['viewer'].pk}/remove" in page
    answer = client.post(f"/o/home/members/{owner.pk}/remove", follow=True).content.decode()
    assert "Your role does not allow this." in answer
    assert Membership.objects.filter(pk=owner.pk).exists()


def test_member_is_removed_after_confirmation(cast: dict[str, Membership]) -> None:
    viewer, owner = browser_of(cast["viewer"].user), browser_of(cast["owner"].user)
    assert viewer.get("/o/home/members/").status_code == 200
    path = f"/o/home/members/{cast['viewer'].pk}/remove"
    assert "Remove this member?" in owner.get(path).content.decode()
    assert Membership.objects.filter(pk=cast["viewer"].pk).exists()
    assert owner.post(path)["Location"] == "/o/home/members/"
    assert viewer.get("/o/home/members/").status_code == 404


def test_member_list_is_paginated(home: Member, cast: dict[str, Membership], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(organization, "MEMBERS_PER_PAGE", 3)
    client = browser_of(cast["viewer"].user)
    pages = ["/o/home/members/"]
    emails: list[str] = []
    while pages:
        text = client.get(pages.pop()).content.decode().replace("<wbr>", "")
        emails += re.findall(r'<th scope="row">(\S+@people.test)', text)
        pages += [f"/o/home/members/{query}" for query in re.findall(r'href="(\?after=\d+)"', text)]
    assert sorted(emails) == sorted(membership.user.email for membership in cast.values())
    assert client.get("/o/home/members/?after=x").status_code == 200
