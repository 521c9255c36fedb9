"""Tests for scans with `manage.py scan`, without the service."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import socket
import subprocess
import time
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import run, run_here, start, start_with_stderr
from tests.operations.stack.processes import wait_until
from tests.reports.sarif import assert_sarif
from tests.targets.sample import sample_site
from tests.targets.server import Answer, Request, Site
from website_scan import local_scans
from website_scan import settings as scanning
from website_scan.catalogue import catalogue_version, checks
from website_scan.command import local
from website_scan.findings import ScanType
from website_scan.plan import needs_browser

REPORT = [
    *("id", "type", "url", "final_url", "needs_log_in", "score", "grade"),
    *("created_at", "completed_at", "categories", "summary"),
]
SUMMARY = {"total_checks", "passed", "failed", "warnings", "critical", "high", "medium", "low"}
CHECK = {"name", "status", "severity", "message"}
PROGRESS = re.compile(r"\r\x1b\[K *\d{1,3} %  (connecting|collecting|checking|done) +(\d+/\d+ checks  )?\S+")
LOOPBACK = ("--allow-network", "127.0.0.0/8")
# Unicode categories that a terminal interprets: control characters, direction marks, lone surrogates, line and
# paragraph separators.
INTERPRETED = {"Cc", "Cf", "Cs", "Zl", "Zp"}


def hang_up(request: Request) -> None:
    request.connection.close()


def hang_up_on_other_origins(request: Request) -> Answer | None:
    if request.header("Origin"):
        hang_up(request)
        return None
    return Answer("<!doctype html><title>Curt</title>")


PAGE = "<!doctype html><html lang=en><title>{}</title><h1>Hello</h1>"
HOSTILE = (
    PAGE.format("An \x1b[31malert\x07 \u202eelbisivni\u2066 \x9b2J")
    + '<link rel=alternate hreflang="a\u202e" href="/"><img src="/a\u200e\u202e.png">'
)


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with sample_site() as running:
        running.routes["/hidden"] = Answer(PAGE.format("A page that hides") + "<meta name=robots content=noindex>")
        running.routes["/hostile"] = Answer(
            HOSTILE, headers={"Server": "a\xad\x9b2Jb", "Content-Type": "text/html; charset=utf-8"}
        )
        running.routes["/curt"] = hang_up_on_other_origins
        running.routes["/broken"] = hang_up
        running.routes["/silent"] = Answer(delay_s=60.0)
        yield running


def scan(site: Site, *arguments: str, path: str = "/") -> subprocess.CompletedProcess[str]:
    """Run the command in this process, without a browser."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scanning, "SCAN_CA_BUNDLE", site.ca_file)
        patch.setattr(local, "browser", lambda: None)
        return run_here("scan", site.url_as("localhost") + path, *arguments, *LOOPBACK)


