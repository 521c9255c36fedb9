"""Result of judging whether the browser showed the page's content."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct, field

from website_scan.places import Place
from website_scan.values import Value, filled


class MissingContent(StrEnum):
    """Reason why a browser does not show a page's content."""

    BLANK = "blank"
    LOADING = "loading"
    FRAME = "frame"  # Only the page's banner, navigation or footer is visible.
    ERROR = "error"  # The page is an error page with a success status.
    CONSENT = "consent"
    CHALLENGE = "challenge"  # A bot protection answers instead of the site.
    UNCERTAIN = "uncertain"  # The scanner itself may be the reason.


# Checks that could not run quote these sentences about the site's faults.
REASONS: Mapping[MissingContent, str] = {
    MissingContent.BLANK: "The page stays blank in the browser.",
    MissingContent.LOADING: "The page does not get beyond its loading screen.",
    MissingContent.FRAME: "The main part of the page stays empty.",
    MissingContent.ERROR: "The page shows an error message instead of its content.",
}


class ShownContent(Struct, frozen=True):
    """Result of checking whether the browser showed the page's content.

    `unshown` is None if the content was visible. `summary`, a template with `values`, describes what the browser showed
    instead; `causes` are the known causes.
    """

    unshown: MissingContent | None = None
    summary: str = ""
    values: Mapping[str, Value] = field(default_factory=dict)
    causes: tuple[Place, ...] = ()

    @property
    def message(self) -> str:
        """Return the summary sentence with its values filled in."""
        return filled(self.summary, self.values)

    @property
    def is_fault(self) -> bool:
        """Return True if the missing content is the site's fault.

        Visitors miss it, too.
        """
        return self.unshown in REASONS

    @property
    def reason(self) -> str:
        """Return why the page's content could not be judged.

        Empty if the browser shows the content.
        """
        return REASONS.get(self.unshown, self.message) if self.unshown else ""
