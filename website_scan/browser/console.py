"""Recorder of a page's console errors and uncaught exceptions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from website_scan.browser.devtools import Target

MAX_ERRORS = 20
MAX_ERROR_CHARS = 300


class ConsoleErrors:
    """First console errors of a page load.

    `exceptions` are the uncaught exceptions among them.
    """

    def __init__(self) -> None:
        self.errors: list[str] = []
        self.exceptions: list[str] = []

    async def listen(self, cdp: Target) -> None:
        cdp.on("Runtime.exceptionThrown", self._record_exception)
        cdp.on("Log.entryAdded", self._record_log_entry)
        await cdp.send("Runtime.enable")
        await cdp.send("Log.enable")

    def _record_exception(self, event: Mapping[str, Any]) -> None:
        details = event["exceptionDetails"]
        text = str(details.get("exception", {}).get("description") or details.get("text", ""))
        self.exceptions += self._record_error(text)

    def _record_log_entry(self, event: Mapping[str, Any]) -> None:
        entry = event["entry"]
        if entry.get("level") == "error":
            self._record_error(f"{entry.get('text', '')} {entry.get('url', '')}")

    def _record_error(self, text: str) -> list[str]:
        """Record an error, truncated.

        Returns a list with the error, or an empty list after `MAX_ERRORS` errors.
        """
        if len(self.errors) >= MAX_ERRORS:
            return []
        error = " ".join(text[: MAX_ERROR_CHARS * 2].split())[:MAX_ERROR_CHARS]
        self.errors.append(error)
        return [error]