def scan_in_process(site: Site, *arguments: str, path: str = "/", **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a separate process."""
    url = site.url_as("localhost") + path
    return run("scan", url, *arguments, *LOOPBACK, SCAN_CA_BUNDLE=str(site.ca_file), **variables)


def parse_reports(ran: subprocess.CompletedProcess[str]) -> list[Any]:
    reports: list[Any] = json.loads(ran.stdout)["reports"]
    return reports


@pytest.mark.parametrize("scan_type", list(ScanType))
def test_json_has_the_same_keys_as_the_api_report(site: Site, scan_type: ScanType) -> None:
    ran = scan(site, "--type", scan_type, "--format", "json")
    assert ran.returncode == 0
    report = json.loads(ran.stdout)
    assert list(report) == [*REPORT, "browser", "checks_left_out", "gate"]
    assert report["gate"] == {"passed": True, "complaints": [], "interrupted": False, "unfinished": []}
    assert (report["type"], report["url"]) == (scan_type, site.url_as("localhost") + "/")
    assert report["id"].startswith("scan_")
    assert 0 <= report["score"] <= 100
    assert set(report["summary"]) == SUMMARY
    assert report["summary"]["total_checks"] == sum(len(category["checks"]) for category in report["categories"]) > 0
    for category in report["categories"]:
        assert set(category) == {"name", "score", "checks"}
        for check in category["checks"]:
            assert set(check) == CHECK | (set() if check["status"] == "pass" else {"fix"})
            assert (check["severity"] is None) == (check["status"] == "pass")


def test_credentials_are_redacted_in_the_output(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Credentials may be an option's value, a variable or a file. The output must not repeat them."""
    site.routes["/keyed"] = lambda request: Answer(PAGE.format(request.header("X-One")))
    site.requests.clear()
    cookies = tmp_path / "cookies"
    cookies.write_text("sid=3f9a77c1\n\nb=c\n")
    monkeypatch.setenv("KEYS", "X-Two: b: c")
    headers = ("--header", "X-One: 3f9a77c1e5d2", "--header", "$KEYS")
    others = ("--cookie", f"@{cookies}", "--basic-auth", "u:p:w")
    ran = scan(site, "--type", "seo", "--format", "full", *headers, *others, path="/keyed")
    (request,) = (request for request in site.requests if request.path == "/keyed")
    names = ("X-One", "X-Two", "Cookie", "Authorization")
    assert [request.header(name) for name in names] == ["3f9a77c1e5d2", "b: c", "sid=3f9a77c1; b=c", "Basic dTpwOnc="]
    assert ran.returncode == 0
    assert "•••" in ran.stdout.encode().decode("unicode_escape")
    assert "3f9a77c1" not in ran.stdout + ran.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("--header", "3f9a77c1"),
        ("--header", "Host: 3f9a77c1"),
        ("--header", "X: 3f9a77c1", "--header", "X: 3f9a77c1"),
        ("--header", "$NOT_SET"),
        ("--cookie", "@/nonexistent"),
        ("--cookie", "3f9a77c1"),
        ("--basic-auth", "3f9a77c1"),
        ("--basic-auth", "a:3f9a77c1", "--basic-auth", "b:3f9a77c1"),
        ("--header", "X: 3f9a77c1", "http://other.example.com/"),
    ],
)
def test_invalid_credentials_are_a_usage_error(site: Site, arguments: tuple[str, ...]) -> None:
    site.requests.clear()
    ran = scan(site, "--type", "seo", *arguments)
    assert ran.returncode == 2
    assert ran.stderr
    assert "3f9a77c1" not in ran.stdout + ran.stderr
    assert site.requests == []


def test_text_begins_with_the_notice_of_a_blank_page(site: Site) -> None:
    site.routes["/app"] = Answer("<!doctype html><html lang=en><title>App</title><div id=root></div><script></script>")
    lines = scan(site, "--type", "accessibility", path="/app").stdout.splitlines()
    assert lines[1].startswith("  The page shows no content until its scripts have run, and no browser ran them.")


def test_full_format_has_ids_evidence_and_caps(site: Site) -> None:
    ran = scan(site, "--type", "seo", "--format", "full", path="/hidden")
    assert ran.returncode == 0
    export = json.loads(ran.stdout)
    assert list(export) == [
        *REPORT,
        "report_id",
        "status",
        "skipped_checks",
        "browser",
        "omitted_checks",
        "repeated_checks",
        "caps",
        "held",
        "catalogue_version",
        "site_evidence_at",
        "gate",
    ]
    assert export["report_id"].startswith("rpt_")
    assert export["status"] == "completed"
    assert export["catalogue_version"] == catalogue_version(ScanType(export["type"]))
    (cap,) = export["caps"]
    assert export["held"].startswith("One critical finding keeps the score at 40. Fixing it raises the score to ")
    assert set(cap) == {"limit", "reason"}
    assert export["score"] <= cap["limit"]
    all_checks = [check for category in export["categories"] for check in category["checks"]]
    added = {"id", "title", "details", "evidence", "references", "points", "later", "holds"}
    findings_by_check = {
        "fix",
        "outcome",
        "summary",
        "values",
        "places",
        "includes",
        "needs_review",
        "how_to_fix",
        "why",
        "consequence",
    }
    for check in all_checks:
        assert set(check) == CHECK | added | (findings_by_check if check["status"] != "pass" else set())
    assert {check["id"] for check in all_checks} <= {check.id for check in checks(ScanType.SEO)}
    assert any(check["evidence"] for check in all_checks)


def test_skipped_checks_do_not_fail_the_scan(site: Site) -> None:
    full, text = (scan(site, "--type", "security", "--format", name, path="/curt") for name in ("full", "text"))
    assert full.returncode == text.returncode == 0
    export = json.loads(full.stdout)
    assert export["status"] == "partial"
    skipped = export["skipped_checks"][0]
    assert set(skipped) == {"id", "name", "reason", "code"}
    assert f"\n  Could not run ({len(export['skipped_checks'])})\n" in text.stdout
    assert f"    ? {skipped['name']}: " in text.stdout


