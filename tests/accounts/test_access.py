"""Tests for access to an organization's rows."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import AnonymousUser
from django.db import transaction
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from accounts import access
from accounts.access import Lock, Resource
from accounts.models import ApiKey, Membership, Organization, User
from infrastructure.api.errors import NotFound
from reports.models import Report
from sites.models import AuditPage
from tests.accounts.conftest import Elsewhere
from tests.factories import Member, finished_scan, member_of, person_of
from tests.populated_audits import make_audit
from website_scan.ids import new_id

KEY = Resource(ApiKey, "key", "key", related=("organization__tier",), hint=", or it was revoked.")


def test_find_reads_key_and_tier_in_one_query(home: Member, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    with django_assert_num_queries(1):
        key = KEY.find(home.organization.pk, home.key.id)
        assert key == home.key
        assert key.organization.tier.name == "free"


def test_unknown_and_foreign_ids_raise_NotFound(home: Member, stranger: Member) -> None:
    refusals = []
    for id in (stranger.key.id, new_id("key"), new_id("scan"), "key_1", ""):
        with pytest.raises(NotFound) as refused:
            KEY.find(home.organization.pk, id)
        refusals.append((refused.value.code, str(refused.value)))
    assert set(refusals) == {("KEY_NOT_FOUND", "There is no key with this ID, or it was revoked.")}


def test_malformed_id_causes_no_query(home: Member, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    with django_assert_num_queries(0), pytest.raises(NotFound):
        KEY.find(home.organization.pk, "key_\0")


def test_not_found_uses_the_given_message(home: Member) -> None:
    refusal = KEY.not_found("There is no earlier key.")
    assert (refusal.code, str(refusal)) == ("KEY_NOT_FOUND", "There is no earlier key.")


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
@pytest.mark.parametrize(
    ("lock", "waits"), [(None, []), (Lock.CHANGE, ["NO KEY UPDATE"]), (Lock.DELETION, ["KEY SHARE", "NO KEY UPDATE"])]
)
def test_row_lock_does_not_lock_related_rows(
    lock: Lock | None, waits: list[str], is_lockable_elsewhere: Elsewhere
) -> None:
    member = member_of("Home")
    rows_of_key = "SELECT FROM accounts_apikey WHERE id = %s FOR"
    with transaction.atomic():
        KEY.find(member.organization.pk, member.key.id, lock=lock)
        waiting = [
            mode
            for mode in ("KEY SHARE", "NO KEY UPDATE")
            if not is_lockable_elsewhere(f"{rows_of_key} {mode}", member.key.id)
        ]
        assert waiting == waits
        assert is_lockable_elsewhere(
            "SELECT FROM accounts_organization WHERE id = %s FOR UPDATE", member.organization.pk
        )


def test_sql_query_must_name_the_organization(home: Member, stranger: Member) -> None:
    sql = "SELECT id FROM accounts_apikey WHERE organization_id = %(organization)s AND name = %(name)s"
    assert access.fetch_rows(sql, home.organization.pk, name="tests") == [(home.key.id,)]
    with pytest.raises(AssertionError, match=r"^a query for a tenant's rows names the tenant$"):
        access.fetch_rows("SELECT id FROM accounts_apikey", home.organization.pk)


def test_find_person_ignores_case(db: None) -> None:
    ada = User.objects.create_user("Ada@people.test")
    assert access.find_person("aDA@people.test") == ada
    assert access.find_person("bob@people.test") is None


def test_person_gets_only_rows_of_own_organizations(home: Member, stranger: Member) -> None:
    ada = person_of(home, "member", "ada@people.test")
    person_of(stranger, "owner", "bob@people.test")
    assert list(access.organizations_of_user(ada)) == [home.organization]
    assert list(access.memberships_of_user(ada)) == [Membership.objects.get(user=ada)]
    assert list(access.rows_of_member(ApiKey, ada)) == [home.key]
    assert list(access.rows(ApiKey, home.organization.pk)) == [home.key]


def test_anonymous_visitor_gets_no_rows(home: Member) -> None:
    visitor = AnonymousUser()
    for rows in (
        access.organizations_of_user(visitor),
        access.memberships_of_user(visitor),
        access.rows_of_member(ApiKey, visitor),
    ):
        assert not rows.exists()


def test_people_are_members_who_may_log_in(home: Member, stranger: Member) -> None:
    ada = person_of(home, "member", "ada@people.test")
    person_of(stranger, "owner", "bob@people.test")
    person_of(home, "owner", "inactive@people.test")
    person_of(home, "owner", "closed@people.test")
    User.objects.filter(email="inactive@people.test").update(is_active=False)
    User.objects.filter(email="closed@people.test").update(closed_at=timezone.now())
    assert list(access.active_members(home.organization.pk)) == [ada]


def test_shared_rows_exclude_closed_organizations(home: Member, stranger: Member) -> None:
    reports = [Report.objects.get(scan=finished_scan(member)) for member in (home, home, stranger)]
    assert not access.shared_rows(Report).exists()
    Report.objects.exclude(pk=reports[1].pk).update(shared_at=timezone.now())
    Organization.objects.filter(pk=stranger.organization.pk).update(closed_at=timezone.now())
    assert list(access.shared_rows(Report)) == [reports[0]]


def test_shared_audit_shares_its_reports(home: Member) -> None:
    audit = make_audit(home, kind="site", url="https://example.com/", shared_at=timezone.now())
    page = AuditPage.objects.create(audit=audit, position=0, url=audit.url, origin="https://example.com")
    own, other, shared = (
        Report.objects.get(scan=finished_scan(home, audit_page=audit_page)) for audit_page in (page, None, None)
    )
    Report.objects.filter(pk=shared.pk).update(shared_at=timezone.now())
    visible = access.shared_rows(Report, part_of="scan__audit_page__audit")
    assert set(visible) == {own, shared}
    assert list(access.shared_rows(Report)) == [shared]
    assert other not in visible
