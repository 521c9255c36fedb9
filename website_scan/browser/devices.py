"""Screens on which a page is judged."""

from __future__ import annotations

from typing import Any

from msgspec import Struct
from msgspec.structs import replace


class Device(Struct, frozen=True):
    """Emulated screen. Sizes are in CSS pixels; `ratio` is the number of device pixels per CSS pixel."""

    width: int
    height: int
    ratio: float
    is_mobile: bool

    def commands(self) -> dict[str, dict[str, Any]]:
        """Return the DevTools commands that emulate the screen, with their parameters."""
        kind = "portraitPrimary" if self.is_mobile else "landscapePrimary"
        return {
            "Emulation.setDeviceMetricsOverride": {
                "width": self.width,
                "height": self.height,
                "screenWidth": self.width,
                "screenHeight": self.height,
                "deviceScaleFactor": self.ratio,
                "mobile": self.is_mobile,
                "screenOrientation": {"angle": 0, "type": kind},
            },
            "Emulation.setTouchEmulationEnabled": {"enabled": self.is_mobile},
        }


# The phone that Lighthouse emulates, and a usual laptop.
PHONE = Device(412, 823, 2, is_mobile=True)
DESKTOP = Device(1440, 900, 1, is_mobile=False)
# Narrower pages are shown on a phone.
MIN_DESKTOP_WIDTH = 600


def device_of_width(width: int) -> Device:
    """Return a screen with this width in CSS pixels: a phone with the usual proportions, or a laptop."""
    if width < MIN_DESKTOP_WIDTH:
        return replace(PHONE, width=width, height=round(width * PHONE.height / PHONE.width))
    return replace(DESKTOP, width=width)
