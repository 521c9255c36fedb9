"""Scan pages: `scan` and `scan_pages`."""

from __future__ import annotations

import concurrent.futures
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping

from msgspec import Struct, field

from website_scan import result as engine
from website_scan.browser import visit
from website_scan.command.additional_checks import additional_checks
from website_scan.command.scanned_reports import scanned_report
from website_scan.evidence_cache import InMemoryEvidence
from website_scan.extension import Extension
from website_scan.findings import ScanType as Type
from website_scan.library.browser import Browser, open_browser
from website_scan.library.errors import InvalidOption
from website_scan.library.options import (
    ColorScheme,
    Credentials,
    ScanType,
    credentials_by_origin,
    parse_category_names,
    parse_networks,
    parse_time_limit,
    parse_types,
    parse_url,
    parse_viewing,
    parse_workers,
    refuse_invalid_settings,
)
from website_scan.library.results import PageResult, page_results
from website_scan.local_scans import policy_of_settings, scan_address
from website_scan.net.client import Network
from website_scan.net.credentials import OriginCredentials
from website_scan.net.policy import Policy
from website_scan.net.targets import Target
from website_scan.requirements.model import NO_REQUIREMENTS
from website_scan.requirements.reading import read_requirements
from website_scan.security_categories import Categories
from website_scan.viewing import Viewing


class Progress(Struct, frozen=True):
    """Progress of the scan of one page. `percent` never decreases for a page.

    `page` counts the pages of the call from 1, in the order of their URLs. `phase` is "connecting", "collecting",
    "checking" or "done". `checks_done` and `checks_total` are numbers of checks of all types; the total includes checks
    that turn out not to apply.
    """

    url: str
    page: int
    pages: int
    percent: int
    phase: str
    checks_done: int
    checks_total: int


ProgressCallback = Callable[[Progress], object]


def scan(  # noqa: PLR0913 -- one page, and options by keyword
    url: str,
    types: Iterable[ScanType] | ScanType | None = None,
    *,
    browser: Browser | bool | None = None,
    credentials: Credentials | None = None,
    allow_networks: Iterable[str] = (),
    mail_servers: bool | None = None,
    widths: Iterable[int] | None = None,
    color_scheme: ColorScheme | None = None,
    categories: Iterable[str] | str | None = None,
    requirements: Mapping[str, object] | None = None,
    plug_ins: bool = True,
    time_limit_s: float | None = None,
    progress: ProgressCallback | None = None,
) -> PageResult:
    """Scan one page, and return a report for each type: security, performance, accessibility and SEO by default.

    `browser` is a `Browser` to use, True to require one, False for none, and None for one if it is installed.
    `credentials` are sent to the origin of the page only. `allow_networks` are private networks that may be reached,
    such as "127.0.0.0/8" or "10.0.0.5/32:8080"; the page and what it loads may be there. `widths` (pixels, the main one
    first) and `color_scheme` choose how the browser shows the page. `categories` are the only ones of security to
    judge, such as ["mail", "names"]. `mail_servers` allows connections to port 25 of the domain's mail servers, instead
    of the variable SCAN_MAIL_SERVERS. `requirements` are rules of your own, such as
    `{"rules": [{"name": "Imprint is linked", "link": "/imprint"}]}`. Checks of installed plug-ins run, unless
    `plug_ins` is False or the variable SCAN_PLUGINS names others. `time_limit_s` is for the page, 60 seconds by
    default. `progress` is called with a `Progress`; an exception that it raises ends the scan.

    Raises InvalidUrl, Blocked, InvalidOption or BrowserUnavailable before anything is requested. A page that cannot be
    scanned raises nothing: its reports have an `error`.
    """
    (result,) = scan_pages(
        [url],
        types,
        browser=browser,
        credentials=credentials,
        allow_networks=allow_networks,
        mail_servers=mail_servers,
        widths=widths,
        color_scheme=color_scheme,
        categories=categories,
        requirements=requirements,
        plug_ins=plug_ins,
        time_limit_s=time_limit_s,
        progress=progress,
    )
    return result


