"""`manage.py scan`: the scanner without the service."""

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

from tests.command_line import run, run_here, start, start_with_errors_in
from tests.operations.stack.processes import wait_until
from tests.reports.sarif import assert_sarif
from tests.targets.sample import sample_site
from tests.targets.server import Answer, Request, Site
from website_scan import settings as scanning
from website_scan.catalogue import catalogue_version, checks
from website_scan.command import local
from website_scan.findings import ScanType
from website_scan.plan import needs_browser

REPORT = ["id", "type", "url", "score", "grade", "created_at", "completed_at", "categories", "summary"]
SUMMARY = {"total_checks", "passed", "failed", "warnings", "critical", "high", "medium", "low"}
CHECK = {"name", "status", "severity", "message"}
PROGRESS = re.compile(r"\r\x1b\[K *\d{1,3} %  (connecting|collecting|checking|done) +(\d+/\d+ checks  )?\S+")
LOOPBACK = ("--allow-network", "127.0.0.0/8")
# Control characters, marks that change the direction of text, lone surrogates, line and paragraph separators.
OBEYED = {"Cc", "Cf", "Cs", "Zl", "Zp"}


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


def scan_apart(site: Site, *arguments: str, path: str = "/", **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own."""
    url = site.url_as("localhost") + path
    return run("scan", url, *arguments, *LOOPBACK, SCAN_CA_BUNDLE=str(site.ca_file), **variables)


def documents(ran: subprocess.CompletedProcess[str]) -> list[Any]:
    found: list[Any] = json.loads(ran.stdout)["reports"]
    return found


@pytest.mark.parametrize("scan_type", list(ScanType))
def test_json_is_exactly_the_report_of_the_api(site: Site, scan_type: ScanType) -> None:
    ran = scan(site, "--type", scan_type, "--format", "json")
    assert ran.returncode == 0
    report = json.loads(ran.stdout)
    assert list(report) == [*REPORT, "browser", "checks_left_out", "gate"]
    assert report["gate"] == {"passed": True, "complaints": [], "interrupted": False, "unfinished": []}
    assert (report["type"], report["url"]) == (scan_type, site.url_as("localhost") + "/")
    assert report["id"].startswith("scan_")
    assert 0 <= report["score"] <= 100
    assert set(report["summary"]) == SUMMARY
    assert report["summary"]["total_checks"] == sum(len(each["checks"]) for each in report["categories"]) > 0
    for category in report["categories"]:
        assert set(category) == {"name", "score", "checks"}
        for check in category["checks"]:
            assert set(check) == CHECK | (set() if check["status"] == "pass" else {"fix"})
            assert (check["severity"] is None) == (check["status"] == "pass")


def test_a_page_that_needs_a_key_is_shown_it(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Credentials are given directly, by a variable, or by a file. The page repeats them, the output does not."""
    site.routes["/keyed"] = lambda asked: Answer(PAGE.format(asked.header("X-One")))
    site.requests.clear()
    cookies = tmp_path / "cookies"
    cookies.write_text("sid=3f9a77c1\n\nb=c\n")
    monkeypatch.setenv("KEYS", "X-Two: b: c")
    given = ("--header", "X-One: 3f9a77c1e5d2", "--header", "$KEYS", "--cookie", f"@{cookies}", "--basic-auth", "u:p:w")
    ran = scan(site, "--type", "seo", "--format", "full", *given, path="/keyed")
    (asked,) = (each for each in site.requests if each.path == "/keyed")
    names = ("X-One", "X-Two", "Cookie", "Authorization")
    assert [asked.header(name) for name in names] == ["3f9a77c1e5d2", "b: c", "sid=3f9a77c1; b=c", "Basic dTpwOnc="]
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
def test_a_key_that_can_not_be_used_is_wrong_usage_and_not_repeated(site: Site, arguments: tuple[str, ...]) -> None:
    site.requests.clear()
    ran = scan(site, "--type", "seo", *arguments)
    assert ran.returncode == 2
    assert ran.stderr
    assert "3f9a77c1" not in ran.stdout + ran.stderr
    assert site.requests == []


def test_the_text_says_first_that_a_page_shows_nothing(site: Site) -> None:
    site.routes["/app"] = Answer("<!doctype html><html lang=en><title>App</title><div id=root></div><script></script>")
    lines = scan(site, "--type", "accessibility", path="/app").stdout.splitlines()
    assert lines[1].startswith("  The page shows no content until its scripts have run, and no browser ran them.")


def test_full_has_ids_evidence_and_caps(site: Site) -> None:
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
    assert export["held"].startswith("One critical finding holds the score at 40; fix it: ")
    assert set(cap) == {"limit", "reason"}
    assert export["score"] <= cap["limit"]
    found = [check for category in export["categories"] for check in category["checks"]]
    added = {"id", "title", "details", "evidence", "references", "points", "later", "holds"}
    of_findings = {"fix", "outcome", "summary", "values", "places", "includes", "needs_review", "how_to_fix", "why"}
    for check in found:
        assert set(check) == CHECK | added | (of_findings if check["status"] != "pass" else set())
    assert {check["id"] for check in found} <= {check.id for check in checks(ScanType.SEO)}
    assert any(check["evidence"] for check in found)


def test_what_could_not_run_stands_in_full_and_in_the_text_and_does_not_fail_the_scan(site: Site) -> None:
    full, text = (scan(site, "--type", "security", "--format", each, path="/curt") for each in ("full", "text"))
    assert full.returncode == text.returncode == 0
    export = json.loads(full.stdout)
    assert export["status"] == "partial"
    skipped = export["skipped_checks"][0]
    assert set(skipped) == {"id", "name", "reason", "code"}
    assert f"\n  Could not run ({len(export['skipped_checks'])})\n" in text.stdout
    assert f"    ? {skipped['name']}: " in text.stdout


def test_a_failed_scan_says_so_in_every_format(site: Site) -> None:
    for output_format in ("json", "full"):
        ran = scan(site, "--type", "seo", "--format", output_format, path="/broken")
        assert ran.returncode == 3
        document = json.loads(ran.stdout)
        assert document["status"] == "failed"
        assert set(document["error"]) == {"code", "message"}
        assert (document["score"], document["grade"], document["categories"]) == (None, None, [])
    ran = scan(site, "--type", "seo", path="/broken")
    assert (ran.returncode, ran.stdout.count("\n")) == (3, 1)
    assert f"failed: {document['error']['code']}: " in ran.stdout


@pytest.mark.parametrize("scan_type", ["security", "seo"])
def test_sarif_is_sarif(site: Site, scan_type: str) -> None:
    ran = scan(site, "--type", scan_type, "--format", "sarif")
    assert ran.returncode == 0
    document = json.loads(ran.stdout)
    assert_sarif(document)
    (run_,) = document["runs"]
    rules = run_["tool"]["driver"]["rules"]
    assert len({rule["id"] for rule in rules}) == len(rules)
    assert run_["results"]
    for result in run_["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
    assert run_["invocations"][0]["executionSuccessful"] is True
    # This property makes code scanning show a result as a security alert.
    assert any("security-severity" in rule["properties"] for rule in rules) == (scan_type == "security")


def test_sarif_of_a_failed_scan_says_what_went_wrong() -> None:
    ran = run("scan", "http://10.0.0.1/", "--type", "seo", "--format", "sarif")
    assert ran.returncode == 3
    document = json.loads(ran.stdout)
    assert_sarif(document)
    (run_,) = document["runs"]
    (invocation,) = run_["invocations"]
    assert invocation["executionSuccessful"] is False
    assert invocation["toolExecutionNotifications"][0]["message"]["text"].startswith("DOMAIN_BLOCKED: ")
    assert run_["results"] == []


def test_several_urls_are_one_document_in_order_and_refusals_have_the_codes_of_the_api(site: Site) -> None:
    good = site.url_as("localhost")
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))  # bound but not listening: no other process gets the port, and nothing answers
        expected = {
            f"{good}/": None,
            "http://10.0.0.1/": "DOMAIN_BLOCKED",
            "http://service.internal/": "DOMAIN_BLOCKED",
            f"http://127.0.0.1:{deaf.getsockname()[1]}/": "URL_NOT_REACHABLE",
            f"{good}/order": None,
        }
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(scanning, "SCAN_CA_BUNDLE", site.ca_file)
            patch.setattr(local, "browser", lambda: None)
            ran = run_here("scan", *expected, "--type", "seo", "--format", "json", *LOOPBACK)
    assert ran.returncode == 3
    found = documents(ran)
    assert [each["url"] for each in found] == list(expected)
    assert [each.get("error", {}).get("code") for each in found] == list(expected.values())
    assert [each.get("status") for each in found] == [code and "failed" for code in expected.values()]


