"""Texts of own requirements' checks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from website_scan.requirements.model import FileKind, Metric

WHY = "You have made this a requirement of your site."
CONSEQUENCE = "The page does not meet a requirement that has been set for this site."


class MetricWords(NamedTuple):
    """Name of a metric in a sentence, and what to do if its value is too large."""

    name: str
    fix: str


FASTER_PAINT = "Let the browser find what it paints early, make it smaller, and shorten what it waits for."
LESS_WORK = "Load fewer scripts, and split long tasks into shorter ones."

METRICS: Mapping[Metric, MetricWords] = {
    Metric.FIRST_CONTENTFUL_PAINT: MetricWords("The first contentful paint", FASTER_PAINT),
    Metric.LARGEST_CONTENTFUL_PAINT: MetricWords("The largest contentful paint", FASTER_PAINT),
    Metric.TOTAL_BLOCKING_TIME: MetricWords("The total blocking time", LESS_WORK),
    Metric.CUMULATIVE_LAYOUT_SHIFT: MetricWords(
        "The cumulative layout shift",
        "Give images, frames and ads their size, and insert nothing above content that is already shown.",
    ),
    Metric.SPEED_INDEX: MetricWords("The speed index", FASTER_PAINT),
    Metric.SERVER_RESPONSE_TIME: MetricWords(
        "The time until the server answers",
        "Cache the page on the server, and find out what takes long before it answers.",
    ),
    Metric.MAIN_THREAD_TIME: MetricWords("The work of the main thread", LESS_WORK),
    Metric.SCRIPT_TIME: MetricWords("The run time of scripts", LESS_WORK),
    Metric.DOM_ELEMENTS: MetricWords(
        "The number of elements", "Show fewer items at once, and remove elements that only wrap others."
    ),
}

# Singular and plural of the files of a kind.
FILE_NOUNS: Mapping[FileKind, tuple[str, str]] = {
    FileKind.TOTAL: ("file", "files"),
    FileKind.DOCUMENT: ("document", "documents"),
    FileKind.SCRIPT: ("script", "scripts"),
    FileKind.STYLESHEET: ("style sheet", "style sheets"),
    FileKind.IMAGE: ("image", "images"),
    FileKind.FONT: ("font", "fonts"),
    FileKind.MEDIA: ("media file", "media files"),
    FileKind.OTHER: ("other file", "other files"),
    FileKind.THIRD_PARTY: ("file of another site", "files of other sites"),
}
