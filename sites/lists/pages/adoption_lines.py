"""View model for a chart of one check's adoption in several lists or tags."""

from __future__ import annotations

from collections.abc import Sequence

from django.http import QueryDict
from msgspec import Struct

from accounts import access
from infrastructure.web import charts
from sites.lists.adoption import adoption
from sites.lists.pages.changes import MAX_SNAPSHOTS, AdoptionPoint
from sites.models import SiteList

MAX_LINES = 6
# Number of other lists that the form offers.
MAX_LISTS = 50
LIST, TAG = "list:", "tag:"


class AdoptionLine(Struct, frozen=True):
    """Line of the chart for the sites of a list, or for its sites with one tag.

    `points` are not empty and begin with the oldest.
    """

    name: str
    points: Sequence[AdoptionPoint]
    polyline: str
    dots: Sequence[tuple[float, float]]

    @property
    def first(self) -> AdoptionPoint:
        return self.points[0]

    @property
    def last(self) -> AdoptionPoint:
        return self.points[-1]


class AdoptionLines(Struct, frozen=True):
    """Lines of one chart.

    Lists and tags without numbers have no line. `choices` are the values and names that can be added.
    """

    axis: charts.Axis | None
    lines: Sequence[AdoptionLine]
    without_numbers: Sequence[str]
    choices: Sequence[tuple[str, str]]
    chosen: Sequence[str]

    @property
    def is_compared(self) -> bool:
        return bool(self.chosen)


def adoption_lines(site_list: SiteList, check: str, tag: str, tags: Sequence[str], query: QueryDict) -> AdoptionLines:
    """Return the lines for the adoption of a check.

    The query adds lines to that of the page, for example with `with=tag:north`.
    """
    others = access.rows(SiteList, site_list.organization_id).exclude(id=site_list.id).order_by("name", "id")
    lists = {f"{LIST}{other.id}": other for other in others.only("id", "name", "organization")[:MAX_LISTS]}
    choices = {f"{TAG}{each}": f"Sites tagged {each}" for each in tags if each != tag}
    if tag:
        choices = {TAG: "All sites of this list", **choices}
    choices |= {value: other.name for value, other in lists.items()}
    chosen = [value for value in dict.fromkeys(query.getlist("with")) if value in choices][: MAX_LINES - 1]
    named = {f"Sites tagged {tag}" if tag else site_list.name: _points(site_list, check, tag)}
    for value in chosen:
        source, tag_of_line = (lists[value], "") if value in lists else (site_list, value.removeprefix(TAG))
        # Two lists may have the same name.
        name = choices[value] if choices[value] not in named else f"{choices[value]} ({len(named) + 1})"
        named[name] = _points(source, check, tag_of_line)
    axis = charts.Axis.of(named.values())
    lines = [
        AdoptionLine(name, points, axis.polyline(points) if axis else "", axis.points(points) if axis else ())
        for name, points in named.items()
        if points
    ]
    without = [name for name, points in named.items() if not points]
    return AdoptionLines(axis, lines, without, list(choices.items()), chosen)


def _points(site_list: SiteList, check: str, tag: str) -> list[AdoptionPoint]:
    return [AdoptionPoint(*count) for count in adoption(site_list, check, tag, MAX_SNAPSHOTS) if count[2]]
