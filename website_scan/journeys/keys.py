"""Names of keys on a keyboard, as `KeyboardEvent.key` and `KeyboardEvent.code` call them.

Recordings may use those that Chrome's Recorder accepts.
"""

from __future__ import annotations

import difflib
import string

_NAMED = (
    "Abort", "Accept", "Alt", "AltGraph", "AltLeft", "AltRight", "ArrowDown", "ArrowLeft", "ArrowRight", "ArrowUp",
    "Attn", "AudioVolumeDown", "AudioVolumeMute", "AudioVolumeUp", "Backquote", "Backslash", "Backspace",
    "BracketLeft", "BracketRight", "Call", "Camera", "Cancel", "CapsLock", "Clear", "Comma", "ContextMenu",
    "Control", "ControlLeft", "ControlRight", "Convert", "CrSel", "Delete", "Eject", "End", "EndCall", "Enter",
    "Equal", "EraseEof", "Escape", "ExSel", "Execute", "Help", "Home", "Insert", "MediaPlayPause", "MediaStop",
    "MediaTrackNext", "MediaTrackPrevious", "Meta", "MetaLeft", "MetaRight", "Minus", "ModeChange", "NonConvert",
    "NumLock", "NumpadAdd", "NumpadDecimal", "NumpadDivide", "NumpadEnter", "NumpadEqual", "NumpadMultiply",
    "NumpadSubtract", "Open", "PageDown", "PageUp", "Pause", "Period", "Play", "Power", "Print", "PrintScreen",
    "Props", "Quote", "ScrollLock", "Select", "Semicolon", "Shift", "ShiftLeft", "ShiftRight", "Slash", "SoftLeft",
    "SoftRight", "Space", "Tab", "VolumeDown", "VolumeUp", "ZoomOut",
)  # fmt: skip
MODIFIERS = ("Alt", "Control", "Meta", "Shift")
KEY_NAMES = frozenset(
    [
        *_NAMED,
        *(f"F{number}" for number in range(1, 25)),
        *(f"Digit{digit}" for digit in string.digits),
        *(f"Numpad{digit}" for digit in string.digits),
        *(f"Key{letter}" for letter in string.ascii_uppercase),
        *string.ascii_letters,
        *string.digits,
        *string.punctuation,
        " ",
    ]
)
# Other names that people or recordings use.
_ALIASES = {
    "\r": "Enter", "\n": "Enter", "return": "Enter", "esc": "Escape", "ctrl": "Control", "cmd": "Meta",
    "command": "Meta", "win": "Meta", "windows": "Meta", "option": "Alt", "del": "Delete", "ins": "Insert",
    "up": "ArrowUp", "down": "ArrowDown", "left": "ArrowLeft", "right": "ArrowRight", "space bar": "Space",
    "spacebar": "Space", "page up": "PageUp", "page down": "PageDown", "pgup": "PageUp", "pgdn": "PageDown",
    "arrow up": "ArrowUp", "arrow down": "ArrowDown", "arrow left": "ArrowLeft", "arrow right": "ArrowRight",
}  # fmt: skip
_BY_LOWER_CASE = {name.lower(): name for name in KEY_NAMES if len(name) > 1} | _ALIASES


def key_name(text: str) -> str | None:
    """Return the name of a key that a person or a recording names, or None for an unknown one.

    Only the names of characters depend on the case.
    """
    return text if text in KEY_NAMES else _BY_LOWER_CASE.get(text.lower())


def similar_key_name(text: str) -> str:
    """Return the name of a key that resembles the text, or an empty string."""
    near = difflib.get_close_matches(text[:40].lower(), _BY_LOWER_CASE, 1)
    return _BY_LOWER_CASE[near[0]] if near else ""
