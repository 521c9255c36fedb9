"""Scripts to inject into a page (the .js files in this folder), and parsers of their results."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from website_scan.browser.evidence import (
    LargestPaint,
    Layout,
    LayoutShift,
    Load,
    MainThread,
    RenderedImage,
    Screen,
    ShownThing,
    TapTarget,
    Viewport,
)
from website_scan.browser.network_log import NetworkLog


@cache
def script(name: str) -> str:
    """Return the source of a script, without comment lines."""
    lines = (Path(__file__).parent / name).read_text("utf-8").splitlines()
    return "\n".join(line for line in lines if not line.lstrip().startswith("//")).strip()


@cache
def expression(name: str) -> str:
    """Return a script that is a single expression, as a function with selector.js in front."""
    # Wrapped in a function, so that two evaluations do not declare the same names twice.
    return "(() => {\n" + script("selector.js") + "\nreturn " + script(name) + "\n})()"


def read_load(vitals: Mapping[str, Any], metrics: Mapping[str, float], log: NetworkLog, worked: MainThread) -> Load:
    """Return a load from the result of vitals.js, the browser's metrics and the requests."""
    return Load(
        fcp_s=_seconds(vitals["firstContentfulPaint"]),
        lcp=read_largest_paint(vitals["largestContentfulPaint"]),
        shifts=tuple(
            LayoutShift(each["time"] / 1000, float(each["value"]), each["source"]) for each in vitals["layoutShifts"]
        ),
        load_s=_seconds(vitals["load"]),
        main_thread_s=metrics.get("TaskDuration", 0.0),
        script_s=metrics.get("ScriptDuration", 0.0),
        requests=log.requests(frozenset(vitals["renderBlocking"])),
        left_out=log.left_out,
        main_thread=worked,
    )


def _seconds(milliseconds: float | None) -> float | None:
    return milliseconds / 1000 if milliseconds else None


def read_largest_paint(seen: Mapping[str, Any] | None) -> LargestPaint | None:
    """Parse the LCP from vitals.js; None if its time is unknown."""
    if not seen or seen["time"] <= 0:
        return None
    return LargestPaint(
        time_s=seen["time"] / 1000,
        url=seen["url"],
        selector=seen["selector"],
        snippet=seen["snippet"],
        is_lazy=seen["isLazy"],
        is_high_priority=seen["isHigh"],
    )


def read_layout(seen: Mapping[str, Any]) -> Layout:
    """Parse the result of layout.js."""
    viewport = seen["viewport"]
    return Layout(
        markup=seen["markup"],
        letters_by_px={float(size): int(count) for size, count in seen["letters"].items()},
        targets=tuple(
            TapTarget(each["selector"], each["width"], each["height"], each["crowded"]) for each in seen["targets"]
        ),
        images=tuple(
            RenderedImage(
                selector=each["selector"],
                url=each["url"],
                width_px=each["width"],
                height_px=each["height"],
                natural_width=each["naturalWidth"],
                natural_height=each["naturalHeight"],
                top_px=each["top"],
                left_px=each["left"],
                fit=each["fit"],
                is_visible=each["visible"],
                is_lazy=each["lazy"],
                is_eager=each["eager"],
                has_choices=each["choices"],
            )
            for each in seen["images"]
        ),
        viewport=Viewport(viewport["width"], viewport["height"], viewport["ratio"]),
    )


def read_screen(seen: Mapping[str, Any]) -> Screen:
    """Parse the result of screen.js."""
    return Screen(
        at_s=seen["at"] / 1000,
        title=seen["title"],
        texts=seen["texts"],
        things=tuple(
            ShownThing(each["tag"], each["region"], each["share"], each["isTurning"]) for each in seen["things"]
        ),
        signs=tuple(seen["signs"]),
        empty_roots=tuple(seen["emptyRoots"]),
        fields=seen["fields"],
        is_below=seen["isBelow"],
        has_scripts=seen["hasScripts"],
        has_painted=seen["hasPainted"],
    )
