"""Types of the data that a report stores beside its export, for its page. All of it is JSON."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict


class Facts(TypedDict, total=False):
    """Facts that the report page states besides the checks."""

    duration_s: float
    final_url: str
    status: int
    address: str
    redirects: int
    document_bytes: int
    server: str
    notice: str
    unseen: str  # why nobody saw the content of the page: the `code` of a `website_scan.plan.Missing`
    site_evidence_at: str
    checks_planned: int
    checks_known: int
    browser: str
    axe_core: str
    frames_not_judged: int
    console_errors: int


class SiteFacts(TypedDict, total=False):
    """Facts about a site that exports of lists have in columns; those without evidence are missing."""

    tls_versions: list[str]  # such as TLS 1.2, in ascending order
    http_version: str  # the newest of HTTP/1.1 and HTTP/2, negotiated by ALPN
    csp: bool
    generator: str
    title: str
    description: str
    language: str


# ID, status, severity, declared severity, credit, `weighs`, `covers_category` and `included_weight` of a
# `website_scan.result.CheckResult`.
StoredScoredCheck = tuple[str, Literal["pass", "warn", "fail"], str | None, str, float | None, bool, bool, int]
# Limit, count, severity and checks of a `website_scan.scoring.Cap`.
StoredCap = tuple[int, int, str | None, list[str]]


class StoredScoredCategory(TypedDict):
    weight: int
    absent_weight: int
    checks: list[StoredScoredCheck]


class StoredBasis(TypedDict):
    """Basis of a score: the input of the scoring that exports do not contain. `rules` is the scoring's version."""

    rules: int
    categories: list[StoredScoredCategory]
    caps: list[StoredCap]


class StoredRequest(TypedDict):
    """Request of a load; times are in milliseconds since the navigation began."""

    url: str
    kind: str
    start_ms: int
    response_ms: int
    end_ms: int
    wire_bytes: int
    status: int | None
    is_blocking: bool
    is_failed: bool
    is_third_party: NotRequired[bool]  # older reports have none


class StoredWaterfall(TypedDict):
    """First requests of a load, its marks by name in milliseconds, and the number of requests not shown."""

    rows: list[StoredRequest]
    marks: list[tuple[str, int]]
    total_ms: int
    left_out: int


class PicturePlaces(TypedDict):
    """Positions within a report's pictures.

    `of` says whether crops are of the page or the screenshot, `size` is its width and height in CSS pixels, `crops` are
    boxes on it (left, top, width, height) by check ID and number of the row. `frames` are the time in
    milliseconds, the marks and the size in bytes of each picture of the film.
    """

    of: Literal["page", "screenshot"]
    size: list[int] | None
    crops: dict[str, dict[str, list[int]]]
    frames: list[tuple[int, list[str], int]]


class StoredHop(TypedDict):
    """Address on the way to the page, with the status it answers."""

    url: str
    status: int


class StoredPolicy(TypedDict):
    """Content Security Policy; `way` is `header`, `meta` or `report only`."""

    way: str
    text: str


class StoredWeight(TypedDict):
    """Bytes on the wire and requests of a host and kind of file."""

    host: str
    kind: str
    wire_bytes: int
    requests: int
    is_third_party: bool


class StoredSearchResult(TypedDict):
    """Preview of the page as a search result; a missing value is empty."""

    title: str
    description: str
    url: str
    site: str


class StoredSharedLink(TypedDict):
    """Preview of a shared link to the page; a missing value is empty."""

    title: str
    description: str
    site: str
    url: str
    image: str
    card: str


class StoredExhibits(TypedDict, total=False):
    """Exhibits of a report; those that the scan type has no evidence for are missing."""

    redirects: list[StoredHop]  # the page's own address is the last
    headers: list[list[str]]  # name and value, in the order received
    policies: list[StoredPolicy]
    weights: list[StoredWeight]
    search_result: StoredSearchResult
    shared_link: StoredSharedLink
