"""Crawlability: what tells crawlers where they may go, and what there is to find."""

from __future__ import annotations

from scans.engine.catalogue import Category, check
from scans.engine.findings import (
    HIGH,
    LOW,
    MEDIUM,
    EvidenceItem,
    Fail,
    Finding,
    NotApplicable,
    Pass,
    Warn,
)
from scans.engine.messages import counted, excerpt, some
from scans.engine.page.evidence import Clock, Document, Page
from scans.engine.seo.canonical import canonicals, named_url
from scans.engine.seo.evidence import RobotsFile
from scans.engine.seo.indexing import EVERYBODY, GOOGLE, exclusions, indexing_rules
from scans.engine.seo.robots import MAX_BYTES as ROBOTS_MAX_BYTES
from scans.engine.seo.robots import decide
from scans.engine.seo.sitemaps import HTML, MAX_BYTES, MAX_URLS, Sitemap, SitemapFile, SitemapKind, Sitemaps
from scans.net.errors import NetError

CATEGORY = Category("Crawlability", weight=15)

MAX_ITEMS = 20
NO_SITEMAP = NotApplicable("No sitemap was found.")


class SitemapsUnread(NetError):
    """None of the sitemaps that were chosen from an index told anything."""

    code = "TIMEOUT"


@check(
    "robots-txt",
    name="robots.txt readable",
    severity=HIGH,
    fix="Answer /robots.txt with status 200 and plain text, or with 404 where nothing is forbidden.",
    references=("RFC 9309, sections 2.2 to 2.5", "Google Search Central: robots.txt", "Lighthouse: robots-txt"),
)
def robots_txt(file: RobotsFile) -> Finding:
    response = file.response
    if file.redirected_away:
        return Warn(
            f"robots.txt is not found behind its redirects, so crawlers take it that nothing is forbidden. "
            f"{excerpt(file.error)}",
            MEDIUM,
            fix=f"Let {excerpt(file.url)} answer with the file itself.",
        )
    if response is None:
        return Fail(f"robots.txt can't be reached, so crawlers stay away from the whole site. {excerpt(file.error)}")
    evidence: tuple[EvidenceItem, ...] = ({"url": excerpt(response.url), "status": response.status},)
    if file.is_unreachable:
        return Fail(
            f"robots.txt answers with status {response.status}, so crawlers stay away from the whole site.",
            evidence=evidence,
        )
    if not 200 <= response.status < 300:
        return Pass(f"There is no robots.txt (status {response.status}), so nothing is forbidden.", evidence)
    if HTML.match(response.body):
        return Warn(
            "An HTML page comes in the place of robots.txt; crawlers find no rule in it.",
            evidence=evidence,
            fix="Answer /robots.txt with status 404, or with a plain text file such as: User-agent: * (next line) "
            "Disallow:",
        )
    faults = file.robots.faults
    if faults:
        shown = some([f"line {each.line}, “{excerpt(each.text, 60)}”, {each.reason}" for each in faults])
        return Warn(
            f"Crawlers can't use {counted(len(faults), 'line')} of robots.txt: {shown}.",
            evidence=tuple(
                {"line": each.line, "text": excerpt(each.text), "reason": each.reason} for each in faults[:MAX_ITEMS]
            ),
            fix="Write each line as name: value, rules behind a User-agent line and with a path from / on, and "
            "sitemaps with their whole address: Sitemap: https://HOST/sitemap.xml",
        )
    if len(response.body) > ROBOTS_MAX_BYTES:
        return Warn(
            f"robots.txt is larger than {ROBOTS_MAX_BYTES // 1024} KiB, and crawlers may ignore what is beyond.",
            evidence=evidence,
            fix="Join rules that share a beginning, or use noindex in the pages, until the file is under 500 KiB.",
        )
    if not file.robots.groups:
        return Pass("robots.txt can be read, and restricts nothing.", evidence)
    rules = sum(len(group.rules) for group in file.robots.groups)
    return Pass(f"robots.txt can be read: {counted(rules, 'rule')}, every line understood.", evidence)


