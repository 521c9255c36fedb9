"""Test own requirements in the command: its options, its gate and its output formats."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import run_here
from tests.targets.server import Answer, Site
from website_scan.command import local
from website_scan.command.arguments import parse_arguments
from website_scan.command.errors import WrongUsage
from website_scan.command.formats import WRITERS
from website_scan.command.main import run
from website_scan.command.outcome_names import known_outcomes
from website_scan.report.diff import diff
from website_scan.report.references import page_url
from website_scan.requirements.reading import read_requirements

URL = "https://example.com/"
RULES = """
[[requirements.rules]]
name = "Imprint is linked"
link = "/imprint"
severity = "high"

[[requirements.rules]]
name = "No frames"
element = "iframe"
absent = true
type = "accessibility"
"""
PAGE = "<!doctype html><html lang=en><title>Inn</title><h1>Inn</h1><p>Rooms.<iframe src=/a title=A></iframe>"
TITLE, NAME = "Not met: Imprint is linked", "own-imprint-is-linked"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(local, "browser", lambda: None)
    return tmp_path


@pytest.fixture
def site() -> Iterator[Site]:
    with Site({"/": Answer(PAGE, headers={"Content-Type": "text/html; charset=utf-8"})}) as running:
        yield running


def scan(site: Site, *arguments: str) -> subprocess.CompletedProcess[str]:
    return run_here("scan", f"{site.url}/", "--type", "seo", *arguments)


def test_table_of_the_file_is_judged(site: Site, folder: Path) -> None:
    (folder / "website-scan.toml").write_text(RULES)
    ran = scan(site)
    assert ran.returncode == 0
    assert TITLE in ran.stdout
    assert "The page does not link to /imprint." in ran.stdout


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (("--fail-on-outcome", f"{NAME}.missing"), 1),
        (("--fail-on-outcome", "own-*"), 1),
        (("--fail-on-outcome", "own-*", "--accept", f"{NAME}.missing"), 0),
        (("--fail-on-outcome", "own-no-frames.present"), 0),
        ((), 0),
    ],
)
def test_requirement_fails_the_gate_by_name(site: Site, folder: Path, arguments: tuple[str, ...], status: int) -> None:
    (folder / "own.toml").write_text(RULES)
    ran = scan(site, "--requirements", "own.toml", *arguments)
    assert ran.returncode == status, ran.stderr
    assert ("Gate failed: seo of" in ran.stderr) == bool(status)
    if status:
        assert f"1 finding: {TITLE}." in ran.stderr


def test_requirement_fails_the_gate_by_severity(site: Site, folder: Path) -> None:
    (folder / "own.toml").write_text(RULES)
    ran = scan(site, "--requirements", "own.toml", "--fail-on", "high")
    assert ran.returncode == 1
    assert TITLE in ran.stderr


def test_baseline_accepts_requirements(site: Site, folder: Path) -> None:
    (folder / "website-scan.toml").write_text(RULES)
    assert scan(site, "--write-baseline", "known.json").returncode == 0
    gated = ("--fail-on-outcome", "own-*", "--baseline", "known.json")
    assert scan(site, *gated).returncode == 0
    added = '[[requirements.rules]]\nname = "Text"\ntext = "Prices"\n'
    (folder / "website-scan.toml").write_text(RULES + added)
    ran = scan(site, *gated)
    assert ran.returncode == 1
    assert "1 new finding: Not met: Text." in ran.stderr


def test_requirements_are_in_all_formats(site: Site, folder: Path) -> None:
    (folder / "website-scan.toml").write_text(RULES)
    outputs = [word for name in ("text", *WRITERS) for word in ("--format", name, "--output", name)]
    ran = run_here("scan", f"{site.url}/", "--type", "seo", "--type", "accessibility", *outputs)
    assert ran.returncode == 0, ran.stderr
    # These formats have the results of success criteria, which requirements have none of.
    for name in set(WRITERS) - {"conformance", "earl"} | {"text"}:
        written = (folder / name).read_text("utf-8")
        assert "Imprint is linked" in written, name
    runs = json.loads((folder / "sarif").read_text("utf-8"))["runs"]
    rules = {rule["id"] for one in runs for rule in one["tool"]["driver"]["rules"]}
    assert {"own-no-frames", NAME} <= {name.partition(".")[0].rpartition("/")[2] for name in rules}


def test_export_is_the_same_at_each_scan(site: Site, folder: Path) -> None:
    (folder / "website-scan.toml").write_text(RULES)
    before, after = (_export(site, folder) for _ in range(2))
    compared = diff(before, after)
    assert (list(compared.new), list(compared.fixed)) == ([], [])
    site.routes["/"] = Answer(f"{PAGE}<a href=/imprint>Imprint</a>", headers={"Content-Type": "text/html"})
    fixed = diff(before, _export(site, folder)).fixed
    assert [finding.id for finding in fixed] == [NAME]


def _export(site: Site, folder: Path) -> Any:
    ran = scan(site, "--format", "full", "--output", "full.json")
    assert ran.returncode == 0, ran.stderr
    written = json.loads((folder / "full.json").read_text("utf-8"))
    return written if isinstance(written, dict) else written[0]


def test_links_of_requirements_lead_to_their_documentation() -> None:
    assert page_url("https://scan.example.com/docs/checks/", NAME) == "https://scan.example.com/docs/requirements"
    assert page_url("https://scan.example.com/docs/checks/", "title").endswith("/docs/checks/title")
    assert page_url("", NAME) == ""


def test_files_may_be_toml_or_json(folder: Path) -> None:
    rule = {"name": "Text", "text": "Prices"}
    (folder / "a.json").write_text(json.dumps({"rules": [rule]}))
    (folder / "b.json").write_text(json.dumps({"requirements": {"rules": [rule]}}))
    (folder / "c.toml").write_text('weight = 0\n[[rules]]\nname = "Text"\ntext = "Prices"\n')
    expected = read_requirements({"rules": [rule]})
    for name in ("a.json", "b.json", "c.toml"):
        assert parse_arguments([URL, "--requirements", name]).requirements == expected


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.toml", "[[rules]]\nname = 'A'\n", "a.toml: Rule 1 (“A”): must have exactly one of header"),
        ("a.toml", "[[rules]\n", "a.toml: "),
        ("a.json", "[" * 100_000, "a.json: it is nested too deeply."),
        ("a.json", "{", "a.json: "),
        ("missing.toml", None, "missing.toml can't be read: No such file or directory."),
    ],
)
def test_invalid_files_are_refused(folder: Path, name: str, text: str | None, words: str) -> None:
    if text is not None:
        (folder / name).write_text(text)
    with pytest.raises(WrongUsage) as refusal:
        parse_arguments([URL, "--requirements", name])
    assert str(refusal.value).startswith(words)


def test_invalid_table_is_refused(folder: Path) -> None:
    (folder / "website-scan.toml").write_text("requirements = []\n")
    with pytest.raises(WrongUsage, match=r"website-scan\.toml: requirements: Requirements must be an object"):
        parse_arguments([URL])


def test_unknown_outcomes_of_requirements_are_refused() -> None:
    requirements = read_requirements({"rules": [{"name": "Text", "text": "Prices"}]})
    assert known_outcomes(["own-text.missing", "hsts.short"], requirements) == {"own-text.missing", "hsts.short"}
    for name, words in (
        ("own-text.present", "own-text has missing"),
        ("own-other.missing", "there is no requirement own-other"),
        ("other.missing", "there is no check other"),
    ):
        with pytest.raises(WrongUsage, match=words):
            known_outcomes([name], requirements)
    with pytest.raises(WrongUsage, match="there are no requirements"):
        known_outcomes(["own-*"])


BUDGET = [
    {"resourceSizes": [{"resourceType": "document", "budget": 0}], "timings": [{"metric": "interactive", "budget": 1}]}
]


def test_budget_fails_the_gate(site: Site, folder: Path) -> None:
    (folder / "budget.json").write_text(json.dumps(BUDGET))
    ran = run_here("scan", f"{site.url}/", "--type", "performance", "--budget", "budget.json")
    assert ran.returncode == 1
    assert (
        "budget.json: “interactive” in “timings” of the budget is not translated, because the command does not "
        "measure this.\n" in ran.stderr
    )
    assert "1 finding: Not met: Size of documents." in ran.stderr


def test_budget_of_the_file_is_beside_it(folder: Path) -> None:
    (folder / "website-scan.toml").write_text(f"budget = 'budget.json'\n{RULES}")
    (folder / "budget.json").write_text(json.dumps(BUDGET))
    options = parse_arguments([URL])
    assert [rule.name for rule in options.requirements.rules] == ["Imprint is linked", "No frames", "Size of documents"]
    assert options.fail_on_outcome == {"own-size-of-documents.above"}
    (folder / "website-scan.toml").write_text("budget = '../budget.json'\n")
    with pytest.raises(WrongUsage, match="must be a file beside this file"):
        parse_arguments([URL])


def test_command_prints_a_translation(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "budget.json").write_text(json.dumps(BUDGET))
    assert run(["requirements", "budget.json"]) == 0
    printed = capsys.readouterr()
    assert "“interactive”" in printed.err
    (folder / "website-scan.toml").write_text(printed.out)
    options = parse_arguments([URL])
    assert options == parse_arguments([URL, "--config", "/dev/null", "--budget", "budget.json"])
    assert run(["requirements"]) == 2
    assert run(["requirements", "--help"]) == 0


def test_file_that_is_not_of_lighthouse_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "lighthouserc.js").write_text("module.exports = {}")
    assert run(["requirements", "lighthouserc.js"]) == 2
    assert "lighthouserc.js can't be translated. It is not JSON" in capsys.readouterr().err
