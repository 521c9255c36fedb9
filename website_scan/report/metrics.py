"""Performance metrics at the top of the report page.

The checks that judge them provide the measurements.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct

from website_scan.report.places import Row, rows_of
from website_scan.report.web_figures import BANDS, Band, WebFigure, web_figure
from website_scan.report_json import ExportedCheck

# Length of the scale. "Good", "needs work" and "poor" each take a third.
LENGTH = 1000


class Scale(Struct, frozen=True):
    """Scale from good to poor with its thresholds.

    `mark` is the position of the measured value, 0 to 1000.
    """

    mark: int
    good: str
    poor: str


class Metric(Struct, frozen=True):
    """Performance metric of a page load.

    `status` and `anchor` are those of the check that judges the metric.

    `spread` has the smallest and largest figure and the number of loads; empty if the loads agree.
    """

    name: str
    value: str
    unit: str
    status: str
    anchor: str
    meaning: str
    scale: Scale
    web_figure: WebFigure | None
    spread: str

    @property
    def verdict(self) -> str:
        return {"pass": "Good", "warn": "Needs work", "fail": "Poor"}[self.status]


def _seconds(value: float) -> tuple[str, str]:
    return f"{value:.1f}", "s"


def _milliseconds(value: float) -> tuple[str, str]:
    return f"{1000 * value:,.0f}", "ms"


def _plain(value: float) -> tuple[str, str]:
    return f"{value:.3f}".rstrip("0").rstrip("."), ""


# Name, meaning and format of each metric by check ID, in the order on the page.
METRICS: Mapping[str, tuple[str, str, Callable[[float], tuple[str, str]]]] = {
    "lcp": ("Largest contentful paint", "when the main content appears", _seconds),
    "fcp": ("First contentful paint", "when the first content appears", _seconds),
    "tbt": ("Total blocking time", "how long the page does not respond", _milliseconds),
    "cls": ("Cumulative layout shift", "how much the layout shifts", _plain),
    "speed-index": ("Speed Index", "when the first screen looks complete, on average", _seconds),
}
# Metrics that each check affects, similar to the relevant metrics of Lighthouse audits.
_PAINTS = ("lcp", "fcp", "speed-index")
METRICS_BY_CHECK: Mapping[str, tuple[str, ...]] = {
    **{id: (id,) for id in METRICS},
    **dict.fromkeys(
        (
            *("ttfb", "doc-redirects", "blocking-scripts", "blocking-css", "css-import", "third-party-spof"),
            *("text-compressed", "modern-encoding", "unminified-css", "unused-css", "css-weight", "preconnects"),
            *("http-version", "keep-alive", "est-load-time", "font-display", "font-weight", "font-count"),
        ),
        _PAINTS,
    ),
    **dict.fromkeys(("font-format", "domains", "requests", "total-weight"), ("lcp",)),
    **dict.fromkeys(
        ("lcp-lazy", "lcp-priority", "image-format", "image-oversized", "image-weight", "lazy-offscreen", "gif-video"),
        ("lcp",),
    ),
    **dict.fromkeys(
        ("long-tasks", "script-time", "main-thread", "dom-size", "dom-depth", "third-party-share"), ("tbt",)
    ),
    **dict.fromkeys(("unminified-js", "unused-js", "js-weight", "document-write"), (*_PAINTS, "tbt")),
    "image-dimensions": ("cls",),
}


def metrics(checks: Mapping[str, ExportedCheck], prefix: str = "") -> tuple[Metric, ...]:
    """Return the measured metrics.

    `checks` are the checks of a JSON export by ID; `prefix` goes before anchors.
    """
    measured = []
    for id, (name, meaning, write) in METRICS.items():
        check = checks.get(id)
        figures: Row = next((row for row in rows_of(check) if "median" in row), {}) if check else {}
        median = figures.get("median")
        if check and isinstance(median, int | float):
            band = BANDS[id]
            scale = Scale(mark(median, band), _join_unit(write(band.good)), _join_unit(write(band.poor)))
            value_and_unit, anchor = write(median), f"{prefix}check-{id}"
            spread = _spread(figures, write)
            measured.append(
                Metric(name, *value_and_unit, check["status"], anchor, meaning, scale, web_figure(id), spread)
            )
    return tuple(measured)


def _spread(figures: Mapping[str, object], write: Callable[[float], tuple[str, str]]) -> str:
    least, largest = figures.get("least"), figures.get("largest")
    if figures.get("stable") is not False or not isinstance(least, int | float) or not isinstance(largest, int | float):
        return ""
    return f"{write(least)[0]} to {_join_unit(write(largest))} in {figures.get('loads')} loads"


def mark(value: float, band: Band) -> int:
    """Return the position of a value on the scale, 0 to 1000.

    Poor values approach the end of the scale.
    """
    if value <= band.good:
        thirds = max(0.0, value) / band.good
    elif value <= band.poor:
        thirds = 1 + (value - band.good) / (band.poor - band.good)
    else:
        thirds = 3 - band.poor / value
    return round(LENGTH * thirds / 3)


def _join_unit(value_and_unit: tuple[str, str]) -> str:
    return " ".join(filter(None, value_and_unit))
