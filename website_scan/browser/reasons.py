"""Messages in the report about why the browser could not examine a page."""

from __future__ import annotations

from website_scan.browser.devtools import ProtocolError
from website_scan.browser.processes import Usage

BUSY = "The page kept the browser busy until the time was up."
VISIT_OUT_OF_TIME = "There was not enough time to examine the page in the browser."
LOAD_TOO_SLOW = "The browser could not load the page in time."
SERVER_BUSY = f"{VISIT_OUT_OF_TIME} This server was busy with other work."


def explain_timeout(before: Usage, after: Usage, limit_s: float) -> str:
    """Return why a visit exceeded its time limit.

    The page is the reason only if it used most of the processor time. With little processor time, another machine might
    have finished the visit in time.
    """
    if after.cpu_s - before.cpu_s >= limit_s / 2:
        return BUSY
    return SERVER_BUSY if after.waited_s - before.waited_s > limit_s / 4 else VISIT_OUT_OF_TIME


def explain_error(error: ProtocolError) -> str:
    """Return the report's message for a failed DevTools command.

    Network errors are described by their names.
    """
    message = str(error)
    start = message.find("net::")
    if start >= 0:
        name = message[start:].split()[0].rstrip(".,")
        if name.startswith("net::ERR_CERT_"):
            return f"The browser does not trust the site's certificate ({name})."
        return f"The browser could not load the page: {name}."
    return "The page navigated away or closed while it was examined."
