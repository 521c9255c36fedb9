"""Pictures that a scan stores for its report: crops of the page around the named elements, and the film of the load."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from website_scan.browser.evidence import Box, BrowserLoad
from website_scan.findings import ScanType
from website_scan.messages import MAX_LENGTH, excerpt
from website_scan.result import CheckResult, Pictures

# Crops for one finding: as many as its page shows before "all".
MAX_CROPS = 5
# Lengths to which checks cut selectors.
LENGTHS = (MAX_LENGTH, 300)


def pictures(scan_type: ScanType, seen: BrowserLoad | None, results: Iterable[CheckResult]) -> Pictures | None:
    """Return the pictures for a report; None if there is nothing to show.

    Elements that axe-core names are looked up on the picture of the page, those of other types on the first screen.
    """
    if seen is None:
        return None
    is_of_page = scan_type is ScanType.ACCESSIBILITY
    picture = seen.page_picture if is_of_page else seen.first_screen
    crops = _crops(picture.boxes, results) if picture else {}
    frames = seen.frames if scan_type is ScanType.PERFORMANCE else ()
    if not crops and not frames:
        return None
    return Pictures(
        page=picture.data if picture and crops and is_of_page else None,
        film=b"".join(each.data for each in frames) or None,
        places={
            "of": "page" if is_of_page else "screenshot",
            "size": [picture.width, picture.height] if picture else None,
            "crops": crops,
            "frames": [(each.at_ms, list(each.marks), len(each.data)) for each in frames],
        },
    )


def _crops(boxes: Mapping[str, Box], results: Iterable[CheckResult]) -> dict[str, dict[str, list[int]]]:
    """Return the boxes by check ID and by the number of the row that names the element.

    By number, because the selector in the row may be masked.
    """
    known: dict[str, Box | None] = {}
    for selector, box in boxes.items():
        for written in {excerpt(selector, length) for length in LENGTHS}:
            # Two selectors that begin alike are the same once they are cut, so neither gets a box.
            known[written] = None if written in known else box
    found = {}
    for each in results:
        rows = enumerate((*each.details.kept, *each.places.kept))
        named = [(number, known.get(getattr(row, "selector", None) or "")) for number, row in rows]
        crops = {str(number): [box.left, box.top, box.width, box.height] for number, box in named if box}
        if crops:
            found[each.id] = dict(list(crops.items())[:MAX_CROPS])
    return found
