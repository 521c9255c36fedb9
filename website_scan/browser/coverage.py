"""Measure which parts of its scripts and styles a page uses.

Uses Chrome's coverage data.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from website_scan.browser.devtools import Target
from website_scan.browser.evidence import FileCoverage
from website_scan.page.references import ResourceKind

MAX_RANGES_PER_SCRIPT = 200_000
MAX_FILES = 300


class CoverageRecorder:
    """Recorder of the functions and CSS rules that the page uses.

    Records between `start` and `stop`.
    """

    def __init__(self) -> None:
        self._sheets: dict[str, Mapping[str, Any]] = {}

    async def start(self, cdp: Target) -> None:
        cdp.on("CSS.styleSheetAdded", self._record_style_sheet)
        await cdp.send("Profiler.enable")
        await cdp.send("Profiler.startPreciseCoverage", {"callCount": False, "detailed": True})
        await cdp.send("DOM.enable")
        await cdp.send("CSS.enable")
        await cdp.send("CSS.startRuleUsageTracking")

    async def stop(self, cdp: Target) -> list[FileCoverage]:
        """Stop recording and return the sizes of the unused parts.

        They are parts of the page's scripts and style sheets.
        """
        scripts = await cdp.send("Profiler.takePreciseCoverage")
        rules = await cdp.send("CSS.stopRuleUsageTracking")
        await cdp.send("Profiler.stopPreciseCoverage")
        return read_script_coverage(scripts["result"]) + read_style_sheet_coverage(self._sheets, rules["ruleUsage"])

    def _record_style_sheet(self, event: Mapping[str, Any]) -> None:
        self._sheets[str(event["header"]["styleSheetId"])] = event["header"]


def read_script_coverage(result: Iterable[Mapping[str, Any]]) -> list[FileCoverage]:
    """Return the unused part of each script.

    `result` is that of `Profiler.takePreciseCoverage`. Ranges are nested, and the innermost range decides. Of a script
    in several frames, the frame that used most of it counts.
    """
    unused_by_url: dict[str, tuple[int, int]] = {}
    for script in result:
        url = str(script.get("url", ""))
        if not url.startswith(("http:", "https:")) or len(unused_by_url) >= MAX_FILES:
            continue
        ranges = [covered for function in script["functions"] for covered in function["ranges"]]
        length = max((int(covered["endOffset"]) for covered in ranges), default=0)
        unused = _count_unused_chars(ranges, length) if len(ranges) <= MAX_RANGES_PER_SCRIPT else 0
        previous = unused_by_url.get(url)
        if previous is None or unused < previous[1]:
            unused_by_url[url] = (length, unused)
    return [FileCoverage(url, ResourceKind.SCRIPT, length, unused) for url, (length, unused) in unused_by_url.items()]


def read_style_sheet_coverage(
    headers: Mapping[str, Mapping[str, Any]], usage: Iterable[Mapping[str, Any]]
) -> list[FileCoverage]:
    """Return the unused part of each style sheet that is a file.

    `headers` are from `CSS.styleSheetAdded` events, `usage` is the result of `CSS.stopRuleUsageTracking`.
    """
    used: dict[str, list[tuple[int, int]]] = {}
    for rule in usage:
        if rule.get("used"):
            used.setdefault(str(rule["styleSheetId"]), []).append((int(rule["startOffset"]), int(rule["endOffset"])))
    files: dict[str, FileCoverage] = {}
    for id, header in list(headers.items())[:MAX_FILES]:
        url, length = str(header.get("sourceURL", "")), int(header.get("length", 0))
        if header.get("isInline") or not url.startswith(("http:", "https:")):
            continue
        unused = max(0, length - _count_used_chars(used.get(id, [])))
        if url not in files or unused < files[url].unused:
            files[url] = FileCoverage(url, ResourceKind.STYLESHEET, length, unused)
    return list(files.values())


def _count_unused_chars(ranges: Sequence[Mapping[str, Any]], length: int) -> int:
    """Return the number of a script's characters that never ran.

    The innermost coverage range of a character decides.
    """
    # Outer ranges come before inner ranges, so the stack contains the ranges around the position.
    ordered = sorted(ranges, key=lambda covered: (int(covered["startOffset"]), -int(covered["endOffset"])))
    unused = position = 0
    stack: list[tuple[int, bool]] = []  # End offset of each open range, and True if the range ran.

    def advance_position(to: int) -> None:
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

    for covered in ordered:
        advance_position(int(covered["startOffset"]))
        stack.append((int(covered["endOffset"]), int(covered["count"]) > 0))
    advance_position(length)
    return unused


def _count_used_chars(ranges: list[tuple[int, int]]) -> int:
    total = end = 0
    for start, stop in sorted(ranges):
        total += max(0, stop - max(start, end))
        end = max(end, stop)
    return total