@check(
    "sitemap-found",
    name="Sitemap found",
    severity=LOW,
    fix="Put a sitemap at /sitemap.xml and name it in robots.txt: Sitemap: https://HOST/sitemap.xml",
    references=("sitemaps.org: protocol", "Google Search Central: sitemaps"),
)
def sitemap_found(sitemaps: Sitemaps) -> Finding:
    there = [each for each in sitemaps.files if each.sitemap is not None]
    dead = [each for each in sitemaps.files if each.sitemap is None and each.is_told]
    evidence = tuple(_evidence(each) for each in sitemaps.files)
    if dead:
        shown = some([f"{excerpt(each.url)} {_no_answer(each)}" for each in dead])
        return Warn(
            f"robots.txt names {counted(len(dead), 'sitemap')} that can't be loaded: {shown}.",
            evidence=evidence,
            fix="Correct the Sitemap lines of robots.txt, or let what they name answer with status 200.",
        )
    if not there:
        return Warn(
            "robots.txt names no sitemap, and neither /sitemap.xml nor /sitemap_index.xml is one; crawlers find "
            "pages by links alone."
        )
    where = "named in robots.txt" if sitemaps.named else "in its usual place"
    return Pass(f"{some([excerpt(each.url) for each in there])}: {where}.", evidence)


@check(
    "sitemap-valid",
    name="Sitemap valid",
    severity=MEDIUM,
    fix="Write UTF-8 XML by sitemaps.org, at most 50,000 addresses and 50 MB a file, each address absolute: "
    "<url><loc>https://HOST/PATH</loc></url>",
    references=("sitemaps.org: protocol", "Google Search Central: build and submit a sitemap"),
)
def sitemap_valid(
    page: Page, document: Document, clock: Clock, sitemaps: Sitemaps, robots: RobotsFile | None
) -> Finding:
    top = [each for each in sitemaps.files if each.sitemap is not None]
    if not top:
        return NO_SITEMAP
    # A child that can't be read is sitemap-index's matter.
    read = top + [each for each in sitemaps.children if each.sitemap is not None and not each.sitemap.fault]
    evidence = tuple(_evidence(each) for each in read)
    faults = [f"{excerpt(each.url)} {fault}" for each in read if (fault := _fault(each.sitemap))]
    if faults:
        return Fail(f"{some(faults)}.", evidence=evidence)
    doubts = [f"{excerpt(each.url)} {doubt}" for each in read if (doubt := _doubt(each.sitemap))]
    if doubts:
        return Warn(
            f"{some(doubts)}.",
            evidence=evidence,
            fix="List only addresses of the sitemap's own host, in <urlset xmlns=\"http://www.sitemaps.org/schemas/"
            'sitemap/0.9">.',
        )
    names_page = any(each.sitemap is not None and each.sitemap.names_page for each in read)
    count = sum(each.sitemap.count for each in read if each.sitemap and each.sitemap.kind is not SitemapKind.INDEX)
    if not names_page and _knows_all(sitemaps) and _belongs_in(page, document, clock, robots):
        return Warn(
            f"The page is not among the {counted(count, 'address', 'addresses')} of the sitemaps: "
            f"{excerpt(page.target.url)}.",
            LOW,
            evidence,
            fix=f"Add to the sitemap: <url><loc>{excerpt(page.target.url)}</loc></url>",
        )
    listed = ", the page among them" if names_page else ""
    return Pass(
        f"{counted(len(read), 'sitemap')} with {counted(count, 'address', 'addresses')} in order{listed}.", evidence
    )


