"""Output formats: one valid document for all reports, in which everything from a site is escaped text."""

from __future__ import annotations

import csv
import io
import json
import unicodedata
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest
from lxml import etree
from selectolax.lexbor import LexborHTMLParser

from tests.generated import description
from tests.reports.sarif import assert_sarif
from tests.website_scan.command.reports import failed, found, judged
from website_scan.command.formats import WRITERS
from website_scan.command.formats.markdown import code, escaped, link
from website_scan.command.formats.text import colored, plain, text
from website_scan.command.judged import IN_BASELINE, Gate, Judged, Outcome
from website_scan.command.output import formatted
from website_scan.findings import ScanType, Severity
from website_scan.places import Element, Rows
from website_scan.repeats import REPEATS, Repeat
from website_scan.report import markup

HOSTILE = "=1+1 \x1b[31m \u202e </script><img src=x onerror=alert(1)> ]]> | `x` [a](javascript:b) @team\n# head"
# Control characters except line ends, marks that change the direction of text, lone surrogates.
OBEYED = {"Cc", "Cf", "Cs", "Zl", "Zp"}
# A service may send what the runner would have replaced.
UNCLEAN = Rows((Element(HOSTILE, HOSTILE),), {Element: 1})
REPORTS = (
    judged(
        replace(found("hsts", "fail", Severity.HIGH, summary=HOSTILE), places=UNCLEAN),
        found("csp", "warn", Severity.LOW),
        found("known", "fail"),
        found("cookies", "pass"),
    ),
    judged(found("lcp", "pass"), type=ScanType.PERFORMANCE),
    failed(),
)


def outcome(*reports: Judged, asked: int = 0) -> Outcome:
    first, *rest = reports or REPORTS
    marked = replace(first, accepted={"known": IN_BASELINE}) if "known" in str(first.document) else first
    return Outcome([marked, *rest], ["security of https://example.com/: 1 is below 2."], asked or len(rest) + 1)


@pytest.mark.parametrize("name", WRITERS)
def test_no_format_has_what_a_terminal_obeys(name: str) -> None:
    said = set(formatted(name, outcome())) - set("\r\n\t")
    if name != "html":  # which is for browsers
        assert not {each for each in said if unicodedata.category(each) in OBEYED}
    for paint in (plain, colored):
        lines = [line for report in REPORTS for line in text(report, paint)]
        assert "\x1b[31m </script>" not in "\n".join(lines)
        assert "\u202e" not in "".join(lines)


@pytest.mark.parametrize("name", ["json", "full"])
def test_json_is_one_document_however_many_were_finished(name: str) -> None:
    found = json.loads(formatted(name, outcome()))
    assert [each["type"] for each in found["reports"]] == ["security", "performance", "seo"]
    complaints = ["security of https://example.com/: 1 is below 2."]
    gate = {"passed": False, "complaints": complaints, "interrupted": False, "unfinished": []}
    assert found["gate"] == gate
    first, _, last = found["reports"]
    assert first["accepted"] == {"known": IN_BASELINE}
    assert (last["status"], last["error"]["code"]) == ("failed", "URL_NOT_REACHABLE")
    single = json.loads(formatted(name, outcome(REPORTS[1])))
    assert single.pop("gate") == gate
    assert single == found["reports"][1]
    assert json.loads(formatted(name, outcome(REPORTS[1], asked=2)))["reports"] == [single]
    assert (single["checks_left_out"] if name == "json" else len(single["omitted_checks"])) == 1


@pytest.mark.parametrize("name", ["json", "full"])
@pytest.mark.parametrize(
    ("reports", "is_interrupted", "unfinished", "passed"),
    [
        (REPORTS[1:2], False, (), True),
        (REPORTS[2:], False, (), False),
        (REPORTS[1:2], True, (), False),
        (REPORTS[1:2], False, ("https://example.com/gone",), False),
    ],
)
def test_a_gate_passes_only_what_was_scanned_to_the_end(
    name: str, reports: tuple[Judged, ...], is_interrupted: bool, unfinished: tuple[str, ...], passed: bool
) -> None:
    made = Outcome(reports, [], len(reports), is_interrupted=is_interrupted, unfinished=unfinished)
    gate = json.loads(formatted(name, made))["gate"]
    assert gate == {
        "passed": passed,
        "complaints": [],
        "interrupted": is_interrupted,
        "unfinished": list(unfinished),
    }


