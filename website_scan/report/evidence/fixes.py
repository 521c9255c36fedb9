"""Parser that splits the text of a fix into words, code and snippets, so that a copy button copies code only.

Fixes are our own sentences in one style, with markup, attributes, headers and settings in plain text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

SERVERS = r"(?:nginx|Apache|IIS)"
HEADERS = (
    r"(?:Cache-Control|Contact|Content-Security-Policy|Content-Type|Cross-Origin-[A-Z][\w-]+|Expires|Location"
    r"|Permissions-Policy|Referrer-Policy|Set-Cookie|Sitemap|Strict-Transport-Security|Vary|X-Content-Type-Options"
    r"|X-Frame-Options)"
)
# Void elements have no end tag to look for (HTML, section 13.1.2).
VOID = frozenset({"area", "base", "img", "input", "link", "meta", "source", "track"})
TAG = re.compile(r"<(/?)([A-Za-z][\w-]*)\b[^<>]*>")
# A server's setting, up to the next server's or to the bracket around them.
SETTING = re.compile(rf"\b({SERVERS}): (?!import |install |turn |Windows |Disable-)(.+?)(?= · |\)[.,]|\)$|\.$|$)")
# The ends of a header's value: words and punctuation that occur in no value of our fixes.
VALUE_ENDS = r" \(| · | on every | and | with | instead |, (?!immutable|[\w-]+=)|\.(?: |$)|(?<!\()\)[.,;]"
HEADER = re.compile(rf"\b({HEADERS}: (?:(?!{VALUE_ENDS}).)+)")
RECORD = re.compile(r"(?<=: )(\"v=[^\"]+\"|example\.com\. CAA .+)")
# Alternatives match at the beginning of a word, and repetitions are bounded, so that no text takes long.
INLINE = re.compile(
    r"`([^`]+)`"  # code marked with backticks, as later catalogues may do
    r"|(\"v=[^\"]*\"|(?<![\w-])[\w-]+=\"[^\"]*\"|'[a-z][\w-]*'"  # records, attributes, keywords of CSP
    r"|\"\w+\": (?:\"[^\"]*\"|\{[^}]{0,200}\})|\{\"[^}]{0,200}\}"  # JSON
    r"|(?<![\w.])[\w.]+\([^()\s]*\)(?:\.\w+\([^()\s]*\))*"  # calls
    r"|(?<!\w)\w+ \{ [^}]{1,200} \}|(?<![a-z-])[a-z-]+: [a-z]*\(?\d+(?:px|deg)\)?"  # CSS
    r"|@media \([^)]{0,200}\)|@[a-z-]+"
    r"|max-age=\d+(?:; \w+|, immutable)*"  # settings
    r"|(?<![\w.-])[\w.-]+(?: = (?:Off|False)|=\w+(?:; Secure)?))"
)
# Words before code that is to be written. Only such code becomes a snippet, not code to be removed or only named.
ANNOUNCED = re.compile(r"(?:: |\b(?:as|write|Write|to|with|from|Send|or) )$")
BETWEEN = (", ", " and ", " or ", " … ")  # separators between two snippets
LONG = 16  # characters


@dataclass(frozen=True, slots=True)
class Part:
    """Part of a fix: words, code within words, or a snippet on a line of its own; `label` is the snippet's server."""

    kind: Literal["text", "code", "snippet"]
    text: str
    label: str = ""


@lru_cache(maxsize=1024)
def parts(fix: str) -> tuple[Part, ...]:
    """Split a fix into its parts, in order, without leftover punctuation between snippets."""
    return tuple(_tidy(list(_joined(_split(fix)))))


def _split(fix: str) -> Iterator[Part]:
    at, kind = 0, ""
    while found := _next(fix, at, kind == "snippet"):
        start, end, part = found
        yield from _words(fix[at:start])
        yield part
        at, kind = end, part.kind
    yield from _words(fix[at:])


def _next(fix: str, at: int, follows: bool) -> tuple[int, int, Part] | None:
    """Find the next snippet or piece of markup from `at`. Returns its start, its end and the part.

    `follows` is True if a snippet ends at `at`.
    """
    found: list[tuple[int, int, Part]] = []
    if setting := SETTING.search(fix, at):
        found.append((setting.start(), setting.end(), Part("snippet", setting[2], setting[1])))
    found += [
        (written.start(), written.end(), Part("snippet", written[1]))
        for pattern in (HEADER, RECORD)
        if (written := pattern.search(fix, at))
    ]
    if tag := TAG.search(fix, at):
        end = _end_of_markup(fix, tag)
        text = fix[tag.start() : end]
        before = fix[at : tag.start()]
        is_announced = ANNOUNCED.search(fix[: tag.start()]) is not None or (follows and before in BETWEEN)
        alone = len(text) >= LONG and is_announced
        found.append((tag.start(), end, Part("snippet" if alone else "code", text)))
    return min(found, key=lambda each: each[:2], default=None)


def _end_of_markup(fix: str, first: re.Match[str]) -> int:
    """Return the end of the element that begins with the tag, with elements directly after it, or a label's field."""
    end, name = first.end(), first[2]
    if name not in VOID and (close := fix.find(f"</{name}>", end)) >= 0 and f"<{name}" not in fix[end:close]:
        end = close + len(name) + 3
    if fix.startswith("…", end):
        end += 1
    following = TAG.match(fix, end + 1 if name == "label" and fix.startswith(" ", end) else end)
    return _end_of_markup(fix, following) if following else end


def _words(text: str) -> Iterator[Part]:
    at = 0
    for found in INLINE.finditer(text):
        if found.start() > at:
            yield Part("text", text[at : found.start()])
        yield Part("code", found[1] or found[2])
        at = found.end()
    if at < len(text):
        yield Part("text", text[at:])


def _tidy(found: list[Part]) -> Iterator[Part]:
    """Remove the brackets, dots and commas around snippets."""
    for number, part in enumerate(found):
        if part.kind != "text":
            yield part
            continue
        text = part.text
        if number and found[number - 1].kind == "snippet":
            text = re.sub(r"^(?:\)?[.,;:…]?(?:\s+[·…])?\s*)(?!\()", "", text) if not text.startswith(" (") else text[1:]
            if text.endswith(").") and "(" not in text:  # the bracket around all examples
                text = text[:-2] + "."
        if number + 1 < len(found) and found[number + 1].kind == "snippet":
            text = _introducing(text)
        text = text.replace(" · static hosting", "; on static hosting")
        if text.strip(" ,.") or not (number and found[number - 1].kind == "snippet"):
            yield Part("text", text)


def _introducing(text: str) -> str:
    """Return the words before a snippet, with a colon instead of an opening bracket or "in"."""
    words = text.removesuffix("(").rstrip()
    led = text.endswith("(")
    if words.endswith(" in"):
        led, words = True, words.removesuffix(" in").removesuffix(",")
    words = words.rstrip().removesuffix("·").rstrip()
    return f"{words}:" if led else words


def _joined(found: Iterator[Part]) -> Iterator[Part]:
    """Merge adjacent code parts."""
    last: Part | None = None
    for part in found:
        if last and last.kind == part.kind == "code":
            last = Part("code", last.text + part.text)
            continue
        if last:
            yield last
        last = part
    if last:
        yield last
