"""Scripts to inject into a page, and parsers of their results.

The scripts are the .js files in this folder.
"""

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
    TapTarget,
    Viewport,
    VisibleElement,
)
from website_scan.browser.network_log import NetworkLog


@cache
def read_script(name: str) -> str:
    """Return the source of a JavaScript file in this folder.

    Its comment lines are left out.
    """
    lines = (Path(__file__).parent / name).read_text("utf-8").splitlines()
    return "\n".join(line for line in lines if not line.lstrip().startswith("//")).strip()


@cache
def wrap_script(name: str) -> str:
    """Return a script together with selector.js in a function.

    The script must be a single expression.
    """
    # A second evaluation without the function would declare the same names again.
    return "(() => {\n" + read_script("selector.js") + "\nreturn " + read_script(name) + "\n})()"


def read_load(vitals: Mapping[str, Any], metrics: Mapping[str, float], log: NetworkLog, work: MainThread) -> Load:
    """Build a `Load` from the browser's measurements.

    They are the result of vitals.js, the browser's metrics, its requests and the traced tasks.
    """
    return Load(
        fcp_s=_to_seconds(vitals["firstContentfulPaint"]),
        lcp=read_largest_paint(vitals["largestContentfulPaint"]),
        shifts=tuple(
            LayoutShift(shift["time"] / 1000, float(shift["value"]), shift["source"])
            for shift in vitals["layoutShifts"]
        ),
        load_s=_to_seconds(vitals["load"]),
        main_thread_s=metrics.get("TaskDuration", 0.0),
        script_s=metrics.get("ScriptDuration", 0.0),
        requests=log.requests(frozenset(vitals["renderBlocking"])),
        left_out=log.left_out,
        main_thread=work,
        observed_s=metrics.get("Timestamp", 0.0) - metrics.get("NavigationStart", 0.0),
    )


def _to_seconds(milliseconds: float | None) -> float | None:
    return milliseconds / 1000 if milliseconds else None


def read_largest_paint(result: Mapping[str, Any] | None) -> LargestPaint | None:
    """Convert the largest contentful paint that vitals.js measured.

    None if its time is unknown.
    """
    if not result or result["time"] <= 0:
        return None
    return LargestPaint(
        time_s=result["time"] / 1000,
        url=result["url"],
        selector=result["selector"],
        snippet=result["snippet"],
        is_lazy=result["isLazy"],
        is_high_priority=result["isHigh"],
    )


def read_layout(result: Mapping[str, Any]) -> Layout:
    """Convert the result of the injected script layout.js into a `Layout`."""
    viewport = result["viewport"]
    return Layout(
        markup=result["markup"],
        letters_by_px={float(size): int(count) for size, count in result["letters"].items()},
        targets=tuple(
            TapTarget(target["selector"], target["width"], target["height"], target["crowded"])
            for target in result["targets"]
        ),
        images=tuple(
            RenderedImage(
                selector=image["selector"],
                url=image["url"],
                width_px=image["width"],
                height_px=image["height"],
                natural_width=image["naturalWidth"],
                natural_height=image["naturalHeight"],
                top_px=image["top"],
                left_px=image["left"],
                fit=image["fit"],
                is_visible=image["visible"],
                is_lazy=image["lazy"],
                is_eager=image["eager"],
                is_pixelated_or_blurred=image["pixelated"],
                has_several_files=image["choices"],
            )
            for image in result["images"]
        ),
        viewport=Viewport(viewport["width"], viewport["height"], viewport["ratio"]),
    )


def read_screen(result: Mapping[str, Any]) -> Screen:
    """Convert the result of the injected script screen.js into a `Screen`."""
    return Screen(
        at_s=result["at"] / 1000,
        title=result["title"],
        texts=result["texts"],
        elements=tuple(
            VisibleElement(element["tag"], element["region"], element["share"], element["isTurning"])
            for element in result["things"]
        ),
        loading_indicators=tuple(result["signs"]),
        empty_roots=tuple(result["emptyRoots"]),
        fields=result["fields"],
        has_content_below=result["isBelow"],
        has_scripts=result["hasScripts"],
        has_contentful_paint=result["hasPainted"],
    )