def scan_pages(  # noqa: PLR0913 -- pages, and options by keyword
    urls: Iterable[str],
    types: Iterable[ScanType] | ScanType | None = None,
    *,
    browser: Browser | bool | None = None,
    credentials: Credentials | Mapping[str, Credentials] | None = None,
    allow_networks: Iterable[str] = (),
    mail_servers: bool | None = None,
    widths: Iterable[int] | None = None,
    color_scheme: ColorScheme | None = None,
    categories: Iterable[str] | str | None = None,
    requirements: Mapping[str, object] | None = None,
    plug_ins: bool = True,
    time_limit_s: float | None = None,
    workers: int = 1,
    progress: ProgressCallback | None = None,
) -> Iterator[PageResult]:
    """Scan several pages, and yield the result of each page when its scan has ended.

    Results are in the order of the URLs, unless there are several `workers`: the number of pages that are scanned at
    the same time. Evidence of an origin, such as its certificate, is gathered once. `credentials` of several origins
    are a mapping by origin. All other arguments are those of `scan`, and so are the exceptions, which this call raises
    before it returns. If the iterator is closed or interrupted, running scans and their browsers end.
    """
    refuse_invalid_settings()
    policy = policy_of_settings(parse_networks(allow_networks), mail_servers=mail_servers)
    targets = [parse_url(url, policy) for url in ([urls] if isinstance(urls, str) else urls)]
    viewing = parse_viewing(widths, color_scheme)
    if viewing is not None and browser is False:
        raise InvalidOption("widths and color_scheme need a browser.")
    parsed_types = parse_types(types)
    plan = _Plan(
        targets,
        parsed_types,
        policy,
        credentials_by_origin(credentials, targets, policy),
        viewing,
        parse_category_names(categories, parsed_types),
        _extension(requirements, uses_plug_ins=plug_ins),
        parse_time_limit(time_limit_s),
        parse_workers(workers),
        progress,
    )
    if isinstance(browser, Browser):
        return _results(plan, browser)
    own = open_browser(browser, plan.workers)
    return _results(plan, own, closes_browser=True)


class _CallbackFailed(BaseException):
    """Raised if the caller's callback raises an exception. The engine would convert an `Exception` to a failed scan."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error


class _Plan(Struct):
    """Pages to scan with the parsed options, and what their scans share."""

    targets: list[Target]
    types: tuple[Type, ...]
    policy: Policy
    credentials: Mapping[str, OriginCredentials]
    viewing: Viewing | None
    categories: Categories | None
    extension: Extension
    time_limit_s: float
    workers: int
    progress: ProgressCallback | None
    shared: InMemoryEvidence = field(default_factory=InMemoryEvidence)
    lock: threading.Lock = field(default_factory=threading.Lock)
    progress_lock: threading.Lock = field(default_factory=threading.Lock)
    networks: set[Network] = field(default_factory=set)
    is_ended: bool = False

    def scan_page(self, number: int, browser: Browser | None) -> PageResult:
        """Scan the page at this position. Raises InvalidOption if the browser is closed."""
        if browser is None or not any(scan_type.uses_browser for scan_type in self.types):
            return self._scan_page(number, None)
        with browser._reserve() as program:
            return self._scan_page(number, program)

    def _scan_page(self, number: int, browser: visit.Browser | None) -> PageResult:
        target = self.targets[number]
        credentials = self.credentials.get(target.origin)
        with Network(self.policy, time_limit_s=self.time_limit_s, credentials=credentials) as network:
            self._add(network)
            try:
                results = scan_address(
                    target.url,
                    self.types,
                    network,
                    time_limit_s=self.time_limit_s,
                    progress=lambda progress: self._report(number, progress),
                    browser=browser,
                    shared=self.shared,
                    viewing=self.viewing,
                    categories=self.categories,
                    extension=self.extension,
                )
            except _CallbackFailed as failure:
                raise failure.error from None
            finally:
                with self.lock:
                    self.networks.discard(network)
        (page,) = page_results(map(scanned_report, results))
        return page

    def _report(self, number: int, now: engine.Progress) -> None:
        """Call the callback with the progress of a page. Calls of several workers never overlap."""
        if self.progress is None:
            return
        progress = Progress(
            self.targets[number].url,
            number + 1,
            len(self.targets),
            now.percent,
            now.phase,
            sum(count.done for count in now.checks.values()),
            sum(count.total for count in now.checks.values()),
        )
        try:
            with self.progress_lock:
                self.progress(progress)
        except Exception as error:
            raise _CallbackFailed(error) from error

    def _add(self, network: Network) -> None:
        with self.lock:
            self.networks.add(network)
            if self.is_ended:
                network.close()

    def end(self) -> None:
        """End all running scans."""
        with self.lock:
            self.is_ended = True
            networks = list(self.networks)
        for network in networks:
            network.close()


def _extension(requirements: Mapping[str, object] | None, *, uses_plug_ins: bool) -> Extension:
    """Return the checks of own requirements and of plug-ins. Raises InvalidOption."""
    try:
        own = NO_REQUIREMENTS if requirements is None else read_requirements(requirements)
    except ValueError as error:
        raise InvalidOption(f"requirements: {error}") from None
    return additional_checks(own, uses_plug_ins=uses_plug_ins)


def _results(plan: _Plan, browser: Browser | None, *, closes_browser: bool = False) -> Iterator[PageResult]:
    try:
        if plan.workers == 1:
            for number in range(len(plan.targets)):
                yield plan.scan_page(number, browser)
        else:
            yield from _results_of_workers(plan, browser)
    finally:
        plan.end()
        if browser is not None and closes_browser:
            browser.close()


def _results_of_workers(plan: _Plan, browser: Browser | None) -> Iterator[PageResult]:
    pool = concurrent.futures.ThreadPoolExecutor(plan.workers, "website-scan")
    try:
        futures = [pool.submit(plan.scan_page, number, browser) for number in range(len(plan.targets))]
        for future in concurrent.futures.as_completed(futures):
            yield future.result()
    finally:
        plan.end()
        pool.shutdown(wait=False, cancel_futures=True)
