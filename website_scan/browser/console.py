"""Errors that a page writes to the console, and exceptions that its scripts do not catch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from website_scan.browser.devtools import Target

MOST = 20
LENGTH = 300


class ConsoleErrors:
    """The first errors of a load. `exceptions` are those of them that stopped a script."""

    def __init__(self) -> None:
        self.errors: list[str] = []
        self.exceptions: list[str] = []

    async def listen(self, cdp: Target) -> None:
        cdp.on("Runtime.exceptionThrown", self._keep_exception)
        cdp.on("Log.entryAdded", self._keep_entry)
        await cdp.send("Runtime.enable")
        await cdp.send("Log.enable")

    def _keep_exception(self, event: Mapping[str, Any]) -> None:
        details = event["exceptionDetails"]
        text = str(details.get("exception", {}).get("description") or details.get("text", ""))
        self.exceptions += self._keep(text)

    def _keep_entry(self, event: Mapping[str, Any]) -> None:
        entry = event["entry"]
        if entry.get("level") == "error":
            self._keep(f"{entry.get('text', '')} {entry.get('url', '')}")

    def _keep(self, text: str) -> list[str]:
        """Keep an error. Returns it in a list, which is empty if there are too many."""
        if len(self.errors) >= MOST:
            return []
        kept = " ".join(text[: LENGTH * 2].split())[:LENGTH]
        self.errors.append(kept)
        return [kept]
