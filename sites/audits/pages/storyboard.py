"""View models for the run of a journey: its states, and its steps with pictures.

Names, sentences and titles come from strangers' pages, so templates escape them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django.urls import reverse
from msgspec import Struct

from scans.models import Scan, path_of, report_path
from sites.audits.pages.since import AuditComparison, NamedFinding
from sites.audits.steps import steps_of
from sites.models import Audit, AuditFinding, AuditPage, JourneyStep
from website_scan.journeys.journey import Judge
from website_scan.journeys.words import step_in_words

LABELS = dict(Scan.Type.choices)
MAX_NEW = 3
STATUSES = {
    JourneyStep.Status.DONE: ("Done", "good"),
    JourneyStep.Status.FAILED: ("Failed", "bad"),
    JourneyStep.Status.NOT_REACHED: ("Not reached", ""),
}


class StepPicture(Struct, frozen=True):
    """Address of the picture of the screen after a step, and its size in pixels."""

    url: str
    width: int | None
    height: int | None


class StateGrade(Struct, frozen=True):
    """Result of a scan type in a state. `before` is the score in the previous run, None if unchanged or unknown."""

    label: str
    score: int | None
    grade: str | None
    before: int | None
    url: str

    @property
    def is_better(self) -> bool:
        return self.score is not None and self.before is not None and self.score > self.before


class StateCard(Struct, frozen=True):
    """State of a journey with its grades and the findings that the previous run did not have.

    `step` is the number of the step after which the state was judged, from 1, or None if unknown.
    """

    name: str
    path: str
    step: int | None
    picture: StepPicture | None
    grades: tuple[StateGrade, ...]
    new: tuple[NamedFinding, ...]
    more_new: int
    problem: str


class StepCard(Struct, frozen=True):
    """Step of a run. `states` are the names of the states that were judged after it."""

    number: int
    text: str
    status: str
    tone: str
    path: str
    duration_s: float
    problem: str
    near_matches: Sequence[str]
    notes: Sequence[str]
    picture: StepPicture | None
    states: Sequence[str]

    @property
    def is_failed(self) -> bool:
        return self.status == STATUSES[JourneyStep.Status.FAILED][0]


class Storyboard(Struct, frozen=True):
    """Run of a journey. Both lists are empty before its end."""

    states: Sequence[StateCard]
    steps: Sequence[StepCard]

    @property
    def failed_step(self) -> StepCard | None:
        return next((step for step in self.steps if step.is_failed), None)

    @property
    def has_news(self) -> bool:
        """Return True if some state has a finding that the previous run did not have."""
        return any(state.new for state in self.states)


def storyboard(audit: Audit, compared: AuditComparison | None) -> Storyboard:
    """Return the run of a journey, in at most four queries. `compared` is its comparison with the previous run."""
    steps = list(steps_of(audit))
    # Only steps with a picture have its size.
    pictures = {step.position: _picture(audit, step) for step in steps if step.width}
    # A run that judged nothing has one page without a state.
    pages = list(audit.pages.exclude(state="").order_by("position"))
    before = _pages_before(compared)
    new = _new_by_state(audit, compared)
    acting = _acting_steps(steps)
    states = [_state_card(page, before.get((page.state, page.url)), pictures, acting, new) for page in pages]
    states_by_step: dict[int, list[str]] = {}
    for step in steps:
        if step.state:
            states_by_step.setdefault(acting[step.position], []).append(step.state)
    cards = [_step_card(step, pictures, states_by_step) for step in steps if acting[step.position] == step.position]
    return Storyboard(states, cards)


def _acting_steps(steps: Sequence[JourneyStep]) -> dict[int, int]:
    """Return the position of the last step that did something, by the position of each step.

    A step that only judges the page belongs to the step before.
    """
    acting: dict[int, int] = {}
    last = 0
    for step in steps:
        if not step.state or step.text != step_in_words(Judge(name=step.state)):
            last = step.position
        acting[step.position] = last
    return acting


def _picture(audit: Audit, step: JourneyStep) -> StepPicture:
    return StepPicture(reverse("audit-step-picture", args=[audit.id, step.position]), step.width, step.height)


def _state_card(
    page: AuditPage,
    before: AuditPage | None,
    pictures: Mapping[int, StepPicture],
    acting: Mapping[int, int],
    new: Mapping[str, list[NamedFinding]],
) -> StateCard:
    step = None if page.step is None else acting.get(page.step, page.step)
    findings = new.get(page.state, [])
    return StateCard(
        name=page.state,
        path=path_of(page.url),
        step=None if step is None else step + 1,
        picture=None if step is None else pictures.get(step),
        grades=tuple(_grade(type, page, before) for type in Scan.Type.values if type in page.results),
        new=tuple(findings[:MAX_NEW]),
        more_new=max(0, len(findings) - MAX_NEW),
        problem=page.error["message"] if page.error else "",
    )


def _grade(type: str, page: AuditPage, before: AuditPage | None) -> StateGrade:
    result = page.results[type]
    earlier = before.results.get(type) if before else None
    score_before = earlier["score"] if earlier and earlier["score"] != result["score"] else None
    return StateGrade(str(LABELS[type]), result["score"], result["grade"], score_before, report_path(result["scan_id"]))


def _step_card(step: JourneyStep, pictures: Mapping[int, StepPicture], states: Mapping[int, Sequence[str]]) -> StepCard:
    status, tone = STATUSES[JourneyStep.Status(step.status)]
    return StepCard(
        number=step.position + 1,
        text=step.text,
        status=status,
        tone=tone,
        path=path_of(step.url) if step.url else "",
        duration_s=step.duration_ms / 1000,
        problem=step.problem,
        near_matches=step.near_matches,
        notes=step.notes,
        picture=pictures.get(step.position),
        states=states.get(step.position, ()),
    )


def _pages_before(compared: AuditComparison | None) -> dict[tuple[str, str], AuditPage]:
    """Return the states of the previous run, by name and address."""
    if compared is None or not compared.is_comparable:
        return {}
    return {(page.state, page.url): page for page in AuditPage.objects.filter(audit=compared.before_id)}


def _new_by_state(audit: Audit, compared: AuditComparison | None) -> dict[str, list[NamedFinding]]:
    """Return the findings that the previous run did not have, by the states among their samples."""
    found: dict[str, list[NamedFinding]] = {}
    if compared is None or not compared.new:
        return found
    for row in AuditFinding.objects.filter(audit=audit).order_by("-critical_pages", "-points", "id"):
        if (finding := compared.new.get((row.type, row.check_id))) is None:
            continue
        for sample in row.samples:
            findings = found.setdefault(sample.get("state", ""), [])
            if finding not in findings:
                findings.append(finding)
    return found
