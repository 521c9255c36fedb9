"""Test that every output format is valid and escaped."""

from __future__ import annotations

import csv
import io
import itertools
import json
import re
import unicodedata
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest
from lxml import etree
from msgspec.structs import replace
from selectolax.lexbor import LexborHTMLParser

from tests.generated import description
from tests.reports.sarif import assert_sarif
from tests.website_scan.command.reports import check_result, failed_scan, judged_report
from website_scan.command.arguments import Options
from website_scan.command.formats import WRITERS
from website_scan.command.formats.markdown import code, escaped, link
from website_scan.command.formats.site_text import site_text
from website_scan.command.formats.text import MAX_WIDTH, colored, plain, summary, text
from website_scan.command.gate import BASELINE_REASON, CommandReport, CommandResult, Gate
from website_scan.command.output import OutputWriter, formatted
from website_scan.findings import ScanType, Severity
from website_scan.places import Element, Resource, Rows
from website_scan.repeats import REPEATS, Repeat
from website_scan.report import markup
from website_scan.result import HowToFix

HOSTILE = "=1+1 \x1b[31m \u202e </script><img src=x onerror=alert(1)> ]]> | `x` [a](javascript:b) @team\n# head"
# Unicode categories that a terminal interprets: control characters, direction marks, lone surrogates, line and
# paragraph separators.
INTERPRETED = {"Cc", "Cf", "Cs", "Zl", "Zp"}
# Rows with characters that the scanner would replace, but that a service may send.
UNCLEAN = Rows((Element(HOSTILE, HOSTILE),), {Element: 1})
REPORTS = (
    judged_report(
        replace(check_result("hsts", "fail", Severity.HIGH, summary=HOSTILE), places=UNCLEAN),
        check_result("csp", "warn", Severity.LOW),
        check_result("known", "fail"),
        check_result("cookies", "pass"),
    ),
    judged_report(check_result("lcp", "pass"), type=ScanType.PERFORMANCE),
    failed_scan(),
)


def outcome(*reports: CommandReport, requested: int = 0) -> CommandResult:
    first, *rest = reports or REPORTS
    marked = replace(first, accepted={"known": BASELINE_REASON}) if "known" in str(first.export) else first
    return CommandResult(
        [marked, *rest], ["security of https://example.com/: 1 is below 2."], requested or len(rest) + 1
    )


@pytest.mark.parametrize("name", WRITERS)
def test_no_format_has_terminal_characters(name: str) -> None:
    characters = set(formatted(name, outcome())) - set("\r\n\t")
    if name != "html":  # HTML is for browsers, so it may contain characters that terminals interpret.
        assert not {character for character in characters if unicodedata.category(character) in INTERPRETED}
    for paint in (plain, colored):
        lines = [line for report in REPORTS for line in text(report, paint)]
        assert "\x1b[31m </script>" not in "\n".join(lines)
        assert "\u202e" not in "".join(lines)


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("reports", [REPORTS, REPORTS[:1], REPORTS[2:]], ids=["several", "one", "failed"])
def test_every_format_ends_with_one_newline(name: str, reports: tuple[CommandReport, ...]) -> None:
    content = formatted(name, outcome(*reports))
    assert content.endswith("\n")
    assert not content.endswith("\n\n")


def test_sarif_has_documentation_urls_of_a_service() -> None:
    for address in ("https://scan.example.com/docs/checks/", ""):
        log = json.loads(formatted("sarif", replace(outcome(), check_pages=address)))
        addresses = {run["tool"]["driver"].get("informationUri") for run in log["runs"]}
        assert addresses == {address or None}


@pytest.mark.parametrize("name", ["json", "full"])
def test_json_structure_depends_on_the_number_of_reports(name: str) -> None:
    content = json.loads(formatted(name, outcome()))
    assert [report["type"] for report in content["reports"]] == ["security", "performance", "seo"]
    complaints = ["security of https://example.com/: 1 is below 2."]
    gate = {"passed": False, "complaints": complaints, "interrupted": False, "unfinished": []}
    assert content["gate"] == gate
    first, _, last = content["reports"]
    assert first["accepted"] == {"known": BASELINE_REASON}
    assert (last["status"], last["error"]["code"]) == ("failed", "URL_NOT_REACHABLE")
    single = json.loads(formatted(name, outcome(REPORTS[1])))
    assert single.pop("gate") == gate
    assert single == content["reports"][1]
    assert json.loads(formatted(name, outcome(REPORTS[1], requested=2)))["reports"] == [single]
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
def test_gate_needs_all_scans_completed(
    name: str, reports: tuple[CommandReport, ...], is_interrupted: bool, unfinished: tuple[str, ...], passed: bool
) -> None:
    result = CommandResult(reports, [], len(reports), is_interrupted=is_interrupted, unfinished=unfinished)
    gate = json.loads(formatted(name, result))["gate"]
    assert gate == {
        "passed": passed,
        "complaints": [],
        "interrupted": is_interrupted,
        "unfinished": list(unfinished),
    }


