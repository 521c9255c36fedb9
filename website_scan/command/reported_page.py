"""Identify and name the pages of reports. A state of a journey is a page of its own."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from msgspec import Struct

from website_scan.messages import counted
from website_scan.report_json import ExportJson


class ReportedPage(Struct, frozen=True, order=True):
    """Page of a report, or state of a journey.

    States may share an address, so `journey` and `state` are their names. Both are empty for a page.
    """

    url: str
    journey: str = ""
    state: str = ""

    @property
    def state_name(self) -> str:
        """Name of the journey and the state. Empty for a page."""
        return f"{self.journey}: {self.state}" if self.state else ""

    def with_address(self, address: str) -> str:
        """Return the name of the state and an address, or only the address of a page."""
        return f"{self.state_name} ({address})" if self.state else address

    def __str__(self) -> str:
        return self.with_address(self.url)


def page_of(export: ExportJson) -> ReportedPage:
    """Return the page or the state that a report is about."""
    state = export.get("state")
    return ReportedPage(export["url"], state["journey"], state["name"]) if state else ReportedPage(export["url"])


def short_name(page: ReportedPage, pages: Sequence[ReportedPage]) -> str:
    """Return the name of a page without what all pages share: the origin, and the name of the journey."""
    origins = {"/".join(one.url.split("/", 3)[:3]) for one in pages}
    address = page.url.removeprefix(origins.pop()) or "/" if len(origins) == 1 else page.url
    if page.state and len({one.journey for one in pages}) == 1:
        return f"{page.state} ({address})"
    return page.with_address(address)


def noun_of(pages: Iterable[ReportedPage]) -> str:
    """Return the singular noun for these pages: `state` if all are states of journeys, otherwise `page`."""
    return "state" if all(page.state for page in pages) else "page"


def count_pages(pages: Collection[ReportedPage]) -> str:
    """Return the number of pages or states in words, such as "3 states"."""
    return counted(len(pages), noun_of(pages))