def test_formats_report_the_error_of_a_failed_scan(site: Site) -> None:
    for output_format in ("json", "full"):
        ran = scan(site, "--type", "seo", "--format", output_format, path="/broken")
        assert ran.returncode == 3
        report = json.loads(ran.stdout)
        assert report["status"] == "failed"
        assert set(report["error"]) == {"code", "message"}
        assert (report["score"], report["grade"], report["categories"]) == (None, None, [])
    ran = scan(site, "--type", "seo", path="/broken")
    assert ran.returncode == 3
    assert ran.stdout.splitlines() == [f"{report['url']}  seo  not scanned", f"  {report['error']['message']}"]


@pytest.mark.parametrize("scan_type", ["security", "seo"])
def test_sarif_is_valid(site: Site, scan_type: str) -> None:
    ran = scan(site, "--type", scan_type, "--format", "sarif")
    assert ran.returncode == 0
    log = json.loads(ran.stdout)
    assert_sarif(log)
    (run_,) = log["runs"]
    rules = run_["tool"]["driver"]["rules"]
    assert len({rule["id"] for rule in rules}) == len(rules)
    assert run_["results"]
    for result in run_["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
    assert run_["invocations"][0]["executionSuccessful"] is True
    # This property makes code scanning show a result as a security alert.
    assert any("security-severity" in rule["properties"] for rule in rules) == (scan_type == "security")


def test_sarif_of_a_failed_scan_contains_the_error() -> None:
    ran = run("scan", "http://10.0.0.1/", "--type", "seo", "--format", "sarif")
    assert ran.returncode == 3
    log = json.loads(ran.stdout)
    assert_sarif(log)
    (run_,) = log["runs"]
    (invocation,) = run_["invocations"]
    assert invocation["executionSuccessful"] is False
    assert invocation["toolExecutionNotifications"][0]["message"]["text"].startswith("DOMAIN_BLOCKED: ")
    assert run_["results"] == []


def test_reports_have_the_order_of_the_urls(site: Site) -> None:
    good = site.url_as("localhost")
    with socket.socket() as silent_socket:
        silent_socket.bind(
            ("127.0.0.1", 0)
        )  # The bound socket refuses connections, and no other process can use its port.
        expected = {
            f"{good}/": None,
            "http://10.0.0.1/": "DOMAIN_BLOCKED",
            "http://service.internal/": "DOMAIN_BLOCKED",
            f"http://127.0.0.1:{silent_socket.getsockname()[1]}/": "URL_NOT_REACHABLE",
            f"{good}/order": None,
        }
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(scanning, "SCAN_CA_BUNDLE", site.ca_file)
            patch.setattr(local, "browser", lambda: None)
            ran = run_here("scan", *expected, "--type", "seo", "--format", "json", *LOOPBACK)
    assert ran.returncode == 3
    reports = parse_reports(ran)
    assert [report["url"] for report in reports] == list(expected)
    assert [report.get("error", {}).get("code") for report in reports] == list(expected.values())
    assert [report.get("status") for report in reports] == [code and "failed" for code in expected.values()]


def test_argument_that_is_not_utf_8_is_a_usage_error() -> None:
    ran = run("scan", b"http://\xff\xfe.example.com/", "--type", "seo")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "\\udcff\\udcfe.example.com/: " in ran.stderr


@pytest.mark.parametrize(
    ("under", "refused", "status"),
    [("0", [], 0), ("100", [], 1), ("0", ["http://10.0.0.1/"], 3), ("100", ["http://10.0.0.1/"], 3)],
)
def test_exit_status_is_3_for_a_failed_scan(site: Site, under: str, refused: list[str], status: int) -> None:
    assert scan(site, *refused, "--type", "seo", "--fail-under", under).returncode == status


def test_score_equal_to_the_minimum_passes(site: Site) -> None:
    score = json.loads(scan(site, "--type", "seo", "--format", "json").stdout)["score"]
    assert scan(site, "--type", "seo", "--fail-under", str(score)).returncode == 0
    assert scan(site, "--type", "seo", "--fail-under", str(score + 1)).returncode == 1


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--type", "seo"], "URL"),
        (["http://example.com/", "--type", "speed"], "invalid choice: 'speed'"),
        (["http://example.com/", "--type", "seo", "--format", "pdf"], "invalid choice: 'pdf'"),
        (["http://example.com/", "--type", "seo", "--fail-under", "101"], "between 0 and 100"),
        (["http://example.com/", "--type", "seo", "--fail-under", "-1"], "--fail-under"),
        (["http://example.com/", "--type", "seo", "--fail-under", "A"], "between 0 and 100"),
        (["http://example.com/", "--type", "seo", "--allow-network", "127.0.0.1/8"], "has host bits set"),
        (["http://example.com/", "--type", "seo", "--allow-network", "home"], "--allow-network"),
        (["http://example.com/", "--type", "seo", "--allow-network", ""], "--allow-network"),
        (["http://example.com/", "--type", "seo", "--verbose"], "--verbose"),
    ],
)
def test_usage_errors_exit_with_status_2(arguments: list[str], complaint: str) -> None:
    ran = run_here("scan", *arguments)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert complaint in ran.stderr


