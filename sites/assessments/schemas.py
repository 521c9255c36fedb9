"""JSON types of assessments, as the API and the exports return them."""

from __future__ import annotations

from typing import Annotated, NotRequired, TypedDict

from infrastructure.api.schema import ErrorBody
from website_scan.accessibility.standards import LABELS, LEVELS
from website_scan.json_types import Count, Link, SeverityName, Timestamp, component, identifier, values
from website_scan.report.conformance import RESULT_LABELS

AssessmentId = Annotated[str, identifier("asm")]
StandardName = Annotated[str, values((standard.value, label) for standard, label in LABELS.items())]
LevelName = Annotated[str, values(LEVELS)]
# Values and labels of AssessmentResult.Result and Assessment.Status.
RESULTS = (
    ("passed", "Passed"),
    ("failed", "Failed"),
    ("not_applicable", "Not applicable"),
    ("cannot_tell", "Cannot tell"),
    ("untested", "Untested"),
)
STATUSES = (("open", "Open"), ("finished", "Finished"))
FINDING_STATES = ("new", "still", "fixed")
PAGE_REASONS = ("start", "structure", "random", "added")
ResultName = Annotated[str, values(RESULTS)]
AutomaticName = Annotated[str, values((result.value, label) for result, label in RESULT_LABELS.items())]


class AssessmentProgress(TypedDict):
    """Success criteria of the standard by what is known about them, and results of single pages."""

    criteria: Count
    criteria_tested: Annotated[Count, "Criteria with a result on every page, which may be `cannot_tell`."]
    criteria_decided: Annotated[Count, "Criteria with another result than `cannot_tell` on every page."]
    results: Count
    results_tested: Count


class AssessmentTexts(TypedDict):
    """Texts by the evaluators. All may be empty."""

    scope: str
    evaluators: Annotated[str, "One person per line."]
    method: str
    owner_name: str
    contact_email: str
    contact_url: str
    contact_phone: str
    burden: Annotated[str, "Content whose repair would be a disproportionate burden, and why."]
    exempt_content: Annotated[str, "Content outside the law's scope."]
    alternatives: Annotated[str, "Accessible alternatives to failing content."]
    enforcement: Annotated[str, "Where people can complain if they get no answer."]


@component("Assessment")
class AssessmentJson(AssessmentTexts):
    """Assessment of a site by people and automatic checks."""

    id: AssessmentId
    name: str
    url: str
    standard: StandardName
    standard_name: str
    level: LevelName
    status: Annotated[str, values(STATUSES)]
    pages: Count
    progress: AssessmentProgress
    audit_id: str
    evidence_at: Timestamp | None
    refreshing: Annotated[bool, "True while results of an audit are being copied."]
    refresh_error: str
    created_at: Timestamp
    updated_at: Timestamp
    finished_at: Timestamp | None
    shared: bool
    assessment_url: Link


@component("AssessmentPage")
class AssessmentPageJson(TypedDict):
    """Page or state in the sample of an assessment."""

    number: Count
    url: str
    name: str
    title: Annotated[str, "The name, or the URL of a page without a name."]
    is_state: bool
    reason: Annotated[str, values(PAGE_REASONS)]
    scan_id: Annotated[str, "Scan with the automatic results; empty without."]
    judged_at: Timestamp | None
    is_missing: Annotated[bool, "True if the latest audit has no results for the page."]
    changed_at: Annotated[Timestamp | None, "When an audit first saw that the page had changed."]


class AssessmentPlaceJson(TypedDict):
    fingerprint: str
    text: str


@component("AssessmentFinding")
class AssessmentFindingJson(TypedDict):
    """Automatic finding on a page of an assessment."""

    id: int
    page: Annotated[Count, "Number of the page."]
    check: str
    outcome: str
    has_failed: Annotated[bool, "False if the check could not decide."]
    severity: SeverityName
    title: str
    message: str
    fix: str
    criteria: list[str]
    places: Annotated[list[AssessmentPlaceJson], "The first places."]
    place_count: Count
    state: Annotated[str, values(FINDING_STATES)]
    first_seen_at: Timestamp
    seen_at: Timestamp
    fixed_at: Timestamp | None
    disputed: bool
    dispute_reason: str
    disputed_by: str
    disputed_at: Timestamp | None


@component("AssessmentResult")
class AssessmentResultJson(TypedDict):
    """Result of a success criterion on a page."""

    page: Annotated[Count, "Number of the page."]
    criterion: str
    outcome: Annotated[ResultName, "The result that counts: an open automatic failure fails the criterion."]
    result: Annotated[ResultName, "By a person."]
    note: str
    remedy: str
    version: Annotated[Count, "Send it with a change."]
    tested_by: str
    tested_at: Timestamp | None
    is_older_than_page: Annotated[bool, "True if the page has changed since the person's test."]
    automatic: AutomaticName


@component("ResultConflict")
class ResultConflictBody(ErrorBody):
    """Error response to a change of a result. `RESULT_CHANGED` also has the current result."""

    current: NotRequired[AssessmentResultJson]


@component("AssessmentCriterion")
class AssessmentCriterionJson(TypedDict):
    """Result of a success criterion on all pages, with the number of pages by result."""

    number: str
    name: str
    level: LevelName
    clause: Annotated[str, "Clause of the standard."]
    url: Link
    outcome: Annotated[ResultName, "Failed if any page fails; else untested, then cannot tell, if any page is."]
    pages: Annotated[dict[str, int], "Number of pages by outcome."]


class CriterionReport(AssessmentCriterionJson):
    """Success criterion with the results of all pages that have one, and their findings."""

    results: list[AssessmentResultJson]
    findings: list[AssessmentFindingJson]


@component("AssessmentReport")
class AssessmentReport(TypedDict):
    """Whole assessment, from which all other documents are made.

    `criteria[].results` has only results with a person's decision or an automatic failure.
    """

    assessment: AssessmentJson
    sample: list[AssessmentPageJson]
    criteria: list[CriterionReport]


@component("AssessmentEvent")
class AssessmentEventJson(TypedDict):
    """Entry of an assessment's log."""

    at: Timestamp
    actor: Annotated[str, "Name of a member or an API key; empty for the service itself."]
    api_key: Annotated[str | None, "ID of the API key; null for members."]
    action: Annotated[str, "Such as `result`, `disputed` or `page_added`."]
    page: Annotated[int | None, "Number of the page."]
    page_title: str
    criterion: Annotated[str, "Number of the success criterion; empty if the action concerns none."]
    before: Annotated[dict[str, str], "Earlier values of the changed fields."]
    after: Annotated[dict[str, str], "Later values of the changed fields."]


class AssessmentList(TypedDict):
    assessments: list[AssessmentJson]
    total: Count
    limit: Count
    offset: Count


class AssessmentPageList(TypedDict):
    pages: list[AssessmentPageJson]
    total: Count
    limit: Count
    offset: Count


class AssessmentCriterionList(TypedDict):
    criteria: list[AssessmentCriterionJson]


class AssessmentResultList(TypedDict):
    results: list[AssessmentResultJson]
    total: Count
    limit: Count
    offset: Count


class AssessmentFindingList(TypedDict):
    findings: list[AssessmentFindingJson]
    total: Count
    limit: Count
    offset: Count


class AssessmentLog(TypedDict):
    events: list[AssessmentEventJson]
    total: Count
    limit: Count
    offset: Count


@component("UpdatedResults")
class UpdatedResults(TypedDict):
    """Number of results that a request has changed."""

    updated: Count