@pytest.mark.parametrize(
    ("name", "operation"), [("json", "/v1/report/{scan_id}"), ("full", "/v1/report/{scan_id}/export")]
)
def test_json_is_what_the_api_says_of_its_reports(name: str, operation: str) -> None:
    api = description()
    content = api["paths"][operation]["get"]["responses"]["200"]["content"]["application/json"]
    schema = content["schema"] | {"components": api["components"]}
    for each in json.loads(formatted(name, outcome(*REPORTS[:2])))["reports"]:
        jsonschema.validate(each, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**each, "score": "A+"}, schema)


def test_sarif_is_one_log_with_a_run_for_each_type() -> None:
    log = json.loads(formatted("sarif", outcome()))
    assert_sarif(log)
    first, second, last = log["runs"]
    assert [run["automationDetails"]["id"] for run in log["runs"]] == [
        "website-scan/security/",
        "website-scan/performance/",
        "website-scan/seo/",
    ]
    rule = first["tool"]["driver"]["rules"][0]
    assert rule["helpUri"] == "https://cwe.mitre.org/data/definitions/693.html"
    assert rule["help"] == {
        "text": "Mend hsts.",
        "markdown": "Mend hsts.\n\nSources: [CWE-693](<https://cwe.mitre.org/data/definitions/693.html>)",
    }
    assert rule["properties"]["security-severity"] == "8.0"
    by_rule = {each["ruleId"]: each for each in first["results"]}
    assert {id: bool(each["suppressions"]) for id, each in by_rule.items()} == {
        "hsts": False,
        "csp": False,
        "known": True,
    }
    location = by_rule["hsts"]["locations"][0]
    assert location["physicalLocation"]["artifactLocation"]["uri"] == "example.com"
    assert location["physicalLocation"]["region"]["snippet"] == {"text": HOSTILE}
    assert location["logicalLocations"] == [{"fullyQualifiedName": HOSTILE, "kind": "element"}]
    assert len(by_rule["hsts"]["partialFingerprints"]["place/v1"]) == 16
    assert "could not run" in first["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"]
    assert second["properties"]["checks_left_out"] == 1
    assert last["invocations"][0]["executionSuccessful"] is False


def test_code_scanning_takes_any_number_of_pages() -> None:
    """GitHub refuses a file of more than 20 runs. Either all results of a run have suppressions, or none."""
    pages = [
        judged(found("hsts", "fail" if number % 2 else "pass"), found("csp"), url=f"https://example.com/{number}")
        for number in range(30)
    ]
    pages[7] = replace(pages[7], accepted={"hsts": IN_BASELINE})
    log = json.loads(formatted("sarif", outcome(*pages, *REPORTS[1:])))
    assert_sarif(log)
    run = log["runs"][0]
    assert {rule["help"]["text"] for rule in run["tool"]["driver"]["rules"]} == {"Mend hsts.", "Mend csp."}
    assert len(run["results"]) == 45
    assert len([each for each in run["results"] if each["suppressions"]]) == 1
    assert [each["properties"]["url"] for each in run["invocations"]] == [each.url for each in pages]
    alerts = {(each["ruleId"], each["partialFingerprints"]["primaryLocationLineHash"]) for each in run["results"]}
    assert len(alerts) == 45


def test_code_scanning_takes_a_preview_for_the_same_analysis() -> None:
    """An upload closes the alerts of its category that it lacks, so neither category nor hash contains the host."""
    hashes = []
    for host in ("example.com", "preview-7.example.net"):
        log = json.loads(formatted("sarif", outcome(judged(found("hsts"), url=f"https://{host}/shop?a=1"))))
        (result,) = log["runs"][0]["results"]
        hashes.append((log["runs"][0]["automationDetails"], result["partialFingerprints"]["primaryLocationLineHash"]))
    assert hashes[0] == hashes[1]


