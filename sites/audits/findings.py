"""Findings of an audit as lists, exports and the page show them: by priority, with places and mutes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from infrastructure.postgresql.statements import fetch
from sites.audits.muting import ALL, AuditMutes, MutedOn
from sites.models import Audit, AuditFinding
from sites.models.audit import SamplePage
from website_scan.priority import Priority, priority

PLACES_SHOWN = 10
BATCH = 20

FREQUENT_PLACES = """
    SELECT finding.id, place.fingerprint, place.place, place.pages_affected, place.samples, place.total
    FROM unnest(%(findings)s::bigint[]) AS finding (id)
    CROSS JOIN LATERAL (
        SELECT id, fingerprint, place, pages_affected,
            CASE WHEN %(with_samples)s THEN samples END AS samples, count(*) OVER () AS total
        FROM sites_auditplace WHERE finding_id = finding.id
        ORDER BY pages_affected DESC, id LIMIT %(most)s
    ) AS place
    ORDER BY finding.id, place.pages_affected DESC, place.id
"""


class PlaceRow(NamedTuple):
    """Row of an AuditPlace: a page shows hundreds, and to create one as a model takes ten times as long."""

    fingerprint: str
    place: str
    pages_affected: int
    samples: list[SamplePage]


class ListedPlace(NamedTuple):
    """Place of a finding, and how far it is muted."""

    row: PlaceRow
    muted_on: MutedOn


@dataclass(frozen=True, slots=True)
class ListedFinding:
    """Finding with the points that fixing it gains, how far it is muted, and its most frequent places.

    `points` is the gain in the type's score if it is fixed on all pages, `later` the gain if no cap applied.
    `places_total` counts the kept places (AuditPlace.MOST).
    """

    row: AuditFinding
    points: float
    later: float
    muted_on: MutedOn
    places: Sequence[ListedPlace]
    places_total: int

    @property
    def is_muted(self) -> bool:
        """Return True if it is muted on all pages."""
        return self.muted_on.pages == ALL

    @property
    def holds(self) -> bool:
        """Return True if a cap that lowers the score of a page counts it."""
        return self.row.held_pages > 0

    @property
    def is_critical(self) -> bool:
        """Return True if it is a critical failure on a page; a warning is none."""
        return self.row.critical_pages > 0


def in_order(audit: Audit, type: str = "") -> list[AuditFinding]:
    """Return the findings of a type, or of all types, by priority: at most one for each check.

    Of all types, each fact is listed once, by the check that tells it.
    """
    return by_priority(audit, audit.findings.filter(type=type) if type else audit.findings.filter(told_by=""))


def critical_in_order(audit: Audit) -> list[AuditFinding]:
    """Return the findings of all types that are a critical failure on a page, by priority."""
    return by_priority(audit, audit.findings.filter(told_by="", critical_pages__gt=0))


def by_priority(audit: Audit, rows: Iterable[AuditFinding]) -> list[AuditFinding]:
    """Sort findings of the audit by priority."""

    def key(row: AuditFinding) -> tuple[Priority, str, str]:
        row_priority = priority(
            status=row.status,
            severity=row.severity,
            holds=row.held_pages > 0,
            points=audit.gain(row),
            later=audit.gain_without_caps(row),
        )
        return row_priority, row.type, row.check_id

    return sorted(rows, key=key)


def listed(
    audit: Audit,
    rows: Sequence[AuditFinding],
    mutes: AuditMutes,
    most_places: int = PLACES_SHOWN,
    *,
    with_samples: bool = True,
) -> list[ListedFinding]:
    """Return these findings in their order, each with its most frequent places, in at most two queries.

    A caller that shows no sample pages of places can do without them (`with_samples`); mutes still get them.
    """
    muted = mutes.of(rows)
    found = _frequent_places(rows, most_places, with_samples or bool(mutes)) if rows and most_places else {}
    return [
        ListedFinding(
            row=row,
            points=audit.gain(row),
            later=audit.gain_without_caps(row),
            muted_on=muted[row.id],
            places=[ListedPlace(place, mutes.on_place(row, place)) for place, _ in found.get(row.id, ())],
            places_total=next((total for _, total in found.get(row.id, ())), 0),
        )
        for row in rows
    ]


def listed_in_batches(audit: Audit, mutes: AuditMutes, type: str = "") -> Iterator[list[ListedFinding]]:
    """Yield all findings by priority, few at a time, because their places may take much memory."""
    rows = in_order(audit, type)
    for start in range(0, len(rows), BATCH):
        yield listed(audit, rows[start : start + BATCH], mutes)


def _frequent_places(
    rows: Sequence[AuditFinding], most: int, with_samples: bool
) -> dict[int, list[tuple[PlaceRow, int]]]:
    """Return by finding its most frequent places, each with the number of all places of the finding."""
    found: dict[int, list[tuple[PlaceRow, int]]] = {}
    wanted = {"findings": [row.id for row in rows], "most": most, "with_samples": with_samples}
    for finding_id, fingerprint, place, pages, samples, total in fetch(FREQUENT_PLACES, wanted):
        row = PlaceRow(fingerprint, place, pages, json.loads(samples) if samples else [])
        found.setdefault(finding_id, []).append((row, total))
    return found