def test_an_argument_that_is_not_utf_8_is_no_url() -> None:
    ran = run("scan", b"http://\xff\xfe.example.com/", "--type", "seo")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "\\udcff\\udcfe.example.com/: " in ran.stderr


@pytest.mark.parametrize(
    ("under", "refused", "status"),
    [("0", [], 0), ("100", [], 1), ("0", ["http://10.0.0.1/"], 3), ("100", ["http://10.0.0.1/"], 3)],
)
def test_the_exit_status_tells_a_low_score_from_a_failed_scan(
    site: Site, under: str, refused: list[str], status: int
) -> None:
    assert scan(site, *refused, "--type", "seo", "--fail-under", under).returncode == status


def test_a_score_that_is_not_below_the_limit_passes(site: Site) -> None:
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
def test_wrong_usage_is_status_2(arguments: list[str], complaint: str) -> None:
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
def test_a_setting_that_can_not_be_used_is_refused_not_ignored(wrong: dict[str, str]) -> None:
    ran = run("scan", "http://10.0.0.1/", "--type", "seo", **wrong)
    assert (ran.returncode, ran.stdout) == (2, "")
    for variable in wrong:
        assert f"(environment.{variable})" in ran.stderr


def test_a_wrong_setting_that_no_scan_reads_does_not_matter(site: Site) -> None:
    assert scan_apart(site, "--type", "seo", DATABASE_URL="mysql://", REDIS_URL="?", BASE_URL="-").returncode == 0


