"""Tests for the quota that free organizations of one owner share."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Barrier

import pytest
from django.db import connection, transaction
from django.utils import timezone

from accounts import usage
from accounts.closing.deletion import GRACE_PERIOD, delete_closed
from accounts.closing.services import close_account, close_organization
from accounts.keys.services import create_api_key
from accounts.members import change_role
from accounts.models import Membership, MonthlyUsage, Organization, Tier, User
from accounts.retention import delete_usage
from accounts.services import create_organization
from accounts.usage import QuotaExceeded, sharing_limits
from tests.factories import Api, browser_of

NOW = datetime(2026, 11, 21, tzinfo=UTC)
NEXT_MONTH = datetime(2026, 12, 1, tzinfo=UTC)
ADA = "ada@people.test"
SHARED = r"60 of 100 by other organizations of the same owner; the next month begins on 2026-12-01\."


@pytest.fixture
def ada(db: None) -> User:
    return User.objects.create_user(ADA)


def use_scans(organization: Organization, scans: int, now: datetime = NOW) -> None:
    with transaction.atomic():
        usage.take(organization.pk, usage.lock_limits(organization.pk), scans, now)


def remaining(organization: Organization, now: datetime = NOW) -> int:
    return usage.quota(organization.pk, usage.tier_limits(Tier.objects.get(organization=organization)), now).remaining


def delete_organization(organization: Organization) -> None:
    """Delete an organization as its owner would.

    Also runs the deletion task.
    """
    close_organization(organization)
    assert delete_closed(timezone.now() + GRACE_PERIOD, 60)
    assert not Organization.objects.filter(pk=organization.pk).exists()


def test_organizations_of_one_owner_share_the_quota(ada: User) -> None:
    one, two = (create_organization(name=name, owner=ada) for name in ("One", "Two"))
    use_scans(one, 60)
    assert (remaining(one), remaining(two)) == (40, 40)
    with pytest.raises(QuotaExceeded, match=SHARED):
        use_scans(two, 41)
    use_scans(two, 40)
    with pytest.raises(QuotaExceeded, match=r"All 100 scans of this month are used, 40 of 100 by other organizations"):
        use_scans(one, 1)


def test_deleted_organization_counts_until_month_ends(ada: User) -> None:
    one = create_organization(name="One", owner=ada)
    use_scans(one, 60)
    delete_organization(one)
    two = create_organization(name="Two", owner=ada)
    with pytest.raises(QuotaExceeded, match=SHARED):
        use_scans(two, 41)
    assert (remaining(two), remaining(two, NEXT_MONTH)) == (40, 100)
    use_scans(two, 100, NEXT_MONTH)


@pytest.mark.parametrize("again", [ADA, "Ada@people.test", "ada+2@people.test"])
def test_new_account_of_a_mailbox_has_no_new_quota(ada: User, again: str) -> None:
    use_scans(create_organization(name="One", owner=ada), 60)
    delete_organization(Organization.objects.get(name="One"))
    close_account(user=ada, actor=ada)
    assert delete_closed(timezone.now() + GRACE_PERIOD, 60)
    assert remaining(create_organization(name="Two", owner=User.objects.create_user(again))) == 40


@pytest.mark.parametrize("other", ["bob@people.test", "ada@other.test", "+ada@people.test", "adam@people.test"])
def test_mailboxes_have_separate_quotas(ada: User, other: str) -> None:
    use_scans(create_organization(name="One", owner=ada), 60)
    assert remaining(create_organization(name="Two", owner=User.objects.create_user(other))) == 100


def test_later_owner_does_not_share_the_quota(ada: User) -> None:
    eves = create_organization(name="Eve's", owner=User.objects.create_user("eve@people.test"))
    membership = Membership.objects.create(organization=eves, user=ada, role="member")
    change_role(actor=Membership.objects.get(organization=eves, role="owner"), subject=membership, role="owner")
    use_scans(eves, 100)
    assert remaining(create_organization(name="One", owner=ada)) == 100


def test_transfer_changes_the_quota_next_month(ada: User) -> None:
    bob = User.objects.create_user("bob@people.test")
    one = create_organization(name="One", owner=ada)
    use_scans(one, 60)
    Membership.objects.create(organization=one, user=bob, role="owner")
    Membership.objects.filter(organization=one, user=ada).delete()
    use_scans(one, 10)
    adas, bobs = create_organization(name="Two", owner=ada), create_organization(name="Three", owner=bob)
    assert (remaining(adas), remaining(bobs)) == (30, 100)
    use_scans(one, 10, NEXT_MONTH)
    assert (remaining(adas, NEXT_MONTH), remaining(bobs, NEXT_MONTH)) == (100, 90)


def test_paid_organizations_do_not_share_a_quota(ada: User) -> None:
    free, paid = (create_organization(name=name, owner=ada) for name in ("Free", "Paid"))
    Organization.objects.filter(pk=paid.pk).update(tier="pro")
    use_scans(paid, 1500)
    use_scans(free, 60)
    alone = [Organization.objects.create(name=name, slug=name) for name in ("a", "b")]
    use_scans(alone[0], 60)
    assert (remaining(free), remaining(paid), remaining(alone[1])) == (40, 500, 100)


def test_paid_organization_leaves_the_shared_quota(ada: User) -> None:
    one, two = (create_organization(name=name, owner=ada) for name in ("One", "Two"))
    use_scans(one, 60)
    Organization.objects.filter(pk=one.pk).update(tier="pro")
    use_scans(one, 60)
    assert remaining(two) == 100


def test_refund_is_available_to_other_organizations(ada: User) -> None:
    one, two = (create_organization(name=name, owner=ada) for name in ("One", "Two"))
    use_scans(one, 100)
    usage.refund(one.pk, usage.month_of(NOW), 5)
    assert remaining(two) == 5


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_concurrent_scans_do_not_exceed_the_quota() -> None:
    ada = User.objects.create_user(ADA)
    organizations = [create_organization(name=str(number), owner=ada) for number in range(8)]
    barrier = Barrier(len(organizations))

    def one(organization: Organization) -> int:
        barrier.wait()
        taken = 0
        try:
            for _ in range(4):
                use_scans(organization, 10)
                taken += 10
        except QuotaExceeded:
            pass
        finally:
            connection.close()
        return taken

    with ThreadPoolExecutor(len(organizations)) as pool:
        assert sum(pool.map(one, organizations)) == 100
    assert sum(MonthlyUsage.objects.values_list("used", flat=True)) == 100


def test_api_and_pages_display_the_shared_quota(ada: User) -> None:
    one, two = (create_organization(name=name, owner=ada) for name in ("One", "Two"))
    use_scans(one, 60, timezone.now())
    use_scans(two, 10, timezone.now())
    _, key = create_api_key(organization=two, name="tests")
    expected = {"used": 10, "limit": 100, "remaining": 30, "tier": "free"}
    assert Api(key).get("/v1/usage").json()["quota"] == expected
    assert Api(key).get("/v1/scans").json()["quota"] == expected
    client = browser_of(ada)
    overview = " ".join(client.get(f"/o/{two.slug}/").content.decode().split())
    assert "70 % of the month" in overview
    assert "Used by other organizations of the owner</dt><dd>60</dd>" in overview
    settings = " ".join(client.get(f"/o/{two.slug}/settings/").content.decode().split())
    assert "with the same owner share these scans. 60 were used by others." in settings


def test_usage_is_deleted_after_the_month(ada: User) -> None:
    last_month = timezone.now().replace(day=1) - timedelta(days=1)
    one = create_organization(name="One", owner=ada)
    for moment in (last_month, timezone.now()):
        use_scans(one, 1, moment)
    assert delete_usage()
    assert MonthlyUsage.objects.count() == 2
    delete_organization(one)
    assert delete_usage()
    assert MonthlyUsage.objects.get().period == usage.month_of(timezone.now())


def test_first_owner_decides_shared_limits(ada: User) -> None:
    one, two = (create_organization(name=name, owner=ada) for name in ("One", "Two"))
    again = create_organization(name="Again", owner=User.objects.create_user("Ada+2@people.test"))
    foreign = create_organization(name="Foreign", owner=User.objects.create_user("bob@people.test"))
    # A later owner cannot use up the first owner's limits.
    Membership.objects.create(organization=foreign, user=ada, role=Membership.Role.OWNER)
    assert set(sharing_limits(one)) == {one, two, again}
    assert set(sharing_limits(foreign)) == {foreign}
    Tier.objects.update(quota_per_owner=False)
    assert set(sharing_limits(Organization.objects.get(pk=one.pk))) == {one}


def test_domain_spellings_count_as_one_owner(ada: User) -> None:
    """Two accounts of one mailbox share their quota.

    Their domains may use different Unicode characters.
    """
    first = create_organization(name="First", owner=ada)
    other = User.objects.create_user("Ada+x@\uff50eople.TEST")
    second = create_organization(name="Second", owner=other)
    assert set(sharing_limits(first)) == set(sharing_limits(second)) == {first, second}
    use_scans(first, 60)
    assert remaining(second) == 40
