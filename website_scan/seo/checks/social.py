"""Checks of Open Graph and Twitter metadata.

Social networks use it for previews of shared links.
"""

from __future__ import annotations

from website_scan.catalogue import Category, check
from website_scan.crawl.canonicals import Canonicals
from website_scan.crawl.link_relations import is_absolute
from website_scan.findings import LOW, NotApplicable
from website_scan.messages import excerpt
from website_scan.outcomes import Fix, Language, Pass, Verdict, Warn
from website_scan.page.evidence import Page
from website_scan.page.markup import http_address
from website_scan.places import Resource
from website_scan.seo.evidence import SocialImage
from website_scan.seo.metadata import SocialMetadata
from website_scan.urls import Url, are_equivalent
from website_scan.values import Address, Excerpt, Reason

# Nobody shares links to error pages.
CATEGORY = Category("Social cards", weight=3, html=True, error_pages=False)

OPEN_GRAPH_REFERENCE = "The Open Graph protocol"


@check(
    "og-title",
    name="Open Graph title is set",
    outcomes={"missing": "Open Graph title is missing"},
    why="A shared link shows a title that the social network chooses.",
    severity=LOW,
    fix=Fix("Set the title of shared links in the head.", {Language.HTML: '<meta property="og:title" content="…">'}),
    references=(OPEN_GRAPH_REFERENCE,),
)
def og_title(social: SocialMetadata) -> Verdict:
    if not social.title:
        return _missing_verdict(social, "The page has no og:title.")
    return Pass("og:title is “{title}”.", title=Excerpt(social.title, 80))


@check(
    "og-image",
    name="Open Graph image loads",
    outcomes={
        "missing": "Open Graph image is missing",
        "relative": "Open Graph image has no absolute URL",
        "unavailable": "Open Graph image does not load",
    },
    why="A shared link is shown without a picture of your choice.",
    severity=LOW,
    fix=Fix(
        "Set the image of shared links in the head, with an absolute URL that loads.",
        {Language.HTML: '<meta property="og:image" content="https://…">'},
    ),
    references=(OPEN_GRAPH_REFERENCE,),
)
def og_image(social: SocialMetadata, image: SocialImage) -> Verdict:
    if not social.image:
        return _missing_verdict(social, "The page has no og:image.")
    url = Address(social.image, 120)
    places = [Resource(excerpt(social.image, 120))]
    if not is_absolute(social.image):
        return Warn("relative", "og:image is not an absolute URL: {url}.", url=url, places=places)
    if image.status is None:
        return Warn(
            "unavailable", "og:image does not load ({error}): {url}.", error=Reason(image.error), url=url, places=places
        )
    if image.status != 200:
        return Warn(
            "unavailable",
            "og:image answers with status {status}: {url}.",
            status=image.status,
            url=url,
            places=places,
        )
    return Pass("og:image loads: {url}.", url=url)


@check(
    "og-url",
    name="Open Graph URL is consistent",
    outcomes={"not-canonical": "Open Graph URL is not canonical", "invalid": "Open Graph URL is invalid"},
    why="Social networks may count shares of the page under another URL.",
    severity=LOW,
    fix=Fix("Give `og:url` the canonical URL.", {Language.HTML: '<meta property="og:url" content="https://…">'}),
    references=(OPEN_GRAPH_REFERENCE,),
)
def og_url(page: Page, social: SocialMetadata, canonicals: Canonicals) -> Verdict:
    if not social.url:
        return NotApplicable("The page has no og:url, so networks take the URL that is shared.")
    url = http_address(Url.parse(social.url, page.target.url))
    if url is None:
        return Warn("invalid", "og:url is not an http or https URL: {url}.", url=Address(social.url, 120))
    expected = canonicals.url
    if expected is not None and not are_equivalent(url, expected):
        return Warn(
            "not-canonical",
            "og:url is {url}, but the canonical URL is {canonical}.",
            url=Address(url, 120),
            canonical=Address(expected, 120),
        )
    return Pass("og:url is {url}.", url=Address(url, 120))


@check(
    "twitter-card",
    name="Twitter card is set",
    outcomes={"missing": "Twitter card is missing"},
    why="X may show a shared link without a preview.",
    severity=LOW,
    fix=Fix(
        "Set the type of Twitter card in the head.",
        {Language.HTML: '<meta name="twitter:card" content="summary_large_image">'},
    ),
    references=("X developer platform: cards (archived)",),
)
def twitter_card(social: SocialMetadata) -> Verdict:
    if not social.card:
        return _missing_verdict(social, "The page has no twitter:card.")
    return Pass("twitter:card is “{card}”.", card=Excerpt(social.card, 40))


def _missing_verdict(social: SocialMetadata, summary: str) -> Verdict:
    return NotApplicable(social.needless) if social.needless else Warn("missing", summary)
