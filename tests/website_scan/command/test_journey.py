"""Tests for `--journey` in Chromium: states, outputs, gate, baseline, secrets and steps that fail."""

from __future__ import annotations

import base64
import csv
import io
import json
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus
from xml.etree import ElementTree

import pytest

from tests.command_line import run_here
from tests.targets.journeys.account import PASSWORD, USER
from tests.targets.server import Site
from tests.website_scan.command.journeys import EXAMPLES, FOLDER, PLANTED, example_site, run_example
from website_scan.browser.warm import WarmBrowser
from website_scan.command import local
from website_scan.command.formats import WRITERS
from website_scan.net.browser import find_browser, sandbox_problem

STATES = {name: list(example.faults) for name, example in EXAMPLES.items()}
JPEG = b"\xff\xd8"


@pytest.fixture(scope="module")
def browser() -> Iterator[WarmBrowser]:
    program = find_browser("auto")
    assert program is not None, "no browser; `make browser` installs one"
    with WarmBrowser(program, sandbox=not sandbox_problem(program)) as running:
        yield running


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, browser: WarmBrowser, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(local, "browser", lambda: browser)
    return tmp_path


def outputs(folder: Path) -> tuple[list[str], dict[str, Path]]:
    """Return the options for all output formats except text, and their files by format."""
    files = {name: folder / f"report.{name}" for name in WRITERS}
    return [word for name, path in files.items() for word in ("--format", name, "--output", str(path))], files


def faults_by_state(reports: list[Mapping[str, Any]], *, with_notes: bool = True) -> dict[str, set[str]]:
    """Return the planted outcomes in full reports, by the name of the state.

    Without notes, late responses that may be due to a busy machine are left out.
    """
    faults: dict[str, set[str]] = {}
    for report in reports:
        found = faults.setdefault(report["state"]["name"], set())
        for category in report["categories"]:
            for check in category["checks"]:
                if not with_notes and "The scanning machine was busy" in check["message"]:
                    continue
                if check["status"] != "pass" and f"{check['id']}.{check['outcome']}" in PLANTED:
                    found.add(f"{check['id']}.{check['outcome']}")
    return faults


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("is_faulty", [True, False])
def test_example_journey_reports_its_planted_faults_by_state(name: str, is_faulty: bool) -> None:
    with example_site(name, is_faulty=is_faulty) as site:
        ran = run_example(name, site, "--format", "full")
    assert ran.returncode == 0, ran.stderr
    result = json.loads(ran.stdout)
    expected = EXAMPLES[name].faults
    faults = faults_by_state(result["reports"], with_notes=is_faulty)
    assert faults == (expected if is_faulty else {state: set() for state in expected})
    assert {report["state"]["journey"] for report in result["reports"]} == {name}
    (journey,) = result["journeys"]
    assert {step["status"] for step in journey["steps"]} == {"done"}
    assert journey["states"] == len(expected)


def test_text_reports_a_finding_of_several_states_once() -> None:
    with example_site("booking", is_faulty=True) as site:
        ran = run_example("booking", site, "--type", "accessibility")
    assert ran.stdout.count("✗ Images without alternative text") == 1
    assert "On 2 of 3 states: Dialog (/), Refused (/)." in ran.stdout
    table, _, _ = ran.stdout.partition("  state\n")[2].partition("\n\n")
    assert [line.rpartition("  ")[2] for line in table.splitlines()] == ["Removed (/)", "Dialog (/)", "Refused (/)"]
    assert ran.stderr == "booking: 9 steps done, 3 states judged.\nDone: 3 reports of 3 states.\n"


