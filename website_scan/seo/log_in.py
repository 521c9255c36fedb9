"""Log-in pages: nobody searches for them or shares them."""

from __future__ import annotations

from website_scan.accessibility.document import AccessibleDocument
from website_scan.page.evidence import Page
from website_scan.page.markup import live
from website_scan.seo.visible_text import FEW_WORDS, read_visible_text

# Last segments of paths. A path that merely contains one may lead to an article about it.
NAMES = frozenset({"login", "logon", "signin", "signon", "signup", "sso", "wplogin"})
PASSWORD = "input[type=password i]"  # noqa: S105  # a selector


def is_log_in(page: Page, document: AccessibleDocument) -> bool:
    """Return True if the path ends like that of a log-in page, or the page shows a password field and little else."""
    name = page.target.path.partition("?")[0].rstrip("/").rpartition("/")[2].partition(".")[0]
    if name.lower().replace("-", "").replace("_", "") in NAMES:
        return True
    visibility = document.visibility
    fields = live(document.document, PASSWORD)
    if all(visibility.is_hidden(each) or visibility.may_be_hidden(each) for each in fields):
        return False
    return read_visible_text(document).words < FEW_WORDS
