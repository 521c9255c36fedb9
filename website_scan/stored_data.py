"""Types of the JSON data that a report stores beside its export, for the report page."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict


class Facts(TypedDict, total=False):
    """Facts that the report page lists besides the checks."""

    duration_s: float
    final_url: str
    status: int
    address: str
    redirects: int
    document_bytes: int
    server: str
    notice: str
    unseen: str  # reason why nobody saw the content of the page: the `code` of a `website_scan.plan.Missing`
    site_evidence_at: str
    checks_planned: int
    checks_known: int
    browser: str
    axe_core: str
    frames_not_judged: int
    console_errors: int


class SiteFacts(TypedDict, total=False):
    """Facts about a site, which exports of lists have as columns. Facts without evidence are missing."""

    tls_versions: list[str]  # such as TLS 1.2, in ascending order
    http_version: str  # HTTP/1.1 or HTTP/2, as negotiated by ALPN
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
    """Basis of a score: inputs of the scoring that exports do not contain. `rules` is the scoring's version."""

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
    is_third_party: NotRequired[bool]  # missing in older reports


class StoredWaterfall(TypedDict):
    """First requests of a load, its marks by name in milliseconds, and the number of requests left out."""

    rows: list[StoredRequest]
    marks: list[tuple[str, int]]
    total_ms: int
    left_out: int


class PicturePlaces(TypedDict):
    """Positions within a report's pictures.

    `of` is the picture that is cropped, `size` its width and height in CSS pixels. `crops` are boxes in it (left, top,
    width, height) by check ID and number of the row. `frames` are the time in milliseconds, the marks and the size in
    bytes of each picture of the filmstrip.
    """

    of: Literal["page", "screenshot"]
    size: list[int] | None
    crops: dict[str, dict[str, list[int]]]
    frames: list[tuple[int, list[str], int]]


class StoredHop(TypedDict):
    """Hop of the redirects to the page: the URL, and the HTTP status of its response."""

    url: str
    status: int


class StoredPolicy(TypedDict):
    """Content Security Policy; `way` is `header`, `meta` or `report only`."""

    way: str
    text: str


class StoredWeight(TypedDict):
    """Bytes on the wire and number of requests by host and kind of file."""

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
    """Exhibits of a report. Exhibits for which the scan type has no evidence are missing."""

    redirects: list[StoredHop]  # the last is the page itself
    headers: list[list[str]]  # name and value, in the order received
    policies: list[StoredPolicy]
    weights: list[StoredWeight]
    search_result: StoredSearchResult
    shared_link: StoredSharedLink