def test_every_format_names_the_states(folder: Path) -> None:
    options, files = outputs(folder)
    with example_site("booking", is_faulty=True) as site:
        ran = run_example("booking", site, "--type", "accessibility", *options)
        assert ran.returncode == 0, ran.stderr
    name = f"booking: Dialog ({site.url}/)"
    for format in ("json", "full"):
        result = json.loads(files[format].read_text())
        assert [report["state"] for report in result["reports"]] == [
            {"journey": "booking", "name": state, "step": step}
            for state, step in zip(STATES["booking"], (3, 6, 9), strict=True)
        ]
        (finding,) = [finding for finding in result["findings"] if finding["check"] == "image-alt"]
        assert finding["pages"] == [name, f"booking: Refused ({site.url}/)"]
    rows = list(csv.DictReader(io.StringIO(files["csv"].read_text())))
    assert [*dict.fromkeys(row["state"] for row in rows)] == STATES["booking"]
    suites = ElementTree.parse(files["junit"]).getroot()
    assert [suite.get("name") for suite in suites][1] == f"accessibility {name}"
    (run,) = json.loads(files["sarif"].read_text())["runs"]
    results = [result for result in run["results"] if result["ruleId"] == "image-alt"]
    assert len({result["partialFingerprints"]["primaryLocationLineHash"] for result in results}) == 2
    texts = sorted(result["message"]["text"].partition(" On ")[2].partition(",")[0] for result in results)
    assert texts == ["“Dialog”", "“Refused”"]
    quality = json.loads(files["codequality"].read_text())
    assert len({entry["fingerprint"] for entry in quality}) == len(quality)
    assert f"booking: Dialog <{site.url}/>" in files["markdown"].read_text()
    html = files["html"].read_text()
    assert all(f"booking: {state}" in html for state in STATES["booking"])
    assert "<title>Scan of booking</title>" in html
    assert "3 states  WCAG 2.2" in files["conformance"].read_text()
    assert ": Dialog (/), Refused (/)" in files["conformance"].read_text()
    graph = json.loads(files["earl"].read_text())["@graph"]
    subjects = {node["@id"]: node for node in graph if node["@type"] == "earl:TestSubject"}
    assert subjects["urn:x-website-scan:state:booking:Dialog"]["dct:title"] == "booking: Dialog"
    assert len(subjects) == 3


def test_gate_names_the_states_that_fail(folder: Path) -> None:
    gate = ("--fail-on-outcome", "image-alt.missing", "--type", "accessibility", "--format", "junit")
    with example_site("booking", is_faulty=True) as site:
        ran = run_example("booking", site, *gate)
    complaint = f"accessibility of 2 states, such as booking: Dialog ({site.url}/): 1 finding: "
    assert ran.returncode == 1
    assert f"Gate failed: {complaint}" in ran.stderr
    assert [suite.get("failures") for suite in ElementTree.fromstring(ran.stdout)] == ["0", "1", "1"]
    with example_site("booking", is_faulty=False) as site:
        assert run_example("booking", site, *gate).returncode == 0


def test_baseline_accepts_findings_of_the_same_state_only(folder: Path) -> None:
    types = ("--type", "accessibility")
    with example_site("booking", is_faulty=True) as site:
        assert run_example("booking", site, *types, "--write-baseline", "known.json").returncode == 0
        assert run_example("booking", site, *types, "--baseline", "known.json").returncode == 0
    known = json.loads((folder / "known.json").read_text())
    assert list(known["pages"]) == ["/ “Dialog”", "/ “Refused”", "/ “Removed”"]
    # Without one state in the file, its findings are new, although another state at the same address has them.
    for finding in known["findings"]:
        finding["pages"].pop("/ “Refused”", None)
    known["findings"] = [finding for finding in known["findings"] if finding["pages"]]
    (folder / "known.json").write_text(json.dumps(known))
    with example_site("booking", is_faulty=True) as site:
        ran = run_example("booking", site, *types, "--baseline", "known.json")
    assert ran.returncode == 1
    assert f"Gate failed: accessibility of booking: Refused ({site.url}/): 1 failure (low or higher): " in ran.stderr
    assert "Dialog" not in ran.stderr


def test_planted_faults_are_new_to_the_baseline_of_the_healthy_site(folder: Path) -> None:
    with example_site("account", is_faulty=False) as site:
        assert run_example("account", site, "--write-baseline", "known.json").returncode == 0
        ran = run_example("account", site, "--baseline", "known.json")
    assert (ran.returncode, "Gate passed" in ran.stderr) == (0, True), ran.stderr
    with example_site("account", is_faulty=True) as site:
        ran = run_example("account", site, "--baseline", "known.json")
    assert ran.returncode == 1
    assert f"security of account: Account ({site.url}/account): 3 new failures" in ran.stderr


