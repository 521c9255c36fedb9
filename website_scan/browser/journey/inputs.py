"""Mouse and keyboard of the browser."""

from __future__ import annotations

import asyncio
from typing import Any

from website_scan.browser.devtools import Target
from website_scan.browser.journey.keys import MODIFIERS, Key, key_named

BUTTONS = {
    "primary": ("left", 1),
    "secondary": ("right", 2),
    "auxiliary": ("middle", 4),
    "back": ("back", 8),
    "forward": ("forward", 16),
}


class Inputs:
    """Mouse and keyboard. All methods raise `ProtocolError`."""

    def __init__(self, cdp: Target) -> None:
        self._cdp = cdp
        self._modifiers = 0
        self._pressed: set[str] = set()

    async def move(self, x: float, y: float) -> None:
        """Move the mouse to a position on the screen, in CSS pixels."""
        await self._mouse("mouseMoved", x, y, button="none", buttons=0)

    async def press_button(self, x: float, y: float, button: str, count: int, held_for_s: float) -> None:
        """Press and release a button of the mouse `count` times."""
        name, mask = BUTTONS[button]
        for number in range(1, count + 1):
            await self._mouse("mousePressed", x, y, button=name, buttons=mask, clickCount=number)
            if held_for_s:
                await asyncio.sleep(held_for_s)
            await self._mouse("mouseReleased", x, y, button=name, buttons=0, clickCount=number)

    async def hold_key(self, key: Key, *, has_text: bool = True) -> None:
        """Press a key. Without `has_text`, the key writes nothing."""
        self._modifiers |= MODIFIERS.get(key.key, 0)
        # With Control, Alt or Meta, a key is a shortcut.
        text = key.text if has_text and not self._modifiers & ~MODIFIERS["Shift"] else ""
        params = {"text": text, "unmodifiedText": text} if text else {}
        is_repeat = key.code in self._pressed and bool(key.code)
        self._pressed.add(key.code)
        await self._key("keyDown" if text else "rawKeyDown", key, autoRepeat=is_repeat, **params)

    async def release_key(self, key: Key) -> None:
        """Release a key."""
        self._modifiers &= ~MODIFIERS.get(key.key, 0)
        self._pressed.discard(key.code)
        await self._key("keyUp", key)

    async def press_key(self, key: Key) -> None:
        """Press and release a key."""
        await self.hold_key(key)
        await self.release_key(key)

    async def write(self, text: str) -> None:
        """Write a text with the keys of its characters. Characters without a key are inserted."""
        for character in text:
            key = key_named("Enter" if character == "\n" else character)
            if key is None:
                await self._cdp.send("Input.insertText", {"text": character})
            else:
                await self.press_key(key)

    async def _mouse(self, type: str, x: float, y: float, **params: object) -> None:
        position = {"type": type, "x": x, "y": y, "modifiers": self._modifiers, "pointerType": "mouse"}
        await self._cdp.send("Input.dispatchMouseEvent", {**position, **params})

    async def _key(self, type: str, key: Key, **params: Any) -> None:
        await self._cdp.send(
            "Input.dispatchKeyEvent",
            {
                "type": type,
                "key": key.key,
                "code": key.code,
                "windowsVirtualKeyCode": key.key_code,
                "modifiers": self._modifiers,
                **params,
            },
        )