@check(
    "sitemap-index",
    name="Sitemaps of the index",
    severity=MEDIUM,
    fix="Let every <loc> of the index lead to a sitemap that answers with status 200, no further index.",
    references=("sitemaps.org: using sitemap index files", "Google Search Central: large sitemaps"),
)
def sitemap_index(sitemaps: Sitemaps) -> Finding:
    indexes = [each.sitemap for each in sitemaps.files if each.sitemap and each.sitemap.kind is SitemapKind.INDEX]
    if not indexes:
        return NotApplicable("No sitemap index was found.")
    total = sum(each.count for each in indexes)
    if not sitemaps.children:
        if total or any(each.fault for each in indexes):
            return NotApplicable("The index names no sitemap that could be asked for.")
        return Warn("The sitemap index names no sitemap.")
    told = [each for each in sitemaps.children if each.is_told]
    if not told:
        raise SitemapsUnread(f"None of the index's sitemaps could be looked at. {sitemaps.children[0].error}")
    evidence = tuple(_evidence(each) for each in told)
    faults = [f"{excerpt(each.url)} {fault}" for each in told if (fault := _child_fault(each))]
    looked_at = f"{len(told)} of {counted(total, 'sitemap')} looked at"
    if faults:
        return Fail(f"Crawlers can't read what the index names ({looked_at}): {some(faults)}.", evidence=evidence)
    return Pass(f"The index's sitemaps can be read ({looked_at}).", evidence)


def _fault(sitemap: Sitemap | None) -> str:
    """Why crawlers do not take a sitemap, as a clause; empty where they do."""
    if sitemap is None:
        return ""
    if sitemap.fault:
        return sitemap.fault
    if sitemap.size_bytes > MAX_BYTES:
        return f"has more than the {MAX_BYTES:,} bytes that it may have"
    if sitemap.count > MAX_URLS:
        return f"has more than the {MAX_URLS:,} addresses that it may have"
    if sitemap.relative_count:
        shown = some([f"“{excerpt(each, 80)}”" for each in sitemap.relative])
        noun = counted(sitemap.relative_count, "address", "addresses")
        return f"has {noun} without scheme and host, or that can't be read ({shown})"
    return ""


def _doubt(sitemap: Sitemap | None) -> str:
    if sitemap is None:
        return ""
    if sitemap.foreign_count:
        shown = some([excerpt(each, 80) for each in sitemap.foreign])
        return f"has {counted(sitemap.foreign_count, 'address', 'addresses')} on another host ({shown})"
    if not sitemap.has_known_namespace:
        named = f"names {excerpt(sitemap.namespace, 80)} as" if sitemap.namespace else "does not name"
        return f"{named} its namespace, which has to be http://www.sitemaps.org/schemas/sitemap/0.9"
    return ""


def _child_fault(file: SitemapFile) -> str:
    if file.sitemap is None:
        return _no_answer(file)
    if file.sitemap.kind is SitemapKind.INDEX:
        return "is an index itself"
    return file.sitemap.fault


def _no_answer(file: SitemapFile) -> str:
    return f"answers with status {file.status}" if file.status else f"does not come: {excerpt(file.error).rstrip('.')}"


def _knows_all(sitemaps: Sitemaps) -> bool:
    """Whether everything that the site lists was read, so that what was not seen is not listed."""
    files = (*sitemaps.files, *sitemaps.children)
    if sitemaps.named > len(sitemaps.files) or any(each.sitemap is None for each in files):
        return False
    found = [each.sitemap for each in files if each.sitemap is not None]
    named = sum(each.count for each in found if each.kind is SitemapKind.INDEX)
    return all(each.is_complete for each in found) and named <= len(sitemaps.children)


def _belongs_in(page: Page, document: Document, clock: Clock, robots: RobotsFile | None) -> bool:
    """Whether a sitemap should list the page: it may be indexed, under this very address."""
    if page.response.status != 200 or not page.is_html or "?" in page.target.url:
        return False
    excluding = exclusions(indexing_rules(page, document), clock.now)
    if any(each.agent in (EVERYBODY, GOOGLE) for each in excluding):
        return False
    if robots is not None and not decide(robots.robots, GOOGLE, page.target.path).allowed:
        return False
    found = canonicals(page, document)
    return not found or named_url(found) == page.target.url


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