def encoded(secret: str) -> set[str]:
    """Return the secret in the encodings in which pages and addresses repeat it."""
    return {
        secret,
        quote(secret),
        quote_plus(secret),
        quote(secret, safe=""),
        base64.b64encode(secret.encode()).decode(),
    }


@pytest.mark.parametrize("name", ["account", "checkout"])
def test_no_output_contains_a_secret(folder: Path, name: str) -> None:
    options, files = outputs(folder)
    for is_faulty, steps in ((True, ()), (False, ("wait for “There is no such text” up to 1 seconds",))):
        text = (FOLDER / f"{name}.txt").read_text() + "".join(f"{step}\n" for step in steps)
        (folder / "steps.txt").write_text(text)
        with example_site(name, is_faulty=is_faulty) as site:
            arguments = [site.url, "--journey", "steps.txt", *EXAMPLES[name].options, "--pictures", "pictures"]
            ran = run_here("scan", *arguments, "--write-baseline", "known.json", *options, "--format", "text")
        assert ran.returncode == (3 if steps else 0), ran.stderr
        texts = [ran.stdout, ran.stderr, *(path.read_text() for path in files.values())]
        texts += [path.read_text() for path in folder.glob("known.json")]
        for secret in EXAMPLES[name].secrets.values():
            assert not [text for text in texts for form in encoded(secret) if form in text]
        assert len(list((folder / "pictures").iterdir())) > 5


def scan_broken(folder: Path, *arguments: str) -> tuple[subprocess.CompletedProcess[str], Site]:
    """Execute the account's journey with a wrong name in its seventh step."""
    text = (FOLDER / "account.txt").read_text().replace('click "Loans"', 'wait for button "Loaned" up to 2 seconds')
    (folder / "account.txt").write_text(text)
    with example_site("account", is_faulty=False) as site:
        secrets = EXAMPLES["account"].options
        return run_here("scan", site.url, "--journey", "account.txt", *secrets, *arguments), site


def test_failed_step_is_a_failed_scan_with_near_matches(folder: Path) -> None:
    ran, site = scan_broken(folder, "--type", "accessibility", "--type", "seo")
    assert ran.returncode == 3
    assert f"account: Step 7 ({site.url}/account)  accessibility, seo  not scanned\n" in ran.stdout
    message = " ".join(ran.stdout.partition("not scanned\n")[2].partition("\n\n")[0].split())
    assert message == (
        "Step 7: no button is named “Loaned”. The step: Wait until the button “Loaned” is shown. "
        "Similar on the page: button “Loans”. Not judged: “Loans”, “Signed out”."
    )
    assert "Account (/account)\n" in ran.stdout
    assert ran.stderr == "account: 6 of 11 steps done, 1 state judged.\n"


def test_failed_step_has_its_picture_in_html_and_in_the_folder(folder: Path) -> None:
    options, files = outputs(folder)
    ran, _ = scan_broken(folder, "--type", "accessibility", "--pictures", "pictures", *options)
    assert ran.returncode == 3
    pictures = sorted(path.name for path in (folder / "pictures").iterdir())
    # The sixth step only judges the page.
    assert pictures == [f"account-{number:02}.jpg" for number in (1, 2, 3, 4, 5, 7)]
    picture = (folder / "pictures" / "account-07.jpg").read_bytes()
    assert picture.startswith(JPEG)
    html = files["html"].read_text()
    failed = html.partition('<p class="problem">JOURNEY_FAILED')[2].partition("</article>")[0]
    assert f"data:image/jpeg;base64,{base64.b64encode(picture).decode()}" in failed
    (judged, broken) = json.loads(files["full"].read_text())["reports"]
    assert (judged["state"]["name"], judged["status"]) == ("Account", "completed")
    assert broken["state"] == {"journey": "account", "name": "Step 7", "step": 7}
    assert (broken["status"], broken["error"]["code"]) == ("failed", "JOURNEY_FAILED")
    suites = ElementTree.parse(files["junit"]).getroot()
    assert [suite.get("errors") for suite in suites] == ["0", "1"]
    steps = json.loads(files["json"].read_text())["journeys"][0]["steps"]
    assert [step["status"] for step in steps] == ["done"] * 6 + ["failed"] + ["not reached"] * 4
    assert steps[6]["near_matches"] == ["button “Loans”"]


