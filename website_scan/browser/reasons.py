"""Messages for the report on why the browser could not examine a page."""

from __future__ import annotations

from website_scan.browser.devtools import ProtocolError
from website_scan.browser.processes import Usage

BUSY = "The page kept the browser busy until the time was up."
OUT_OF_TIME = "There was not enough time to look at the page in the browser."
TOO_SLOW = "The browser could not load the page in time."
STARVED = f"{OUT_OF_TIME} This server was busy with other work."


def overrun(began: Usage, now: Usage, limit_s: float) -> str:
    """Return why a visit did not end in time. Only a page that got the processor is said to have kept it busy.

    A page that got little of the processor might have ended in time with more, so nobody is blamed.
    """
    if now.cpu_s - began.cpu_s >= limit_s / 2:
        return BUSY
    return STARVED if now.waited_s - began.waited_s > limit_s / 4 else OUT_OF_TIME


def explain(error: ProtocolError) -> str:
    """Return a message for a failed command. The network error's name says the most."""
    message = str(error)
    start = message.find("net::")
    if start >= 0:
        name = message[start:].split()[0].rstrip(".,")
        if name.startswith("net::ERR_CERT_"):
            return f"The browser does not trust the site's certificate ({name})."
        return f"The browser could not load the page: {name}."
    return "The page navigated away or closed while the browser looked at it."
