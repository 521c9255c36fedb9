"""Browser without pictures of pages, for outputs that show none."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from website_scan.browser.evidence import BrowserLoad
from website_scan.browser.visit import Browser, Visit


class PicturelessBrowser(Struct, frozen=True):
    """Browser whose visits take no pictures for reports, which saves their processor time."""

    browser: Browser

    def start(self, limit_s: float) -> None:
        self.browser.start(limit_s)

    def load(self, visit: Visit) -> BrowserLoad:
        return self.browser.load(replace(visit, has_pictures=False))