def test_failed_journey_writes_no_baseline(folder: Path) -> None:
    ran, _ = scan_broken(folder, "--type", "accessibility", "--write-baseline", "known.json")
    assert "known.json was not written: a scan failed" in ran.stderr
    assert not (folder / "known.json").exists()


def test_interrupted_journey_is_reported_as_not_finished(
    folder: Path, browser: WarmBrowser, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    output = ("--type", "seo", "--format", "full", "--output", "report.json", "--format", "text", "--output", "a.txt")
    with example_site("booking", is_faulty=False) as site:
        monkeypatch.setattr(type(browser), "walk", interrupt)
        with pytest.raises(KeyboardInterrupt):
            run_example("booking", site, *output)
    result = json.loads((folder / "report.json").read_text())
    assert result["gate"]["unfinished"] == [f"{site.url}/"]
    assert [report["error"]["code"] for report in result["reports"]] == ["SCAN_CANCELLED"]
    assert f"{site.url}/  seo  not scanned" in (folder / "a.txt").read_text()


def test_widths_and_color_scheme_apply_to_states() -> None:
    with example_site("booking", is_faulty=False) as site:
        chosen = ("--width", "500", "--color-scheme", "dark", "--type", "accessibility", "--format", "full")
        ran = run_example("booking", site, *chosen)
    reports = json.loads(ran.stdout)["reports"]
    assert {(tuple(report["widths"]), report["color_scheme"]) for report in reports} == {((500,), "dark")}


def test_steps_are_relative_to_a_served_folder(folder: Path) -> None:
    (folder / "public").mkdir()
    (folder / "public/index.html").write_text('<!doctype html><html lang=en><title>A</title><a href="/b">Next</a>')
    (folder / "public/b.html").write_text("<!doctype html><html lang=en><title>B</title><h1>Arrived</h1>")
    (folder / "steps.txt").write_text("open /\nclick “Next”\nwait for “Arrived”\njudge “End”\n")
    ran = run_here("scan", "--serve", "public", "--journey", "steps.txt", "--type", "seo", "--format", "json")
    assert ran.returncode == 0, ran.stderr
    (report,) = json.loads(ran.stdout)["reports"]
    assert report["url"].endswith("/b")
    assert report["url"].startswith("http://localhost:")


def test_journeys_of_the_configuration_file_use_secrets_of_a_file(folder: Path) -> None:
    with example_site("account", is_faulty=False) as site:
        steps = (FOLDER / "account.txt").read_text()
        (folder / "website-scan.toml").write_text(
            f"types = ['security']\nfail-on = 'critical'\n[[journeys]]\nname = 'Log-in'\nsteps = '''\n{steps}'''\n"
        )
        (folder / "secrets.txt").write_text(f"# of the test site\nuser={USER}\npassword={PASSWORD}\n")
        ran = run_here("scan", site.url, "--secrets", "secrets.txt", "--format", "json")
    assert ran.returncode == 0, ran.stderr
    assert [report["state"]["name"] for report in json.loads(ran.stdout)["reports"]] == STATES["account"]


def test_secrets_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEBSITE_SCAN_SECRET_USER", USER)
    monkeypatch.setenv("WEBSITE_SCAN_SECRET_PASSWORD", PASSWORD)
    with example_site("account", is_faulty=False) as site:
        path = str(FOLDER / "account.txt")
        ran = run_here("scan", site.url, "--journey", path, "--secret", "user", "--type", "seo")
    assert ran.returncode == 0, ran.stderr


def test_journey_on_a_refused_address_names_the_option(folder: Path) -> None:
    (folder / "steps.txt").write_text("open http://10.0.0.1/\njudge “End”\n")
    ran = run_here("scan", "--journey", "steps.txt", "--type", "seo")
    assert ran.returncode == 3
    assert "The target is not publicly accessible: 10.0.0.1 is private (RFC 1918)." in ran.stdout
    assert "To scan 10.0.0.1, add --allow-network 10.0.0.1/32:80\n" in ran.stderr