def test_sarif_shows_the_source_of_each_place() -> None:
    places = [Element(f"#{each} > img", f"<img id={each}>") for each in ("one", "two", "two", "three")]
    log = json.loads(formatted("sarif", outcome(judged(found("alt", "fail", Severity.HIGH, *places)))))
    assert_sarif(log)
    (run,) = log["runs"]
    shown = [each["locations"][0] for each in run["results"]]
    assert [each["physicalLocation"]["region"]["snippet"]["text"] for each in shown] == [
        "<img id=one>",
        "<img id=two>",
        "<img id=two>",
        "<img id=three>",
    ]
    assert " At #one > img. On " in run["results"][0]["message"]["text"]


CODE_QUALITY = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["description", "check_name", "fingerprint", "severity", "location"],
        "properties": {
            "description": {"type": "string", "pattern": r"^[^\n]+$"},
            "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
            "fingerprint": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
            "location": {
                "required": ["path", "lines"],
                "properties": {
                    "path": {"type": "string", "minLength": 1},
                    "lines": {"required": ["begin"], "properties": {"begin": {"type": "integer", "minimum": 1}}},
                },
            },
        },
    },
}


def quality(*reports: Judged) -> list[dict[str, Any]]:
    entries = json.loads(formatted("codequality", outcome(*reports)))
    jsonschema.validate(entries, CODE_QUALITY)
    assert len({each["fingerprint"] for each in entries}) == len(entries)
    return list(entries)


def test_code_quality_has_an_entry_for_each_place_that_is_not_accepted() -> None:
    entries = quality()
    assert [(each["check_name"], each["severity"], each["location"]["path"]) for each in entries] == [
        ("security/hsts", "critical", "example.com"),
        ("security/csp", "info", "example.com"),
        ("seo/URL_NOT_REACHABLE", "blocker", "example.com/gone"),
    ]
    places = [Element(f"#{each} > img", "<img>") for each in ("one", "two")]
    on_two_pages = [judged(found("alt", "fail", Severity.HIGH, *places), url=f"https://a.example/{n}") for n in (1, 2)]
    assert len(quality(*on_two_pages)) == 4


def test_gitlab_compares_a_preview_with_the_site_and_keeps_hosts_apart() -> None:
    one, preview = (judged(found("hsts"), url=f"https://{host}/shop") for host in ("a.example", "b.example"))
    (at_one,), (at_preview,) = quality(one), quality(preview)
    assert at_one["fingerprint"] == at_preview["fingerprint"]
    assert len(quality(one, preview)) == 2
    assert at_one["location"]["path"] == "a.example/shop"  # as of a file in the repository


def test_csv_has_a_line_for_each_check_and_no_formula() -> None:
    rows = list(csv.DictReader(io.StringIO(formatted("csv", outcome()), newline="")))
    assert [(row["type"], row["status"]) for row in rows] == [
        ("security", "fail"),
        ("security", "fail"),
        ("security", "warn"),
        ("security", "pass"),
        ("security", "could not run"),
        ("performance", "pass"),
        ("performance", "could not run"),
        ("performance", "left out"),
        ("seo", "scan failed"),
    ]
    assert rows[0]["message"].startswith("'=1+1")
    assert rows[1]["accepted"] == IN_BASELINE


def junit_suites(made: Outcome) -> list[ElementTree.Element]:
    document = formatted("junit", made)
    etree.XMLSchema(file=Path(__file__).with_name("junit.xsd")).assertValid(etree.fromstring(document.encode()))
    return list(ElementTree.fromstring(document))


def counts(suites: list[ElementTree.Element]) -> list[tuple[int, ...]]:
    return [tuple(int(suite.attrib[each]) for each in ("tests", "failures", "errors", "skipped")) for suite in suites]


def test_junit_counts_what_failed_and_what_was_not_judged() -> None:
    suites = junit_suites(replace(outcome(), gate=Gate(fail_on=Severity.LOW)))
    assert counts(suites) == [(5, 1, 0, 2), (3, 0, 0, 2), (1, 0, 1, 0)]
    failure = suites[0].find("testcase/failure")
    assert failure is not None
    assert failure.attrib == {"type": "high", "message": "hsts is wrong"}
    assert "Fix: Mend hsts." in (failure.text or "")


