"""Browser loads built by hand, for tests without a browser."""

from __future__ import annotations

from typing import Any

from website_scan.browser.evidence import BrowserLoad, LargestPaint, Load, LoadedRequest
from website_scan.page.references import ResourceKind
from website_scan.performance.vitals import Measured, Vitals

HERE = "https://site.example.com"
DOCUMENT = f"{HERE}/shop/shoes"


def request(
    path: str,
    kind: ResourceKind | None = ResourceKind.IMAGE,
    start_s: float = 0.1,
    end_s: float | None = 0.2,
    **others: Any,
) -> LoadedRequest:
    """Return a request that the document made. `path` may be an absolute URL."""
    given: dict[str, Any] = {"method": "GET", "status": 200, "protocol": "h2", "wire_bytes": 1, "initiator": DOCUMENT}
    url = path if "://" in path else f"{HERE}/{path}"
    return LoadedRequest(url=url, kind=kind, start_s=start_s, response_s=end_s, end_s=end_s, **(given | others))


def document_request(**others: Any) -> LoadedRequest:
    return request(DOCUMENT, **({"kind": None, "start_s": 0.0, "end_s": 0.1, "initiator": ""} | others))


def largest(time_s: float = 0.3, url: str = "", *, lazy: bool = False, high: bool = False) -> LargestPaint:
    return LargestPaint(time_s, url, "#hero", "<img>" if url else "<p>", lazy, high)


def load(*requests: LoadedRequest, **others: Any) -> Load:
    """Return a load with a paint after 0.3 s, with the document before the requests."""
    given: dict[str, Any] = {
        "fcp_s": 0.3,
        "lcp": largest(),
        "shifts": (),
        "load_s": 0.5,
        "main_thread_s": 0.1,
        "script_s": 0.05,
        "requests": (document_request(), *requests),
    }
    return Load(**(given | others))


def visit(first: Load | None = None, *again: Load, **others: Any) -> BrowserLoad:
    return BrowserLoad("Chromium 156.0", first or load(), again, **others)


def figure(value: float | None) -> Measured | None:
    return None if value is None else Measured(value, value, value, 3)


def figures(**others: Any) -> Vitals:
    """Return the figures of a quick page. Numbers replace measured figures."""
    given: dict[str, Any] = {
        "fcp": 1.0,
        "lcp": 1.5,
        "cls": 0.0,
        "tbt": 0.0,
        "speed_index": 1.2,
        "seen_fcp": 0.3,
        "seen_lcp": 0.3,
    } | others
    rest: dict[str, Any] = {"script_s": 0.2, "main_thread_s": 0.4, "loads": 3, "is_complete": True}
    named: dict[str, Any] = {
        name: figure(given.pop(name)) for name in ("fcp", "lcp", "cls", "tbt", "speed_index", "seen_fcp", "seen_lcp")
    }
    return Vitals(**named, **(rest | given))