@pytest.mark.parametrize(
    "wrong",
    [
        {"SCAN_TIME_LIMIT": "soon", "SCAN_ALLOWED_NETWORKS": "127.0.0.1/8", "SCAN_CA_BUNDLE": "/nonexistent.pem"},
        {"SCAN_ALLOWED_PORTS": "http", "SCAN_CA_BUNDLE": __file__, "SCAN_ALLOWED_NETWORKS": "127.0.0.0/8:0"},
        {"SCAN_ALLOWED_NETWORKS": "10.0.0.0/8,127.0.0.1/8:8080"},
    ],
    ids=" ".join,
)
def test_invalid_scan_settings_are_refused(wrong: dict[str, str]) -> None:
    ran = run("scan", "http://10.0.0.1/", "--type", "seo", **wrong)
    assert (ran.returncode, ran.stdout) == (2, "")
    for variable in wrong:
        assert f"(environment.{variable})" in ran.stderr


def test_settings_of_the_service_do_not_matter(site: Site) -> None:
    assert scan_in_process(site, "--type", "seo", DATABASE_URL="mysql://", REDIS_URL="?", BASE_URL="-").returncode == 0


def test_private_networks_need_an_option(site: Site, tmp_path: Path) -> None:
    config = tmp_path / "gate.toml"  # Unlike a typed URL, a URL in the file does not allow loopback.
    config.write_text(f'urls = "{site.url_as("localhost")}/"')
    bundle = str(site.ca_file)
    arguments = ("scan", "--config", str(config), "--type", "seo", "--format", "json")
    refused = run(*arguments, SCAN_CA_BUNDLE=bundle)
    assert json.loads(refused.stdout)["error"]["code"] == "DOMAIN_BLOCKED"
    options = [f"--allow-network={address}/32:{site.port}" for address in ("10.0.0.1", "127.0.0.1")]
    assert run(*arguments, *options, SCAN_CA_BUNDLE=bundle).returncode == 0
    assert run(*arguments, *LOOPBACK, SCAN_CA_BUNDLE=bundle).returncode == 2
    run_by_setting = run(*arguments, SCAN_CA_BUNDLE=bundle, SCAN_ALLOWED_NETWORKS="127.0.0.0/8")
    assert run_by_setting.returncode == 0


def test_progress_line_is_cleared_at_the_end(site: Site) -> None:
    master, terminal = pty.openpty()
    url = f"{site.url_as('localhost')}/"
    arguments = ("--type", "seo", "--format", "json", *LOOPBACK)
    with start_with_stderr(terminal, "scan", url, *arguments, SCAN_CA_BUNDLE=str(site.ca_file)) as process:
        os.close(terminal)
        written = b"".join(iter(lambda: _read(master), b"")).decode()
        output, _ = process.communicate(timeout=60)
    os.close(master)
    assert json.loads(output)["url"] == url
    written, _, closing = written.rpartition("\r\x1b[K")
    assert "\n" not in written
    assert closing == "Done: 1 report of 1 page.\r\n"
    assert len(PROGRESS.findall(written)) > 3
    percents = [int(number) for number in re.findall(r"(\d{1,3}) %", written)]
    assert percents == sorted(percents)
    assert percents[-1] == 100


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 4096)
    except OSError:  # Linux raises this error if the other end of the terminal is closed.
        return b""


@pytest.mark.parametrize("output_format", ["text", "json"])
def test_no_progress_is_written_without_a_terminal(site: Site, output_format: str) -> None:
    assert scan_in_process(site, "--type", "seo", "--format", output_format).stderr == "Done: 1 report of 1 page.\n"
    assert scan_in_process(site, "--type", "seo", "--format", output_format, "--quiet").stderr == ""