def test_several_networks_may_be_allowed_and_none_is_by_default(site: Site, tmp_path: Path) -> None:
    given = tmp_path / "gate.toml"  # what it names is not typed
    given.write_text(f'urls = "{site.url_as("localhost")}/"')
    bundle = str(site.ca_file)
    arguments = ("scan", "--config", str(given), "--type", "seo", "--format", "json")
    refused = run(*arguments, SCAN_CA_BUNDLE=bundle)
    assert json.loads(refused.stdout)["error"]["code"] == "DOMAIN_BLOCKED"
    several = run(*arguments, "--allow-network", "10.0.0.0/8", *LOOPBACK, SCAN_CA_BUNDLE=bundle)
    assert several.returncode == 0
    by_setting = run(*arguments, SCAN_CA_BUNDLE=bundle, SCAN_ALLOWED_NETWORKS="127.0.0.0/8")
    assert by_setting.returncode == 0


def test_progress_is_one_line_on_a_terminal_that_is_gone_at_the_end(site: Site) -> None:
    master, terminal = pty.openpty()
    url = f"{site.url_as('localhost')}/"
    arguments = ("--type", "seo", "--format", "json", *LOOPBACK)
    with start_with_errors_in(terminal, "scan", url, *arguments, SCAN_CA_BUNDLE=str(site.ca_file)) as process:
        os.close(terminal)
        written = b"".join(iter(lambda: _read(master), b"")).decode()
        output, _ = process.communicate(timeout=60)
    os.close(master)
    assert json.loads(output)["url"] == url
    written, _, closing = written.rpartition("\r\x1b[K")
    assert "\n" not in written
    assert closing == "Done: 1 report of 1 page.\r\n"
    assert len(PROGRESS.findall(written)) > 3
    percents = [int(each) for each in re.findall(r"(\d{1,3}) %", written)]
    assert percents == sorted(percents)
    assert percents[-1] == 100


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 4096)
    except OSError:  # Linux raises this when the other end is closed
        return b""


