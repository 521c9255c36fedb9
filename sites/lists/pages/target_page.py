"""View models for a list's targets and their charts."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime

from msgspec import Struct

from infrastructure.web import charts
from scans.check_catalogue import check_name
from scans.models import Scan
from sites.lists.pages.states import State
from sites.lists.targets import Projection, SharePoint, end_of, points_of, project
from sites.models import SiteList
from sites.models.site_list import StoredTarget

LABELS = dict(Scan.Type.choices)


class TargetChart(Struct, frozen=True):
    """Coordinates for the chart of a target.

    It shows the line so far, the dashed projection and the height of the target.
    """

    size: str
    grid: tuple[float, ...]
    line: str
    projected: str
    goal_y: float


class TargetRow(Struct, frozen=True):
    """Target with its state.

    `number` is its position in the list's targets, from 0.
    """

    number: int
    text: str
    state: State
    now: SharePoint | None
    projection: Projection | None
    chart: TargetChart | None


def target_rows(site_list: SiteList, now: datetime) -> list[TargetRow]:
    """Return a list's targets in the order in which they were set.

    Every target needs one query.
    """
    return [_row(site_list, number, target, now) for number, target in enumerate(site_list.targets)]


def target_text(target: StoredTarget) -> str:
    """Return a target as text, such as "95 % of sites tagged north pass “HSTS” by 30 June 2027"."""
    sites = f"sites tagged {target['tag']}" if target["tag"] else "sites"
    if target["check"]:
        goal = f"pass “{check_name(target['check'])}”"
    else:
        goal = f"have a score of at least {target['least']} in {LABELS[target['type']]}"
    day = date.fromisoformat(target["by"])
    return f"{target['percent']} % of {sites} {goal} by {day.day} {day:%B %Y}"


def _row(site_list: SiteList, number: int, target: StoredTarget, now: datetime) -> TargetRow:
    points = points_of(site_list, target)
    last = points[-1] if points else None
    projection = project(points, target)
    chart = _chart(points, target, projection)
    return TargetRow(number, target_text(target), _state(target, last, projection, now), last, projection, chart)


def _state(target: StoredTarget, last: SharePoint | None, projection: Projection | None, now: datetime) -> State:
    if last is None:
        return State("No numbers yet", "")
    if last.share >= target["percent"]:
        return State("Reached", "good")
    if now > end_of(target):
        return State("Missed", "bad")
    if projection is None:
        return State("Not reached yet", "")
    return State("On course", "good") if projection.share >= target["percent"] else State("Behind", "warn")


def _chart(points: Sequence[SharePoint], target: StoredTarget, projection: Projection | None) -> TargetChart | None:
    if not points:
        return None
    end = max(end_of(target), points[-1].created_at)
    axis = charts.Axis(points[0].created_at, end)
    # An axis without a duration cannot be drawn.
    if axis.begin >= axis.end:
        return None
    goal_y = axis.y(target["percent"])
    projected = ""
    if projection is not None and end_of(target) > points[-1].created_at:
        (x, y) = axis.points(points)[-1]
        projected = f"{x},{y} {axis.x(end)},{axis.y(projection.share)}"
    return TargetChart(axis.size, axis.grid, axis.polyline(points), projected, goal_y)