@pytest.mark.parametrize(
    ("name", "operation"), [("json", "/v1/report/{scan_id}"), ("full", "/v1/report/{scan_id}/export")]
)
def test_json_matches_the_api_schema(name: str, operation: str) -> None:
    api = description()
    content = api["paths"][operation]["get"]["responses"]["200"]["content"]["application/json"]
    schema = content["schema"] | {"components": api["components"]}
    for report in json.loads(formatted(name, outcome(*REPORTS[:2])))["reports"]:
        jsonschema.validate(report, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**report, "score": "A+"}, schema)


def test_sarif_has_one_run_per_scan_type() -> None:
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
    results_by_rule = {result["ruleId"]: result for result in first["results"]}
    assert {id: bool(result["suppressions"]) for id, result in results_by_rule.items()} == {
        "hsts": False,
        "csp": False,
        "known": True,
    }
    location = results_by_rule["hsts"]["locations"][0]
    assert location["physicalLocation"]["artifactLocation"]["uri"] == "example.com"
    assert location["physicalLocation"]["region"]["snippet"] == {"text": HOSTILE}
    assert location["logicalLocations"] == [{"fullyQualifiedName": HOSTILE, "kind": "element"}]
    assert len(results_by_rule["hsts"]["partialFingerprints"]["place/v1"]) == 16
    assert "could not run" in first["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"]
    assert second["properties"]["checks_left_out"] == 1
    assert last["invocations"][0]["executionSuccessful"] is False


def test_sarif_has_one_run_for_any_number_of_pages() -> None:
    """GitHub refuses files with more than 20 runs. Either all results of a run have suppressions, or none."""
    pages = [
        judged_report(
            check_result("hsts", "fail" if number % 2 else "pass"),
            check_result("csp"),
            url=f"https://example.com/{number}",
        )
        for number in range(30)
    ]
    pages[7] = replace(pages[7], accepted={"hsts": BASELINE_REASON})
    log = json.loads(formatted("sarif", outcome(*pages, *REPORTS[1:])))
    assert_sarif(log)
    run = log["runs"][0]
    assert {rule["help"]["text"] for rule in run["tool"]["driver"]["rules"]} == {"Mend hsts.", "Mend csp."}
    assert len(run["results"]) == 45
    assert len([result for result in run["results"] if result["suppressions"]]) == 1
    assert [invocation["properties"]["url"] for invocation in run["invocations"]] == [page.url for page in pages]
    alerts = {(result["ruleId"], result["partialFingerprints"]["primaryLocationLineHash"]) for result in run["results"]}
    assert len(alerts) == 45


def test_sarif_category_and_hash_omit_the_host() -> None:
    """GitHub closes alerts that a new upload of their category lacks, so the host must not matter."""
    hashes = []
    for host in ("example.com", "preview-7.example.net"):
        log = json.loads(
            formatted("sarif", outcome(judged_report(check_result("hsts"), url=f"https://{host}/shop?a=1")))
        )
        (result,) = log["runs"][0]["results"]
        hashes.append((log["runs"][0]["automationDetails"], result["partialFingerprints"]["primaryLocationLineHash"]))
    assert hashes[0] == hashes[1]


