"""Tests for results by success criterion: formats `conformance` and `earl`, and the gate `--fail-on-level`."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace
from rdflib import RDF, Graph, Namespace, URIRef

from tests.command_line import run_here
from tests.targets.server import Answer, Site
from tests.website_scan.command.reports import check_result, failed_scan, judged_report
from website_scan.accessibility.standards import Standard, required_criteria
from website_scan.command import local
from website_scan.command.arguments import parse_arguments
from website_scan.command.conformance_options import ConformanceTarget
from website_scan.command.errors import WrongUsage
from website_scan.command.formats.junit import junit
from website_scan.command.gate import ACCEPTED, CommandReport, CommandResult, Gate
from website_scan.command.output import formatted
from website_scan.findings import HIGH, LOW, ScanType

URL = "https://example.com/"
HTML = {"Content-Type": "text/html; charset=utf-8"}
PAGE = "<!doctype html><html lang=en><meta charset=utf-8><title>{}</title><main><h1>{}</h1>{}</main>"
IMAGES = "WCAG 1.1.1 Non-text Content (A)"
NAMES = "WCAG 4.1.2 Name, Role, Value (A)"
CONTRAST = "WCAG 1.4.3 Contrast (Minimum) (AA)"
ENHANCED = "WCAG 1.4.6 Contrast (Enhanced) (AAA)"
STATUS_MESSAGES = "WCAG 4.1.3 Status Messages (AA)"
EARL = Namespace("http://www.w3.org/ns/earl#")
CLAIMS = re.compile(r"\b(?:conforms?|passe[sd]|compliant)\b", re.IGNORECASE)


def report(*checks: tuple[str, str, str], url: str = URL, type: ScanType = ScanType.ACCESSIBILITY) -> CommandReport:
    """Return a report with checks, as triples of ID, status and reference to a criterion."""
    return judged_report(
        *(replace(check_result(id, status), references=(reference,)) for id, status, reference in checks),
        url=url,
        type=type,
    )


def gate(level: str = "AA", standard: Standard = Standard.WCAG_22) -> Gate:
    return Gate(target=ConformanceTarget(standard, level))


def text_of(*reports: CommandReport, target: ConformanceTarget | None = None) -> str:
    return formatted("conformance", CommandResult(reports, [], len(reports), target=target or ConformanceTarget()))


def test_conformance_text_joins_the_checks_of_all_pages() -> None:
    first = report(
        ("image-alt", "fail", IMAGES), ("label", "pass", NAMES), ("contrast", "warn", CONTRAST), url=f"{URL}a"
    )
    second = report(("image-alt", "fail", IMAGES), ("label", "fail", NAMES), url=f"{URL}b")
    lines = text_of(first, second, failed_scan(f"{URL}gone", ScanType.ACCESSIBILITY)).splitlines()
    assert lines[:2] == [
        "https://example.com/a  2 pages  WCAG 2.2, level AA",
        "  Fails WCAG 2.2, level A: 1.1.1, 4.1.2. 53 criteria of 55 still need a person's test.",
    ]
    table = lines[lines.index("Fails (2 criteria)") : lines.index("  Could not run (1)") - 1]
    assert table == [
        "Fails (2 criteria)",
        "    places  pages  check",
        "  1.1.1 Non-text Content (A)",
        "         -      2  image-alt is wrong (image-alt): /a, /b",
        "  4.1.2 Name, Role, Value (A)",
        "         -      1  label is wrong (label): /b",
        "",
        "Needs review (1 criterion)",
        "    places  pages  check",
        "  1.4.3 Contrast (Minimum) (AA)",
        "         -      1  contrast is wrong (contrast): /a",
    ]
    assert "No automatic failure: 0 criteria. Not tested automatically: 52 criteria." in lines
    assert lines[-2:] == [f"{URL}gone  accessibility  not scanned", "  Nobody answers."]


@pytest.mark.parametrize("standard", Standard)
def test_conformance_text_never_claims_conformance(standard: Standard) -> None:
    content = text_of(report(("image-alt", "pass", IMAGES)), target=ConformanceTarget(standard))
    assert f"No automatic check found a failure of {standard.at_level('AA')}." in content
    assert "No automatic failure: 1 criterion." in content
    assert not CLAIMS.search(content)


def test_conformance_text_without_accessibility_reports_says_so() -> None:
    assert text_of(report(("hsts", "fail", "RFC 6797"), type=ScanType.SECURITY)) == (
        "No page was scanned for accessibility.\n"
    )


def test_conformance_text_includes_accepted_findings() -> None:
    accepted = report(("image-alt", "fail", IMAGES)).accept_checks({"image-alt": ACCEPTED})
    content = text_of(accepted)
    assert "1 accepted finding included." in content
    assert "Fails (1 criterion)" in content


@pytest.mark.filterwarnings("ignore:ConjunctiveGraph is deprecated")  # rdflib uses it itself
def test_earl_has_an_assertion_for_each_page_and_criterion() -> None:
    target = ConformanceTarget(Standard.WCAG_21, "A")
    pages = (
        report(("image-alt", "fail", IMAGES), url=f"{URL}a"),
        report(("image-alt", "pass", IMAGES), url=f"{URL}b?q=x y\u202e"),
        report(("hsts", "fail", "RFC 6797"), type=ScanType.SECURITY),
        failed_scan(f"{URL}gone", ScanType.ACCESSIBILITY),
    )
    document = formatted("earl", CommandResult(pages, [], 4, target=target))
    assert document.isascii()
    assert [node["@id"] for node in json.loads(document)["@graph"] if node["@type"] == "earl:TestSubject"] == [
        f"{URL}a",
        f"{URL}b?q=x y\u202e",
    ]
    graph = Graph().parse(data=formatted("earl", CommandResult(pages[:1], [], 1, target=target)), format="json-ld")
    assertions = list(graph.subjects(RDF.type, EARL.Assertion))
    assert len(assertions) == len(required_criteria(Standard.WCAG_21, "A"))
    failed = [one for one in assertions if (graph.value(one, EARL.result), EARL.outcome, EARL.failed) in graph]
    assert [str(graph.value(one, EARL.test)).rpartition("/")[2] for one in failed] == ["non-text-content"]
    assert {graph.value(one, EARL.subject) for one in assertions} == {URIRef(f"{URL}a")}


@pytest.mark.parametrize(
    ("level", "standard", "complaint"),
    [
        ("A", Standard.WCAG_22, "fails WCAG 2.2: 1.1.1 Non-text Content (A)."),
        (
            "AA",
            Standard.WCAG_22,
            "fails WCAG 2.2: 1.1.1 Non-text Content (A), 1.4.3 Contrast (Minimum) (AA), 4.1.3 Status Messages (AA).",
        ),
        (
            "AA",
            Standard.EN_301_549,
            "fails EN 301 549 V3.2.1: 9.1.1.1 Non-text Content (A), 9.1.4.3 Contrast (Minimum) (AA), "
            "9.4.1.3 Status Messages (AA).",
        ),
        # WCAG 2.0 does not have criterion 4.1.3.
        ("AA", Standard.SECTION_508, "fails Section 508: 1.1.1 Non-text Content (A), 1.4.3 Contrast (Minimum) (AA)."),
    ],
)
def test_gate_names_the_failed_criteria_of_its_level(level: str, standard: Standard, complaint: str) -> None:
    judged = report(
        ("contrast", "fail", CONTRAST),
        ("image-alt", "fail", IMAGES),
        ("live", "fail", STATUS_MESSAGES),
        ("enhanced", "fail", ENHANCED),
        ("label", "warn", NAMES),
    )
    assert list(gate(level, standard).complaints(judged)) == [f"accessibility of {URL}: {complaint}"]


def test_gate_of_a_level_ignores_reviews_and_other_levels_and_types() -> None:
    assert not list(gate("A").complaints(report(("contrast", "fail", CONTRAST), ("label", "warn", NAMES))))
    assert not list(gate("AA").complaints(report(("enhanced", "fail", ENHANCED))))
    assert not list(gate("AA").complaints(report(("image-alt", "fail", IMAGES), type=ScanType.SEO)))


def test_accepted_finding_does_not_fail_the_gate_of_a_level() -> None:
    judged = report(("image-alt", "fail", IMAGES), ("label", "fail", NAMES))
    muted = judged.accept_checks({"image-alt": "muted: known"})
    assert list(gate().complaints(muted)) == [f"accessibility of {URL}: fails WCAG 2.2: 4.1.2 Name, Role, Value (A)."]
    assert not list(gate().complaints(muted.accept_checks({"label": "in the baseline"})))


def test_junit_fails_for_the_checks_that_fail_a_criterion() -> None:
    judged = report(("image-alt", "fail", IMAGES), ("contrast", "fail", CONTRAST))
    content = junit(CommandResult([judged], [], 1, gate=gate("A")))
    assert content.count("<failure ") == 1
    assert '<failure type="high" message="image-alt is wrong">' in content


def test_level_and_severity_fail_the_gate_independently() -> None:
    judged = judged_report(
        replace(check_result("image-alt", "fail", LOW), references=(IMAGES,)),
        check_result("other", "fail", HIGH),
        type=ScanType.ACCESSIBILITY,
    )
    assert list(replace(gate(), fail_on=HIGH).complaints(judged)) == [
        f"accessibility of {URL}: 1 failure (high or higher): other is wrong.",
        f"accessibility of {URL}: fails WCAG 2.2: 1.1.1 Non-text Content (A).",
    ]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(local, "browser", lambda: None)
    return tmp_path


@pytest.mark.parametrize(
    ("content", "arguments", "complaint"),
    [
        ("", ("--type", "seo", "--fail-on-level", "A"), "--fail-on-level needs a scan of accessibility"),
        ("", ("--type", "seo", "--format", "earl"), "--format earl needs a scan of accessibility"),
        ("", ("--type", "seo", "--format", "conformance"), "--format conformance needs a scan of accessibility"),
        ("", ("--type", "seo", "--standard", "wcag21"), "--standard needs a scan of accessibility"),
        ('types = "seo"\nfail-on-level = "A"\n', (), "--fail-on-level needs a scan of accessibility"),
        ("", ("--level", "A"), "--level works only with --format conformance or --format earl."),
        ("", ("--level", "A", "--fail-on-level", "A"), "For the gate, use --fail-on-level."),
        ("", ("--standard", "wcag21"), "--standard works only with --fail-on-level, --format conformance"),
        ('fail-on-level = "AAA"\n', (), "fail-on-level: must be one of A, AA"),
        ('standard = "wcag3"\n', (), "standard: must be one of wcag22, wcag21"),
        ('level = "a"\n', (), "level: must be one of A, AA, AAA"),
    ],
)
def test_wrong_conformance_options_are_refused_in_words(
    folder: Path, content: str, arguments: tuple[str, ...], complaint: str
) -> None:
    (folder / "website-scan.toml").write_text(content)
    with pytest.raises(WrongUsage, match=re.escape(complaint)):
        parse_arguments([URL, *arguments])


def test_conformance_options_of_the_file_apply(folder: Path) -> None:
    (folder / "website-scan.toml").write_text('standard = "en301549"\nlevel = "A"\nfail-on-level = "AA"\n')
    options = parse_arguments([URL])
    assert options.target == ConformanceTarget(Standard.EN_301_549, "A")
    assert options.fail_on_level == ConformanceTarget(Standard.EN_301_549, "AA")
    # The command line selects types for which the file's level has no effect.
    assert parse_arguments([URL, "--type", "seo"]).fail_on_level is None


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    routes = {
        "/": Answer(PAGE.format("Inn", "Inn", "<img src=a.png><a href=/rooms>Rooms</a>"), headers=HTML),
        "/rooms": Answer(PAGE.format("Rooms", "Rooms", "<img src=a.png><input name=q>"), headers=HTML),
        "/robots.txt": Answer("User-agent: *\nAllow: /\n", headers={"Content-Type": "text/plain"}),
    }
    with Site(routes) as running:
        yield running


def scan(*arguments: str) -> subprocess.CompletedProcess[str]:
    return run_here("scan", "--type", "accessibility", *arguments)


def test_site_has_one_conformance_table_of_all_pages(site: Site) -> None:
    ran = scan("--site", f"{site.url}/", "--format", "conformance")
    assert ran.returncode == 0
    assert ran.stdout.startswith(f"{site.url}/  2 pages  WCAG 2.2, level AA\n  Fails WCAG 2.2, level A: 1.1.1, ")
    assert "         2      2  Images without alternative text (image-alt): /, /rooms\n" in ran.stdout
    assert "         1      1  Form fields without a label (label): /rooms\n" in ran.stdout


def test_baseline_accepts_failures_of_a_level(site: Site, folder: Path) -> None:
    pages = (f"{site.url}/", f"{site.url}/rooms")
    assert scan(*pages, "--write-baseline", "known.json", "--fail-on-level", "AA").returncode == 0
    ran = scan(*pages, "--fail-on-level", "A")
    assert ran.returncode == 1
    assert f"Gate failed: accessibility of {site.url}/: fails WCAG 2.2: 1.1.1 Non-text Content (A).\n" in ran.stderr
    ran = scan(*pages, "--fail-on-level", "A", "--baseline", "known.json")
    assert (ran.returncode, "Gate passed" in ran.stderr) == (0, True)


def test_conformance_and_text_are_written_by_one_scan(site: Site, folder: Path) -> None:
    ran = scan(
        *(f"{site.url}/", "--format", "text", "--format", "conformance", "--output", "c.txt"),
        *("--format", "earl", "--output", "e.jsonld", "--standard", "section508"),
    )
    assert ran.returncode == 0
    assert (folder / "c.txt").read_text().startswith(f"{site.url}/  1 page  Section 508 (WCAG 2.0 levels A and AA)\n")
    assert json.loads((folder / "e.jsonld").read_text())["@graph"][1]["@id"] == f"{site.url}/"