@pytest.mark.parametrize(
    ("gate", "status", "failed"),
    [
        (Gate(), "fail", set()),
        (Gate(fail_on=Severity.CRITICAL), "fail", set()),
        (Gate(fail_on=Severity.HIGH), "fail", {"hsts is well"}),
        (Gate(fail_on=Severity.LOW), "fail", {"hsts is well"}),
        (Gate(fail_on=Severity.LOW), "warn", set()),
        (Gate({"": 51}), "fail", {"score is at least 51"}),
        (Gate({"": 50}), "fail", set()),
        (Gate({"seo": 51}), "fail", set()),
        (Gate({"": 51}, Severity.HIGH), "fail", {"hsts is well", "score is at least 51"}),
    ],
)
def test_junit_fails_exactly_for_what_fails_the_gate(gate: Gate, status: str, failed: set[str]) -> None:
    report = judged(found("hsts", status), found("csp", "pass"))
    (suite,) = junit_suites(Outcome([report], list(gate.complaints(report)), 1, gate=gate))
    assert {case.attrib["name"] for case in suite if case.find("failure") is not None} == failed
    assert bool(failed) is bool(list(gate.complaints(report)))
    # A finding that the gate lets pass is told nevertheless.
    told = next(case for case in suite if case.attrib["name"] == "hsts is well")
    assert "hsts is wrong" in ElementTree.tostring(told, encoding="unicode")
    assert "Mend hsts." in ElementTree.tostring(told, encoding="unicode")


def test_junit_skips_what_the_baseline_accepts() -> None:
    report = replace(judged(found("hsts"), found("csp", "pass")), accepted={"hsts": IN_BASELINE})
    (suite,) = junit_suites(Outcome([report], [], 1, gate=Gate(fail_on=Severity.LOW)))
    assert suite.find("testcase/failure") is None
    skipped = suite.find("testcase[@name='hsts is well']/skipped")
    assert skipped is not None
    assert skipped.attrib["message"] == f"hsts is wrong: {IN_BASELINE}"


def test_markdown_shows_what_a_site_says_as_text() -> None:
    shown = formatted("markdown", outcome())
    assert "| <https://example.com/> | security |" in shown
    assert "**The gate failed:**" in shown
    assert "- **hsts is wrong** (failed, high, Headers, `hsts`)" in shown
    assert "  Fix: Mend hsts." in shown
    assert "\\<img" in shown
    assert "\\[a\\](javascript:b)" in shown
    assert "\\@team" in shown
    assert "\n# head" not in shown
    assert escaped("- one") == "\\- one"
    assert escaped("1. one") == "1\\. one"
    assert escaped("https://b.example www.b.example") == "https\\://b.example www\\.b.example"
    assert link("https://example.com/a|b?<c>") == "<https://example.com/a%7Cb?%3Cc%3E>"
    assert link("javascript:alert(1)//") == "javascript:alert(1)//"
    assert code("a`b``c") == "``` a`b``c ```"


def test_html_is_one_file_that_loads_nothing() -> None:
    tree = LexborHTMLParser(formatted("html", outcome()))
    ids = [each.attributes["id"] for each in tree.css("[id]")]
    assert len(ids) == len(set(ids))
    links = [each.attributes["href"] or "" for each in tree.css("a[href]")]
    assert {link[1:] for link in links if link.startswith("#")} <= set(ids)
    assert not tree.css("script, link, img, [onerror]")
    headings = [each.text(strip=True) for each in tree.css("article h1")]
    assert headings == [
        "Security reporthttps://example.com/",
        "Performance reporthttps://example.com/",
        "SEO reporthttps://example.com/gone",
    ]
    assert "URL_NOT_REACHABLE: Nobody answers." in tree.css("article")[2].text()
    assert "hsts is wrong" in tree.css("article")[0].text()
    assert "1 is below 2" in tree.css("[aria-labelledby=gate]")[0].text()
    assert "This report is partial: 1 check could not run" in tree.css("article")[0].text()
    # Buttons that need a script are hidden where the policy allows no script.
    assert tree.css("style")[0].text().endswith("[data-copy] { display: none; }")


