"""Render-blocking scripts and style sheets in the head of a document.

HTML, "render-blocking".
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from selectolax.lexbor import LexborNode

from website_scan.page.evidence import Document
from website_scan.page.markup import attribute, enclosing, http_address, live, resolve
from website_scan.page.references import JAVASCRIPT_TYPES
from website_scan.performance.javascript_tokens import TokenKind, tokenize_script

# Media queries that are true on every screen.
ALL_SCREENS_MEDIA = frozenset({"", "all", "screen", "only screen"})
WRITE = re.compile(r"(?:(?:window|self)\.)?document\.write(?:ln)?\(")
STATEMENT_ENDS = frozenset(";}\n\r")
BRACKETS = re.compile(r"[()\[\]{}]")
# Unknown code becomes an open bracket, so that later calls do not count.
REPLACEMENT_BY_KIND = {TokenKind.SPACE: " ", TokenKind.COMMENT: "", TokenKind.LITERAL: "0", TokenKind.UNKNOWN: "("}


def blocking_scripts(document: Document) -> tuple[str, ...]:
    """Return the URLs of blocking classic scripts in the head.

    They have neither async nor defer. Each URL occurs once.
    """
    urls = (
        _http_url(document, node, "src")
        for node in live(document, "script[src]")
        if is_synchronous(node) and enclosing(node, "head") is not None
    )
    return tuple(dict.fromkeys(url for url in urls if url))


def blocking_sheets(document: Document) -> tuple[str, ...]:
    """Return the style sheets in the head that apply to every screen.

    Each URL occurs once.
    """
    urls = (
        _http_url(document, node, "href")
        for node in live(document, "link[rel][href]")
        if _is_blocking_sheet(node) and enclosing(node, "head") is not None
    )
    return tuple(dict.fromkeys(url for url in urls if url))


def synchronous_scripts(document: Document) -> Iterator[tuple[str, str]]:
    """Yield the classic scripts that run while the document is parsed.

    An external script is (URL, ""), an inline script is ("", source).
    """
    for node in live(document, "script"):
        if attribute(node, "src") is None:
            # async and defer have no effect on inline scripts.
            if _is_classic_script(node):
                yield "", node.text() or ""
        elif is_synchronous(node) and (url := _http_url(document, node, "src")):
            yield url, ""


def is_synchronous(node: LexborNode) -> bool:
    """Return True if the script blocks the HTML parser.

    The parser waits until the script has been loaded and run.
    """
    return _is_classic_script(node) and attribute(node, "async") is None and attribute(node, "defer") is None


def count_unconditional_writes(script: str) -> int:
    """Count the calls of `document.write()` that a script makes unconditionally.

    Only statements outside of all brackets count: calls in a function or after a condition (as in `window.jQuery ||
    document.write(…)`) may never run. Writes to other documents, such as frames, do not count.
    """
    if "document.write" not in script:
        return 0
    code: list[str] = []
    position = 0
    for kind, start, end in tokenize_script(script):
        code += (
            script[position:start],
            "\n" if kind is TokenKind.SPACE and "\n" in script[start:end] else REPLACEMENT_BY_KIND[kind],
        )
        position = end
        if kind is TokenKind.UNKNOWN and end == len(script):
            break
    plain = "".join([*code, script[position:]])
    count = depth = 0
    call_position = 0
    for call in WRITE.finditer(plain):
        for bracket in BRACKETS.finditer(plain, call_position, call.start()):
            depth += 1 if bracket[0] in "([{" else -1
        call_position = call.start()
        before = plain[max(0, call_position - 200) : call_position].rstrip(" \t")
        count += depth == 0 and (not before or before[-1] in STATEMENT_ENDS) and not _continues_statement(before)
    return count


def _continues_statement(before: str) -> bool:
    """Return True if the code does not end a statement.

    It ends with a condition, an operator, `else` or an arrow.
    """
    code = before.rstrip()
    return bool(code) and (code[-1] in "|&?:)=,>+(" or code.endswith("else"))


def _is_classic_script(node: LexborNode) -> bool:
    kind = (attribute(node, "type") or "").strip().lower()
    return attribute(node, "nomodule") is None and kind != "module" and bool(JAVASCRIPT_TYPES.fullmatch(kind))


def _is_blocking_sheet(node: LexborNode) -> bool:
    relations = frozenset((attribute(node, "rel") or "").lower().split())
    kind = (attribute(node, "type") or "").partition(";")[0].strip().lower()
    media = " ".join((attribute(node, "media") or "").lower().split())
    return (
        "stylesheet" in relations
        and "alternate" not in relations
        and attribute(node, "disabled") is None
        and kind in ("", "text/css")
        and media in ALL_SCREENS_MEDIA
    )


def _http_url(document: Document, node: LexborNode, name: str) -> str | None:
    """Return the absolute http(s) URL in an attribute, without its fragment.

    None for other schemes.
    """
    value = (attribute(node, name) or "").strip()
    return http_address(resolve(document, value)) if value else None
