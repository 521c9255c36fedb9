"""Organizations' quotas.

Only this module reads or writes the number of scans used in a month.

`reserve` runs in the transaction that inserts the scan, and locks the organization's row first. So the reservations of
an organization run one after the other, and running scans can be counted without a stored counter.

In tiers with `quota_per_owner`, all organizations of an owner share one quota, so that nobody gets more scans by
creating organizations. The owner is the member with the role of owner who joined first. The rows of a month contain a
digest of the owner's mailbox, even after the organization or the account was deleted.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime
from typing import Any

from django.db import connection
from django.db.models import F, Func, OuterRef, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce
from django.utils.crypto import salted_hmac
from msgspec import Struct

from accounts.addresses import MAILBOX, SUBADDRESS, mailbox
from accounts.models import Membership, MonthlyUsage, Organization, Tier
from infrastructure.mail_addresses import NormalForm, sql_normal_form
from infrastructure.postgresql.statements import fetch
from website_scan.errors import Refusal
from website_scan.messages import agreeing, counted

# SQL expression: number of scans that the organization has used this month. This and the following expressions take the
# parameter `organization` and those from `quota_parameters`.
USED = """coalesce((
    SELECT used FROM accounts_monthlyusage WHERE organization_id = %(organization)s AND period = %(period)s
), 0)"""
# SQL expression: digest of the first owner's mailbox. Empty if the organization has no owner or no shared quota.
CURRENT_OWNER = f"""coalesce((
    SELECT encode(sha256(convert_to(
        %(salt)s || {sql_normal_form(f"regexp_replace(person.email, '{SUBADDRESS}', '{MAILBOX}')")}, 'UTF8'
    )), 'hex')
    FROM accounts_membership AS membership JOIN accounts_user AS person ON person.id = membership.user_id
    WHERE %(per_owner)s AND membership.organization_id = %(organization)s AND membership.role = 'owner'
        AND person.is_active
    ORDER BY membership.id LIMIT 1
), '')"""  # noqa: S608  # The inserted parts are constants.
# SQL expression: the owner whose quota is used this month, which is the owner at the month's first scan. NULL without
# shared quota.
OWNER = f"""CASE WHEN %(per_owner)s THEN nullif(coalesce((
    SELECT owner FROM accounts_monthlyusage WHERE organization_id = %(organization)s AND period = %(period)s
), {CURRENT_OWNER}), '') END"""  # noqa: S608  # The inserted parts are constants.
# SQL expression: number of scans that the owner's other organizations have used this month, including deleted
# organizations.
USED_ELSEWHERE = f"""coalesce((
    SELECT sum(used) FROM accounts_monthlyusage
    WHERE period = %(period)s AND owner = {OWNER} AND organization_id IS DISTINCT FROM %(organization)s
), 0)::bigint"""  # noqa: S608  # The inserted parts are constants.
LOCK_OWNER = f"SELECT pg_advisory_xact_lock(hashtextextended({OWNER}, 0))"
USE_QUOTA = f"""
    INSERT INTO accounts_monthlyusage AS usage (organization_id, period, used, owner)
    SELECT %(organization)s, %(period)s, %(scans)s, {CURRENT_OWNER}
    WHERE %(scans)s + {USED_ELSEWHERE} <= %(limit)s
    ON CONFLICT (organization_id, period) DO UPDATE
    SET used = usage.used + excluded.used, owner = CASE WHEN %(per_owner)s THEN usage.owner ELSE '' END
    WHERE usage.used + excluded.used + {USED_ELSEWHERE} <= %(limit)s