def test_ctrl_c_writes_finished_reports(site: Site, tmp_path: Path) -> None:
    urls = [f"{site.url}/", f"{site.url}/silent"]
    arguments = (
        "--type",
        "seo",
        "--format",
        "json",
        "--format",
        "sarif",
        "--output",
        str(tmp_path / "sarif"),
        *LOOPBACK,
    )
    # Shells make background processes ignore SIGINT.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with start("scan", *urls, *arguments, SCAN_CA_BUNDLE=str(site.ca_file)) as process:
        wait_until(lambda: "/silent" in site.paths() or process.poll() is not None, 30)
        interrupted_at_s = time.monotonic()
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=30)
    assert time.monotonic() - interrupted_at_s < 5
    assert process.returncode == 130
    assert errors == "Interrupted: 1 of 2 pages not finished.\n"
    content = json.loads(output)
    assert content["gate"] == {"passed": False, "complaints": [], "interrupted": True, "unfinished": urls[1:]}
    assert [report["url"] for report in content["reports"]] == urls
    assert [report.get("error", {}).get("code") for report in content["reports"]] == [None, "SCAN_CANCELLED"]
    (log,) = json.loads((tmp_path / "sarif").read_text())["runs"]
    assert [invocation["executionSuccessful"] for invocation in log["invocations"]] == [True, False]


def test_early_signal_fails_the_gate(site: Site) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    arguments = ("--type", "seo", "--format", "json", "--fail-on", "low", *LOOPBACK)
    with start("scan", f"{site.url}/silent?only", *arguments, SCAN_CA_BUNDLE=str(site.ca_file)) as process:
        wait_until(lambda: "/silent?only" in site.paths() or process.poll() is not None, 30)
        process.send_signal(signal.SIGTERM)
        output, _ = process.communicate(timeout=30)
    assert process.returncode == 143
    report = json.loads(output)
    assert (report["status"], report["score"]) == ("failed", None)
    assert report["gate"]["unfinished"] == [f"{site.url}/silent?only"]


def test_closed_pipe_causes_no_traceback(site: Site) -> None:
    urls = [f"{site.url_as('localhost')}/", "http://10.0.0.1/"]
    with start("scan", *urls, "--type", "seo", *LOOPBACK, SCAN_CA_BUNDLE=str(site.ca_file)) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        errors = process.stderr.read()
        assert process.wait(30) == 141
    assert "Error" not in errors


@pytest.mark.parametrize("scan_type", ["security", "seo", "accessibility"])
@pytest.mark.parametrize("output_format", ["text", "json", "full"])
def test_hostile_control_characters_are_not_written(site: Site, scan_type: str, output_format: str) -> None:
    ran = scan(site, "--type", scan_type, "--format", output_format, path="/hostile")
    assert ran.returncode == 0
    characters = set(ran.stdout + ran.stderr) - {"\n"}
    assert not {character for character in characters if unicodedata.category(character) in INTERPRETED}
    if scan_type == "seo":
        assert "[U+202E]" in ran.stdout  # The output contains the character's code point instead.


