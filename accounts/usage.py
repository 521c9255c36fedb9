"""Quota: the only code that reads or writes how many scans an organization has used in a month.

`reserve` runs in the transaction that inserts the scan. It locks the organization's row first, so the reservations of
an organization run one after the other, and the running scans can be counted without a stored counter.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime

from django.db import connection
from django.db.models import IntegerField, OuterRef, Subquery, Value
from django.db.models.functions import Coalesce

from accounts.models import Membership, MonthlyUsage, Organization, Tier
from infrastructure.postgresql.statements import fetch
from scanner.errors import Refusal

# SQL scalar: the scans used. Needs the parameters `organization` and `period`.
USED = """coalesce((
    SELECT used FROM accounts_monthlyusage WHERE organization_id = %(organization)s AND period = %(period)s
), 0)"""


class QuotaExceeded(Refusal):
    code = "QUOTA_EXCEEDED"
    status = 429

    def __init__(self, message: str, retry_after_s: int) -> None:
        super().__init__(message)
        self.retry_after_s = max(1, retry_after_s)


class OrganizationClosed(Refusal):
    """The organization was closed while the request ran; the same answer as to its revoked keys."""

    code = "KEY_REVOKED"
    status = 401


class ConcurrentLimit(Refusal):
    code = "CONCURRENT_LIMIT"
    status = 429


@dataclass(frozen=True, slots=True)
class Quota:
    used: int
    limit: int
    tier: str

    @property
    def remaining(self) -> int:
        """Scans left this month; never below 0, even after a change to a lower tier."""
        return max(0, self.limit - self.used)


@dataclass(frozen=True, slots=True)
class TierLimits:
    """Limits of the tier at the time of the request."""

    scans_per_month: int
    concurrent_scans: int
    tier: str
    pages_per_audit: int
    reports_kept_days: int


@dataclass(frozen=True, slots=True)
class Account:
    """Who is responsible for an organization's scans: its first owner. `places` are the plan's concurrent scans."""

    key: str
    places: int


def account_of(organization_id: int) -> Account:
    """Return the account of an organization; people own several, and what they ask for counts together."""
    owners = Membership.objects.filter(organization_id=OuterRef("pk"), role=Membership.Role.OWNER).order_by("id")
    found = Organization.objects.filter(id=organization_id).annotate(owner=Subquery(owners.values("user_id")[:1]))
    owner, places = found.values_list("owner", "tier__concurrent_scans").get()
    return Account(f"person-{owner}" if owner else f"organization-{organization_id}", places)


def limits_of(tier: Tier) -> TierLimits:
    return TierLimits(
        tier.scans_per_month, tier.concurrent_scans, tier.name, tier.pages_per_audit, tier.reports_kept_days
    )


def month_of(moment: datetime) -> date:
    """Return the first day of the moment's month in UTC."""
    return moment.astimezone(UTC).date().replace(day=1)


def next_month(period: date) -> date:
    return date(period.year + period.month // 12, period.month % 12 + 1, 1)


def quota(organization_id: int, limits: TierLimits, now: datetime) -> Quota:
    """Return the quota and usage of the current month, with one query."""
    ((used,),) = fetch(f"SELECT {USED}", {"organization": organization_id, "period": month_of(now)})
    return Quota(used, limits.scans_per_month, limits.tier)


def used_column(now: datetime) -> Coalesce:
    """Return the current month's usage as a column for a query of organizations."""
    used = MonthlyUsage.objects.filter(organization_id=OuterRef("pk"), period=month_of(now)).values("used")
    return Coalesce(Subquery(used), Value(0), output_field=IntegerField())


def refuse_when_exhausted(organization_id: int, limits: TierLimits, running: Callable[[], int], now: datetime) -> None:
    """Raise the refusals of `reserve` early, without a lock."""
    if quota(organization_id, limits, now).remaining <= 0:
        raise _quota_exceeded(limits.scans_per_month, now)
    if running() >= limits.concurrent_scans:
        raise _concurrent_limit(limits.concurrent_scans)


def reserve(organization_id: int, running: Callable[[], int], now: datetime) -> None:
    """Take one scan of this month's quota, if a concurrent scan is free; must run inside a transaction.

    `running` counts the organization's visits that have not ended. It is called under the lock, so it sees every
    visit that was accepted before (READ COMMITTED). Raises ConcurrentLimit, QuotaExceeded or OrganizationClosed.
    """
    limits = lock_limits(organization_id)
    if running() >= limits.concurrent_scans:
        raise _concurrent_limit(limits.concurrent_scans)
    take(organization_id, limits, 1, now)


def take(organization_id: int, limits: TierLimits, scans: int, now: datetime) -> None:
    """Take `scans` of this month's quota, all or none; raises QuotaExceeded. The caller has called `lock_limits`."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            INSERT INTO accounts_monthlyusage AS usage (organization_id, period, used)
            SELECT %(organization)s, %(period)s, %(scans)s WHERE %(scans)s <= %(limit)s
            ON CONFLICT (organization_id, period) DO UPDATE
            SET used = usage.used + excluded.used WHERE usage.used + excluded.used <= %(limit)s
            """,
            {
                "organization": organization_id,
                "period": month_of(now),
                "scans": scans,
                "limit": limits.scans_per_month,
            },
        )
        if cursor.rowcount == 0:
            raise _quota_exceeded(limits.scans_per_month, now)


def refuse_more_than_left(organization_id: int, limits: TierLimits, scans: int, now: datetime) -> None:
    """Raise QuotaExceeded if fewer than `scans` are left this month."""
    left = quota(organization_id, limits, now).remaining
    if scans > left:
        needed = f"This needs {scans} scan{'' if scans == 1 else 's'}, and {left} {'is' if left == 1 else 'are'} left."
        raise _quota_exceeded(limits.scans_per_month, now, needed)


def refund(organization_id: int, period: date, scans: int) -> None:
    """Give scans back to the month they were taken from."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            UPDATE accounts_monthlyusage SET used = greatest(used - %s, 0)
            WHERE organization_id = %s AND period = %s
            """,
            [scans, organization_id, period],
        )


def lock(organization_id: int) -> Organization:
    """Lock the organization's row until the transaction ends; raises OrganizationClosed."""
    # NO KEY: other transactions can still insert rows that refer to the organization.
    rows = Organization.objects.select_for_update(no_key=True, of=("self",)).select_related("tier")
    organization = rows.filter(id=organization_id, closed_at=None).first()
    if organization is None:
        raise OrganizationClosed("This organization has been deleted.")
    return organization


def lock_limits(organization_id: int) -> TierLimits:
    """Lock the organization's row, and return the present limits of its plan."""
    return limits_of(lock(organization_id).tier)


def _quota_exceeded(limit: int, now: datetime, message: str = "") -> QuotaExceeded:
    reset = datetime.combine(next_month(month_of(now)), datetime.min.time(), UTC)
    message = message or f"All {limit} scans of this month are used"
    return QuotaExceeded(
        f"{message.rstrip('.')}; the next month begins on {reset:%Y-%m-%d}.",
        int((reset - now).total_seconds()),
    )


def _concurrent_limit(limit: int) -> ConcurrentLimit:
    return ConcurrentLimit(f"{limit} scans are queued or running, which is the most your plan allows at once.")
