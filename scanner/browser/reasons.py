"""Why a page could not be looked at in the browser, in words for the report."""

from __future__ import annotations

from playwright.async_api import Error

from scanner.browser.processes import Usage

BUSY = "The page kept the browser busy until the time was up."
OUT_OF_TIME = "There was not enough time to look at the page in the browser."
STARVED = f"{OUT_OF_TIME} This server was busy with other work."


def overrun(began: Usage, now: Usage, limit_s: float) -> str:
    """Why a visit did not end in time, for the report: only a page that got the processor kept anything busy.

    What a page that got little of it would have done with more cannot be told, so nobody is blamed.
    """
    if now.cpu_s - began.cpu_s >= limit_s / 2:
        return BUSY
    return STARVED if now.waited_s - began.waited_s > limit_s / 4 else OUT_OF_TIME


def explain(error: Error) -> str:
    """For the report. Playwright's first line is about the call; the network error's name says what happened."""
    message = error.message
    start = message.find("net::")
    if start >= 0:
        return f"The browser could not load the page: {message[start:].split()[0].rstrip('.,')}."
    if "Timeout" in message:
        return "The browser could not load the page in time."
    return "The page navigated away or closed while the browser looked at it."
