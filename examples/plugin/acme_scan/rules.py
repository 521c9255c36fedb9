"""Checks of Acme: each page links the imprint, and the shop has a page with its opening hours."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urljoin

from website_scan.plugins import (
    Address,
    Category,
    Count,
    Document,
    Fail,
    Network,
    Page,
    Pass,
    Verdict,
    Warn,
    check,
    probe,
)

CATEGORY = Category("Acme rules", "seo")


@check(
    "acme-imprint",
    name="The page links the imprint",
    outcomes={"missing": "No link to the imprint", "empty": "Link to the imprint without text"},
    severity="medium",
    fix="Link `/imprint` in the footer of each page.",
    why="Visitors do not learn who runs the site.",
)
def imprint(document: Document) -> Verdict:
    links = document.select('a[href$="/imprint"]')
    if not links:
        return Fail("missing", "No link of the page leads to `/imprint`.")
    if empty := [link for link in links if not link.text]:
        places = [link.place("The link has no text.") for link in empty]
        return Warn("empty", "{links} to the imprint without text.", links=Count(len(empty), "link"), places=places)
    return Pass("The page links the imprint.")


@dataclass(frozen=True)
class OpeningHours:
    """Answer of the site's page with opening hours."""

    url: str
    status: int


@probe
def load_opening_hours(page: Page, network: Network) -> OpeningHours:
    answer = network.get(urljoin(page.url, "/hours"))
    return OpeningHours(answer.url, answer.status)


@check(
    "acme-opening-hours",
    name="The site has opening hours",
    outcomes={"missing": "No page with opening hours"},
    severity="low",
    fix="Publish the opening hours at `/hours`.",
)
def opening_hours(hours: OpeningHours) -> Verdict:
    if hours.status == 200:
        return Pass("The opening hours are at {url}.", url=Address(hours.url))
    return Fail("missing", "{url} answers with status {status}.", url=Address(hours.url), status=hours.status)
