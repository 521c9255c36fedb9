"""Build page loads and figures for tests without a browser."""

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
    **fields: Any,
) -> LoadedRequest:
    """Return a request that the page's document made.

    `path` may be an absolute URL.
    """
    defaults: dict[str, Any] = {
        "method": "GET",
        "status": 200,
        "protocol": "h2",
        "wire_bytes": 1,
        "initiator": DOCUMENT,
    }
    url = path if "://" in path else f"{HERE}/{path}"
    return LoadedRequest(url=url, kind=kind, start_s=start_s, response_s=end_s, end_s=end_s, **(defaults | fields))


def document_request(**fields: Any) -> LoadedRequest:
    return request(DOCUMENT, **({"kind": None, "start_s": 0.0, "end_s": 0.1, "initiator": ""} | fields))


def largest_paint(time_s: float = 0.3, url: str = "", *, lazy: bool = False, high: bool = False) -> LargestPaint:
    return LargestPaint(time_s, url, "#hero", "<img>" if url else "<p>", lazy, high)


def load(*requests: LoadedRequest, **fields: Any) -> Load:
    """Return a page load whose first paint is at 0.3 s.

    The request for the document comes before the given requests.
    """
    defaults: dict[str, Any] = {
        "fcp_s": 0.3,
        "lcp": largest_paint(),
        "shifts": (),
        "load_s": 0.5,
        "main_thread_s": 0.1,
        "script_s": 0.05,
        "requests": (document_request(), *requests),
    }
    return Load(**(defaults | fields))


def visit(first: Load | None = None, *again: Load, **fields: Any) -> BrowserLoad:
    return BrowserLoad("Chromium 156.0", first or load(), again, **fields)


def figure(value: float | None) -> Measured | None:
    return None if value is None else Measured(value, value, value, 3)


def figures(**fields: Any) -> Vitals:
    """Return the figures of a fast page.

    Arguments replace single figures.
    """
    defaults: dict[str, Any] = {
        "fcp": 1.0,
        "lcp": 1.5,
        "cls": 0.0,
        "tbt": 0.0,
        "speed_index": 1.2,
        "observed_fcp": 0.3,
        "observed_lcp": 0.3,
    } | fields
    flags: dict[str, Any] = {"script_s": 0.2, "main_thread_s": 0.4, "loads": 3, "is_complete": True}
    measured: dict[str, Any] = {
        name: figure(defaults.pop(name))
        for name in ("fcp", "lcp", "cls", "tbt", "speed_index", "observed_fcp", "observed_lcp")
    }
    return Vitals(**measured, **(flags | defaults))
