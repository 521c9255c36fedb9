"""Findings of an audit with their places and mutes, sorted by priority."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from msgspec import Struct

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
    """Place of a finding as a plain tuple, which is created ten times as fast as an AuditPlace instance."""

    fingerprint: str
    place: str
    pages_affected: int
    samples: list[SamplePage]


class ListedPlace(NamedTuple):
    """Place of a finding, and the pages on which it is muted."""

    row: PlaceRow
    muted_on: MutedOn


class ListedFinding(Struct, frozen=True):
    """Finding of an audit with its gain in points, its mutes, and its most frequent places.

    `points` is the gain in the type's score if the finding is fixed on all pages, `later` the gain if no cap applied.
    `places_total` counts the stored places (at most AuditPlace.MOST).
    """

    row: AuditFinding
    points: float
    later: float
    muted_on: MutedOn
    places: Sequence[ListedPlace]
    places_total: int

    @property
    def is_muted(self) -> bool:
        """Return True if the finding is muted on all pages."""
        return self.muted_on.pages == ALL

    @property
    def holds(self) -> bool:
        """Return True if the finding contributes to a cap that lowers the score of a page."""
        return self.row.held_pages > 0

    @property
    def is_critical(self) -> bool:
        """Return True if the finding is a critical failure on at least one page.

        Warnings are not critical.
        """
        return self.row.critical_pages > 0


def in_order(audit: Audit, type: str = "") -> list[AuditFinding]:
    """Return the findings of one scan type, or of all types, sorted by priority.

    In the list of all types, each fact occurs once, as the finding of the check that reports it.
    """
    return by_priority(audit, audit.findings.filter(type=type) if type else audit.findings.filter(told_by=""))


def critical_findings_by_priority(audit: Audit) -> list[AuditFinding]:
    """Return the findings with a critical failure on at least one page, sorted by priority."""
    return by_priority(audit, audit.findings.filter(told_by="", critical_pages__gt=0))


def by_priority(audit: Audit, rows: Iterable[AuditFinding]) -> list[AuditFinding]:
    """Return the audit's findings sorted by priority."""

    def sort_key(row: AuditFinding) -> tuple[Priority, str, str]:
        row_priority = priority(
            status=row.status,
            severity=row.severity,
            holds=row.held_pages > 0,
            points=audit.gain(row),
            later=audit.gain_without_caps(row),
        )
        return row_priority, row.type, row.check_id

    return sorted(rows, key=sort_key)


def listed(
    audit: Audit,
    rows: Sequence[AuditFinding],
    mutes: AuditMutes,
    most_places: int = PLACES_SHOWN,
    *,
    with_samples: bool = True,
) -> list[ListedFinding]:
    """Return the findings in the given order, each with its most frequent places, in at most two queries.

    `with_samples=False` leaves out the sample pages of places, unless mute rules need them.
    """
    muted = mutes.of(rows)
    places_by_finding = _frequent_places(rows, most_places, with_samples or bool(mutes)) if rows and most_places else {}
    return [
        ListedFinding(
            row=row,
            points=audit.gain(row),
            later=audit.gain_without_caps(row),
            muted_on=muted[row.id],
            places=[
                ListedPlace(place, mutes.place_muting(row, place)) for place, _ in places_by_finding.get(row.id, ())
            ],
            places_total=next((total for _, total in places_by_finding.get(row.id, ())), 0),
        )
        for row in rows
    ]


def list_findings_in_batches(audit: Audit, mutes: AuditMutes, type: str = "") -> Iterator[list[ListedFinding]]:
    """Yield batches of findings by priority.

    Batches are small, because places may need much memory.
    """
    rows = in_order(audit, type)
    for start in range(0, len(rows), BATCH):
        yield listed(audit, rows[start : start + BATCH], mutes)


def _frequent_places(
    rows: Sequence[AuditFinding], most: int, with_samples: bool
) -> dict[int, list[tuple[PlaceRow, int]]]:
    """Return the most frequent places of every finding with the total number of its places, by finding ID."""
    places_by_finding: dict[int, list[tuple[PlaceRow, int]]] = {}
    parameters = {"findings": [row.id for row in rows], "most": most, "with_samples": with_samples}
    for finding_id, fingerprint, place, pages, samples, total in fetch(FREQUENT_PLACES, parameters):
        row = PlaceRow(fingerprint, place, pages, json.loads(samples) if samples else [])
        places_by_finding.setdefault(finding_id, []).append((row, total))
    return places_by_finding
