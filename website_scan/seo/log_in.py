"""Recognition of log-in pages.

They need no text or social metadata.
"""

from __future__ import annotations

from website_scan.accessibility.document import AccessibleDocument
from website_scan.page.evidence import Page
from website_scan.page.markup import live
from website_scan.seo.visible_text import MAX_ERROR_PAGE_WORDS, read_visible_text

# Other paths that contain one of these words may be articles about log-ins.
LOG_IN_PATHS = frozenset({"login", "logon", "signin", "signon", "signup", "sso", "wplogin"})
PASSWORD_FIELD = "input[type=password i]"  # noqa: S105  # a selector


def is_log_in_page(page: Page, document: AccessibleDocument) -> bool:
    """Return True if the page looks like a log-in page.

    It has a typical URL path, or a password field and few words.
    """
    name = page.target.path.partition("?")[0].rstrip("/").rpartition("/")[2].partition(".")[0]
    if name.lower().replace("-", "").replace("_", "") in LOG_IN_PATHS:
        return True
    visibility = document.visibility
    fields = live(document.document, PASSWORD_FIELD)
    if all(visibility.is_hidden(field) or visibility.may_be_hidden(field) for field in fields):
        return False
    return read_visible_text(document).words < MAX_ERROR_PAGE_WORDS
