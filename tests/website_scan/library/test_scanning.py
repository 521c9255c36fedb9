"""Test `scan` and `scan_pages` without a browser."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

import website_scan
from tests.targets.server import Answer, Certificate, Request, Site
from website_scan import settings as scanning
from website_scan.environment import Problem, problems
from website_scan.security_categories import limitation

LOOPBACK = ("127.0.0.0/8",)
PAGE = "<!doctype html><html lang=en><meta charset=utf-8><title>{0}</title><h1>{0}</h1><img src=/tea.png>"


@pytest.fixture
def site() -> Iterator[Site]:
    with Site({"*": Answer(PAGE.format("Tea from Uji"))}) as running:
        yield running


def scan(site: Site, *types: website_scan.ScanType, path: str = "/") -> website_scan.PageResult:
    return website_scan.scan(f"{site.url}{path}", types or None, browser=False, allow_networks=LOOPBACK)


def test_page_has_a_report_for_each_type(site: Site) -> None:
    page = scan(site)
    assert page.types == website_scan.TYPES
    assert (page.url, page.error) == (f"{site.url}/", None)
    report = page["seo"]
    assert (report.type, report.url, report.final_url, report.browser) == ("seo", page.url, page.url, None)
    assert report.score is not None
    assert 0 < report.score < 100
    assert report.started_at <= report.completed_at
    assert "performance" in page
    with pytest.raises(KeyError):
        scan(site, "seo")["security"]


def test_finding_is_data(site: Site) -> None:
    (finding,) = [finding for finding in scan(site, "accessibility").findings if finding.check == "image-alt"]
    assert (finding.type, finding.outcome, finding.status, finding.severity) == (
        "accessibility",
        "missing",
        "fail",
        "critical",
    )
    assert finding.places_total == len(finding.places) == 1
    assert finding.places[0].kind == "element"
    assert finding.places[0].row["snippet"] == '<img src="/tea.png">'
    assert len(finding.places[0].fingerprint) == 16
    assert any("1.1.1" in reference for reference in finding.references)
    assert finding.fix.text
    assert finding.plug_in is None
    with pytest.raises(AttributeError, match="immutable"):
        finding.title = "x"  # type: ignore[misc]


def test_findings_of_all_types_are_in_order_of_priority(site: Site) -> None:
    findings = scan(site).findings
    assert {finding.type for finding in findings} == set(website_scan.TYPES)
    failed_critical = [finding.status == "fail" and finding.severity == "critical" for finding in findings]
    assert failed_critical == sorted(failed_critical, reverse=True)


def test_loopback_is_blocked_unless_it_is_allowed(site: Site) -> None:
    for url in (f"{site.url}/", site.url_as("localhost"), "http://10.0.0.5/"):
        with pytest.raises(website_scan.Blocked) as raised:
            website_scan.scan(url, browser=False)
        assert raised.value.url == url
        assert "allow_networks" in str(raised.value)
    assert site.requests == []
    assert website_scan.scan(f"{site.url}/", "seo", browser=False, allow_networks=f"127.0.0.1/32:{site.port}")[
        "seo"
    ].score


@pytest.mark.parametrize(
    "url", ["", "example.com", "ftp://example.com/", "https://user:hunter2@example.com/", "https://example.com:0/"]
)
def test_invalid_urls_raise_before_any_scan(site: Site, url: str) -> None:
    with pytest.raises(website_scan.InvalidUrl) as raised:
        website_scan.scan_pages([f"{site.url}/", url], browser=False, allow_networks=LOOPBACK)
    assert isinstance(raised.value, ValueError)
    assert "hunter2" not in f"{raised.value} {raised.value!r} {raised.value.url}"
    assert site.requests == []


def test_chosen_categories_limit_security(site: Site) -> None:
    page = website_scan.scan(
        f"{site.url}/", ["security", "seo"], browser=False, allow_networks=LOOPBACK, categories=["headers"]
    )
    assert [category.name for category in page["security"].categories] == ["HTTP headers"]
    assert limitation(["headers"]) in page["security"].notice
    assert not page["seo"].notice


@pytest.mark.parametrize("category", ["cookies", "names", "headers"])
def test_scan_of_a_category_notices_a_log_in_page(category: str) -> None:
    log_in = Answer(
        "<!doctype html><title>Log in</title><form><input type=password name=p><button>Log in</button></form>"
    )
    with Site({"/account": Answer.redirect("/login"), "/login": log_in}) as site:
        result = website_scan.scan(
            f"{site.url}/account", "security", browser=False, allow_networks=LOOPBACK, categories=[category]
        )
    assert result["security"].needs_log_in


def test_port_that_is_not_allowed_raises() -> None:
    with pytest.raises(website_scan.InvalidUrl, match="Port 22"):
        website_scan.scan("https://example.com:22/", browser=False)


@pytest.mark.parametrize(
    "options",
    [
        {"types": ["seo", "speed"]},
        {"types": []},
        {"allow_networks": ["somewhere"]},
        {"widths": [10]},
        {"widths": [412.0]},
        {"color_scheme": "pink"},
        {"categories": []},
        {"categories": ["mail", "tls"]},
        {"types": "seo", "categories": "mail"},
        {"widths": [800], "browser": False},
        {"time_limit_s": 0},
        {"time_limit_s": float("nan")},
        {"workers": 0},
        {"requirements": {"rules": [{"name": "Nothing"}]}},
        {"credentials": website_scan.Credentials(headers={"Host": "x"})},
        {"credentials": {"https://other.example.com": website_scan.Credentials(cookies={"a": "b"})}},
    ],
    ids=str,
)
def test_invalid_options_raise_before_any_scan(site: Site, options: dict[str, object]) -> None:
    with pytest.raises(website_scan.InvalidOption):
        website_scan.scan_pages([f"{site.url}/"], **{"allow_networks": LOOPBACK} | options)  # type: ignore[arg-type]
    assert site.requests == []


def test_invalid_environment_variable_raises(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "website_scan.environment.problems", [*problems, Problem("SCAN_TIME_LIMIT", "It is x.", "Use 60.")]
    )
    with pytest.raises(website_scan.InvalidOption, match="SCAN_TIME_LIMIT"):
        scan(site)


def test_own_requirements_are_findings(site: Site) -> None:
    rules = [
        {"name": "Imprint is linked", "link": "/imprint", "severity": "high"},
        {"name": "Tea is named", "text": "Tea from Uji"},
    ]
    options = {"browser": False, "allow_networks": LOOPBACK}
    page = website_scan.scan(f"{site.url}/", "seo", requirements={"rules": rules}, **options)  # type: ignore[arg-type]
    (finding,) = [finding for finding in page.findings if finding.category == "Own requirements"]
    assert (finding.check, finding.severity, finding.points) == ("own-imprint-is-linked", "high", 0)
    assert "own-tea-is-named" in {check.check for check in page["seo"].passed}
    assert page["seo"].score == scan(site, "seo")["seo"].score
    assert website_scan.read(website_scan.document(page, "full")) == (page,)


def test_page_that_cannot_be_scanned_is_a_failed_report() -> None:
    with Site() as gone:
        url = f"{gone.url}/"
    page = website_scan.scan(url, ["seo", "security"], browser=False, allow_networks=LOOPBACK)
    for report in page:
        assert (report.status, report.score, report.grade, report.findings) == ("failed", None, None, ())
        assert report.error is not None
        assert report.error.code == "URL_NOT_REACHABLE"
    assert page.error == page["seo"].error


def test_redirect_to_a_blocked_address_is_a_failed_report(site: Site) -> None:
    site.routes["/"] = Answer.redirect("http://10.0.0.5/")
    error = scan(site, "seo").error
    assert error is not None
    assert error.code == "DOMAIN_BLOCKED"


def test_fault_of_the_scanner_is_a_failed_report(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(*_: object, **__: object) -> None:
        raise RuntimeError("something nobody thought of")

    monkeypatch.setattr("website_scan.local_scans.scan", crash)
    error = scan(site, "seo").error
    assert error is not None
    assert error.code == "INTERNAL_ERROR"


def test_time_limit_of_a_page(site: Site) -> None:
    site.routes["/"] = Answer(delay_s=30)
    page = website_scan.scan(f"{site.url}/", "seo", browser=False, allow_networks=LOOPBACK, time_limit_s=0.5)
    assert page.error is not None
    assert page.error.code == "TIMEOUT"


def test_pages_share_evidence_of_their_origin() -> None:
    with Site({"*": Answer(PAGE.format("Tea"))}) as site:
        urls = [f"{site.url}/{number}" for number in range(5)]
        pages = list(website_scan.scan_pages(urls, "seo", browser=False, allow_networks=LOOPBACK))
        assert [page.url for page in pages] == urls
        assert site.paths().count("/robots.txt") == 1


def test_results_come_as_scans_end(site: Site) -> None:
    pages = website_scan.scan_pages(
        [f"{site.url}/first", f"{site.url}/second"], "seo", browser=False, allow_networks=LOOPBACK
    )
    assert next(pages).url.endswith("/first")
    assert "/second" not in site.paths()
    pages.close()  # type: ignore[attr-defined]  # a generator
    assert "/second" not in site.paths()


def test_workers_scan_pages_at_the_same_time(site: Site) -> None:
    both_requested = threading.Barrier(2, timeout=20)

    def wait_for_the_other(request: Request) -> Answer:
        if request.header("Range") is None and request.method == "GET":
            both_requested.wait()
        return Answer(PAGE.format("Tea"))

    waited = threading.Lock()
    first: set[str] = set()

    def answer(request: Request) -> Answer:
        with waited:
            is_first = request.path not in first
            first.add(request.path)
        return wait_for_the_other(request) if is_first else Answer(PAGE.format("Tea"))

    site.routes |= {"/a": answer, "/b": answer}
    urls = [f"{site.url}/a", f"{site.url}/b"]
    pages = list(website_scan.scan_pages(urls, "seo", browser=False, allow_networks=LOOPBACK, workers=2))
    assert {page.url for page in pages} == set(urls)
    assert all(page.error is None for page in pages)


def test_closing_the_iterator_ends_running_scans(site: Site) -> None:
    site.routes["/slow"] = Answer(delay_s=60)
    urls = [f"{site.url}/", *[f"{site.url}/slow"] * 3]
    pages = website_scan.scan_pages(urls, "seo", browser=False, allow_networks=LOOPBACK, workers=4)
    assert next(pages).url == f"{site.url}/"
    scanning_threads = [thread for thread in threading.enumerate() if thread.name.startswith("website-scan")]
    pages.close()  # type: ignore[attr-defined]  # a generator
    for thread in scanning_threads:
        thread.join(20)
        assert not thread.is_alive()


def test_progress_of_each_page_rises_to_100_percent(site: Site) -> None:
    seen: list[website_scan.Progress] = []
    urls = [f"{site.url}/a", f"{site.url}/b"]
    list(
        website_scan.scan_pages(urls, ["seo", "security"], browser=False, allow_networks=LOOPBACK, progress=seen.append)
    )
    for number, url in enumerate(urls, 1):
        steps = [step for step in seen if step.page == number]
        assert {(step.url, step.pages) for step in steps} == {(url, 2)}
        percents = [step.percent for step in steps]
        assert percents == sorted(percents)
        assert (steps[-1].percent, steps[-1].phase) == (100, "done")
        assert 20 < steps[-1].checks_done <= steps[-1].checks_total


@pytest.mark.parametrize("workers", [1, 2])
def test_exception_of_the_progress_callback_ends_the_scan(
    site: Site, caplog: pytest.LogCaptureFixture, workers: int
) -> None:
    class Cancelled(Exception):
        pass

    def cancel(progress: website_scan.Progress) -> None:
        if progress.phase == "collecting":
            raise Cancelled

    urls = [f"{site.url}/", f"{site.url}/second"]
    pages = website_scan.scan_pages(
        urls, "seo", browser=False, allow_networks=LOOPBACK, progress=cancel, workers=workers
    )
    with pytest.raises(Cancelled):
        list(pages)
    assert caplog.text == ""


def test_scan_works_inside_a_running_event_loop(site: Site) -> None:
    async def main() -> int | None:
        task = asyncio.create_task(asyncio.sleep(0, "the loop still runs"))
        page = scan(site, "seo")
        assert await task == "the loop still runs"
        in_thread = await asyncio.to_thread(scan, site, "seo")
        assert in_thread["seo"].score == page["seo"].score
        return page["seo"].score

    assert asyncio.run(main())


def test_twenty_threads_scan_at_the_same_time() -> None:
    with Site({"*": Answer(PAGE.format("Tea"))}) as site, ThreadPoolExecutor(20) as pool:
        pages = list(pool.map(lambda number: scan(site, "seo", path=f"/{number}"), range(20)))
    assert [page.url.rpartition("/")[2] for page in pages] == [str(number) for number in range(20)]
    assert {page["seo"].score for page in pages} == {pages[0]["seo"].score}
    assert all(page.error is None for page in pages)


def test_nothing_is_printed_and_logging_is_not_configured(site: Site, capfd: pytest.CaptureFixture[str]) -> None:
    handlers = list(logging.getLogger().handlers)
    page = scan(site)
    for name in website_scan.FORMATS:
        website_scan.document(page, name)
    assert capfd.readouterr() == ("", "")
    assert logging.getLogger().handlers == handlers


@pytest.fixture
def private_site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """Site that repeats the credentials of each request in its page."""

    def repeat(request: Request) -> Answer:
        secrets = " ".join(f"{name}: {value}" for name, value in request.headers if "hunter2" in value)
        is_logged_in = request.header("X-Key") == "key-hunter2"
        body = PAGE.format("Tea") + f"<p title='{secrets}'><a href='/x?{secrets}'></a><img src='/{secrets}'>"
        headers = {"X-Echo": secrets or "none", "Content-Type": "text/html"}
        return Answer(body if is_logged_in else "", 200 if is_logged_in else 401, headers)

    with Site({"*": repeat}, certificate=Certificate.VALID) as running:
        monkeypatch.setattr(scanning, "SCAN_CA_BUNDLE", running.ca_file)
        yield running


CREDENTIALS = website_scan.Credentials(
    headers={"X-Key": "key-hunter2"}, cookies={"sid": "cookie-hunter2"}, basic_auth=("ada", "password-hunter2")
)


def test_credentials_are_sent_but_never_in_results(private_site: Site) -> None:
    url = f"{private_site.url_as('localhost')}/"
    steps: list[website_scan.Progress] = []
    page = website_scan.scan(
        url, browser=False, allow_networks=LOOPBACK, credentials=CREDENTIALS, progress=steps.append
    )
    assert all(report.error is None for report in page)
    assert any(finding.check == "image-alt" for finding in page.findings)
    documents = [website_scan.document(page, name) for name in website_scan.FORMATS]
    for text in (repr(page), repr(page["seo"]._source), repr(steps), *documents):
        assert "hunter2" not in text
    assert "hunter2" not in repr(CREDENTIALS)


def test_credentials_are_for_one_origin(private_site: Site, site: Site) -> None:
    private, public = private_site.url_as("localhost"), site.url
    urls = [f"{private}/", f"{public}/"]
    with pytest.raises(website_scan.InvalidOption, match="mapping"):
        website_scan.scan_pages(urls, browser=False, allow_networks=LOOPBACK, credentials=CREDENTIALS)
    pages = website_scan.scan_pages(
        urls, "seo", browser=False, allow_networks=LOOPBACK, credentials={private: CREDENTIALS}
    )
    assert all(page.error is None for page in pages)
    assert site.requests
    assert not any("hunter2" in value for request in site.requests for _, value in request.headers)


def test_message_about_credentials_contains_no_value() -> None:
    credentials = website_scan.Credentials(cookies={"sid": "hunter2 with spaces"})
    with pytest.raises(website_scan.InvalidOption) as raised:
        website_scan.scan("https://example.com/", browser=False, credentials=credentials)
    assert str(raised.value).startswith("credentials.cookies: the value of sid")
    assert "hunter2" not in str(raised.value)