"""  # noqa: S608  # The inserted parts are constants.


class QuotaExceeded(Refusal):
    code = "QUOTA_EXCEEDED"
    status = 429

    def __init__(self, message: str, retry_after_s: int) -> None:
        super().__init__(message)
        self.retry_after_s = max(1, retry_after_s)


class OrganizationClosed(Refusal):
    """Raised when an organization is closed during one of its requests.

    Has the same error code as a revoked key.
    """

    code = "KEY_REVOKED"
    status = 401


class ConcurrentLimit(Refusal):
    code = "CONCURRENT_LIMIT"
    status = 429


class Quota(Struct, frozen=True):
    """A month's quota and usage.

    `used_elsewhere` counts the owner's other organizations that share the quota.
    """

    used: int
    used_elsewhere: int
    limit: int
    tier: str

    @property
    def remaining(self) -> int:
        """Number of unused scans this month.

        Never negative, even after a change to a lower tier.
        """
        return max(0, self.limit - self.used - self.used_elsewhere)


class TierLimits(Struct, frozen=True):
    """Limits that the tier has at the time of the request."""

    scans_per_month: int
    concurrent_scans: int
    tier: str
    pages_per_audit: int
    reports_kept_days: int
    quota_per_owner: bool


CLOSED = "This organization has been deleted."
# The columns have the order of `TierLimits`. `NO KEY` allows other transactions to insert rows that refer to the
# organization.
LOCK_LIMITS = """
    SELECT tier.scans_per_month, tier.concurrent_scans, tier.name, tier.pages_per_audit, tier.reports_kept_days,
        tier.quota_per_owner
    FROM accounts_organization AS organization JOIN accounts_tier AS tier ON tier.name = organization.tier_id
    WHERE organization.id = %(organization)s AND organization.closed_at IS NULL
    FOR NO KEY UPDATE OF organization
"""


class Account(Struct, frozen=True):
    """An organization's first owner, whose limits span all their organizations.

    `slots` is the tier's concurrency.
    """

    key: str
    slots: int


def responsible_account(organization_id: int) -> Account:
    """Return an organization's Account.

    All organizations with the same owner share it.
    """
    ((owner, slots),) = fetch(
        f"SELECT {CURRENT_OWNER}, concurrent_scans FROM accounts_tier WHERE name = ("  # noqa: S608  # The inserted parts are constants.
        "SELECT tier_id FROM accounts_organization WHERE id = %(organization)s)",
        {"organization": organization_id, "per_owner": True, "salt": _owner_salt()},
    )
    return Account(owner or f"organization-{organization_id}", slots)


def sharing_limits(organization: Organization) -> QuerySet[Organization]:
    """Return all organizations with the same owner and a tier with `quota_per_owner`.

    They share limits.
    """
    owners = Membership.objects.filter(role=Membership.Role.OWNER, user__is_active=True).order_by("id")
    emails = owners.filter(organization=organization).values_list("user__email", flat=True)
    if not organization.tier.quota_per_owner or (owner := emails.first()) is None:
        return Organization.objects.filter(id=organization.id)
    box = NormalForm(Func(F("user__email"), Value(SUBADDRESS), Value(MAILBOX), function="regexp_replace"))
    first = owners.filter(organization=OuterRef("pk")).annotate(mailbox=box).values("mailbox")[:1]
    owned = Organization.objects.filter(membership__in=owners.annotate(mailbox=box).filter(mailbox=mailbox(owner)))
    return owned.annotate(mailbox=Subquery(first)).filter(mailbox=mailbox(owner))


def tier_limits(tier: Tier) -> TierLimits:
    return TierLimits(
        scans_per_month=tier.scans_per_month,
        concurrent_scans=tier.concurrent_scans,
        tier=tier.name,
        pages_per_audit=tier.pages_per_audit,
        reports_kept_days=tier.reports_kept_days,
        quota_per_owner=tier.quota_per_owner,
    )


def month_of(moment: datetime) -> date:
    """Return the first day of the month (UTC) that contains `moment`."""
    return moment.astimezone(UTC).date().replace(day=1)


def next_month(period: date) -> date:
    return date(period.year + period.month // 12, period.month % 12 + 1, 1)


def quota(organization_id: int, limits: TierLimits, now: datetime) -> Quota:
    """Return an organization's quota and usage for the current month, with one query."""
    ((used, elsewhere),) = fetch(
        f"SELECT {USED}, {USED_ELSEWHERE}", {"organization": organization_id} | quota_parameters(limits, now)
    )
    return Quota(used, elsewhere, limits.scans_per_month, limits.tier)


def quota_parameters(limits: TierLimits, now: datetime) -> dict[str, Any]:
    """Return the parameters for the SQL expressions USED and USED_ELSEWHERE, except `organization`."""
    return {"period": month_of(now), "per_owner": limits.quota_per_owner, "salt": _owner_salt()}


def _owner_salt() -> str:
    """Return the secret salt for owner digests, so that nobody can guess a digest's owner."""
    return salted_hmac("accounts.usage", "owner").hexdigest()


