"""Social card checks: Open Graph and Twitter metadata for the preview of a shared link."""

from __future__ import annotations

from website_scan.catalogue import Category, check
from website_scan.crawl.canonicals import Canonicals
from website_scan.crawl.link_relations import is_absolute, same_escapes
from website_scan.findings import LOW, EvidenceItem, Finding, NotApplicable, Pass, Warn
from website_scan.messages import clause, excerpt
from website_scan.page.evidence import Page
from website_scan.page.markup import http_address
from website_scan.seo.evidence import SocialImage
from website_scan.seo.metadata import SocialMetadata
from website_scan.urls import Url

# Nobody shares an error page.
CATEGORY = Category("Social cards", weight=3, html=True, error_pages=False)

OPEN_GRAPH = "The Open Graph protocol"


@check(
    "og-title",
    name="Open Graph title is set",
    found="Open Graph title is missing",
    why="A shared link shows a title that the social network chooses.",
    severity=LOW,
    fix='Add to the head: <meta property="og:title" content="…">',
    references=(OPEN_GRAPH,),
)
def og_title(social: SocialMetadata) -> Finding:
    if not social.title:
        return _missing(social, "The page has no og:title.")
    return Pass(f"og:title is “{excerpt(social.title, 80)}”.")


@check(
    "og-image",
    name="Open Graph image loads",
    found="Open Graph image is missing",
    why="A shared link is shown without a picture of your choice.",
    severity=LOW,
    fix='Add to the head: <meta property="og:image" content="https://…"> with the absolute URL of an image that loads.',
    references=(OPEN_GRAPH,),
)
def og_image(social: SocialMetadata, image: SocialImage) -> Finding:
    if not social.image:
        return _missing(social, "The page has no og:image.")
    shown = excerpt(social.image, 120)
    evidence: list[EvidenceItem] = [{"url": shown}]
    if not is_absolute(social.image):
        return Warn(
            f"og:image is not an absolute URL: {shown}.",
            evidence=evidence,
            title="Open Graph image has no absolute URL",
        )
    if image.status is None:
        return Warn(
            f"og:image does not load ({clause(image.error)}): {shown}.",
            evidence=evidence,
            title="Open Graph image does not load",
        )
    if image.status != 200:
        return Warn(
            f"og:image answers with status {image.status}: {shown}.",
            evidence=evidence,
            title="Open Graph image does not load",
        )
    return Pass(f"og:image loads: {shown}.")


@check(
    "og-url",
    name="Open Graph URL is consistent",
    found="Open Graph URL is not canonical",
    why="Social networks may count shares of the page under another URL.",
    severity=LOW,
    fix='Give og:url the canonical URL: <meta property="og:url" content="https://…">',
    references=(OPEN_GRAPH,),
)
def og_url(page: Page, social: SocialMetadata, canonicals: Canonicals) -> Finding:
    if not social.url:
        return NotApplicable("The page has no og:url, so networks take the URL that is shared.")
    url = http_address(Url.parse(social.url, page.target.url))
    if url is None:
        return Warn(
            f"og:url is not an http or https URL: {excerpt(social.url, 120)}.", title="Open Graph URL is invalid"
        )
    expected = canonicals.url
    if expected is not None and same_escapes(url) != same_escapes(expected):
        return Warn(f"og:url is {excerpt(url, 120)}, but the canonical URL is {excerpt(expected, 120)}.")
    return Pass(f"og:url is {excerpt(url, 120)}.")


@check(
    "twitter-card",
    name="Twitter card is set",
    found="Twitter card is missing",
    why="X may show a shared link without a preview.",
    severity=LOW,
    fix='Add to the head: <meta name="twitter:card" content="summary_large_image">',
    references=("X developer platform: cards (archived)",),
)
def twitter_card(social: SocialMetadata) -> Finding:
    if not social.card:
        return _missing(social, "The page has no twitter:card.")
    return Pass(f"twitter:card is “{excerpt(social.card, 40)}”.")


def _missing(social: SocialMetadata, message: str) -> Finding:
    return NotApplicable(social.needless) if social.needless else Warn(message)
