"""Recordings for tests, as Chrome's Recorder writes them."""

from __future__ import annotations

import json
from typing import Any

ADDRESS = "https://shop.example/"
VIEWPORT = {
    "type": "setViewport",
    "width": 900,
    "height": 700,
    "deviceScaleFactor": 1,
    "isMobile": False,
    "hasTouch": False,
    "isLandscape": False,
}
NAVIGATE = {
    "type": "navigate",
    "url": ADDRESS,
    "assertedEvents": [{"type": "navigation", "url": ADDRESS, "title": "Shop"}],
}
# Alternatives in the order in which the Recorder writes them.
SELECTORS = [["aria/Sign in"], ["#button"], ['xpath///*[@id="button"]'], ["pierce/#button"], ["text/Sign in"]]
CLICK = {"type": "click", "target": "main", "selectors": SELECTORS, "offsetX": 36, "offsetY": 18}


def recording(*steps: dict[str, Any], **fields: Any) -> str:
    """Return a recording that opens a page and has these steps.

    The JSON has a line for each step: line 1 is that of the navigation.
    """
    document = {"title": "Log-in", **fields}
    head = json.dumps(document)[:-1]
    return f'{head}, "steps": [' + ",\n".join(json.dumps(step) for step in (NAVIGATE, *steps)) + "]}"
