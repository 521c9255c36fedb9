"""An assessment with results of each kind, created with the service's functions."""

from __future__ import annotations

from typing import Any

from scans.policy import scan_policy
from sites.assessments import refreshing, results, services
from sites.models import Assessment, Audit
from tests.factories import Member
from tests.sites.assessments.cast import HOST, assess, audit_of, caller_of, check, decide
from website_scan.net.targets import parse_target
from website_scan.result import CheckResult

PATHS = ("/", "/visit", "/shop", "/search?q=vases", "/exhibitions/a-long-name-of-an-exhibition-about-everyday-things")
TEXTS = {
    "scope": "The public site, without the ticket shop of our partner.",
    "evaluators": "Ana Kovač\nJonas Weber",
    "method": "Each page was tested by keyboard, with 400 % zoom, and with a screen reader.",
    "owner_name": "Museum of Everyday Things",
    "contact_email": "access@museum.example",
}


def populate_assessment(home: Member) -> dict[str, Any]:
    """Create an assessment of a museum's site, and return the IDs of its pages by their names in routes."""
    assessment = assess(home, _audit(home, "#a", "#b"), name="Museum site, spring", **TEXTS)
    page: dict[str, Any] = {"caller": caller_of(home), "assessment_id": assessment.id}
    _judge(home, assessment)
    first, second = assessment.findings.filter(check_id="image-alt").order_by("page__number")
    results.dispute(**page, finding_id=second.id, reason="The picture repeats the text beside it.")
    state = parse_target(f"{HOST}/cart", scan_policy())
    services.add_page(**page, target=state, name="Cart with one item", is_state=True)
    services.rename_page(**page, number=2, name="Plan your visit")
    later = _audit(home, "#a", "#d")
    services.refresh_assessment(**page, audit_id=later.id)
    refreshing.copy_results(assessment.id)
    return {
        "assessment_id": assessment.id,
        "criterion": "1.1.1",
        "page_number": 2,
        "finding_id": first.id,
        "disputed_finding_id": second.id,
        "museum_audit_id": later.id,
    }


def _audit(home: Member, *places: str) -> Audit:
    """Create an audit in which the second page fails at these places, and the third one at another place."""
    fine = (check("image-alt", "pass"), check("html-has-lang", "pass"), check("color-contrast", "pass"))
    pages: dict[str, tuple[CheckResult, ...]] = dict.fromkeys(PATHS, fine)
    for path, faults in ((PATHS[1], places), (PATHS[2], ("#c",))):
        pages[path] = (check("image-alt", "fail", *faults), check("color-contrast", "warn", "main > p:nth-child(2)"))
    return audit_of(home, pages)


def _judge(home: Member, assessment: Assessment) -> None:
    """Store results of people, of which some have a note."""
    for number in range(1, len(PATHS) + 1):
        decide(home, assessment, number, "1.2.1", "not_applicable")
        decide(home, assessment, number, "2.4.2", "passed")
    note = "The order of the tabs jumps from the menu to the footer, and then back to the content."
    decide(home, assessment, 3, "2.4.3", "failed", note=note, remedy="Move the footer behind the content in the HTML.")
    decide(home, assessment, 1, "3.3.1", "cannot_tell", note="The form needs an account.")
    decide(home, assessment, 1, "1.3.1", "passed")
