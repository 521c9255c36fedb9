"""Collect the pictures for a report.

The screenshots, the boxes of faulty elements and the filmstrip.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from website_scan.browser.evidence import Box, BrowserLoad
from website_scan.findings import ScanType
from website_scan.messages import MAX_LENGTH, excerpt
from website_scan.result import CheckResult, Pictures

# The report shows this many places at first.
MAX_CROPS_PER_CHECK = 5
# Checks truncate selectors to either of these lengths.
SELECTOR_LENGTHS = (MAX_LENGTH, 300)


def pictures(scan_type: ScanType, load: BrowserLoad | None, results: Iterable[CheckResult]) -> Pictures | None:
    """Return the pictures for a report; None if there are none.

    Elements that axe-core names are cropped from the picture of the whole page, those of other types from the first
    screen.
    """
    if load is None:
        return None
    is_page_picture = scan_type is ScanType.ACCESSIBILITY
    picture = load.page_picture if is_page_picture else load.first_screen
    crops = _crops(picture.boxes, results) if picture else {}
    frames = load.frames if scan_type is ScanType.PERFORMANCE else ()
    if not crops and not frames:
        return None
    return Pictures(
        page=picture.data if picture and crops and is_page_picture else None,
        film=b"".join(frame.data for frame in frames) or None,
        places={
            "of": "page" if is_page_picture else "screenshot",
            "size": [picture.width, picture.height] if picture else None,
            "crops": crops,
            "frames": [(frame.at_ms, list(frame.marks), len(frame.data)) for frame in frames],
        },
    )


def _crops(boxes: Mapping[str, Box], results: Iterable[CheckResult]) -> dict[str, dict[str, list[int]]]:
    """Return the boxes of reported elements, by check ID and row number.

    The number identifies the row, because the selector in the row may be masked.
    """
    boxes_by_text: dict[str, Box | None] = {}
    for selector, box in boxes.items():
        for text in {excerpt(selector, length) for length in SELECTOR_LENGTHS}:
            # Selectors that become equal when they are truncated get no box.
            boxes_by_text[text] = None if text in boxes_by_text else box
    crops_by_check = {}
    for result in results:
        rows = enumerate((*result.details.kept, *result.places.kept))
        named = [(number, boxes_by_text.get(getattr(row, "selector", None) or "")) for number, row in rows]
        crops = {str(number): [box.left, box.top, box.width, box.height] for number, box in named if box}
        if crops:
            crops_by_check[result.id] = dict(list(crops.items())[:MAX_CROPS_PER_CHECK])
    return crops_by_check