def test_unsupported_characters_are_escaped(site: Site) -> None:
    ran = scan_in_process(site, "--type", "seo", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert ran.returncode == 0
    assert ran.stdout.isascii()
    assert "\\u2717 Images without alternative text" in ran.stdout


def test_text_counts_passed_checks(site: Site) -> None:
    ran = scan(site, "--type", "security")
    report = json.loads(scan(site, "--type", "security", "--format", "full").stdout)
    first, *_ = ran.stdout.splitlines()
    assert first == f"{report['url']}  security  {report['score']}/100  {report['grade']}"
    all_checks = [check for category in report["categories"] for check in category["checks"]]
    words = " ".join(ran.stdout.split())
    for check in all_checks:
        assert (f"{check['title']} ({check['severity']}, " in words) == (check["status"] != "pass")
        if check["status"] != "pass":
            assert f"Fix: {check['how_to_fix']['text']}" in words
            assert all(f" {snippet['label']}: " in words for snippet in check["how_to_fix"]["snippets"])
    statuses = [check["status"] for check in all_checks]
    assert f"\n  {statuses.count('fail')} failed, {statuses.count('warn')} warnings\n" in ran.stdout
    assert f"\n  {statuses.count('pass')} passed. By category: " in ran.stdout
    quiet = scan(site, "--type", "security", "--quiet").stdout
    assert "passed" not in quiet
    assert " failed, " in quiet


def test_scanner_exception_fails_only_its_own_scan(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def crash(*_: object, **__: object) -> None:
        raise RuntimeError("something nobody thought of")

    monkeypatch.setattr(local_scans, "scan", crash)
    ran = run_here("scan", "http://one.example.com/", "http://two.example.com/", "--type", "seo", "--format", "json")
    assert ran.returncode == 3
    assert [report["error"]["code"] for report in parse_reports(ran)] == ["INTERNAL_ERROR"] * 2
    assert "nobody thought of" in caplog.text


# One pytest worker runs these tests, so that the scan runs once.
rendered_scan_group = pytest.mark.xdist_group("rendered")
WITH_A_BROWSER = (ScanType.PERFORMANCE, ScanType.SEO, ScanType.ACCESSIBILITY)


@pytest.fixture(scope="module")
def browser_scan(site: Site) -> tuple[list[Any], list[Request]]:
    """Return the exports of a browser scan and the received requests."""
    before = len(site.requests)
    types = [part for scan_type in WITH_A_BROWSER for part in ("--type", scan_type)]
    ran = scan_in_process(site, *types, "--format", "full", SCAN_BROWSER="auto")
    assert ran.returncode == 0, ran.stderr
    return parse_reports(ran), site.requests[before:]


@rendered_scan_group
@pytest.mark.parametrize("scan_type", [ScanType.PERFORMANCE, ScanType.ACCESSIBILITY])
def test_browser_scan_judges_the_rendered_page(
    browser_scan: tuple[list[Any], list[Request]], scan_type: ScanType
) -> None:
    export = browser_scan[0][WITH_A_BROWSER.index(scan_type)]
    assert export["type"] == scan_type
    assert export["status"] == "completed", export["skipped_checks"]
    check_ids = {check["id"] for category in export["categories"] for check in category["checks"]}
    assert check_ids & {check.id for check in checks(scan_type) if needs_browser(check)}
    assert not any("without a browser" in cap["reason"] for cap in export["caps"])
    assert export["browser"].startswith("Chromium ")
    assert export["omitted_checks"] == []


@rendered_scan_group
def test_scan_types_share_one_browser_load(browser_scan: tuple[list[Any], list[Request]]) -> None:
    exports, requests = browser_scan
    assert [export["type"] for export in exports] == list(WITH_A_BROWSER)
    loads = [request for request in requests if request.path == "/"]
    # A busy machine may leave no time for repeated loads.
    assert 1 <= sum("Chrome/" in (request.header("User-Agent") or "") for request in loads) <= 3


def test_scan_is_partial_without_a_started_browser(site: Site) -> None:
    ran = scan_in_process(site, "--type", "accessibility", "--format", "full", SCAN_BROWSER="/bin/true")
    assert ran.returncode == 0, ran.stderr
    export = json.loads(ran.stdout)
    assert export["status"] == "partial"
    skipped = {check["id"]: check["reason"] for check in export["skipped_checks"]}
    assert skipped["color-contrast"] == "The browser could not be started."
    assert "image-alt" not in skipped


def test_scan_without_a_browser_gets_at_most_an_a(site: Site) -> None:
    export = json.loads(scan_in_process(site, "--type", "accessibility", "--format", "full", SCAN_BROWSER="off").stdout)
    assert export["status"] == "completed"
    check_ids = {check["id"] for category in export["categories"] for check in category["checks"]}
    assert not check_ids & {check.id for check in checks(ScanType.ACCESSIBILITY) if needs_browser(check)}
    assert export["score"] <= 96


@pytest.mark.parametrize("scan_type", list(ScanType))
def test_formats_list_the_omitted_browser_checks(site: Site, scan_type: ScanType) -> None:
    """Regression: a page scored 63 (D) with a browser and 80 (B) without, and no output mentioned the difference."""
    left_out = [check for check in checks(scan_type) if needs_browser(check)]
    export = json.loads(scan(site, "--type", scan_type, "--format", "full").stdout)
    assert export["browser"] is None
    assert export["omitted_checks"] == [{"id": check.id, "name": check.name} for check in left_out]
    text = scan(site, "--type", scan_type).stdout
    assert ("judged without a browser" in text) == bool(left_out)
    assert all(f"    - {check.name}\n" in text for check in left_out)
    (sarif,) = json.loads(scan(site, "--type", scan_type, "--format", "sarif").stdout)["runs"]
    notes = [
        notification["message"]["text"]
        for notification in sarif["invocations"][0].get("toolExecutionNotifications", [])
    ]
    assert any("With a browser the score can be lower or higher" in note for note in notes) == bool(left_out)