@pytest.mark.parametrize("output_format", ["text", "json"])
def test_elsewhere_there_is_no_progress(site: Site, output_format: str) -> None:
    assert scan_apart(site, "--type", "seo", "--format", output_format).stderr == "Done: 1 report of 1 page.\n"
    assert scan_apart(site, "--type", "seo", "--format", output_format, "--quiet").stderr == ""


def test_ctrl_c_ends_a_scan_at_once_and_keeps_what_was_finished(site: Site, tmp_path: Path) -> None:
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
    # Shells make background processes ignore this signal, and children would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with start("scan", *urls, *arguments, SCAN_CA_BUNDLE=str(site.ca_file)) as process:
        wait_until(lambda: "/silent" in site.paths() or process.poll() is not None, 30)
        interrupted_at = time.monotonic()
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=30)
    assert time.monotonic() - interrupted_at < 5
    assert process.returncode == 130
    assert errors == "Interrupted: 1 of 2 pages not finished.\n"
    document = json.loads(output)
    assert document["gate"] == {"passed": False, "complaints": [], "interrupted": True, "unfinished": urls[1:]}
    assert [each["url"] for each in document["reports"]] == urls
    assert [each.get("error", {}).get("code") for each in document["reports"]] == [None, "SCAN_CANCELLED"]
    (log,) = json.loads((tmp_path / "sarif").read_text())["runs"]
    assert [each["executionSuccessful"] for each in log["invocations"]] == [True, False]


def test_ctrl_c_before_the_first_report_is_no_passed_gate(site: Site) -> None:
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


def test_a_reader_that_leaves_ends_the_command_without_a_traceback(site: Site) -> None:
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
def test_what_a_hostile_page_says_reaches_no_terminal(site: Site, scan_type: str, output_format: str) -> None:
    ran = scan(site, "--type", scan_type, "--format", output_format, path="/hostile")
    assert ran.returncode == 0
    said = set(ran.stdout + ran.stderr) - {"\n"}
    assert not {each for each in said if unicodedata.category(each) in OBEYED}
    if scan_type == "seo":
        assert "[U+202E]" in ran.stdout  # replaced by its name, not obeyed