def used_scans_column(now: datetime) -> Coalesce:
    """Return a queryset annotation with how many scans an organization has used this month."""
    used = MonthlyUsage.objects.filter(organization_id=OuterRef("pk"), period=month_of(now)).values("used")
    return Coalesce(Subquery(used), Value(0))


def refuse_when_exhausted(organization_id: int, limits: TierLimits, running: Callable[[], int], now: datetime) -> None:
    """Raise the same refusals as `reserve`, but early and without locking the limits."""
    current = quota(organization_id, limits, now)
    if current.remaining <= 0:
        raise _quota_exceeded(current, now)
    if running() >= limits.concurrent_scans:
        raise _concurrent_limit(limits.concurrent_scans)


def reserve(organization_id: int, running: Callable[[], int], now: datetime) -> None:
    """Count one scan against this month's quota, if the organization has a free slot.

    Needs a transaction.

    `running` counts the organization's visits that have not ended. The call runs under the lock, so the count includes
    every visit that was accepted before (READ COMMITTED). Raises ConcurrentLimit, QuotaExceeded or OrganizationClosed.
    """
    limits = lock_limits(organization_id)
    if running() >= limits.concurrent_scans:
        raise _concurrent_limit(limits.concurrent_scans)
    take(organization_id, limits, 1, now)


def take(organization_id: int, limits: TierLimits, scans: int, now: datetime) -> None:
    """Count `scans` scans against the month's quota, or raise QuotaExceeded.

    The caller has called `lock_limits`.
    """
    parameters = {"organization": organization_id, "scans": scans, "limit": limits.scans_per_month}
    parameters |= quota_parameters(limits, now)
    with connection.cursor() as cursor:
        if limits.quota_per_owner:
            # The lock comes first, so that the counting statement sees the scans of the previous transaction.
            cursor.execute(LOCK_OWNER, parameters)
        cursor.execute(USE_QUOTA, parameters)
        if cursor.rowcount == 0:
            raise _quota_exceeded(quota(organization_id, limits, now), now)


def refuse_beyond_quota(organization_id: int, limits: TierLimits, scans: int, now: datetime) -> None:
    """Raise QuotaExceeded if fewer than `scans` scans are left this month."""
    current = quota(organization_id, limits, now)
    left = current.remaining
    if scans > left:
        needed = f"This needs {counted(scans, 'scan')}, and {left:,} {agreeing(left, 'is', 'are')} left."
        raise _quota_exceeded(current, now, needed)


def refund(organization_id: int, period: date, scans: int) -> None:
    """Refund unused scans to their month's quota."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            UPDATE accounts_monthlyusage SET used = greatest(used - %s, 0)
            WHERE organization_id = %s AND period = %s
            """,
            [scans, organization_id, period],
        )


def lock(organization_id: int) -> Organization:
    """Lock the organization's row until the transaction ends.

    Raises OrganizationClosed.
    """
    # `no_key` allows other transactions to insert rows that refer to the organization.
    rows = Organization.objects.select_for_update(no_key=True, of=("self",)).select_related("tier")
    organization = rows.filter(id=organization_id, closed_at=None).first()
    if organization is None:
        raise OrganizationClosed(CLOSED)
    return organization


def lock_limits(organization_id: int) -> TierLimits:
    """Lock the organization's row, and return the current limits of its tier.

    Raises OrganizationClosed. Each new scan locks the row, so this is a prepared statement.
    """
    for values in fetch(LOCK_LIMITS, {"organization": organization_id}):
        return TierLimits(*values)
    raise OrganizationClosed(CLOSED)


def _quota_exceeded(current: Quota, now: datetime, message: str = "") -> QuotaExceeded:
    reset = datetime.combine(next_month(month_of(now)), datetime.min.time(), UTC)
    message = message.rstrip(".") or f"All {current.limit} scans of this month are used"
    if current.used_elsewhere:
        message += f", {current.used_elsewhere} of {current.limit} by other organizations of the same owner"
    return QuotaExceeded(
        f"{message}; the next month begins on {reset:%Y-%m-%d}.",
        int((reset - now).total_seconds()),
    )


def _concurrent_limit(limit: int) -> ConcurrentLimit:
    return ConcurrentLimit(f"{limit} scans are queued or running, which is the most your plan allows at once.")
