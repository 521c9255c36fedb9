"""Targets of a list and their projections.

A target is the share of sites that must pass a check, or have a minimum score, by a day.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta

from django.db.models.fields.json import KeyTransform
from msgspec import Struct

from infrastructure.api.errors import InvalidParams
from scans.models import Scan
from sites.lists.adoption import adoption
from sites.lists.check_names import check_of
from sites.lists.snapshots import WHOLE, snapshots_of
from sites.lists.tags import MAX_TAG_LENGTH, tidy_tags
from sites.models import ListCount, SiteList
from sites.models.site_list import StoredTarget

MAX_TARGETS = 20
MAX_YEARS = 10
# The projection follows the last snapshots, because the pace of years ago says little.
MAX_FOLLOWED = 12
FIELDS = ("tag", "check", "type", "least", "percent", "by")


class SharePoint(Struct, frozen=True):
    """Share of sites that meet a target in one snapshot.

    `met` of `of` sites meet it.
    """

    created_at: datetime
    met: int
    of: int

    grade = ""
    catalogue_version = ""

    @property
    def share(self) -> float:
        return 100 * self.met / self.of

    @property
    def score(self) -> int:
        """Return the share in whole percent.

        It is rounded down, so that a target is not met by rounding.
        """
        return 100 * self.met // self.of


class Projection(Struct, frozen=True):
    """Projection of the last snapshots.

    `share` is the share on the target's last day, and `reached_on` is the day that reaches the target.
    """

    share: float
    reached_on: date | None


def parse_targets(values: object) -> list[StoredTarget]:
    """Validate the targets of a request. Raises InvalidParams."""
    if not isinstance(values, list) or len(values) > MAX_TARGETS:
        raise InvalidParams(f"targets must be a list of at most {MAX_TARGETS} objects.")
    targets = [parse_target(value) for value in values]
    return [target for number, target in enumerate(targets) if target not in targets[:number]]


def parse_target(value: object) -> StoredTarget:
    """Validate a target. Raises InvalidParams."""
    if not isinstance(value, Mapping) or not set(value) <= set(FIELDS):
        raise InvalidParams(f"A target must be an object with {', '.join(FIELDS)}.")
    check, type, least = value.get("check") or "", value.get("type") or "", value.get("least")
    if bool(check) == bool(type):
        raise InvalidParams("A target must have either a check, or a type with least, a score.")
    if check:
        check_of("check", str(check))
    elif type not in Scan.Type.values:
        raise InvalidParams(f"type must be one of {', '.join(Scan.Type.values)}.")
    return {
        "tag": _tag_of(value.get("tag") or ""),
        "check": str(check),
        "type": str(type),
        "least": _whole("least", least, 1, 100) if type else None,
        "percent": _whole("percent", value.get("percent"), 1, 100),
        "by": _day_of(value.get("by")).isoformat(),
    }


def points_of(site_list: SiteList, target: StoredTarget, limit: int = 52) -> list[SharePoint]:
    """Return the share of sites that meet a target in the last snapshots of a list, oldest first."""
    if target["check"]:
        counts = adoption(site_list, target["check"], target["tag"], limit)
        return [SharePoint(run.started_at, passed, of) for run, passed, of in counts if of]
    scores = KeyTransform(target["type"], KeyTransform("scores", "data"))
    runs = snapshots_of(site_list).filter(status__in=WHOLE)
    if target["type"] == Scan.Type.SECURITY:
        runs = runs.filter(categories=site_list.categories)
    rows = ListCount.objects.filter(run__in=runs, tag=target["tag"]).annotate(scores=scores).exclude(scores=None)
    newest = rows.order_by("-run__started_at", "-run_id").values_list("run__started_at", "scores")[:limit]
    least = target["least"] or 0
    points = [
        SharePoint(at, sum(number for score, number in counts.items() if int(score) >= least), sum(counts.values()))
        for at, counts in newest
    ]
    return [point for point in points[::-1] if point.of]


def project(points: Sequence[SharePoint], target: StoredTarget) -> Projection | None:
    """Project the share of sites that meet a target, by a least-squares line.

    Returns None if the snapshots cover less than a day.
    """
    followed = points[-MAX_FOLLOWED:]
    if not followed or followed[-1].created_at - followed[0].created_at < timedelta(days=1):
        return None
    origin = followed[-1].created_at
    days = [(point.created_at - origin).total_seconds() / 86_400 for point in followed]
    mean_day = sum(days) / len(days)
    mean_share = sum(point.share for point in followed) / len(followed)
    spread = sum((day - mean_day) ** 2 for day in days)
    pace = (
        sum((day - mean_day) * (point.share - mean_share) for day, point in zip(days, followed, strict=True)) / spread
    )

    def share_on(day: float) -> float:
        return min(100.0, max(0.0, mean_share + pace * (day - mean_day)))

    until = (end_of(target) - origin).total_seconds() / 86_400
    reached_on = None
    if pace > 0 and points[-1].share < target["percent"]:
        day = max(0.0, mean_day + (target["percent"] - mean_share) / pace)
        reached_on = (origin + timedelta(days=day)).date() if day < MAX_YEARS * 366 else None
    return Projection(share_on(max(0.0, until)), reached_on)


def end_of(target: StoredTarget) -> datetime:
    """Return the end of the target's last day, in UTC."""
    return datetime.combine(date.fromisoformat(target["by"]), time(23, 59, 59), UTC)


def _tag_of(value: object) -> str:
    tags = tidy_tags([value]) if isinstance(value, str) else None
    if tags is None:
        raise InvalidParams(f"tag must be a text of at most {MAX_TAG_LENGTH} characters.")
    return tags[0] if tags else ""


def _whole(name: str, value: object, least: int, most: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise InvalidParams(f"{name} must be a whole number from {least} to {most}.")
    return value


def _day_of(value: object) -> date:
    try:
        day = date.fromisoformat(value) if isinstance(value, str) and len(value) == len("2027-06-30") else None
    except ValueError:
        day = None
    if day is None or not 2000 <= day.year <= datetime.now(UTC).year + MAX_YEARS:
        raise InvalidParams(f"by must be a day such as 2027-06-30, at most {MAX_YEARS} years from now.")
    return day
