"""Crawlability checks: robots.txt and sitemaps."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from website_scan.catalogue import Category, check
from website_scan.crawl.canonicals import Canonicals
from website_scan.crawl.indexing import IndexingRules
from website_scan.crawl.robots import GOOGLEBOT, decide
from website_scan.crawl.robots import MAX_BYTES as ROBOTS_MAX_BYTES
from website_scan.crawl.robots_file import RobotsFile
from website_scan.crawl.sitemaps import HTML, MAX_BYTES, MAX_URLS, Sitemap, SitemapFile, SitemapKind, Sitemaps
from website_scan.findings import HIGH, LOW, MEDIUM, EvidenceItem, Fail, Finding, NotApplicable, Pass, Warn
from website_scan.messages import clause, counted, excerpt, size, some
from website_scan.net.errors import NetError
from website_scan.page.evidence import Page

CATEGORY = Category("Crawlability", weight=15)

NO_SITEMAP = NotApplicable("No sitemap was found.")


class SitemapsUnread(NetError):
    """Raised if the responses for the sitemaps chosen from an index prove nothing about any of them."""

    code = "TIMEOUT"


@check(
    "robots-txt",
    name="robots.txt is readable or absent",
    found="robots.txt has invalid lines",
    why="Crawlers may crawl what should be left alone, or nothing at all.",
    severity=HIGH,
    fix="Answer /robots.txt with status 200 and plain text, or with 404 if nothing is blocked.",
    references=("RFC 9309, sections 2.2 to 2.5", "Google Search Central: robots.txt", "Lighthouse: robots-txt"),
)
def robots_txt(file: RobotsFile) -> Finding:
    response = file.response
    if file.redirected_away:
        return Warn(
            f"The redirects of robots.txt lead to no file ({clause(file.error)}), so crawlers assume that "
            "nothing is blocked.",
            MEDIUM,
            fix=f"Let {excerpt(file.url)} answer with the file itself.",
            title="robots.txt redirects to no file",
        )
    if response is None:
        return Fail(
            f"robots.txt can't be reached ({clause(file.error)}), so crawlers stay away from the whole site.",
            title="robots.txt cannot be reached",
        )
    evidence: list[EvidenceItem] = [{"url": excerpt(response.url), "status": response.status}]
    if file.is_unreachable:
        return Fail(
            f"robots.txt answers with status {response.status}, so crawlers stay away from the whole site.",
            evidence=evidence,
            title=f"robots.txt answers with status {response.status}",
        )
    if not 200 <= response.status < 300:
        return Pass(f"There is no robots.txt (status {response.status}), so nothing is blocked.", evidence)
    if HTML.match(response.body):
        return Warn(
            "An HTML page is served as robots.txt; crawlers find no rule in it.",
            LOW,
            evidence,
            fix="Answer /robots.txt with status 404, or with a plain text file such as: User-agent: * (next line) "
            "Disallow:",
            title="robots.txt is an HTML page",
        )
    faults = file.robots.faults
    if faults:
        shown = some([f"line {each.line}, “{excerpt(each.text, 60)}”, {each.reason}" for each in faults])
        return Warn(
            f"Crawlers can't use {counted(len(faults), 'line')} of robots.txt: {shown}.",
            LOW,
            [{"line": each.line, "text": excerpt(each.text), "reason": each.reason} for each in faults],
            fix="Write each line as name: value, put rules after a User-agent line, start their paths with /, and "
            "give sitemaps their full URL: Sitemap: https://HOST/sitemap.xml",
        )
    if len(response.body) > ROBOTS_MAX_BYTES:
        return Warn(
            f"robots.txt is larger than {size(ROBOTS_MAX_BYTES)}, and crawlers may ignore the rest.",
            MEDIUM,
            evidence,
            fix="Combine rules whose paths start alike, or use noindex in the pages, until the file is within the "
            "limit.",
            title="robots.txt is too large",
        )
    if not file.robots.groups:
        return Pass("robots.txt can be read and blocks nothing.", evidence)
    rules = sum(len(group.rules) for group in file.robots.groups)
    return Pass(f"robots.txt can be read: {counted(rules, 'rule')}, and every line is valid.", evidence)


@check(
    "sitemap-found",
    name="Sitemap is available",
    found="No sitemap found",
    why="Search engines may discover new and deep pages later, or not at all.",
    severity=LOW,
    fix="Put a sitemap at /sitemap.xml and name it in robots.txt: Sitemap: https://HOST/sitemap.xml",
    references=("sitemaps.org: protocol", "Google Search Central: sitemaps"),
)
def sitemap_found(sitemaps: Sitemaps) -> Finding:
    available = [each for each in sitemaps.files if each.sitemap is not None]
    unavailable = [each for each in sitemaps.files if each.sitemap is None and each.is_conclusive]
    evidence = [_evidence(each) for each in sitemaps.files]
    if unavailable:
        shown = some([f"{excerpt(each.url)} {_no_answer(each)}" for each in unavailable])
        return Warn(
            f"robots.txt names {counted(len(unavailable), 'unavailable sitemap')}: {shown}.",
            evidence=evidence,
            fix="Correct the Sitemap lines of robots.txt, or let the sitemaps answer with status 200.",
            title="Sitemap cannot be loaded",
        )
    if not available:
        return Warn("robots.txt names no sitemap, and neither /sitemap.xml nor /sitemap_index.xml is one.")
    where = "named in robots.txt" if sitemaps.named else "in the usual place"
    return Pass(f"{some([excerpt(each.url) for each in available])}: {where}.", evidence)


@check(
    "sitemap-valid",
    name="Sitemap is valid",
    found="Sitemap is invalid",
    why="A sitemap helps search engines only with pages that have a readable entry in it.",
    severity=MEDIUM,
    fix="Write UTF-8 XML in the sitemaps.org format, with at most 50,000 URLs and 52 MB per file, and absolute URLs: "
    "<url><loc>https://HOST/PATH</loc></url>",
    references=("sitemaps.org: protocol", "Google Search Central: build and submit a sitemap"),
)
def sitemap_valid(
    page: Page, indexing: IndexingRules, canonicals: Canonicals, sitemaps: Sitemaps, robots: RobotsFile | None
) -> Finding:
    top = [each for each in sitemaps.files if each.sitemap is not None]
    if not top:
        return NO_SITEMAP
    # sitemap-index reports children that can't be read.
    read = top + [each for each in sitemaps.children if each.sitemap is not None and not each.sitemap.fault]
    evidence = [_evidence(each) for each in read]
    if faults := _faults(read, _fault):
        return Fail(f"{some(faults)}.", evidence=evidence)
    if flaws := _faults(read, _minor_fault):
        return Warn(
            f"{some(flaws)}.",
            evidence=evidence,
            fix="List only URLs of the sitemap's own host, in <urlset xmlns=\"http://www.sitemaps.org/schemas/"
            'sitemap/0.9">.',
            title=_minor_title(read),
        )
    names_page = any(each.sitemap is not None and each.sitemap.names_page for each in read)
    count = sum(each.sitemap.count for each in read if each.sitemap and each.sitemap.kind is not SitemapKind.INDEX)
    if not names_page and sitemaps.is_complete and _belongs_in(page, indexing, canonicals, robots):
        listed = f"list {counted(count, 'URL')}, but not the page" if count else "list no URL, so not the page either"
        return Warn(
            f"The sitemaps {listed}: {excerpt(page.target.url)}.",
            LOW,
            evidence,
            fix=f"Add to the sitemap: <url><loc>{excerpt(page.target.url)}</loc></url>",
            title="Sitemap does not list the page",
        )
    listed = ", the page among them" if names_page else ""
    return Pass(f"{counted(len(read), 'sitemap')} with {counted(count, 'URL')} can be read{listed}.", evidence)


@check(
    "sitemap-index",
    name="Sitemaps in the index are readable",
    found="Sitemap index names unreadable sitemaps",
    why="Search engines do not find the sitemaps that the index should lead them to.",
    severity=MEDIUM,
    fix="Let every <loc> of the index lead to a sitemap that answers with status 200 and is not an index itself.",
    references=("sitemaps.org: using sitemap index files", "Google Search Central: large sitemaps"),
)
def sitemap_index(sitemaps: Sitemaps) -> Finding:
    indexes = [each.sitemap for each in sitemaps.files if each.sitemap and each.sitemap.kind is SitemapKind.INDEX]
    if not indexes:
        return NotApplicable("No sitemap index was found.")
    total = sum(each.count for each in indexes)
    if not sitemaps.children:
        if total or any(each.fault for each in indexes):
            return NotApplicable("The index names no sitemap that could be loaded.")
        return Warn("The sitemap index names no sitemap.", title="Sitemap index is empty")
    conclusive = [each for each in sitemaps.children if each.is_conclusive]
    if not conclusive:
        raise SitemapsUnread(f"None of the index's sitemaps could be checked. {sitemaps.children[0].error}")
    evidence = [_evidence(each) for each in conclusive]
    faults = [f"{excerpt(each.url)} {fault}" for each in conclusive if (fault := _child_fault(each))]
    checked = f"{len(conclusive)} of {counted(total, 'sitemap')} checked"
    if faults:
        return Fail(f"Crawlers can't read all sitemaps of the index ({checked}): {some(faults)}.", evidence=evidence)
    return Pass(f"The sitemaps of the index can be read ({checked}).", evidence)


def _faults(files: Sequence[SitemapFile], judge: Callable[[Sitemap], str]) -> list[str]:
    """Return the faults of the sitemaps that have one, each after the sitemap's URL."""
    found = ((each.url, judge(each.sitemap)) for each in files if each.sitemap is not None)
    return [f"{excerpt(url)} {fault}" for url, fault in found if fault]