def test_the_landmarks_of_several_reports_have_names_of_their_own() -> None:
    """The types of a page and the pages of a type share their headings (axe-core's landmark-unique)."""
    urls = ("https://example.com/", "https://example.com/shop")
    reports = [judged(found("known"), found("hsts"), url=url, type=each) for url in urls for each in ScanType]
    tree = LexborHTMLParser(formatted("html", outcome(*reports, REPORTS[2])))
    said = {each.id: each.attributes.get("aria-label") or " ".join(each.text().split()) for each in tree.css("[id]")}
    names = [
        (each.tag, " ".join(said[id] for id in (each.attributes.get("aria-labelledby") or "").split()))
        for each in tree.css("section[aria-labelledby], nav[aria-labelledby]")
    ]
    assert len(set(names)) == len(names) > 8 * 4
    assert ("section", "SEO report https://example.com/shop Headers") in names
    assert not tree.css("section[aria-label]:not([aria-labelledby]), nav[aria-label=Contents]:not([aria-labelledby])")


def test_text_says_where_and_counts_places_that_are_not_shown() -> None:
    places = [Element(f"#{name}", "<p>") for name in ("one", "two", "three", "four", "five")]
    lines = list(text(judged(found("contrast", "fail", Severity.HIGH, *places))))
    first = lines.index("        at #one")
    assert lines[first : first + 4] == [
        "        at #one",
        "        at #two",
        "        at #three",
        "        and 2 more places",
    ]


def test_html_links_the_findings_of_two_types_that_tell_the_same() -> None:
    seo = judged(found("lang-present"), type=ScanType.SEO)
    accessibility = judged(found("html-has-lang"), type=ScanType.ACCESSIBILITY)
    elsewhere = judged(found("html-has-lang"), type=ScanType.ACCESSIBILITY, url="https://example.com/other")
    tree = LexborHTMLParser(formatted("html", Outcome([seo, accessibility, elsewhere], [], 3)))
    links = {(card.id, link.attributes["href"]) for card in tree.css("li.check") for link in card.css("p.hint a")}
    assert links == {
        ("report-1-check-lang-present", "#report-2-check-html-has-lang"),
        ("report-2-check-html-has-lang", "#report-1-check-lang-present"),
    }


@pytest.mark.parametrize("repeat", [each for each in REPEATS if not each.is_within_type])
def test_text_and_markdown_tell_a_fact_of_two_types_once(repeat: Repeat) -> None:
    telling, silent = repeat.told_by, repeat.check
    first = judged(found(telling.id), type=telling.type)
    second = judged(found(silent.id), found("other"), type=silent.type)
    refers = f"The {telling.type.label} report has the same finding: {telling.id} is wrong ({telling.id})."
    shown = list(text(second, others=[first, second]))
    assert f"    ✗ {silent.id} is wrong (high, Headers): {refers}" in shown
    assert f"        Fix: Mend {silent.id}." not in shown
    assert "        Fix: Mend other." in shown
    assert f"        Fix: Mend {telling.id}." in list(text(first, others=[first, second]))
    document = formatted("markdown", Outcome([first, second], [], 2))
    assert f"  {markup.escaped(refers)}\n\n- **other" in document
    assert (document.count(f"Fix: Mend {telling.id}."), document.count(f"Fix: Mend {silent.id}.")) == (1, 0)


def test_a_fact_is_told_in_full_where_the_other_report_does_not_tell_it() -> None:
    seo = judged(found("h1"), type=ScanType.SEO)
    tells = judged(found("page-has-heading-one"), type=ScanType.ACCESSIBILITY)
    other = judged(found("page-has-heading-one"), type=ScanType.ACCESSIBILITY, url="https://example.com/other")
    review = judged(found("page-has-heading-one", "warn", weighs=False), found("list"), type=ScanType.ACCESSIBILITY)
    accepted = tells.accepting({"page-has-heading-one": IN_BASELINE})
    assert seo.told_by([tells]).keys() == {"h1"}
    for each in (other, review, accepted, failed(), seo):
        assert seo.told_by([each]) == {}
    assert tells.told_by([seo]) == {}


def test_quiet_text_is_silent_about_what_is_accepted() -> None:
    report = judged(found("known", "fail"), found("hsts", "fail")).accepting({"known": IN_BASELINE})
    said, quiet = ("\n".join(text(report, is_quiet=each)) for each in (False, True))
    assert "Accepted (1)" in said
    assert "known is wrong" not in quiet
    assert "hsts is wrong" in quiet
    assert f"({report.score} without what is accepted)" in quiet
