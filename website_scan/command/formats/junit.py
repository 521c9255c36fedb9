"""JUnit XML for CI servers: one test suite for each report, one test case for each check."""

from __future__ import annotations

from datetime import datetime
from xml.etree import ElementTree

from website_scan.command.formats.text import first_places
from website_scan.command.judged import Gate, Judged, Outcome
from website_scan.command.terminal import printable
from website_scan.report.levels import level_of
from website_scan.report_json import ExportedFinding
from website_scan.wording import without_places

MAX_PLACES = 10
NEEDS_BROWSER = "This check needs a browser, and none was available."


def junit(outcome: Outcome) -> str:
    """Return the XML. It has a failure if and only if the gate failed, because CI servers judge the build by both.

    A check or a score for which the gate fails is a failure, and a failed scan an error. Any other finding passes, with
    its text in `system-out`. Accepted checks, and checks that were not judged, are skipped.
    """
    root = ElementTree.Element("testsuites", name="website-scan")
    for judged in outcome.reports:
        _suite(root, judged, outcome.gate)
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


def _suite(root: ElementTree.Element, judged: Judged, gate: Gate) -> None:
    export = judged.export
    failing_ids = {check["id"] for check in gate.failing_findings(judged)}
    suite = _element(root, "testsuite", name=f"{judged.type} {judged.url}", timestamp=export["created_at"])
    duration = datetime.fromisoformat(export["completed_at"]) - datetime.fromisoformat(export["created_at"])
    if judged.error is not None:
        case = _element(suite, "testcase", classname=judged.type, name=f"scan of {judged.url}")
        _element(case, "error", judged.error["message"], type=judged.error["code"], message=judged.error["message"])
    for category, check in judged.checks:
        case = _element(suite, "testcase", classname=f"{judged.type}.{category}", name=check["name"])
        if check["id"] in judged.accepted:
            _element(case, "skipped", message=f"{check['title']}: {judged.accepted[check['id']]}")
        elif check["status"] == "pass":
            continue
        elif check["id"] in failing_ids:
            _element(case, "failure", _finding_text(check), type=check["severity"], message=check["title"])
        else:
            word = level_of(check).word.capitalize()
            _element(case, "system-out", f"{word} ({check['severity']}): {check['title']}\n{_finding_text(check)}")
    if judged.score is not None and (lowest_score := gate.lowest_score(judged.type)) is not None:
        case = _element(suite, "testcase", classname=judged.type, name=f"score is at least {lowest_score}")
        if gate.is_too_low(judged):
            _element(case, "failure", type="score", message=f"The score is {judged.score}.")
    for skipped in export["skipped_checks"]:
        case = _element(suite, "testcase", classname=judged.type, name=skipped["name"])
        _element(case, "skipped", message=f"Could not run: {skipped['reason']}")
    for omitted in export["omitted_checks"]:
        case = _element(suite, "testcase", classname=judged.type, name=omitted["name"])
        _element(case, "skipped", message=NEEDS_BROWSER)
    suite.set("tests", str(len(suite.findall("testcase"))))
    for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(attribute, str(len(suite.findall(f"testcase/{tag}"))))
    suite.set("time", f"{duration.total_seconds():.0f}")


def _finding_text(check: ExportedFinding) -> str:
    places, more = first_places(check, MAX_PLACES)
    lines = [
        without_places(check),
        *(f"at {place}" for place in places),
        more,
        f"Fix: {check['fix']}" if "fix" in check else "",
    ]
    return "\n".join(filter(None, lines))


def _element(parent: ElementTree.Element, tag: str, text: str = "", **attributes: str) -> ElementTree.Element:
    """Add an element with escaped text: XML 1.0 forbids control characters (section 2.2), and sites may send them."""
    element = ElementTree.SubElement(parent, tag, {name: printable(value) for name, value in attributes.items()})
    if text:
        element.text = "\n".join(map(printable, text.split("\n")))
    return element