def _fault(sitemap: Sitemap) -> str:
    """Return why crawlers reject a sitemap, as a clause. Empty if they do not."""
    if sitemap.fault:
        return sitemap.fault
    if sitemap.size_bytes > MAX_BYTES:
        return f"is larger than the limit of {size(MAX_BYTES)}"
    if sitemap.count > MAX_URLS:
        return f"has more than the limit of {MAX_URLS:,} URLs"
    if sitemap.relative_count:
        shown = some([f"“{excerpt(each, 80)}”" for each in sitemap.relative])
        return f"has {counted(sitemap.relative_count, 'URL')} without scheme and host, or invalid ({shown})"
    return ""


def _minor_fault(sitemap: Sitemap) -> str:
    if sitemap.foreign_count:
        shown = some([excerpt(each, 80) for each in sitemap.foreign])
        return f"has {counted(sitemap.foreign_count, 'URL')} on another host ({shown})"
    if not sitemap.has_known_namespace:
        named = f"names {excerpt(sitemap.namespace, 80)} as" if sitemap.namespace else "does not name"
        return f"{named} its namespace, which must be http://www.sitemaps.org/schemas/sitemap/0.9"
    return ""


def _minor_title(files: Sequence[SitemapFile]) -> str:
    if any(each.sitemap is not None and each.sitemap.foreign_count for each in files):
        return "Sitemap lists URLs on another host"
    return "Sitemap has no valid namespace"


def _child_fault(file: SitemapFile) -> str:
    if file.sitemap is None:
        return _no_answer(file)
    if file.sitemap.kind is SitemapKind.INDEX:
        return "is an index itself"
    return file.sitemap.fault


def _no_answer(file: SitemapFile) -> str:
    return f"answers with status {file.status}" if file.status else f"does not load: {clause(file.error)}"


def _belongs_in(page: Page, indexing: IndexingRules, canonicals: Canonicals, robots: RobotsFile | None) -> bool:
    """Return True if a sitemap should list the page: it may be indexed, under this very URL."""
    if page.response.status != 200 or not page.is_html or "?" in page.target.url or indexing.decisive:
        return False
    if robots is not None and not decide(robots.robots, GOOGLEBOT, page.target.path).allowed:
        return False
    return not canonicals.links or canonicals.url == page.target.url


def _evidence(file: SitemapFile) -> EvidenceItem:
    found = file.sitemap
    return {
        "url": excerpt(file.url),
        "status": file.status,
        "kind": found.kind if found else None,
        "addresses": found.count if found else None,
        "bytes": found.size_bytes if found else None,
        "error": excerpt(file.error or (found.fault if found else "")) or None,
    }
