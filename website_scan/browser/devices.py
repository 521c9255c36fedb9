"""Screens on which a page is judged."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True, slots=True)
class Device:
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


# Widths that a page can be judged on, in CSS pixels.
MIN_WIDTH, MAX_WIDTH, MAX_WIDTHS = 320, 2_560, 3
# Narrower screens are phones: with touch, and with the height of the usual phone.
MIN_DESKTOP_WIDTH = 600
COLOR_SCHEMES = ("light", "dark")

# The phone that Lighthouse emulates, and a usual laptop.
PHONE = Device(412, 823, 2, is_mobile=True)
DESKTOP = Device(1440, 900, 1, is_mobile=False)


@dataclass(frozen=True, slots=True)
class Viewing:
    """How a page is shown when accessibility is judged: on screens of `widths` CSS pixels, in a colour scheme.

    The page is loaded on a phone first, whatever the widths. An empty colour scheme is the browser's own, light.
    """

    widths: tuple[int, ...] = (PHONE.width, DESKTOP.width)
    color_scheme: str = ""

    @property
    def devices(self) -> tuple[Device, ...]:
        return tuple(_device(width) for width in self.widths)

    @property
    def media_features(self) -> dict[str, str]:
        """Return the values of CSS media features that the colour scheme changes."""
        return {"prefers-color-scheme": self.color_scheme} if self.color_scheme else {}


USUAL_VIEWING = Viewing()


def _device(width: int) -> Device:
    usual = PHONE if width < MIN_DESKTOP_WIDTH else DESKTOP
    return usual if width == usual.width else replace(usual, width=width)
