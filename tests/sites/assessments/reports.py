"""Reports of assessments that tests make documents from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from sites.assessments.schemas import (
    AssessmentFindingJson,
    AssessmentPageJson,
    AssessmentReport,
    AssessmentResultJson,
    CriterionReport,
)
from website_scan.accessibility.standards import Standard, required_criteria
from website_scan.report.conformance import Result

HOST = "https://museum.example.com"
ID = "asm_0123456789abcdefghijkl"
TESTED_AT, FINISHED_AT = "2026-10-05T09:30:00Z", "2026-11-02T16:00:00Z"
TESTER = "Ada Ruiz"
# Home, a page about visits, the shop, and a state of the shop.
PAGES = (1, 2, 3, 4)
Cell = tuple[int, str]


def page(number: int, path: str, name: str = "", **fields: Any) -> AssessmentPageJson:
    document = {
        "number": number,
        "url": f"{HOST}{path}",
        "name": name,
        "title": name or f"{HOST}{path}",
        "is_state": False,
        "reason": "start" if number == 1 else "structure",
        "scan_id": f"scan_{number}",
        "judged_at": "2026-10-01T08:00:00Z",
        "is_missing": False,
        "changed_at": None,
    }
    return cast(AssessmentPageJson, document | fields)


def museum_sample() -> list[AssessmentPageJson]:
    return [
        page(1, "/", "Home"),
        page(2, "/visit"),
        page(3, "/shop", "Shop"),
        page(4, "/shop", "Cart with one item", is_state=True, scan_id="", judged_at=None, reason="added"),
    ]


def result(number: int, criterion: str, decision: str, **fields: Any) -> AssessmentResultJson:
    """Return a person's result, or with decision "untested" a result that only automatic checks decided."""
    is_tested = decision != "untested"
    document = {
        "page": number,
        "criterion": criterion,
        "outcome": decision,
        "result": decision,
        "note": "",
        "remedy": "",
        "version": int(is_tested),
        "tested_by": TESTER if is_tested else "",
        "tested_at": TESTED_AT if is_tested else None,
        "is_older_than_page": False,
        "automatic": Result.NOT_TESTED.value,
    }
    return cast(AssessmentResultJson, document | fields)


def finding(number: int, check: str, *criteria: str, **fields: Any) -> AssessmentFindingJson:
    """Return an open automatic failure on a page."""
    document = {
        "id": number * 100,
        "page": number,
        "check": check,
        "outcome": "missing",
        "has_failed": True,
        "severity": "high",
        "title": "2 images have no alternative text",
        "message": "Screen readers say nothing, or a file name.",
        "fix": "Add alt attributes.",
        "criteria": list(criteria),
        "places": [{"fingerprint": "f1", "text": "img.logo"}, {"fingerprint": "f2", "text": "img.map"}],
        "place_count": 2,
        "state": "still",
        "first_seen_at": "2026-09-01T08:00:00Z",
        "seen_at": "2026-10-01T08:00:00Z",
        "fixed_at": None,
        "disputed": False,
        "dispute_reason": "",
        "disputed_by": "",
        "disputed_at": None,
    }
    return cast(AssessmentFindingJson, document | fields)


def disputed(number: int, check: str, *criteria: str, **fields: Any) -> AssessmentFindingJson:
    dispute = {
        "disputed": True,
        "dispute_reason": "The logo is decoration.",
        "disputed_by": TESTER,
        "disputed_at": TESTED_AT,
    }
    return finding(number, check, *criteria, **(dispute | fields))


def report_of(
    results: Mapping[Cell, AssessmentResultJson],
    findings: Mapping[str, list[AssessmentFindingJson]] | None = None,
    *,
    standard: Standard = Standard.WCAG_22,
    level: str = "AA",
    sample: list[AssessmentPageJson] | None = None,
    **texts: Any,
) -> AssessmentReport:
    """Return a report with these results by page number and criterion, and findings by criterion."""
    pages = museum_sample() if sample is None else sample
    criteria = []
    for one in required_criteria(standard, level):
        own = [results[cell] for cell in sorted(results) if cell[1] == one.number]
        outcomes = [row["outcome"] for row in own]
        outcomes += ["untested"] * (len(pages) - len(outcomes))
        document = {
            "number": one.number,
            "name": one.name,
            "level": one.level,
            "clause": one.clause(standard),
            "url": one.url,
            "outcome": next(
                (value for value in ("failed", "untested", "cannot_tell", "passed") if value in outcomes), ""
            )
            or "not_applicable",
            "pages": {value: outcomes.count(value) for value in set(outcomes)},
            "results": own,
            "findings": (findings or {}).get(one.number, []),
        }
        criteria.append(cast(CriterionReport, document))
    assessment: dict[str, Any] = {
        "id": ID,
        "name": "City Museum",
        "url": f"{HOST}/",
        "standard": standard.value,
        "standard_name": standard.label,
        "level": level,
        "status": "finished",
        "pages": len(pages),
        "progress": {
            "criteria": len(criteria),
            "criteria_tested": 0,
            "criteria_decided": 0,
            "results": 0,
            "results_tested": 0,
        },
        "scope": "",
        "evaluators": "",
        "method": "",
        "owner_name": "City of Lund",
        "contact_email": "access@museum.example.com",
        "contact_url": f"{HOST}/contact",
        "contact_phone": "+46 1 234",
        "burden": "",
        "exempt_content": "",
        "alternatives": "",
        "enforcement": "",
        "audit_id": "aud_0123456789abcdefghijkl",
        "evidence_at": "2026-10-01T08:00:00Z",
        "refreshing": False,
        "refresh_error": "",
        "created_at": "2026-10-01T09:00:00Z",
        "updated_at": FINISHED_AT,
        "finished_at": FINISHED_AT,
        "shared": False,
        "assessment_url": f"https://scans.example.com/assessment/{ID}",
    }
    return cast(AssessmentReport, {"assessment": assessment | texts, "sample": pages, "criteria": criteria})


