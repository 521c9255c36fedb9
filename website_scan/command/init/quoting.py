"""Quote texts for the files and shells that `website-scan init` writes for."""

from __future__ import annotations

import json
import shlex


def quoted(text: str) -> str:
    """Return the text as a string of TOML and of YAML, which is the same in both. It has no lone surrogates."""
    return "".join(
        character if character.isprintable() else _escape(character)
        for character in json.dumps(text, ensure_ascii=False)
    )


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def shell_word(text: str) -> str:
    """Return the text as one word of a shell, in one line."""
    if text.isprintable():
        return shlex.quote(text)
    return f"$'{''.join(character if _is_plain(character) else _octal(character) for character in text)}'"


def _is_plain(character: str) -> bool:
    return character.isprintable() and character not in "'\\"


def _octal(character: str) -> str:
    return "".join(f"\\{byte:03o}" for byte in character.encode(errors="surrogateescape"))
