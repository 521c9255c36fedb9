"""View models for the list of journeys and for the runs of a journey."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from django.db.models import Q, QuerySet
from msgspec import Struct

from accounts import access
from infrastructure.web import keyset
from scans.models import Scan
from sites.journeys import services
from sites.models import Audit, Journey

JOURNEYS_PER_PAGE, RUNS_PER_PAGE = 25, 20
MAX_TEXT = 200
TONES = {
    Audit.Status.COMPLETED: "good",
    Audit.Status.PARTIAL: "warn",
    Audit.Status.FAILED: "bad",
    Audit.Status.CANCELLED: "",
}


class TypeResult(Struct, frozen=True):
    """Score of a scan type in a run. The score is None if the type judged no state."""

    label: str
    score: int | None
    grade: str | None


class RunRow(Struct, frozen=True):
    """Run of a journey. `cells` has an item for each scan type, which is None if the type was not requested."""

    audit: Audit
    status: str
    tone: str
    cells: tuple[TypeResult | None, ...]

    @property
    def is_running(self) -> bool:
        return not self.audit.is_final

    @property
    def states(self) -> int:
        """Number of states that were judged."""
        return self.audit.pages_done


class JourneyRow(Struct, frozen=True):
    """Journey with its latest run, and the latest one that has ended, if there are any."""

    journey: Journey
    run: RunRow | None
    ended: RunRow | None
    missing_secrets: int


class JourneyList(Struct, frozen=True):
    """Page of the list of journeys. `used` counts the journeys that share the plan's limit."""

    rows: list[JourneyRow]
    previous: str | None
    next: str | None
    text: str
    used: int
    most: int
    labels: tuple[str, ...]

    @property
    def is_full(self) -> bool:
        return self.used >= self.most


class RunList(Struct, frozen=True):
    """Page of the runs of a journey, newest first."""

    rows: list[RunRow]
    previous: str | None
    next: str | None


def journey_list(organization_id: int, query: Mapping[str, str], *, used: int, most: int) -> JourneyList:
    """Return a page of the organization's journeys, newest first, with their latest runs, in three queries."""
    text = query.get("q", "").replace("\0", "").strip()[:MAX_TEXT]
    rows = access.rows(Journey, organization_id)
    if text:
        rows = rows.filter(Q(name__icontains=text) | Q(start_url__icontains=text))
    page = keyset.by_time([rows], query, size=JOURNEYS_PER_PAGE, filters={"q": text} if text else {})
    ended, running = _latest_runs(organization_id, page.rows)
    journeys = [
        JourneyRow(row, running.get(row.id) or ended.get(row.id), ended.get(row.id), len(row.missing_secrets))
        for row in page.rows
    ]
    return JourneyList(journeys, page.previous, page.next, text, used, most, type_labels())


def run_list(journey: Journey, query: Mapping[str, str]) -> RunList:
    """Return a page of the runs of a journey whose reports have not expired."""
    page = keyset.by_time([services.runs_of(journey)], query, size=RUNS_PER_PAGE, filters={})
    return RunList([run_row(audit) for audit in page.rows], page.previous, page.next)


def run_row(audit: Audit) -> RunRow:
    scores = audit.scores
    status = Audit.Status(audit.status)
    return RunRow(
        audit=audit,
        status=str(status.label) if audit.is_final else "Running",
        tone=TONES.get(status, "accent"),
        cells=tuple(
            TypeResult(str(label), scores[type]["score"], scores[type]["grade"]) if type in audit.types else None
            for type, label in Scan.Type.choices
        ),
    )


def type_labels() -> tuple[str, ...]:
    return tuple(str(label) for _, label in Scan.Type.choices)


def _latest_runs(organization_id: int, journeys: Iterable[Journey]) -> tuple[dict[str, RunRow], dict[str, RunRow]]:
    """Return the latest ended run and the latest running one by the ID of the journey, without expired ones."""
    audits = access.rows(Audit, organization_id).exclude(run_of=Audit.RunOf.DRY_RUN)
    audits = audits.filter(journey__in=[journey.id for journey in journeys])
    ended = Q(status__in=Audit.FINAL)
    return _latest(audits.filter(ended)), _latest(audits.exclude(ended))


def _latest(audits: QuerySet[Audit]) -> dict[str, RunRow]:
    latest = audits.order_by("journey_id", "-created_at", "-id").distinct("journey_id")
    return {str(audit.journey_id): run_row(audit) for audit in latest if audit.is_kept}
