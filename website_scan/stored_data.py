"""Types of JSON data that is stored for the report page.

It is stored in addition to the JSON export.
"""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict


class Facts(TypedDict, total=False):
    """Facts about the scan for the report page.

    `unseen` is the code of the reason why content was not visible.

    `widths` are the page's widths in CSS pixels on which axe-core examined it.

    `needs_log_in`: the site answered with a log-in page instead of the requested page.

    `content_digest` is equal for two reports of a page whose elements and texts, except for digits, are the same.
    """

    duration_s: float
    final_url: str
    needs_log_in: bool
    status: int
    address: str
    redirects: int
    document_bytes: int
    server: str
    notice: str
    unseen: str
    site_evidence_at: str
    checks_planned: int
    checks_known: int
    browser: str
    axe_core: str
    widths: list[int]
    frames_not_judged: int
    console_errors: int
    content_digest: str


class SiteFacts(TypedDict, total=False):
    """Facts about a site for the columns of list exports.

    Facts without evidence are missing.

    `tls_versions` are in ascending order, such as TLS 1.2. `http_version` is the version negotiated by ALPN.
    """

    tls_versions: list[str]
    http_version: str
    csp: bool
    generator: str
    title: str
    description: str
    language: str


# The tuple has the ID, status, severity, declared severity, credit, `weighs`, `covers_category` and `included_weight`
# of a `website_scan.result.CheckResult`.
StoredScoredCheck = tuple[str, Literal["pass", "warn", "fail"], str | None, str, float | None, bool, bool, int]
# The tuple has the limit, count, severity and check IDs of a `website_scan.scoring.Cap`.
StoredCap = tuple[int, int, str | None, list[str]]


class StoredScoredCategory(TypedDict):
    weight: int
    absent_weight: int
    checks: list[StoredScoredCheck]


class StoredBasis(TypedDict):
    """Inputs of a score, for recomputing the score.

    `rules` is the version of the scoring rules.
    """

    rules: int
    categories: list[StoredScoredCategory]
    caps: list[StoredCap]


class StoredRequest(TypedDict):
    """Request of a page load; times are in milliseconds since navigation start."""

    url: str
    kind: str
    start_ms: int
    response_ms: int
    end_ms: int
    wire_bytes: int
    status: int | None
    is_blocking: bool
    is_failed: bool
    is_third_party: NotRequired[bool]


class StoredWaterfall(TypedDict):
    """First requests and metrics of a page load in milliseconds.

    `left_out` is the number of omitted requests.
    """

    rows: list[StoredRequest]
    marks: list[tuple[str, int]]
    total_ms: int
    left_out: int


class PicturePlaces(TypedDict):
    """Positions of illustrations in the screenshots of a report.

    `of` is the picture that is cropped, `size` its width and height in CSS pixels. `crops` are boxes in it (left, top,
    width, height) by check ID and number of the row. `frames` are the time in milliseconds, the marks and the size in
    bytes of each picture of the filmstrip.
    """

    of: Literal["page", "screenshot"]
    size: list[int] | None
    crops: dict[str, dict[str, list[int]]]
    frames: list[tuple[int, list[str], int]]


class StoredHop(TypedDict):
    """Hop of a redirect chain: a URL and the HTTP status of its response."""

    url: str
    status: int


class StoredPolicy(TypedDict):
    """Content Security Policy; `way` is `header`, `meta` or `report only`."""

    way: str
    text: str


class StoredWeight(TypedDict):
    """Transferred bytes and requests for a host and a kind of file."""

    host: str
    kind: str
    wire_bytes: int
    requests: int
    is_third_party: bool


class StoredSearchResult(TypedDict):
    """Preview of the page as a search result.

    Missing values are empty strings.
    """

    title: str
    description: str
    url: str
    site: str


class StoredSharedLink(TypedDict):
    """Preview of a shared link to the page.

    Missing values are empty strings.
    """

    title: str
    description: str
    site: str
    url: str
    image: str
    card: str


class StoredExhibits(TypedDict, total=False):
    """Exhibits of a report page.

    Exhibits without evidence are missing.

    The last of the `redirects` is the page itself. `headers` are (name, value) in the order received.
    """

    redirects: list[StoredHop]
    headers: list[list[str]]
    policies: list[StoredPolicy]
    weights: list[StoredWeight]
    search_result: StoredSearchResult
    shared_link: StoredSharedLink
