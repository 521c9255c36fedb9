"""Checks of robots.txt and sitemaps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, ClassVar, Self

from website_scan.catalogue import Category, check
from website_scan.crawl.canonicals import Canonicals
from website_scan.crawl.indexing import IndexingRules
from website_scan.crawl.robots import GOOGLEBOT, Fault, decide
from website_scan.crawl.robots import MAX_BYTES as ROBOTS_MAX_BYTES
from website_scan.crawl.robots_file import RobotsFile
from website_scan.crawl.sitemaps import HTML, MAX_BYTES, MAX_URLS, Sitemap, SitemapFile, SitemapKind, Sitemaps
from website_scan.findings import HIGH, LOW, MEDIUM, NotApplicable
from website_scan.messages import clause, counted, cut, excerpt, size
from website_scan.net.errors import NetError
from website_scan.outcomes import Fail, Fix, Language, Pass, Verdict, Warn, outcome
from website_scan.page.evidence import Page
from website_scan.places import Column, Identity, Place, PlaceUrl, Status, as_prose
from website_scan.seo.places import RobotsTxtRow
from website_scan.values import Address, Bytes, Count, Reason, Share, Values

CATEGORY = Category("Crawlability", weight=15)

NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"
NO_SITEMAP = NotApplicable("No sitemap was found.")


class InconclusiveSitemaps(NetError):
    """Raised if no sitemap of an index could be judged.

    All requests failed inconclusively, such as by timeouts.
    """

    code = "TIMEOUT"


class InvalidLine(Place, frozen=True):
    """Line of robots.txt that crawlers cannot use."""

    kind: ClassVar[str] = "robots-txt-line"
    are_counted: ClassVar[bool] = True

    line: Annotated[int, Column("Line", "number")]
    text: Annotated[str, Identity(as_prose), Column("Text")]
    reason: Annotated[str, Column("What is wrong")]

    @classmethod
    def from_fault(cls, fault: Fault) -> Self:
        return cls(fault.line, excerpt(fault.text), fault.reason)

    @property
    def label(self) -> str:
        return f"line {self.line}, “{cut(self.text, 60)}”, {self.reason}"


class ReadSitemap(Place, frozen=True):
    """Requested sitemap.

    `fault` is a clause, or empty if the check does not report the sitemap.
    """

    kind: ClassVar[str] = "sitemap"

    url: PlaceUrl
    status: Status
    type: Annotated[str | None, Column("Type", "short")]
    addresses: Annotated[int | None, Column("Addresses", "number")]
    bytes: Annotated[int | None, Column("Size", "number", "bytes")]
    error: Annotated[str | None, Column("Error")]
    fault: str = ""

    @classmethod
    def from_file(cls, file: SitemapFile, fault: str = "") -> Self:
        sitemap = file.sitemap
        return cls(
            url=excerpt(file.url),
            status=file.status,
            type=sitemap.kind if sitemap else None,
            addresses=sitemap.count if sitemap else None,
            bytes=sitemap.size_bytes if sitemap else None,
            error=excerpt(fault or file.error or (sitemap.fault if sitemap else "")) or None,
            fault=excerpt(fault),
        )

    @property
    def label(self) -> str:
        return f"{cut(self.url, 80)} {self.fault}" if self.fault else ""


@check(
    "robots-txt",
    name="robots.txt is readable or absent",
    outcomes={
        "invalid-lines": outcome("robots.txt has invalid lines", LOW),
        "redirects-away": outcome("robots.txt redirects to no file", MEDIUM),
        "unreachable": "robots.txt cannot be reached",
        "error-status": "robots.txt answers with status {status}",
        "html": outcome("robots.txt is an HTML page", LOW),
        "too-large": outcome("robots.txt is too large", MEDIUM),
    },
    why="Crawlers may crawl what should be left alone, or nothing at all.",
    consequence="Search engines may stay away from your whole site, so people may not find it by searching.",
    severity=HIGH,
    fix="Answer `/robots.txt` with status 200 and plain text, or with 404 if nothing is blocked.",
    references=("RFC 9309, sections 2.2 to 2.5", "Google Search Central: robots.txt", "Lighthouse: robots-txt"),
)
def robots_txt(file: RobotsFile) -> Verdict:
    response = file.response
    if file.has_too_many_redirects:
        return Warn(
            "redirects-away",
            "The redirects of robots.txt lead to no file ({error}), so crawlers assume that nothing is blocked.",
            error=Reason(file.error),
            fix="Let `{url}` answer with the file itself.",
            url=Address(file.url),
        )
    if response is None:
        return Fail(
            "unreachable",
            "robots.txt cannot be reached ({error}), so crawlers stay away from the whole site.",
            error=Reason(file.error),
        )
    places = [RobotsTxtRow.from_response(response)]
    if file.is_unreachable:
        return Fail(
            "error-status",
            "robots.txt answers with status {status}, so crawlers stay away from the whole site.",
            status=response.status,
            places=places,
        )
    if not 200 <= response.status < 300:
        return Pass(
            "There is no robots.txt (status {status}), so nothing is blocked.", status=response.status, details=places
        )
    if HTML.match(response.body):
        return Warn(
            "html",
            "An HTML page is served as robots.txt; crawlers find no rule in it.",
            places=places,
            fix="Answer `/robots.txt` with status 404, or with a plain text file whose lines are `User-agent: *` and "
            "`Disallow:`.",
        )
    if faults := file.robots.faults:
        return Warn(
            "invalid-lines",
            "Crawlers cannot use {lines} of robots.txt.",
            lines=Count(len(faults), "line"),
            places=[InvalidLine.from_fault(fault) for fault in faults],
            fix="Write each line as `name: value`, put rules after a `User-agent` line, start their paths with `/`, "
            "and give sitemaps their full URL: `Sitemap: https://HOST/sitemap.xml`.",
        )
    if len(response.body) > ROBOTS_MAX_BYTES:
        return Warn(
            "too-large",
            "robots.txt is larger than {limit}, and crawlers may ignore the rest.",
            limit=Bytes(ROBOTS_MAX_BYTES),
            places=places,
            fix="Combine rules whose paths start alike, or use `noindex` in the pages, until the file is within the "
            "limit.",
        )
    if not file.robots.groups:
        return Pass("robots.txt can be read and blocks nothing.", details=places)
    rules = sum(len(group.rules) for group in file.robots.groups)
    return Pass("robots.txt can be read: {rules}, and every line is valid.", rules=Count(rules, "rule"), details=places)


@check(
    "sitemap-found",
    name="Sitemap is available",
    outcomes={"missing": "No sitemap found", "unavailable": "Sitemap cannot be loaded"},
    why="Search engines may discover new and deep pages later, or not at all.",
    severity=LOW,
    fix="Put a sitemap at `/sitemap.xml` and name it in robots.txt: `Sitemap: https://HOST/sitemap.xml`.",
    references=("sitemaps.org: protocol", "Google Search Central: sitemaps"),
)
def sitemap_found(sitemaps: Sitemaps) -> Verdict:
    available = [file for file in sitemaps.files if file.sitemap is not None]
    unavailable = [file for file in sitemaps.files if file.sitemap is None and file.is_conclusive]
    rows = [ReadSitemap.from_file(file, "") for file in sitemaps.files if file not in unavailable]
    if unavailable:
        return Warn(
            "unavailable",
            "robots.txt names {sitemaps}.",
            sitemaps=Count(len(unavailable), "unavailable sitemap"),
            places=[ReadSitemap.from_file(file, _describe_load_fault(file)) for file in unavailable],
            details=rows,
            fix="Correct the `Sitemap` lines of robots.txt, or let the sitemaps answer with status 200.",
        )
    if not available:
        return Warn("missing", "robots.txt names no sitemap, and neither /sitemap.xml nor /sitemap_index.xml is one.")
    urls = Values([Address(file.url) for file in available])
    if sitemaps.named:
        return Pass("robots.txt names {urls}.", urls=urls, details=rows)
    return Pass("{urls} {urls:is|are} in the usual place.", urls=urls, details=rows)


@check(
    "sitemap-valid",
    name="Sitemap is valid",
    outcomes={
        "invalid": "Sitemap is invalid",
        "other-host": "Sitemap lists URLs on another host",
        "no-namespace": "Sitemap has no valid namespace",
        "invalid-entries": outcome("Sitemap has invalid entries", MEDIUM, LOW),
        "page-missing": outcome("Sitemap does not list the page", LOW),
    },
    why="A sitemap helps search engines only with pages that have a readable entry in it.",
    judged="An entry without one address warns with severity medium, and so does an image, a video or an article "
    "without its required elements. An invalid date, frequency or priority warns with severity low, because crawlers "
    "ignore only this value.",
    severity=MEDIUM,
    fix=Fix(
        "Write UTF-8 XML in the sitemaps.org format, with at most 50,000 URLs and 52 MB per file, and absolute URLs.",
        {Language.FILE: "<url><loc>https://HOST/PATH</loc></url>"},
    ),
    references=(
        "sitemaps.org: protocol",
        "Google Search Central: build and submit a sitemap",
        "W3C: Date and Time Formats",
    ),
)
def sitemap_valid(
    page: Page, indexing: IndexingRules, canonicals: Canonicals, sitemaps: Sitemaps, robots: RobotsFile | None
) -> Verdict:
    top = [file for file in sitemaps.files if file.sitemap is not None]
    if not top:
        return NO_SITEMAP
    # Unreadable sitemaps of an index are left to the check sitemap-index.
    readable = top + [file for file in sitemaps.children if file.sitemap is not None and not file.sitemap.fault]
    if (share := _share_of_faulty_rows(rows := _judge_sitemaps(readable, _find_sitemap_fault))).value:
        return Fail(
            "invalid",
            "{sitemaps} {sitemaps:is|are} invalid.",
            sitemaps=share,
            places=_faulty(rows),
            details=_faultless(rows),
        )
    if (share := _share_of_faulty_rows(rows := _judge_sitemaps(readable, _find_protocol_fault))).value:
        has_foreign_urls = any(file.sitemap is not None and file.sitemap.foreign_url_count for file in readable)
        return Warn(
            "other-host" if has_foreign_urls else "no-namespace",
            "{sitemaps} {sitemaps:does|do} not follow the protocol.",
            sitemaps=share,
            places=_faulty(rows),
            details=_faultless(rows),
            fix=Fix(
                "List only URLs of the sitemap's own host, and name the namespace of the protocol.",
                {Language.FILE: f'<urlset xmlns="{NAMESPACE}">'},
            ),
        )
    if (share := _share_of_faulty_rows(rows := _judge_sitemaps(readable, _find_entry_fault))).value:
        loses_entries = any(file.sitemap is not None and file.sitemap.entries.loses_entries for file in readable)
        return Warn(
            "invalid-entries",
            "{sitemaps} {sitemaps:has|have} invalid entries.",
            severity=MEDIUM if loses_entries else LOW,
            sitemaps=share,
            places=_faulty(rows),
            details=_faultless(rows),
            fix=Fix(
                "Give each entry one address. Write dates in the W3C format, with a time zone after a time.",
                {Language.FILE: "<url><loc>https://HOST/PATH</loc><lastmod>2026-01-31T09:30:00+00:00</lastmod></url>"},
            ),
        )
    lists_page = any(file.sitemap is not None and file.sitemap.contains_page for file in readable)
    count = sum(file.sitemap.count for file in readable if file.sitemap and file.sitemap.kind is not SitemapKind.INDEX)
    urls = Count(count, "URL")
    if not lists_page and sitemaps.is_complete and _should_be_listed(page, indexing, canonicals, robots):
        own = Address(page.target.url)
        fix = "Add to the sitemap: `<url><loc>{page}</loc></url>`."
        if not count:
            return Warn(
                "page-missing", "The sitemaps list no URL, so not {page} either.", page=own, places=rows, fix=fix
            )
        return Warn(
            "page-missing", "The sitemaps list {urls}, but not {page}.", urls=urls, page=own, places=rows, fix=fix
        )
    listed = ", the page among them" if lists_page else ""
    return Pass(
        f"{{sitemaps}} with {{urls}} can be read{listed}.",
        sitemaps=Count(len(readable), "sitemap"),
        urls=urls,
        details=rows,
    )


@check(
    "sitemap-index",
    name="Sitemaps in the index are readable",
    outcomes={"unreadable": "Sitemap index names unreadable sitemaps", "empty": "Sitemap index is empty"},
    why="Search engines do not find the sitemaps that the index should lead them to.",
    severity=MEDIUM,
    fix="Let every `<loc>` of the index lead to a sitemap that answers with status 200 and is not an index itself.",
    references=("sitemaps.org: using sitemap index files", "Google Search Central: large sitemaps"),
)
def sitemap_index(sitemaps: Sitemaps) -> Verdict:
    indexes = [file.sitemap for file in sitemaps.files if file.sitemap and file.sitemap.kind is SitemapKind.INDEX]
    if not indexes:
        return NotApplicable("No sitemap index was found.")
    total = sum(index.count for index in indexes)
    if not sitemaps.children:
        if total or any(index.fault for index in indexes):
            return NotApplicable("The index names no sitemap that could be loaded.")
        return Warn(
            "empty",
            "The sitemap index names no sitemap.",
            fix="Name the sitemaps in the index: `<sitemap><loc>https://HOST/PATH</loc></sitemap>`.",
        )
    conclusive = [file for file in sitemaps.children if file.is_conclusive]
    if not conclusive:
        raise InconclusiveSitemaps(f"None of the index's sitemaps could be checked. {sitemaps.children[0].error}")
    rows = [ReadSitemap.from_file(file, _find_index_entry_fault(file)) for file in conclusive]
    checked, sitemaps_named = Count(len(conclusive)), Count(total, "sitemap")
    if any(row.fault for row in rows):
        return Fail(
            "unreadable",
            "Crawlers cannot read {unreadable} of the index ({checked} of {sitemaps} checked).",
            unreadable=Count(len(_faulty(rows)), "sitemap"),
            checked=checked,
            sitemaps=sitemaps_named,
            places=_faulty(rows),
            details=_faultless(rows),
        )
    return Pass(
        "The sitemaps of the index can be read ({checked} of {sitemaps} checked).",
        checked=checked,
        sitemaps=sitemaps_named,
        details=rows,
    )


def _faulty(rows: Sequence[ReadSitemap]) -> list[ReadSitemap]:
    return [row for row in rows if row.fault]


def _faultless(rows: Sequence[ReadSitemap]) -> list[ReadSitemap]:
    return [row for row in rows if not row.fault]


def _share_of_faulty_rows(rows: Sequence[ReadSitemap]) -> Share:
    return Share(len(_faulty(rows)), len(rows), "sitemap")


def _judge_sitemaps(files: Sequence[SitemapFile], judge: Callable[[Sitemap], str]) -> list[ReadSitemap]:
    return [ReadSitemap.from_file(file, judge(file.sitemap) if file.sitemap else "") for file in files]


def _find_sitemap_fault(sitemap: Sitemap) -> str:
    """Return the reason, as a clause, why crawlers reject a sitemap.

    Empty if the sitemap is valid.
    """
    if sitemap.fault:
        return sitemap.fault
    if sitemap.size_bytes > MAX_BYTES:
        return f"is larger than the limit of {size(MAX_BYTES)}"
    if sitemap.count > MAX_URLS:
        return f"has more than the limit of {MAX_URLS:,} URLs"
    if sitemap.relative_url_count:
        urls = counted(sitemap.relative_url_count, "URL")
        return f"has {urls} without a valid scheme and host ({_quote_first(sitemap.relative)})"
    return ""


def _find_protocol_fault(sitemap: Sitemap) -> str:
    if sitemap.foreign_url_count:
        return f"has {counted(sitemap.foreign_url_count, 'URL')} on another host ({_quote_first(sitemap.foreign)})"
    if not sitemap.has_known_namespace:
        named = f"names {excerpt(sitemap.namespace, 60)} as" if sitemap.namespace else "does not name"
        return f"{named} its namespace, which must be {NAMESPACE}"
    return ""


def _find_entry_fault(sitemap: Sitemap) -> str:
    """Return the first fault of a sitemap's entries, as a clause.

    It has the line, and is empty if the entries are valid.
    """
    entries = sitemap.entries
    if not entries.faults:
        return ""
    # A fault that makes crawlers ignore the entry determines the severity.
    first = max(entries.faults, key=lambda fault: fault.loses_entry)
    return f"has {counted(entries.fault_count, 'invalid entry', 'invalid entries')} (line {first.line:,}: {first.text})"


def _quote_first(addresses: Sequence[str]) -> str:
    more = ", …" if len(addresses) > 1 else ""
    return f"“{excerpt(addresses[0], 60)}”{more}"


def _find_index_entry_fault(file: SitemapFile) -> str:
    if file.sitemap is None:
        return _describe_load_fault(file)
    if file.sitemap.kind is SitemapKind.INDEX:
        return "is an index itself"
    return file.sitemap.fault


def _describe_load_fault(file: SitemapFile) -> str:
    return f"answers with status {file.status}" if file.status else f"does not load: {clause(file.error)}"


def _should_be_listed(page: Page, indexing: IndexingRules, canonicals: Canonicals, robots: RobotsFile | None) -> bool:
    """Return True if a sitemap should list the page.

    The page must be crawlable, indexable and canonical.
    """
    if page.response.status != 200 or not page.is_html or "?" in page.target.url or indexing.decisive:
        return False
    if robots is not None and not decide(robots.robots, GOOGLEBOT, page.target.path).allowed:
        return False
    return not canonicals.links or canonicals.is_self_referencing
