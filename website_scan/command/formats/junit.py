"""Write reports as JUnit XML for CI servers.

A report is a test suite, and a check is a test case.
"""

from __future__ import annotations

from datetime import datetime
from xml.etree import ElementTree

from website_scan.command.formats.text import first_places
from website_scan.command.gate import LOG_IN_MESSAGE, CommandReport, CommandResult, Gate
from website_scan.command.terminal import printable
from website_scan.report.levels import finding_level
from website_scan.report_json import ExportedFinding
from website_scan.wording import message_without_places

MAX_PLACES = 10
NEEDS_BROWSER_MESSAGE = "This check needs a browser, and none was available."


def junit(result: CommandResult) -> str:
    """Return JUnit XML that fails if and only if the gate failed.

    A check or a score for which the gate fails is a failure, and a failed scan an error. Any other finding passes, with
    its text in `system-out`. Accepted checks, and checks that were not judged, are skipped.
    """
    root = ElementTree.Element("testsuites", name="website-scan")
    for report in result.reports:
        _suite(root, report, result.gate)
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


def _suite(root: ElementTree.Element, report: CommandReport, gate: Gate) -> None:
    export = report.export
    failing_ids = {check["id"] for check in gate.failing_findings(report)}
    suite = _element(root, "testsuite", name=f"{report.type} {report.page}", timestamp=export["created_at"])
    if report.other_final_url:
        _element(_element(suite, "properties"), "property", name="final_url", value=report.other_final_url)
    duration = datetime.fromisoformat(export["completed_at"]) - datetime.fromisoformat(export["created_at"])
    if report.error is not None:
        case = _element(suite, "testcase", classname=report.type, name=f"scan of {report.page}")
        _element(case, "error", report.error["message"], type=report.error["code"], message=report.error["message"])
    for category, check in report.checks:
        case = _element(suite, "testcase", classname=f"{report.type}.{category}", name=check["name"])
        if check["id"] in report.accepted:
            _element(case, "skipped", message=f"{check['title']}: {report.accepted[check['id']]}")
        elif check["status"] == "pass":
            continue
        elif check["id"] in failing_ids:
            _element(case, "failure", _finding_text(check), type=check["severity"], message=check["title"])
        else:
            word = finding_level(check).word.capitalize()
            _element(case, "system-out", f"{word} ({check['severity']}): {check['title']}\n{_finding_text(check)}")
    _add_gate_cases(suite, report, gate)
    for skipped in export["skipped_checks"]:
        case = _element(suite, "testcase", classname=report.type, name=skipped["name"])
        _element(case, "skipped", message=f"Could not run: {skipped['reason']}")
    for omitted in export["omitted_checks"]:
        case = _element(suite, "testcase", classname=report.type, name=omitted["name"])
        _element(case, "skipped", message=NEEDS_BROWSER_MESSAGE)
    suite.set("tests", str(len(suite.findall("testcase"))))
    for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(attribute, str(len(suite.findall(f"testcase/{tag}"))))
    suite.set("time", f"{duration.total_seconds():.0f}")


def _add_gate_cases(suite: ElementTree.Element, report: CommandReport, gate: Gate) -> None:
    """Add test cases for log-in pages and for the score."""
    if report.needs_log_in:
        case = _element(suite, "testcase", classname=report.type, name="the requested page was judged")
        if gate.is_log_in_page_refused(report):
            _element(case, "failure", type="log-in", message=f"{report.addresses}: {LOG_IN_MESSAGE}")
    if report.score is not None and (lowest_score := gate.lowest_score(report.type)) is not None:
        case = _element(suite, "testcase", classname=report.type, name=f"score is at least {lowest_score}")
        if gate.is_score_too_low(report):
            _element(case, "failure", type="score", message=f"The score is {report.score}.")


def _finding_text(check: ExportedFinding) -> str:
    places, more = first_places(check, MAX_PLACES)
    lines = [
        message_without_places(check),
        *(f"at {place}" for place in places),
        more,
        f"Fix: {check['fix']}" if "fix" in check else "",
    ]
    return "\n".join(filter(None, lines))


def _element(parent: ElementTree.Element, tag: str, text: str = "", **attributes: str) -> ElementTree.Element:
    """Add an XML element with escaped text.

    XML 1.0 forbids control characters (section 2.2).
    """
    element = ElementTree.SubElement(parent, tag, {name: printable(value) for name, value in attributes.items()})
    if text:
        element.text = "\n".join(map(printable, text.split("\n")))
    return element
