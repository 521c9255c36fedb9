"""Keys of a keyboard by the name that DevTools recordings use (UI Events, `KeyboardEvent.key`)."""

from __future__ import annotations

from msgspec import Struct

MODIFIERS = {"Alt": 1, "Control": 2, "Meta": 4, "Shift": 8}


class Key(Struct, frozen=True):
    """Key of a keyboard. `text` is empty if it writes nothing."""

    key: str
    code: str
    key_code: int
    text: str = ""


_NAMED = {
    "Enter": Key("Enter", "Enter", 13, "\r"),
    "Tab": Key("Tab", "Tab", 9),
    " ": Key(" ", "Space", 32, " "),
    "Backspace": Key("Backspace", "Backspace", 8),
    "Delete": Key("Delete", "Delete", 46),
    "Escape": Key("Escape", "Escape", 27),
    "ArrowLeft": Key("ArrowLeft", "ArrowLeft", 37),
    "ArrowUp": Key("ArrowUp", "ArrowUp", 38),
    "ArrowRight": Key("ArrowRight", "ArrowRight", 39),
    "ArrowDown": Key("ArrowDown", "ArrowDown", 40),
    "PageUp": Key("PageUp", "PageUp", 33),
    "PageDown": Key("PageDown", "PageDown", 34),
    "End": Key("End", "End", 35),
    "Home": Key("Home", "Home", 36),
    "Insert": Key("Insert", "Insert", 45),
    "ContextMenu": Key("ContextMenu", "ContextMenu", 93),
    "CapsLock": Key("CapsLock", "CapsLock", 20),
    "Shift": Key("Shift", "ShiftLeft", 16),
    "Control": Key("Control", "ControlLeft", 17),
    "Alt": Key("Alt", "AltLeft", 18),
    "Meta": Key("Meta", "MetaLeft", 91),
} | {f"F{number}": Key(f"F{number}", f"F{number}", 111 + number) for number in range(1, 13)}
_OTHER_NAMES = {"Space": " ", "Esc": "Escape", "Return": "Enter", "Del": "Delete"} | {
    f"Arrow {name}": f"Arrow{name}" for name in ("Left", "Up", "Right", "Down")
}
# Characters of an American keyboard: code, key code, character without and with Shift.
_PUNCTUATION = (
    ("Semicolon", 186, ";:"),
    ("Equal", 187, "=+"),
    ("Comma", 188, ",<"),
    ("Minus", 189, "-_"),
    ("Period", 190, ".>"),
    ("Slash", 191, "/?"),
    ("Backquote", 192, "`~"),
    ("BracketLeft", 219, "[{"),
    ("Backslash", 220, "\\|"),
    ("BracketRight", 221, "]}"),
    ("Quote", 222, "'\""),
)
_CHARACTERS = (
    {
        letter: Key(letter, f"Key{letter.upper()}", ord(letter.upper()), letter)
        for letter in "abcdefghijklmnopqrstuvwxyz"
    }
    | {letter: Key(letter, f"Key{letter}", ord(letter), letter) for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}
    | {digit: Key(digit, f"Digit{digit}", ord(digit), digit) for digit in "0123456789"}
    | {sign: Key(sign, f"Digit{digit}", ord(str(digit)), sign) for digit, sign in enumerate(")!@#$%^&*(")}
    | {sign: Key(sign, code, key_code, sign) for code, key_code, signs in _PUNCTUATION for sign in signs}
)
# A phone's keyboard does not report which key was pressed (UI Events, section 4.3.3 "Input Method Editors").
UNIDENTIFIED = Key("Unidentified", "", 229)


def key_named(name: str) -> Key | None:
    """Return the key with a name such as Enter, ArrowLeft or a. None if a keyboard has no such key."""
    name = _OTHER_NAMES.get(name, name)
    return _NAMED.get(name) or _CHARACTERS.get(name)
