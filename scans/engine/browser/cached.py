"""One visit for several scans of the same page, one after the other."""

from __future__ import annotations

from dataclasses import dataclass, field

from scans.engine.browser.evidence import BrowserLoad
from scans.engine.browser.visit import Browser, Visit


@dataclass
class CachedLoad:
    """A browser that loads each address once, as long as nobody wants more loads than there were."""

    browser: Browser
    _visits: dict[str, tuple[int, BrowserLoad]] = field(default_factory=dict)

    def load(self, visit: Visit) -> BrowserLoad:
        """See `Browser.load`. A failure is not cached."""
        known = self._visits.get(visit.url)
        if known is not None and known[0] >= visit.again:
            return known[1]
        found = self.browser.load(visit)
        self._visits[visit.url] = (visit.again, found)
        return found