def decided(decision: str, **options: Any) -> dict[Cell, AssessmentResultJson]:
    """Return the same decision for all criteria on all pages of the museum's sample."""
    standard, level = options.get("standard", Standard.WCAG_22), options.get("level", "AA")
    return {
        (number, one.number): result(number, one.number, decision)
        for one in required_criteria(standard, level)
        for number in PAGES
    }


def museum_report(**options: Any) -> AssessmentReport:
    """Return a report with every kind of result.

    - 1.1.1: on page 1, a person confirms an automatic failure; on page 2, a person saw none, but a check did; on
      page 3, a finding is disputed and a person saw no failure; untested on page 4.
    - 1.4.3: a check could not decide on page 1; a failure is fixed on page 2; untested on all pages.
    - 2.1.1: failed on the state only, and passed on the pages.
    - 2.4.7: failed on all pages.
    - 1.2.1: not applicable on all pages. 1.2.2: passed on page 3, not applicable on the others.
    - 3.3.1: cannot tell on page 4, passed on the others. 3.2.1: passed, but page 2 has changed since.
    """
    results: dict[Cell, AssessmentResultJson] = {}

    def decide(criterion: str, decisions: Mapping[int, str], **fields: Any) -> None:
        for number, decision in decisions.items():
            results[number, criterion] = result(number, criterion, decision, **fields)

    fails = {"outcome": "failed", "automatic": Result.FAILS.value}
    results[1, "1.1.1"] = result(1, "1.1.1", "failed", note="The map has no text.", remedy="Describe the map.", **fails)
    results[2, "1.1.1"] = result(2, "1.1.1", "passed", **fails)
    results[3, "1.1.1"] = result(3, "1.1.1", "passed")
    decide("1.2.1", dict.fromkeys(PAGES, "not_applicable"))
    decide("1.2.2", dict.fromkeys(PAGES, "not_applicable") | {3: "passed"})
    decide("2.1.1", dict.fromkeys(PAGES, "passed"))
    results[4, "2.1.1"] = result(4, "2.1.1", "failed", note="The quantity cannot be changed with the keyboard.")
    decide("2.4.7", dict.fromkeys(PAGES, "failed"), note="Links have no visible focus.")
    decide("3.2.1", dict.fromkeys(PAGES, "passed"))
    results[2, "3.2.1"]["is_older_than_page"] = True
    decide("3.3.1", dict.fromkeys(PAGES, "passed") | {4: "cannot_tell"})
    findings = {
        "1.1.1": [
            finding(1, "image-alt", "1.1.1"),
            finding(2, "image-alt", "1.1.1", state="new"),
            disputed(3, "image-alt", "1.1.1"),
        ],
        "1.4.3": [
            finding(1, "color-contrast", "1.4.3", has_failed=False, title="Text over a picture"),
            finding(2, "color-contrast", "1.4.3", state="fixed", fixed_at="2026-10-01T08:00:00Z"),
        ],
    }
    return report_of(results, findings, **options)


HOSTILE = (
    '=HYPERLINK("http://evil.example")',
    "- [x](javascript:alert(1)) **bold** `code` # heading",
    "</p><script>alert(1)</script>&amp;<!--",
    "key: value # no comment\n- item\n--- \n... \n!!python/object/apply:os.system [ls]",
    "*anchor &anchor ? | > % @ ` \" ' \\ {a: b} [c]",
    "1e3",
    "0o17",
    "null",
    "2026-10-05",
    "  leading, and trailing  \n\n",
    "\x01\x07\x1b[31m\x7f\x85\u2028\u202e\ufeff",
    "\N{PILE OF POO}\N{FAMILY} \N{ZERO WIDTH JOINER}",
    "{% now %} {{ settings.SECRET_KEY }}",
    "long text, " * 900,
)


def hostile_report(text: str) -> AssessmentReport:
    """Return a report in which people, pages and findings have this text everywhere."""
    sample = [page(1, "/", text), page(2, "/visit"), page(3, "/shop", text, is_state=True, scan_id="")]
    results = {
        (1, "1.1.1"): result(1, "1.1.1", "failed", note=text, remedy=text, tested_by=text, outcome="failed"),
        (2, "1.1.1"): result(2, "1.1.1", "passed", note=text, tested_by=text),
        (3, "1.4.3"): result(3, "1.4.3", "cannot_tell", note=text, remedy=text, tested_by=text),
    }
    texts: dict[str, Any] = dict.fromkeys(
        (
            *("name", "scope", "evaluators", "method", "owner_name", "contact_email", "contact_url", "contact_phone"),
            *("burden", "exempt_content", "alternatives", "enforcement"),
        ),
        text,
    )
    findings = [
        finding(1, "image-alt", "1.1.1", title=text, message=text, places=[{"fingerprint": "f", "text": text}]),
        disputed(2, "image-alt", "1.1.1", title=text, dispute_reason=text, disputed_by=text),
    ]
    return report_of(results, {"1.1.1": findings}, sample=sample, **texts)
