"""Replace the secrets of a journey in everything that leaves the browser.

Secrets are found in the forms in which pages and addresses repeat them: encoded for a URL, escaped in HTML or JSON, in
base64, and grouped like the digits of a card number.
"""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Mapping
from functools import partial
from typing import Any, TypeVar
from urllib.parse import quote, quote_plus

from msgspec import Struct
from msgspec.structs import asdict, replace

from website_scan.journeys.journey import PLACEHOLDER

T = TypeVar("T")

# Shorter secrets would be replaced in many texts that do not contain them.
MIN_LENGTH = 4
MIN_GROUPED_DIGITS = 8
MIN_BASE64_LENGTH = 5
# Characters that encodeURIComponent and encodeURI do not encode.
SAFE_IN_COMPONENT, SAFE_IN_URI = "!~*'()", "!~*'();/?:@&=+$,#"
# Tags between the characters of a secret. The limits bound the time for hostile pages.
TAG, TAGS = re.compile(r"<[^<>]{1,300}>"), r"(?:<[^<>]{1,300}>){0,5}"
# What follows a text that the scanner has cut.
END_OF_CUT_TEXT = r"(?=$|[\"'…>]|&quot;)"


class SecretMask:
    """Replaces secrets by their names, such as `{{password}}`.

    Secrets that are part of a public text, such as the journey's address, are not replaced. A user name like "demo"
    would be replaced in the name of the site.
    """

    def __init__(self, secrets: Mapping[str, str], public_text: str = "", min_length: int = MIN_LENGTH) -> None:
        self._secrets = secrets
        public = public_text.casefold()
        long = {
            name: value
            for name, value in secrets.items()
            if len(value) >= min_length and value.casefold() not in public
        }
        self.values = list(long.values())  # Secrets that are replaced.
        forms = {form: name for name, value in long.items() for form in _forms(value)}
        self._forms = sorted(forms.items(), key=lambda item: -len(item[0]))
        self._grouped = [
            (re.compile(r"[\s.-]?".join(value)), name)
            for name, value in long.items()
            if value.isdecimal() and len(value) >= MIN_GROUPED_DIGITS
        ]
        self._any = [(_any_pattern(value), name) for name, value in long.items()]
        self._cut = [
            (value[:MIN_LENGTH], _cut_pattern(value), name) for name, value in long.items() if len(value) > MIN_LENGTH
        ]

    def fill(self, value: str) -> str:
        """Return a value of a step with its secrets. Raises KeyError for an unknown one."""
        return PLACEHOLDER.sub(lambda match: self._secrets[match[1]], value)

    def occurs_in(self, text: str) -> bool:
        """Return True if a text contains a secret in any form."""
        patterns = (*self._grouped, *self._any)
        return any(form in text for form, _ in self._forms) or any(pattern.search(text) for pattern, _ in patterns)

    def text(self, text: str) -> str:
        """Return a text with the names of secrets in place of the secrets."""
        for form, name in self._forms:
            if form in text:
                text = text.replace(form, f"{{{{{name}}}}}")
        for pattern, name in self._grouped:
            text = pattern.sub(f"{{{{{name}}}}}", text)
        for start, pattern, name in self._cut:
            if start in text:
                text = pattern.sub(f"{{{{{name}}}}}", text)
        for pattern, name in self._any:
            text = pattern.sub(partial(_name_with_tags, name), text)
        return text

    def apply(self, value: T) -> T:
        """Return a copy of a value, such as a record or a list, with the secrets masked in all of its texts."""
        return self._apply(value) if self._forms else value

    def _apply(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value) if type(value) is str else value
        if isinstance(value, Struct):
            return replace(value, **{name: self._apply(item) for name, item in asdict(value).items()})
        if isinstance(value, Mapping):
            return {self._apply(key): self._apply(item) for key, item in value.items()}
        if isinstance(value, tuple | list | frozenset | set):
            return type(value)(map(self._apply, value))
        return value


def _forms(value: str) -> set[str]:
    """Return all forms of a secret that are replaced."""
    forms: set[str] = set()
    for text in {value, value.lower(), value.upper()}:
        encoded = {
            quote(text, safe=""),
            quote(text),
            quote_plus(text),
            quote(text, safe=SAFE_IN_COMPONENT),
            quote(text, safe=SAFE_IN_URI),
        }
        encoded |= {re.sub(r"%[0-9A-F]{2}", lambda match: match[0].lower(), item) for item in encoded}
        encoded |= {quote(item, safe="") for item in encoded}
        named = html.escape(text, quote=False)
        escaped = {html.escape(text), named, named.replace('"', "&quot;"), named.replace("'", "&#39;")}
        escaped |= {html.escape(text).replace("&#x27;", "&#39;"), html.escape(text).replace("&#x27;", "&apos;")}
        quoted = {json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]}
        quoted |= {item.replace("/", "\\/") for item in quoted} | {html.escape(item) for item in quoted}
        forms |= {text} | encoded | escaped | quoted
    data = value.encode()
    return {form for form in forms if len(form) >= MIN_LENGTH} | _base64_forms(data) | {data.hex(), data.hex().upper()}


def _base64_forms(data: bytes) -> set[str]:
    """Return the characters that stand for a secret within a longer text in base64, at each of the three positions."""
    forms = set()
    for position, first in enumerate((0, 2, 3)):
        text = base64.b64encode(b"\0" * position + data).decode()
        part = text[first : (position + len(data)) * 8 // 6]
        if len(part) >= MIN_BASE64_LENGTH:
            forms |= {part, part.replace("+", "-").replace("/", "_"), quote(part, safe="")}
    return forms


def _any_pattern(value: str) -> re.Pattern[str]:
    """Return a pattern of a secret whose characters are escaped in different ways, or are in several elements."""
    return re.compile(TAGS.join(map(_any_character, value)))


def _any_character(letter: str) -> str:
    """Return a pattern of a character as it is, or escaped as in HTML, JavaScript or an address."""
    if letter.isascii() and letter.isalnum():
        return letter
    code, encoded = ord(letter), quote(letter.encode(), safe="")
    if not encoded.startswith("%"):
        encoded = f"%{code:02X}"
    units = letter.encode("utf-16-be").hex()
    escaped = "".join(rf"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))
    forms = [re.escape(letter), re.escape(html.escape(letter)), f"&#0{{0,9}}{code};", f"&#x0{{0,9}}{code:x};", encoded]
    forms += [escaped, rf"\\x{code:02x}", rf"\\{re.escape(letter)}"]
    return f"(?i:{'|'.join(forms)})"


def _name_with_tags(name: str, match: re.Match[str]) -> str:
    return f"{{{{{name}}}}}{''.join(TAG.findall(match[0]))}"


def _cut_pattern(value: str) -> re.Pattern[str]:
    """Return a pattern of the beginnings of a secret at the end of a text, which the scanner may have cut."""
    beginnings = "|".join(re.escape(value[:length]) for length in range(len(value) - 1, MIN_LENGTH - 1, -1))
    return re.compile(f"(?:{beginnings}){END_OF_CUT_TEXT}")