def test_a_terminal_without_utf_8_gets_what_it_can_show(site: Site) -> None:
    ran = scan_apart(site, "--type", "seo", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert ran.returncode == 0
    assert ran.stdout.isascii()
    assert "\\u2717 Images without alternative text" in ran.stdout


def test_the_text_says_what_is_wrong_first_and_counts_what_is_well(site: Site) -> None:
    ran = scan(site, "--type", "security")
    report = json.loads(scan(site, "--type", "security", "--format", "full").stdout)
    first, *_ = ran.stdout.splitlines()
    assert first == f"{report['url']}  security  {report['score']}/100  {report['grade']}"
    found = [check for category in report["categories"] for check in category["checks"]]
    for check in found:
        said = f"{check['title']} ({check['severity']}, "
        assert (said in ran.stdout) == (check["status"] != "pass")
        assert "fix" not in check or f"        Fix: {check['fix']}\n" in ran.stdout
    statuses = [check["status"] for check in found]
    assert f"\n  {statuses.count('fail')} failed, {statuses.count('warn')} warnings\n" in ran.stdout
    assert f"\n  {statuses.count('pass')} passed. By category: " in ran.stdout
    quiet = scan(site, "--type", "security", "--quiet").stdout
    assert "passed" not in quiet
    assert " failed, " in quiet


def test_a_fault_of_the_scanner_fails_the_one_scan(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def crash(*_: object, **__: object) -> None:
        raise RuntimeError("something nobody thought of")

    monkeypatch.setattr(local, "scan", crash)
    ran = run_here("scan", "http://one.example.com/", "http://two.example.com/", "--type", "seo", "--format", "json")
    assert ran.returncode == 3
    assert [each["error"]["code"] for each in documents(ran)] == ["INTERNAL_ERROR"] * 2
    assert "nobody thought of" in caplog.text


# One worker runs these tests, so that the scan runs once.
of_rendered = pytest.mark.xdist_group("rendered")
WITH_A_BROWSER = (ScanType.PERFORMANCE, ScanType.SEO, ScanType.ACCESSIBILITY)


@pytest.fixture(scope="module")
def rendered(site: Site) -> tuple[list[Any], list[Request]]:
    """One run with a browser: its documents, and the requests that the site received."""
    before = len(site.requests)
    types = [part for each in WITH_A_BROWSER for part in ("--type", each)]
    ran = scan_apart(site, *types, "--format", "full", SCAN_BROWSER="auto")
    assert ran.returncode == 0, ran.stderr
    return documents(ran), site.requests[before:]


@of_rendered
@pytest.mark.parametrize("scan_type", [ScanType.PERFORMANCE, ScanType.ACCESSIBILITY])
def test_with_a_browser_a_scan_judges_what_is_rendered(
    rendered: tuple[list[Any], list[Request]], scan_type: ScanType
) -> None:
    export = rendered[0][WITH_A_BROWSER.index(scan_type)]
    assert export["type"] == scan_type
    assert export["status"] == "completed", export["skipped_checks"]
    found = {check["id"] for category in export["categories"] for check in category["checks"]}
    assert found & {check.id for check in checks(scan_type) if needs_browser(check)}
    assert not any("without a browser" in cap["reason"] for cap in export["caps"])
    assert export["browser"].startswith("Chromium ")
    assert export["omitted_checks"] == []


@of_rendered
def test_several_types_of_a_page_share_one_load(rendered: tuple[list[Any], list[Request]]) -> None:
    exports, requests = rendered
    assert [each["type"] for each in exports] == list(WITH_A_BROWSER)
    asked = [each for each in requests if each.path == "/"]
    # The first load and its two repetitions.
    # A busy machine has no time for the repetitions.
    assert 1 <= sum("Chrome/" in (each.header("User-Agent") or "") for each in asked) <= 3


def test_a_browser_that_does_not_start_makes_a_scan_partial(site: Site) -> None:
    ran = scan_apart(site, "--type", "accessibility", "--format", "full", SCAN_BROWSER="/bin/true")
    assert ran.returncode == 0, ran.stderr
    export = json.loads(ran.stdout)
    assert export["status"] == "partial"
    skipped = {each["id"]: each["reason"] for each in export["skipped_checks"]}
    assert skipped["color-contrast"] == "The browser could not be started."
    assert "image-alt" not in skipped


def test_without_a_browser_a_scan_is_complete_and_at_most_an_a(site: Site) -> None:
    export = json.loads(scan_apart(site, "--type", "accessibility", "--format", "full", SCAN_BROWSER="off").stdout)
    assert export["status"] == "completed"
    found = {check["id"] for category in export["categories"] for check in category["checks"]}
    assert not found & {check.id for check in checks(ScanType.ACCESSIBILITY) if needs_browser(check)}
    assert export["score"] <= 96


@pytest.mark.parametrize("scan_type", list(ScanType))
def test_without_a_browser_every_format_says_what_was_left_out(site: Site, scan_type: ScanType) -> None:
    """Regression: a page had 63 D with a browser and 80 B without, both complete, and nothing said which was which."""
    left_out = [check for check in checks(scan_type) if needs_browser(check)]
    export = json.loads(scan(site, "--type", scan_type, "--format", "full").stdout)
    assert export["browser"] is None
    assert export["omitted_checks"] == [{"id": each.id, "name": each.name} for each in left_out]
    text = scan(site, "--type", scan_type).stdout
    assert ("judged without a browser" in text) == bool(left_out)
    assert all(f"    - {each.name}\n" in text for each in left_out)
    (sarif,) = json.loads(scan(site, "--type", scan_type, "--format", "sarif").stdout)["runs"]
    notes = [each["message"]["text"] for each in sarif["invocations"][0].get("toolExecutionNotifications", [])]
    assert any("With a browser the score can be lower or higher" in each for each in notes) == bool(left_out)
