"""JUnit XML for CI servers: one test suite for each report, one test case for each check."""

from __future__ import annotations

from datetime import datetime
from xml.etree import ElementTree

from scanner.command.formats.text import where
from scanner.command.judged import Judged, Outcome
from scanner.command.terminal import printable
from scanner.document import ExportedFinding

TOLD_PLACES = 10
BY_BROWSER = "This check needs a browser, and none was available."


def junit(outcome: Outcome) -> str:
    """Return the XML. A failed check is a failure, a failed scan an error; accepted and skipped checks are skipped.

    A warning passes, because it is not certain; its test case says so in `system-out`.
    """
    root = ElementTree.Element("testsuites", name="website-scan")
    for judged in outcome.reports:
        _suite(root, judged)
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


def _suite(root: ElementTree.Element, judged: Judged) -> None:
    document = judged.document
    suite = _element(root, "testsuite", name=f"{judged.type} {judged.url}", timestamp=document["created_at"])
    taken = datetime.fromisoformat(document["completed_at"]) - datetime.fromisoformat(document["created_at"])
    if judged.error is not None:
        case = _element(suite, "testcase", classname=judged.type, name=f"scan of {judged.url}")
        _element(case, "error", judged.error["message"], type=judged.error["code"], message=judged.error["message"])
    for category, check in judged.checks:
        case = _element(suite, "testcase", classname=f"{judged.type}.{category}", name=check["name"])
        if check["id"] in judged.accepted:
            _element(case, "skipped", message=f"{check['title']}: {judged.accepted[check['id']]}")
        elif check["status"] == "fail":
            _element(case, "failure", _told(check, judged.url), type=check["severity"], message=check["title"])
        elif check["status"] == "warn":
            _element(case, "system-out", f"Warning: {check['title']}\n{_told(check, judged.url)}")
    for skipped in document["skipped_checks"]:
        case = _element(suite, "testcase", classname=judged.type, name=skipped["name"])
        _element(case, "skipped", message=f"Could not run: {skipped['reason']}")
    for omitted in document["omitted_checks"]:
        case = _element(suite, "testcase", classname=judged.type, name=omitted["name"])
        _element(case, "skipped", message=BY_BROWSER)
    suite.set("tests", str(len(suite.findall("testcase"))))
    for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(attribute, str(len(suite.findall(f"testcase/{tag}"))))
    suite.set("time", f"{taken.total_seconds():.0f}")


def _told(check: ExportedFinding, url: str) -> str:
    told, more = where(check, url, TOLD_PLACES)
    lines = [
        check["message"],
        *(f"at {place}" for place in told),
        more,
        f"Fix: {check['fix']}" if "fix" in check else "",
    ]
    return "\n".join(filter(None, lines))


def _element(parent: ElementTree.Element, tag: str, text: str = "", **attributes: str) -> ElementTree.Element:
    """Add an element with escaped text: XML 1.0 forbids control characters (section 2.2), and sites may send them."""
    made = ElementTree.SubElement(parent, tag, {name: printable(value) for name, value in attributes.items()})
    if text:
        made.text = "\n".join(map(printable, text.split("\n")))
    return made
