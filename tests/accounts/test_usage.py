"""Tests for the monthly quota of an organization."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from django.db import transaction

from accounts import usage
from accounts.models import Membership, MonthlyUsage, Organization, Tier, User
from accounts.services import create_organization, ensure_organization
from accounts.usage import ConcurrentLimit, OrganizationClosed, QuotaExceeded
from tests.accounts.conftest import Elsewhere
from tests.queries import counted

NOW = datetime(2026, 11, 21, tzinfo=UTC)
NOVEMBER, DECEMBER = date(2026, 11, 1), date(2026, 12, 1)


@pytest.fixture
def organization(db: None) -> Organization:
    """Return an organization with 100 scans a month and 2 concurrent scans."""
    Tier.objects.filter(name="free").update(scans_per_month=100, concurrent_scans=2)
    return ensure_organization(name="Home", tier="free")


def use_scans(organization: Organization, scans: int, now: datetime = NOW) -> None:
    with transaction.atomic():
        usage.take(organization.pk, usage.lock_limits(organization.pk), scans, now)


def limits_of_organization(organization: Organization) -> usage.TierLimits:
    return usage.tier_limits(Tier.objects.get(organization=organization))


def used(organization: Organization, period: date = NOVEMBER) -> int:
    return MonthlyUsage.objects.get(organization=organization, period=period).used


@pytest.mark.parametrize(
    ("moment", "first", "following"),
    [
        (NOW, NOVEMBER, DECEMBER),
        (datetime(2026, 12, 31, 23, 59, tzinfo=UTC), DECEMBER, date(2027, 1, 1)),
        (datetime(2026, 12, 1, 0, 30, tzinfo=timezone(timedelta(hours=2))), NOVEMBER, DECEMBER),
    ],
)
def test_month_of_returns_first_day_in_utc(moment: datetime, first: date, following: date) -> None:
    assert usage.month_of(moment) == first
    assert usage.next_month(first) == following


def test_next_month_returns_the_following_month() -> None:
    months = [date(2026, month, 1) for month in range(1, 13)] + [date(2027, 1, 1)]
    assert [usage.next_month(month) for month in months[:-1]] == months[1:]


def test_exceeded_quota_has_retry_after(organization: Organization) -> None:
    use_scans(organization, 99)
    with pytest.raises(QuotaExceeded) as refused:
        use_scans(organization, 2)
    assert str(refused.value) == "All 100 scans of this month are used; the next month begins on 2026-12-01."
    assert refused.value.retry_after_s == 10 * 24 * 3600
    # The quota must suffice for all scans, or none starts.
    assert used(organization) == 99
    use_scans(organization, 1)
    assert used(organization) == 100


def test_retry_after_is_at_least_one_second(organization: Organization) -> None:
    moment = datetime(2026, 11, 30, 23, 59, 59, 500_000, tzinfo=UTC)
    use_scans(organization, 100, moment)
    with pytest.raises(QuotaExceeded) as refused:
        use_scans(organization, 1, moment)
    assert refused.value.retry_after_s == 1


@pytest.mark.parametrize(
    ("before", "scans", "message"),
    [
        (60, 40, ""),
        (60, 41, "This needs 41 scans, and 40 are left; the next month begins on 2026-12-01."),
        (99, 2, "This needs 2 scans, and 1 is left; the next month begins on 2026-12-01."),
        (100, 1, "This needs 1 scan, and 0 are left; the next month begins on 2026-12-01."),
    ],
)
def test_run_needs_enough_remaining_quota(organization: Organization, before: int, scans: int, message: str) -> None:
    use_scans(organization, before)
    if not message:
        usage.refuse_beyond_quota(organization.pk, limits_of_organization(organization), scans, NOW)
        return
    with pytest.raises(QuotaExceeded) as refused:
        usage.refuse_beyond_quota(organization.pk, limits_of_organization(organization), scans, NOW)
    assert str(refused.value) == message


def test_remaining_quota_is_never_negative(organization: Organization) -> None:
    use_scans(organization, 60)
    quota = usage.quota(organization.pk, limits_of_organization(organization), NOW)
    assert (quota.used, quota.used_elsewhere, quota.limit, quota.remaining, quota.tier) == (60, 0, 100, 40, "free")
    Tier.objects.filter(name="free").update(scans_per_month=50)
    assert usage.quota(organization.pk, limits_of_organization(organization), NOW).remaining == 0


@pytest.mark.parametrize(
    ("before", "running", "refusal"),
    [(99, 1, None), (99, 2, ConcurrentLimit), (99, 3, ConcurrentLimit), (100, 0, QuotaExceeded)],
)
def test_reserve_checks_the_limits(
    organization: Organization, before: int, running: int, refusal: type[Exception] | None
) -> None:
    use_scans(organization, before)
    early = (organization.pk, limits_of_organization(organization), lambda: running, NOW)
    if refusal is None:
        usage.refuse_when_exhausted(*early)
        with transaction.atomic():
            usage.reserve(organization.pk, lambda: running, NOW)
        assert used(organization) == before + 1
        return
    with pytest.raises(refusal):
        usage.refuse_when_exhausted(*early)
    with pytest.raises(refusal), transaction.atomic():
        usage.reserve(organization.pk, lambda: running, NOW)
    assert used(organization) == before


def test_concurrent_limit_is_in_the_message(organization: Organization) -> None:
    message = "2 scans are queued or running, which is the most your plan allows at once."
    with pytest.raises(ConcurrentLimit) as early:
        usage.refuse_when_exhausted(organization.pk, limits_of_organization(organization), lambda: 2, NOW)
    with pytest.raises(ConcurrentLimit) as late, transaction.atomic():
        usage.reserve(organization.pk, lambda: 2, NOW)
    assert str(early.value) == str(late.value) == message


def test_refund_reduces_usage_of_its_month(organization: Organization) -> None:
    other = ensure_organization(name="Other", tier="free")
    for charged, moment in ((organization, NOW), (organization, NOW + timedelta(days=20)), (other, NOW)):
        use_scans(charged, 10, moment)
    usage.refund(organization.pk, NOVEMBER, 3)
    assert (used(organization), used(organization, DECEMBER), used(other)) == (7, 10, 10)
    usage.refund(organization.pk, NOVEMBER, 8)
    assert used(organization) == 0


def test_used_scans_column_counts_this_month(organization: Organization) -> None:
    ensure_organization(name="Idle", tier="free")
    use_scans(organization, 7)
    use_scans(organization, 5, NOW + timedelta(days=20))
    rows = Organization.objects.annotate(used=usage.used_scans_column(NOW))
    assert dict(rows.values_list("name", "used")) == {"Home": 7, "Idle": 0}


def test_organizations_of_one_owner_share_an_account(db: None) -> None:
    ada, bob = (User.objects.create_user(f"{name}@people.test") for name in ("ada", "bob"))
    one, two, other = (create_organization(name=str(n), owner=owner) for n, owner in enumerate((ada, ada, bob)))
    Organization.objects.filter(pk=two.pk).update(tier="pro")
    Tier.objects.filter(name="pro").update(concurrent_scans=7, quota_per_owner=False)
    accounts = [usage.responsible_account(owned.pk) for owned in (one, two, other)]
    assert accounts[0].key == accounts[1].key != accounts[2].key
    assert accounts[1].slots == 7
    alone = Organization.objects.create(name="Alone", slug="alone")
    assert usage.responsible_account(alone.pk).key == f"organization-{alone.pk}"


def test_owner_digest_never_changes(organization: Organization) -> None:
    """A changed digest would give owners a new quota in the same month."""
    ada = User.objects.create_user("Ada+7@people.test")
    Membership.objects.create(organization=organization, user=ada, role="owner")
    assert (
        usage.responsible_account(organization.pk).key
        == "1b9f17df4bdfec473f00c082eef70c82560ff5a66eb377d39e2b980622b94e09"
    )


def test_inactive_owners_share_no_limits(organization: Organization) -> None:
    ada = User.objects.create_user("ada@people.test")
    one = create_organization(name="One", owner=ada)
    Membership.objects.create(organization=organization, user=ada, role="owner")
    assert set(usage.sharing_limits(one)) == {one, organization}
    User.objects.update(is_active=False)
    assert set(usage.sharing_limits(one)) == {one}


def test_organizations_of_a_member_share_no_limits(organization: Organization) -> None:
    ada = User.objects.create_user("ada@people.test")
    one = create_organization(name="One", owner=ada)
    Membership.objects.create(organization=organization, user=ada, role="member")
    assert set(usage.sharing_limits(one)) == {one}
    assert set(usage.sharing_limits(organization)) == {organization}


def test_locking_limits_takes_one_query(organization: Organization) -> None:
    limits = organization.tier
    with transaction.atomic(), counted() as queries:
        assert usage.lock_limits(organization.pk) == usage.tier_limits(limits)
    assert len(queries) == 1


def test_closed_organization_cannot_reserve_a_scan(organization: Organization) -> None:
    other = ensure_organization(name="Other", tier="free")
    Organization.objects.filter(pk=organization.pk).update(closed_at=NOW)
    with pytest.raises(OrganizationClosed, match=r"^This organization has been deleted\.$"), transaction.atomic():
        usage.reserve(organization.pk, lambda: 0, NOW)
    with transaction.atomic():
        assert usage.lock(other.pk) == other


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_organization_lock_allows_foreign_keys(
    is_lockable_elsewhere: Elsewhere,
) -> None:
    organization = ensure_organization(name="Home", tier="free")
    of_organization = "SELECT FROM accounts_organization WHERE id = %s FOR"
    with transaction.atomic():
        assert usage.lock(organization.pk) == organization
        assert not is_lockable_elsewhere(f"{of_organization} NO KEY UPDATE", organization.pk)
        assert is_lockable_elsewhere(f"{of_organization} KEY SHARE", organization.pk)
        assert is_lockable_elsewhere("SELECT FROM accounts_tier WHERE name = %s FOR UPDATE", "free")
    assert is_lockable_elsewhere(f"{of_organization} NO KEY UPDATE", organization.pk)
