"""Used and unused parts of scripts and style sheets, from Chrome's precise coverage."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from website_scan.browser.devtools import Target
from website_scan.browser.evidence import UsedFile
from website_scan.page.references import ResourceKind

MAX_RANGES = 200_000
MAX_FILES = 300


class UseOfFiles:
    """Use of functions and CSS rules from the start to the stop."""

    def __init__(self) -> None:
        self._sheets: dict[str, Mapping[str, Any]] = {}

    async def start(self, cdp: Target) -> None:
        cdp.on("CSS.styleSheetAdded", self._keep_sheet)
        await cdp.send("Profiler.enable")
        await cdp.send("Profiler.startPreciseCoverage", {"callCount": False, "detailed": True})
        await cdp.send("DOM.enable")
        await cdp.send("CSS.enable")
        await cdp.send("CSS.startRuleUsageTracking")

    async def stop(self, cdp: Target) -> list[UsedFile]:
        """Return the scripts and style sheets of the page with their unused parts."""
        scripts = await cdp.send("Profiler.takePreciseCoverage")
        rules = await cdp.send("CSS.stopRuleUsageTracking")
        await cdp.send("Profiler.stopPreciseCoverage")
        return used_scripts(scripts["result"]) + used_sheets(self._sheets, rules["ruleUsage"])

    def _keep_sheet(self, event: Mapping[str, Any]) -> None:
        self._sheets[str(event["header"]["styleSheetId"])] = event["header"]


def used_scripts(result: Iterable[Mapping[str, Any]]) -> list[UsedFile]:
    """Read `Profiler.takePreciseCoverage`: ranges are nested, and the innermost one counts.

    The same URL may occur in several frames; a part is used if one of them used it.
    """
    unused_by_url: dict[str, tuple[int, int]] = {}
    for script in result:
        url = str(script.get("url", ""))
        if not url.startswith(("http:", "https:")) or len(unused_by_url) >= MAX_FILES:
            continue
        ranges = [each for function in script["functions"] for each in function["ranges"]]
        length = max((int(each["endOffset"]) for each in ranges), default=0)
        unused = _uncovered(ranges, length) if len(ranges) <= MAX_RANGES else 0
        known = unused_by_url.get(url)
        if known is None or unused < known[1]:
            unused_by_url[url] = (length, unused)
    return [UsedFile(url, ResourceKind.SCRIPT, length, unused) for url, (length, unused) in unused_by_url.items()]


def used_sheets(headers: Mapping[str, Mapping[str, Any]], usage: Iterable[Mapping[str, Any]]) -> list[UsedFile]:
    """Read `CSS.styleSheetAdded` and `CSS.stopRuleUsageTracking`, for style sheets that are files."""
    used: dict[str, list[tuple[int, int]]] = {}
    for rule in usage:
        if rule.get("used"):
            used.setdefault(str(rule["styleSheetId"]), []).append((int(rule["startOffset"]), int(rule["endOffset"])))
    found: dict[str, UsedFile] = {}
    for id, header in list(headers.items())[:MAX_FILES]:
        url, length = str(header.get("sourceURL", "")), int(header.get("length", 0))
        if header.get("isInline") or not url.startswith(("http:", "https:")):
            continue
        unused = max(0, length - _covered(used.get(id, [])))
        if url not in found or unused < found[url].unused:
            found[url] = UsedFile(url, ResourceKind.STYLESHEET, length, unused)
    return list(found.values())


def _uncovered(ranges: Sequence[Mapping[str, Any]], length: int) -> int:
    """Count the characters whose innermost range never ran."""
    # Sort outer ranges first, so that the stack has the ranges that enclose the current position.
    ordered = sorted(ranges, key=lambda each: (int(each["startOffset"]), -int(each["endOffset"])))
    unused = position = 0
    stack: list[tuple[int, bool]] = []  # (end, whether it ran)

    def advance(to: int) -> None:
        nonlocal unused, position
        while stack and stack[-1][0] <= to:
            end, ran = stack.pop()
            if end > position:
                unused += 0 if ran else end - position
                position = end
        if to > position:
            if stack and not stack[-1][1]:
                unused += to - position
            position = to

    for each in ordered:
        advance(int(each["startOffset"]))
        stack.append((int(each["endOffset"]), int(each["count"]) > 0))
    advance(length)
    return unused


def _covered(ranges: list[tuple[int, int]]) -> int:
    total = end = 0
    for start, stop in sorted(ranges):
        total += max(0, stop - max(start, end))
        end = max(end, stop)
    return total