def test_sarif_has_the_html_source_of_every_place() -> None:
    places = [Element(f"#{id} > img", f"<img id={id}>") for id in ("one", "two", "two", "three")]
    log = json.loads(formatted("sarif", outcome(judged_report(check_result("alt", "fail", Severity.HIGH, *places)))))
    assert_sarif(log)
    (run,) = log["runs"]
    locations = [result["locations"][0] for result in run["results"]]
    assert [location["physicalLocation"]["region"]["snippet"]["text"] for location in locations] == [
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


def quality(*reports: CommandReport) -> list[dict[str, Any]]:
    entries = json.loads(formatted("codequality", outcome(*reports)))
    jsonschema.validate(entries, CODE_QUALITY)
    assert len({entry["fingerprint"] for entry in entries}) == len(entries)
    return list(entries)


def test_code_quality_has_one_entry_per_place() -> None:
    entries = quality()
    assert [(entry["check_name"], entry["severity"], entry["location"]["path"]) for entry in entries] == [
        ("security/hsts", "critical", "example.com"),
        ("security/csp", "info", "example.com"),
        ("seo/URL_NOT_REACHABLE", "blocker", "example.com/gone"),
    ]
    places = [Element(f"#{id} > img", "<img>") for id in ("one", "two")]
    quality_of_two_pages = [
        judged_report(check_result("alt", "fail", Severity.HIGH, *places), url=f"https://a.example/{n}") for n in (1, 2)
    ]
    assert len(quality(*quality_of_two_pages)) == 4


def test_code_quality_fingerprints_omit_a_single_host() -> None:
    one, preview = (
        judged_report(check_result("hsts"), url=f"https://{host}/shop") for host in ("a.example", "b.example")
    )
    (quality_of_one_page,), (quality_of_preview,) = quality(one), quality(preview)
    assert quality_of_one_page["fingerprint"] == quality_of_preview["fingerprint"]
    assert len(quality(one, preview)) == 2
    # As in a repository, the file path begins with the host.
    assert quality_of_one_page["location"]["path"] == "a.example/shop"


def test_csv_has_one_line_per_check() -> None:
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
    assert rows[1]["accepted"] == BASELINE_REASON


def junit_suites(made: CommandResult) -> list[ElementTree.Element]:
    content = formatted("junit", made)
    etree.XMLSchema(file=Path(__file__).with_name("junit.xsd")).assertValid(etree.fromstring(content.encode()))
    return list(ElementTree.fromstring(content))


def counts(suites: list[ElementTree.Element]) -> list[tuple[int, ...]]:
    return [tuple(int(suite.attrib[name]) for name in ("tests", "failures", "errors", "skipped")) for suite in suites]


def test_junit_counts_failures_and_skipped_checks() -> None:
    suites = junit_suites(replace(outcome(), gate=Gate(fail_on=Severity.LOW)))
    assert counts(suites) == [(5, 1, 0, 2), (3, 0, 0, 2), (1, 0, 1, 0)]
    failure = suites[0].find("testcase/failure")
    assert failure is not None
    assert failure.attrib == {"type": "high", "message": "hsts is wrong"}
    assert "Fix: Mend hsts." in (failure.text or "")


@pytest.mark.parametrize(
    ("gate", "status", "failing_cases"),
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
def test_junit_failures_are_those_of_the_gate(gate: Gate, status: str, failing_cases: set[str]) -> None:
    report = judged_report(check_result("hsts", status), check_result("csp", "pass"))
    (suite,) = junit_suites(CommandResult([report], list(gate.complaints(report)), 1, gate=gate))
    assert {case.attrib["name"] for case in suite if case.find("failure") is not None} == failing_cases
    assert bool(failing_cases) is bool(list(gate.complaints(report)))
    # A finding that does not fail the gate is still reported.
    case = next(case for case in suite if case.attrib["name"] == "hsts is well")
    assert "hsts is wrong" in ElementTree.tostring(case, encoding="unicode")
    assert "Mend hsts." in ElementTree.tostring(case, encoding="unicode")


def test_junit_skips_accepted_findings() -> None:
    report = replace(
        judged_report(check_result("hsts"), check_result("csp", "pass")), accepted={"hsts": BASELINE_REASON}
    )
    (suite,) = junit_suites(CommandResult([report], [], 1, gate=Gate(fail_on=Severity.LOW)))
    assert suite.find("testcase/failure") is None
    skipped = suite.find("testcase[@name='hsts is well']/skipped")
    assert skipped is not None
    assert skipped.attrib["message"] == f"hsts is wrong: {BASELINE_REASON}"


def test_markdown_escapes_text_from_the_site() -> None:
    markdown = formatted("markdown", outcome())
    assert "| <https://example.com/> | security |" in markdown
    assert "**The gate failed:**" in markdown
    assert "- **hsts is wrong** (failed, high, Headers, `hsts`)" in markdown
    assert "  Fix: Mend hsts." in markdown
    assert "\\<img" in markdown
    assert "\\[a\\](javascript:b)" in markdown
    assert "\\@team" in markdown
    assert "\n# head" not in markdown
    assert escaped("- one") == "\\- one"
    assert escaped("1. one") == "1\\. one"
    assert escaped("1)") == "1\\)"
    assert escaped("9.1.4.3 Contrast") == "9.1.4.3 Contrast"
    assert escaped("https://b.example www.b.example") == "https\\://b.example www\\.b.example"
    assert link("https://example.com/a|b?<c>") == "<https://example.com/a%7Cb?%3Cc%3E>"
    assert link("javascript:alert(1)//") == "javascript:alert(1)//"
    assert code("a`b``c") == "``` a`b``c ```"


def test_html_is_one_file_without_other_resources() -> None:
    tree = LexborHTMLParser(formatted("html", outcome()))
    ids = [node.attributes["id"] for node in tree.css("[id]")]
    assert len(ids) == len(set(ids))
    links = [node.attributes["href"] or "" for node in tree.css("a[href]")]
    assert {link[1:] for link in links if link.startswith("#")} <= set(ids)
    assert not tree.css("script, link, img, [onerror]")
    headings = [node.text(strip=True) for node in tree.css("article h1")]
    assert headings == [
        "Security reporthttps://example.com/",
        "Performance reporthttps://example.com/",
        "SEO reporthttps://example.com/gone",
    ]
    assert "URL_NOT_REACHABLE: Nobody answers." in tree.css("article")[2].text()
    assert "hsts is wrong" in tree.css("article")[0].text()
    assert "1 is below 2" in tree.css("[aria-labelledby=gate]")[0].text()
    assert "This report is partial: 1 check could not run" in tree.css("article")[0].text()
    # Buttons that need a script are hidden, because the file's policy allows no script.
    assert tree.css("style")[0].text().endswith("[data-copy] { display: none; }")


def test_landmarks_have_unique_names() -> None:
    """Every report has the same headings, but landmark-unique requires different names."""
    urls = ("https://example.com/", "https://example.com/shop")
    reports = [
        judged_report(check_result("known"), check_result("hsts"), url=url, type=scan_type)
        for url in urls
        for scan_type in ScanType
    ]
    tree = LexborHTMLParser(formatted("html", outcome(*reports, REPORTS[2])))
    texts = {node.id: node.attributes.get("aria-label") or " ".join(node.text().split()) for node in tree.css("[id]")}
    names = [
        (node.tag, " ".join(texts[id] for id in (node.attributes.get("aria-labelledby") or "").split()))
        for node in tree.css("section[aria-labelledby], nav[aria-labelledby]")
    ]
    assert len(set(names)) == len(names) > 8 * 4
    assert ("section", "SEO report https://example.com/shop Headers") in names
    assert not tree.css("section[aria-label]:not([aria-labelledby]), nav[aria-label=Contents]:not([aria-labelledby])")


def test_text_lists_three_places() -> None:
    places = [Element(f"#{name}", "<p>") for name in ("one", "two", "three", "four", "five")]
    lines = list(text(judged_report(check_result("contrast", "fail", Severity.HIGH, *places))))
    first = lines.index("      at #one")
    assert lines[first : first + 4] == [
        "      at #one",
        "      at #two",
        "      at #three",
        "      and 2 more places",
    ]


def test_text_counts_places_that_are_not_stored() -> None:
    rows = Rows.of([Element("#a"), *(Element(f"#{n}") for n in range(18)), Element("#a")], 28)
    check = replace(check_result("contrast"), summary="28 texts are faint.", places=rows)
    written = "\n".join(text(judged_report(check)))
    assert "28 texts are faint." in written
    assert f"and {28 - len(re.findall(r'#[a0-9]+', written))} more places" in written


def test_html_links_findings_of_two_scan_types() -> None:
    seo = judged_report(check_result("lang-present"), type=ScanType.SEO)
    accessibility = judged_report(check_result("html-has-lang"), type=ScanType.ACCESSIBILITY)
    elsewhere = judged_report(
        check_result("html-has-lang"), type=ScanType.ACCESSIBILITY, url="https://example.com/other"
    )
    tree = LexborHTMLParser(formatted("html", CommandResult([seo, accessibility, elsewhere], [], 3)))
    links = {(card.id, link.attributes["href"]) for card in tree.css("li.check") for link in card.css("p.hint a")}
    assert links == {
        ("report-1-check-lang-present", "#report-2-check-html-has-lang"),
        ("report-2-check-html-has-lang", "#report-1-check-lang-present"),
    }


@pytest.mark.parametrize("repeat", [repeat for repeat in REPEATS if not repeat.is_within_type])
def test_text_reports_the_same_fact_only_once(repeat: Repeat) -> None:
    reported, repeated = repeat.told_by, repeat.check
    first = judged_report(check_result(reported.id), type=reported.type)
    second = judged_report(check_result(repeated.id), check_result("other"), type=repeated.type)
    reference = f"The {reported.type.label} report has the same finding: {reported.id} is wrong ({reported.id})."
    lines = list(text(second, width=MAX_WIDTH, others=[first, second]))
    (title,) = (number for number, line in enumerate(lines) if line.startswith(f"  ✗ {repeated.id} is wrong (high, "))
    assert lines[title + 1] == f"    {reference}"
    assert f"    Fix: Mend {repeated.id}." not in lines
    assert "    Fix: Mend other." in lines
    assert f"    Fix: Mend {reported.id}." in list(text(first, others=[first, second]))
    markdown = formatted("markdown", CommandResult([first, second], [], 2))
    assert f"  {markup.escaped(reference)}\n\n- **other" in markdown
    assert (markdown.count(f"Fix: Mend {reported.id}."), markdown.count(f"Fix: Mend {repeated.id}.")) == (1, 0)


def test_same_finding_is_reported_elsewhere() -> None:
    seo = judged_report(check_result("h1"), type=ScanType.SEO)
    same_fact = judged_report(check_result("page-has-heading-one"), type=ScanType.ACCESSIBILITY)
    other = judged_report(
        check_result("page-has-heading-one"), type=ScanType.ACCESSIBILITY, url="https://example.com/other"
    )
    review = judged_report(
        check_result("page-has-heading-one", "warn", weighs=False), check_result("list"), type=ScanType.ACCESSIBILITY
    )
    accepted = same_fact.accept_checks({"page-has-heading-one": BASELINE_REASON})
    assert seo.reported_elsewhere([same_fact]).keys() == {"h1"}
    for report in (other, review, accepted, failed_scan(), seo):
        assert seo.reported_elsewhere([report]) == {}
    assert same_fact.reported_elsewhere([seo]) == {}


def test_quiet_text_omits_accepted_findings() -> None:
    report = judged_report(check_result("known", "fail"), check_result("hsts", "fail")).accept_checks(
        {"known": BASELINE_REASON}
    )
    export = report.export
    full, quiet = ("\n".join(text(report, is_quiet=is_quiet_output)) for is_quiet_output in (False, True))
    assert "Accepted (1)" in full
    assert "known is wrong" not in quiet
    assert "hsts is wrong" in quiet
    assert quiet.splitlines()[0].endswith(
        f"  {report.score}/100  ({export['score']}/100 {export['grade']} with 1 accepted)"
    )


def test_text_groups_failures_with_the_same_reason(capsys: pytest.CaptureFixture[str]) -> None:
    url = "https://example.com/"
    reports = [failed_scan(url, scan_type) for scan_type in (ScanType.SECURITY, ScanType.SEO)]
    OutputWriter(Options((url,))).show([*reports, failed_scan(url, ScanType.PERFORMANCE, "TIMEOUT")])
    assert capsys.readouterr().out.splitlines() == [
        f"{url}  security, seo  not scanned",
        "  Nobody answers.",
        "",
        f"{url}  performance  not scanned",
        "  Nobody answers.",
    ]


PLACE = Resource("https://example.com/" + "a" * 90)
LONG = check_result(
    "long",
    "fail",
    Severity.HIGH,
    PLACE,
    summary="Words " * 40,
    how_to_fix=HowToFix("Sentences " * 30, (("nginx", "add_header " + "x" * 90), ("PHP", "<?php\nexit;"))),
    why="Reasons " * 20,
)


@pytest.mark.parametrize("width", [40, 80, 120])
def test_text_is_wrapped_except_for_addresses_and_code(width: int) -> None:
    lines = list(text(judged_report(LONG, check_result("x", "pass"), browser="Chromium 156.0"), width=width))
    too_long = [line for line in lines if len(line) > width]
    assert all("https://" in line or "add_header" in line or "(high, " in line for line in too_long)
    assert max(map(len, lines)) > width or width == 120
    assert f"      at {PLACE.url}" in lines
    assert lines[lines.index("      PHP:") + 1 :][:2] == ["        <?php", "        exit;"]


def test_wrapped_lines_are_indented_below_the_title() -> None:
    lines = list(text(judged_report(LONG), width=60))
    (title,) = (number for number, line in enumerate(lines) if line.startswith("  ✗ long is wrong (high, "))
    assert lines[title + 1].startswith("    Words Words")
    assert lines[title + 2].startswith("    Words Words")
    (fix,) = (number for number, line in enumerate(lines) if line.startswith("    Fix: Sentences"))
    assert lines[fix + 1].startswith("         Sentences")


def test_text_ends_with_one_line_for_each_report(capsys: pytest.CaptureFixture[str]) -> None:
    url, other = "https://example.com/", "https://example.com/shop"
    reports = [
        judged_report(check_result("hsts"), check_result("csp", "warn"), url=url),
        judged_report(check_result("h1", "pass"), url=url, type=ScanType.SEO),
        failed_scan(other, ScanType.SECURITY),
    ]
    OutputWriter(Options((url, other))).end(CommandResult(reports, [], 3))
    score, grade = reports[0].export["score"], reports[0].export["grade"]
    assert capsys.readouterr().out.splitlines() == [
        "",
        url,
        f"  security       {score:>3}/100  {grade:<2}  1 failed, 1 warning",
        "  seo            100/100  A+  no findings",
        other,
        "  security       not scanned",
    ]


@pytest.mark.parametrize(
    ("score", "grade", "color"),
    [(98, "A+", 32), (97, "A", 32), (90, "A", 32), (89, "B", 33), (70, "C", 33), (69, "D", 31), (59, "F", 31)],
)
def test_scores_are_colored_by_grade(score: int, grade: str, color: int) -> None:
    """Regression test: a "B" was red like an "F", because a check had failed."""
    report = judged_report(check_result("hsts", "fail", Severity.HIGH))
    graded = replace(report, export={**report.export, "score": score, "grade": grade})
    assert f"\x1b[{color}m{score}/100  {grade}" in next(text(graded, colored))
    assert f"\x1b[{color}m {score}/100  {grade}" in list(summary([graded], colored))[-1]
    lines = list(site_text(CommandResult([graded], [], 1), colored, MAX_WIDTH))
    assert f"\x1b[{color}mlowest score  {score}/100 {grade}" in lines[-1]


def test_accepted_findings_do_not_color_the_score() -> None:
    report = judged_report(check_result("known", "fail", Severity.CRITICAL))
    accepted = replace(report, accepted={"known": BASELINE_REASON}, accepted_score=92)
    assert "\x1b[32m92/100" in next(text(accepted, colored))


@pytest.mark.parametrize("width", [40, 80, 120])
def test_long_titles_are_wrapped_and_name_the_outcome(width: int) -> None:
    """Regression test: a title with its category was longer than a terminal of 80 columns."""
    title = "Check by hand: links with the same name lead to the same place"
    report = judged_report(replace(check_result("link-purpose", "warn", Severity.LOW), title=title))
    lines = list(text(report, width=width))
    first = next(number for number, line in enumerate(lines) if line.startswith("  ! Check by hand"))
    rest = list(itertools.takewhile(lambda line: not line.endswith(")"), lines[first:]))
    rows = lines[first : first + len(rest) + 1]
    assert " ".join(row.strip() for row in rows) == f"! {title} (low, Headers, link-purpose.faulty)"
    assert max(map(len, rows)) <= width
    assert all(row.startswith("    ") for row in rows[1:])


def test_summary_aligns_scores_with_accepted_findings() -> None:
    security = judged_report(check_result("known", "fail", Severity.CRITICAL), check_result("csp", "warn"))
    accepted = replace(security, accepted={"known": BASELINE_REASON}, accepted_score=92)
    seo = judged_report(check_result("title", "warn"), type=ScanType.SEO)
    _, first, second = summary([accepted, seo])
    assert first.index("1 warning") == second.index("1 warning")
    export = security.export
    assert first.endswith(f"1 warning  ({export['score']}/100 {export['grade']} with 1 accepted)")
