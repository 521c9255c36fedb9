"""Sentences of an assessment's log."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct

from scans.check_catalogue import failure_title
from sites.models import AssessmentEvent, AssessmentResult
from website_scan.messages import counted, cut

RESULTS = {value: label.lower() for value, label in AssessmentResult.Result.choices}
FIELDS = {
    "name": "name",
    "scope": "scope",
    "evaluators": "evaluators",
    "method": "method",
    "owner_name": "responsible organization",
    "contact_email": "e-mail for feedback",
    "contact_url": "contact page",
    "contact_phone": "telephone",
    "burden": "disproportionate burden",
    "exempt_content": "content outside the law's scope",
    "alternatives": "accessible alternatives",
    "enforcement": "enforcement",
    "note": "note",
    "remedy": "what to do",
    "reason": "reason",
}
MAX_LENGTH = 300


class LogLine(Struct, frozen=True):
    """Line of the log: who, what as a sentence, and the texts before and after by name."""

    event: AssessmentEvent
    who: str
    what: str
    changes: list[tuple[str, str, str]]


def log_line(event: AssessmentEvent) -> LogLine:
    """Return an event as a line. An unknown action is shown by its name."""
    sentence = SENTENCES.get(event.action)
    what = sentence(event) if sentence else FIXED_SENTENCES.get(event.action, event.action.replace("_", " "))
    names = [name for name in FIELDS if name in event.after]
    changes = [
        (FIELDS[name], cut(event.before.get(name, ""), MAX_LENGTH), cut(event.after[name], MAX_LENGTH))
        for name in names
        if event.action in ("changed", "result", "remaining_results", "disputed")
    ]
    return LogLine(event, event.actor_name or "The service", what, changes)


def _page(event: AssessmentEvent) -> str:
    return f"page {event.page_number}, {event.page_title}" if event.page_number else "a page"


def _result(event: AssessmentEvent) -> str:
    if "result" not in event.after:
        return f"changed the texts of {event.criterion} on {_page(event)}"
    before, after = (_label(values.get("result", "")) for values in (event.before, event.after))
    return f"changed {event.criterion} from {before} to {after} on {_page(event)}"


def _tested_again(event: AssessmentEvent) -> str:
    return f"tested {event.criterion} on {_page(event)} again, with the same result"


def _remaining(event: AssessmentEvent) -> str:
    pages = event.after.get("pages", "0")
    number = counted(int(pages), "untested page") if pages.isdecimal() else "untested pages"
    return f"set {event.criterion} to {_label(event.after.get('result', ''))} on {number}"


def _changed(event: AssessmentEvent) -> str:
    names = [FIELDS.get(name, name) for name in event.after]
    return f"changed {', '.join(names)}"


def _finding(values: Mapping[str, str]) -> str:
    """Return the finding with the ID of its check, because the check's name says what a page without it has."""
    check_id = values.get("check", "")
    return f"the finding “{failure_title(check_id)}” ({check_id})"


def _label(result: str) -> str:
    return RESULTS.get(result, result)


# Sentences that need no values of the event.
FIXED_SENTENCES: Mapping[str, str] = {
    "created": "created the assessment",
    "finished": "finished the assessment",
    "reopened": "reopened the assessment",
    "shared": "shared the report with everybody who has the link",
    "unshared": "stopped sharing the report",
    "refreshed": "requested the automatic results of a later scan",
    "results_copied": "copied the automatic results of a scan",
}
SENTENCES: Mapping[str, Callable[[AssessmentEvent], str]] = {
    "changed": _changed,
    "page_added": lambda event: f"added {_page(event)}",
    "page_renamed": lambda event: f"renamed page {event.page_number} to {event.after.get('name') or 'its address'}",
    "page_removed": lambda event: f"removed {_page(event)}",
    "result": _result,
    "tested_again": _tested_again,
    "remaining_results": _remaining,
    "disputed": lambda event: f"disputed {_finding(event.after)} on {_page(event)}",
    "dispute_withdrawn": lambda event: f"withdrew the dispute of {_finding(event.before)} on {_page(event)}",
    "dispute_ended": lambda event: (
        f"ended the dispute of {_finding(event.before)} on {_page(event)}, because it has new places"
    ),
}
