"""Tests for the conformance formats and the gate by level."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from tests.website_scan.command.reports import check_result, failed_scan, judged_report
from website_scan.accessibility.standards import Standard
from website_scan.browser.devices import USUAL_VIEWING, Viewing
from website_scan.command.arguments import parse_arguments
from website_scan.command.errors import WrongUsage
from website_scan.command.formats.conformance import WIDTH, conformance_text, earl_document
from website_scan.command.formats.text import style_of_score, summary
from website_scan.command.gate import CommandReport, CommandResult, Gate
from website_scan.findings import ScanType
from website_scan.result import CheckStatus

ALT, CONTRAST, LANG = "WCAG 1.1.1 Non-text Content (A)", "WCAG 1.4.3 Contrast (Minimum) (AA)", "WCAG 3.1.1 Language (A)"


def page(url: str = "https://example.com/", **statuses: CheckStatus) -> CommandReport:
    """Return a report of accessibility. `statuses` are those of the checks alt, contrast and lang."""
    references = {"alt": ALT, "contrast": CONTRAST, "lang": LANG}
    checks = [replace(check_result(id, status), references=(references[id],)) for id, status in statuses.items()]
    return judged_report(*checks, url=url, type=ScanType.ACCESSIBILITY)


def result_of(*reports: CommandReport, **fields: object) -> CommandResult:
    return CommandResult(reports, (), len(reports), **fields)  # type: ignore[arg-type]


def test_text_begins_with_the_level_that_fails_and_never_says_that_a_page_conforms() -> None:
    text = conformance_text(result_of(page(alt="fail", contrast="warn", lang="pass")))
    lines = text.splitlines()
    assert lines[0] == "WCAG 2.2, level AA: https://example.com/"
    assert lines[2] == "Fails WCAG 2.2, level A: 1.1.1. 54 criteria of 55 still need a person's test."
    assert lines.index("Fails") < lines.index("  1.1.1 Non-text Content (A)") < lines.index("    alt is wrong")
    assert lines.index("Needs review") < lines.index("  1.4.3 Contrast (Minimum) (AA)")
    assert "No automatic failure: 3.1.1" in lines
    assert max(map(len, lines)) <= WIDTH
    assert not {"passes", "conforms", "compliant"} & set(text.lower().split())


def test_pages_are_joined_and_named() -> None:
    urls = [f"https://example.com/{number}" for number in range(5)]
    text = conformance_text(result_of(*(page(url, alt="fail") for url in urls), failed_scan()))
    assert text.startswith("WCAG 2.2, level AA: 5 pages\n")
    assert text.count("alt is wrong") == 1
    assert "      https://example.com/2\n      and 2 more pages\n" in text


def test_page_that_cannot_be_scanned_is_counted() -> None:
    text = conformance_text(result_of(failed_scan(scan_type=ScanType.ACCESSIBILITY)))
    assert text == "1 page could not be scanned.\nThere are no results of accessibility.\n"


def test_standard_decides_the_criteria_and_their_clauses() -> None:
    text = conformance_text(result_of(page(contrast="fail"), standard=Standard.EN_301_549, level="AA"))
    assert "9.1.4.3 Contrast (Minimum) (AA)" in text
    only_a = conformance_text(result_of(page(contrast="fail"), standard=Standard.WCAG_22, level="A"))
    assert "1.4.3" not in only_a


def test_earl_has_an_assertion_for_each_page_and_criterion() -> None:
    document = json.loads(earl_document(result_of(page(alt="fail"), page("https://example.com/b", alt="pass"))))
    assertions = [node for node in document["@graph"] if node["@type"] == "earl:Assertion"]
    assert len(assertions) == 2 * 55
    outcomes = {node["earl:result"]["earl:outcome"] for node in assertions}
    assert outcomes == {"earl:failed", "earl:cantTell", "earl:untested"}


@pytest.mark.parametrize(
    ("level", "complaints"),
    [
        ("", []),
        ("A", ["accessibility of https://example.com/: Fails WCAG 2.2, level A: 1.1.1."]),
        ("AA", ["accessibility of https://example.com/: Fails WCAG 2.2, level A: 1.1.1; level AA: 1.4.3."]),
    ],
)
def test_criteria_up_to_the_level_fail_the_gate(level: str, complaints: list[str]) -> None:
    assert list(Gate(level=level).complaints(page(alt="fail", contrast="fail", lang="warn"))) == complaints


def test_accepted_findings_do_not_fail_the_gate() -> None:
    report = page(alt="fail").accept_outcomes({"alt.faulty"})
    assert not list(Gate(level="AA").complaints(report))
    assert "1.1.1" in conformance_text(result_of(report))


def test_reports_of_other_types_have_no_criteria() -> None:
    report = judged_report(replace(check_result("hsts"), references=(ALT,)))
    assert not list(Gate(level="A").complaints(report))


@pytest.mark.parametrize("option", [["--format", "earl"], ["--format", "conformance"], ["--fail-on-level", "A"]])
def test_options_of_conformance_need_accessibility(option: list[str]) -> None:
    with pytest.raises(WrongUsage, match="needs --type accessibility"):
        parse_arguments(["https://example.com/", "--type", "seo", *option])
    options = parse_arguments(["https://example.com/", "--type", "accessibility", *option, "--standard", "en301549"])
    assert options.standard is Standard.EN_301_549


@pytest.mark.parametrize(
    ("score", "style"), [(100, "good"), (80, "good"), (79, "warn"), (60, "warn"), (59, "fail"), (None, "fail")]
)
def test_colour_of_a_score_follows_its_grade(score: int | None, style: str) -> None:
    assert style_of_score(score) == style


def test_good_score_is_green_despite_a_failed_check() -> None:
    passed = [check_result(f"check{number}", "pass") for number in range(20)]
    styles: list[tuple[str, str]] = []

    def paint(style: str, words: str) -> str:
        styles.append((style, words))
        return words

    list(summary([judged_report(check_result("a"), *passed)], paint))
    assert styles[-1][0] == "good"


def test_widths_and_colour_scheme_are_chosen() -> None:
    options = parse_arguments(["https://example.com/", "--width", "360", "--width", "800", "--color-scheme", "dark"])
    assert options.viewing == Viewing((360, 800), "dark")
    assert parse_arguments(["https://example.com/"]).viewing == USUAL_VIEWING


@pytest.mark.parametrize("wrong", ["0", "319", "2561", "wide", "٣٦٠", "1e3", "-400", ""])
def test_other_widths_are_refused(wrong: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse_arguments(["https://example.com/", f"--width={wrong}"])
    assert "a width must be a whole number from 320 to 2560" in " ".join(capsys.readouterr().err.split())


def test_widths_are_limited_in_number_and_to_scans_from_this_machine() -> None:
    with pytest.raises(WrongUsage, match="at most 3 widths"):
        parse_arguments(["https://example.com/", *(f"--width={width}" for width in (400, 500, 600, 700))])
    with pytest.raises(WrongUsage, match="only for scans from this machine"):
        parse_arguments(["https://example.com/", "--server", "https://scan.example.com", "--width", "400"])
