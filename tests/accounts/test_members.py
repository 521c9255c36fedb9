"""Tests that a member's role decides which members they may change."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from accounts.members import change_role, remove_member
from accounts.models import ActivityEvent, Membership, User
from accounts.pages import organization
from accounts.pages.role_table import TASKS
from accounts.services import AccountRefused
from tests.factories import Member, browser_of, member_of, person_of
from tests.page_reading import page_of

ROLES = ("owner", "admin", "member", "viewer")


@pytest.fixture
def memberships_by_role(home: Member) -> dict[str, Membership]:
    """Create a member of every role and a second owner.

    Returns their memberships.
    """
    people = {role: person_of(home, role, f"{role}@people.test") for role in ROLES}
    people["second"] = person_of(home, "owner", "second@people.test")
    return {name: Membership.objects.get(user=person) for name, person in people.items()}


def is_allowed(call: object) -> bool:
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
def test_role_decides_who_may_change_members(
    memberships_by_role: dict[str, Membership], actor: str, subject: str, allowed: bool
) -> None:
    role = "viewer" if subject != "viewer" else "member"
    assert (
        is_allowed(
            lambda: change_role(actor=memberships_by_role[actor], subject=memberships_by_role[subject], role=role)
        )
        is allowed
    )
    if actor != subject:
        # The assertion above may have changed the role.
        Membership.objects.filter(pk=memberships_by_role[subject].pk).update(role=memberships_by_role[subject].role)
        assert (
            is_allowed(lambda: remove_member(actor=memberships_by_role[actor], subject=memberships_by_role[subject]))
            is allowed
        )


def test_only_owners_grant_the_owner_role(memberships_by_role: dict[str, Membership]) -> None:
    assert not is_allowed(
        lambda: change_role(actor=memberships_by_role["admin"], subject=memberships_by_role["member"], role="owner")
    )
    assert not is_allowed(
        lambda: change_role(actor=memberships_by_role["admin"], subject=memberships_by_role["admin"], role="owner")
    )
    assert is_allowed(
        lambda: change_role(actor=memberships_by_role["owner"], subject=memberships_by_role["member"], role="owner")
    )


def test_unknown_role_is_refused(memberships_by_role: dict[str, Membership]) -> None:
    assert not is_allowed(
        lambda: change_role(actor=memberships_by_role["owner"], subject=memberships_by_role["member"], role="emperor")
    )


def test_last_owner_cannot_leave(memberships_by_role: dict[str, Membership]) -> None:
    remove_member(actor=memberships_by_role["owner"], subject=memberships_by_role["second"])
    assert not is_allowed(
        lambda: change_role(actor=memberships_by_role["owner"], subject=memberships_by_role["owner"], role="admin")
    )
    assert not is_allowed(
        lambda: remove_member(actor=memberships_by_role["owner"], subject=memberships_by_role["owner"])
    )
    change_role(actor=memberships_by_role["owner"], subject=memberships_by_role["admin"], role="owner")
    assert is_allowed(lambda: remove_member(actor=memberships_by_role["owner"], subject=memberships_by_role["owner"]))


def test_inactive_owner_does_not_count(memberships_by_role: dict[str, Membership]) -> None:
    User.objects.filter(email="second@people.test").update(is_active=False)
    assert not is_allowed(
        lambda: remove_member(actor=memberships_by_role["owner"], subject=memberships_by_role["owner"])
    )


def test_other_members_may_leave(memberships_by_role: dict[str, Membership]) -> None:
    for role in ("admin", "member", "viewer"):
        remove_member(actor=memberships_by_role[role], subject=memberships_by_role[role])
    assert ActivityEvent.objects.filter(action="member.left").count() == 3


def test_outdated_role_is_not_trusted(memberships_by_role: dict[str, Membership]) -> None:
    stale = memberships_by_role["admin"]
    change_role(actor=memberships_by_role["owner"], subject=memberships_by_role["admin"], role="viewer")
    assert stale.role == "admin"
    assert not is_allowed(lambda: remove_member(actor=stale, subject=memberships_by_role["member"]))


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_one_owner_remains_if_two_leave_at_once() -> None:
    home = member_of("Home")
    pair = [Membership.objects.get(user=person_of(home, "owner", f"{name}@people.test")) for name in "ab"]

    def leave(membership: Membership) -> bool:
        try:
            return is_allowed(lambda: remove_member(actor=membership, subject=membership))
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(leave, pair))
    assert sorted(results) == [False, True]
    assert home.organization.membership_set.count() == 1


def test_role_change_is_recorded(home: Member, memberships_by_role: dict[str, Membership]) -> None:
    client = browser_of(memberships_by_role["admin"].user)
    response = client.post(f"/o/home/members/{memberships_by_role['member'].pk}/role", {"role": "viewer"}, follow=True)
    assert "member@people.test now has the role viewer." in response.content.decode()
    event = ActivityEvent.objects.latest("id")
    assert (event.action, event.object_name, event.details) == (
        "member.role_changed",
        "member@people.test",
        {"role": {"from": "member", "to": "viewer"}},
    )
    assert (event.actor, event.actor_email) == (memberships_by_role["admin"].user, "admin@people.test")


@pytest.mark.parametrize("role", ["owner", "", "x", "admin\0"])
def test_admin_cannot_grant_higher_roles(memberships_by_role: dict[str, Membership], role: str) -> None:
    client = browser_of(memberships_by_role["admin"].user)
    page = client.post(
        f"/o/home/members/{memberships_by_role['member'].pk}/role", {"role": role}, follow=True
    ).content.decode()
    assert "Your role does not allow this." in page
    memberships_by_role["member"].refresh_from_db()
    assert memberships_by_role["member"].role == "member"


def test_admin_cannot_remove_an_owner(memberships_by_role: dict[str, Membership]) -> None:
    client = browser_of(memberships_by_role["admin"].user)
    page = client.get("/o/home/members/").content.decode()
    owner = memberships_by_role["owner"]
    assert f"/o/home/members/{owner.pk}/" not in page
    assert f"/o/home/members/{memberships_by_role['viewer'].pk}/remove" in page
    answer = client.post(f"/o/home/members/{owner.pk}/remove", follow=True).content.decode()
    assert "Your role does not allow this." in answer
    assert Membership.objects.filter(pk=owner.pk).exists()


def test_member_is_removed_after_confirmation(memberships_by_role: dict[str, Membership]) -> None:
    viewer, owner = browser_of(memberships_by_role["viewer"].user), browser_of(memberships_by_role["owner"].user)
    assert viewer.get("/o/home/members/").status_code == 200
    path = f"/o/home/members/{memberships_by_role['viewer'].pk}/remove"
    assert "Remove this member?" in owner.get(path).content.decode()
    assert Membership.objects.filter(pk=memberships_by_role["viewer"].pk).exists()
    assert owner.post(path)["Location"] == "/o/home/members/"
    assert viewer.get("/o/home/members/").status_code == 404


@pytest.mark.parametrize("role", ["owner", "viewer"])
def test_members_page_shows_what_each_role_may_do(memberships_by_role: dict[str, Membership], role: str) -> None:
    page = page_of(browser_of(memberships_by_role[role].user).get("/o/home/members/"))
    (table,) = page.xpath("//section[@aria-labelledby='roles']//table")
    assert table.xpath("thead//th/text()") == ["Task", "Viewer", "Member", "Admin", "Owner"]
    cells = {row.xpath("string(th)"): row.xpath("td/span/text()") for row in table.xpath("tbody/tr")}
    assert len(cells) == len(TASKS)
    assert cells["Share reports, and mute findings"] == ["No", "Yes", "Yes", "Yes"]
    assert cells["Create and revoke API keys"] == ["No", "No", "Yes", "Yes"]
    assert cells["Export or delete the organization"] == ["No", "No", "No", "Yes"]


def test_member_list_is_paginated(
    home: Member, memberships_by_role: dict[str, Membership], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(organization, "MEMBERS_PER_PAGE", 3)
    client = browser_of(memberships_by_role["viewer"].user)
    pages = ["/o/home/members/"]
    emails: list[str] = []
    while pages:
        text = client.get(pages.pop()).content.decode().replace("<wbr>", "")
        emails += re.findall(r'<th scope="row">(\S+@people.test)', text)
        pages += [f"/o/home/members/{query}" for query in re.findall(r'href="(\?after=\d+)"', text)]
    assert sorted(emails) == sorted(membership.user.email for membership in memberships_by_role.values())
    assert client.get("/o/home/members/?after=x").status_code == 200
