"""Render-blocking scripts and style sheets in the head of a document (HTML, "render-blocking")."""

from __future__ import annotations

import re
from collections.abc import Iterator

from selectolax.lexbor import LexborNode

from website_scan.page.evidence import Document
from website_scan.page.markup import attribute, enclosing, http_address, live, resolve
from website_scan.page.references import JAVASCRIPT_TYPES
from website_scan.performance.javascript_tokens import Kind, pieces

# Media conditions that are true on every screen. Other conditions can't be evaluated without a screen.
EVERY_SCREEN = frozenset({"", "all", "screen", "only screen"})
WRITE = re.compile(r"(?:(?:window|self)\.)?document\.write(?:ln)?\(")
STATEMENT_ENDS = frozenset(";}\n\r")
BRACKETS = re.compile(r"[()\[\]{}]")
# Text that replaces a piece of a script. An open bracket replaces unknown code, so that calls after it do not count.
REPLACED_BY = {Kind.SPACE: " ", Kind.COMMENT: "", Kind.LITERAL: "0", Kind.UNKNOWN: "("}


def blocking_scripts(document: Document) -> tuple[str, ...]:
    """Return the URLs of classic scripts in the head without async or defer, each once."""
    urls = (
        _address(document, node, "src")
        for node in live(document, "script[src]")
        if is_synchronous(node) and enclosing(node, "head") is not None
    )
    return tuple(dict.fromkeys(url for url in urls if url))


def blocking_sheets(document: Document) -> tuple[str, ...]:
    """Return the URLs of style sheets in the head that apply to every screen, each once."""
    urls = (
        _address(document, node, "href")
        for node in live(document, "link[rel][href]")
        if _is_blocking_sheet(node) and enclosing(node, "head") is not None
    )
    return tuple(dict.fromkeys(url for url in urls if url))


def synchronous_scripts(document: Document) -> Iterator[tuple[str, str]]:
    """Yield classic scripts that run while the document is parsed, in order: (URL, "") or, if inline, ("", source)."""
    for node in live(document, "script"):
        if attribute(node, "src") is None:
            # Without src, async and defer have no effect.
            if _is_classic(node):
                yield "", node.text() or ""
        elif is_synchronous(node) and (url := _address(document, node, "src")):
            yield url, ""


def is_synchronous(node: LexborNode) -> bool:
    """Return True if the HTML parser waits for the script and its file."""
    return _is_classic(node) and attribute(node, "async") is None and attribute(node, "defer") is None


def count_unconditional_writes(script: str) -> int:
    """Count the calls of document.write that a script always makes when it runs.

    Only statements outside of all brackets count: calls in a function or after a condition (as in `window.jQuery ||
    document.write(…)`) may never run. Writes to other documents, such as frames, do not count.
    """
    if "document.write" not in script:
        return 0
    code: list[str] = []
    position = 0
    for kind, start, end in pieces(script):
        code += script[position:start], "\n" if kind is Kind.SPACE and "\n" in script[start:end] else REPLACED_BY[kind]
        position = end
        if kind is Kind.UNKNOWN and end == len(script):
            break
    plain = "".join([*code, script[position:]])
    count = depth = 0
    position_of_call = 0
    for call in WRITE.finditer(plain):
        for bracket in BRACKETS.finditer(plain, position_of_call, call.start()):
            depth += 1 if bracket[0] in "([{" else -1
        position_of_call = call.start()
        before = plain[max(0, position_of_call - 200) : position_of_call].rstrip(" \t")
        count += depth == 0 and (not before or before[-1] in STATEMENT_ENDS) and not _is_continued(before)
    return count


def _is_continued(before: str) -> bool:
    """Return True if code does not end a statement: it ends with a condition, an operator, `else` or an arrow."""
    code = before.rstrip()
    return bool(code) and (code[-1] in "|&?:)=,>+(" or code.endswith("else"))


def _is_classic(node: LexborNode) -> bool:
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
        and media in EVERY_SCREEN
    )


def _address(document: Document, node: LexborNode, name: str) -> str | None:
    """Return the http(s) URL in an attribute, without its fragment; None for other schemes."""
    value = (attribute(node, name) or "").strip()
    return http_address(resolve(document, value)) if value else None
