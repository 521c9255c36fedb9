"""What in the head of a document keeps a browser from showing anything until it is loaded (HTML, "render-blocking")."""

from __future__ import annotations

import re
from collections.abc import Iterator

from selectolax.lexbor import LexborNode

from scanner.page.evidence import Document
from scanner.page.markup import attribute, enclosing, live, resolve
from scanner.page.references import JAVASCRIPT_TYPES
from scanner.performance.javascript_tokens import Kind, pieces

# Conditions that hold on every screen; of others nobody knows without one.
EVERY_SCREEN = frozenset({"", "all", "screen", "only screen"})
WRITE = re.compile(r"(?:(?:window|self)\.)?document\.write(?:ln)?\(")
STATEMENT_ENDS = frozenset(";}\n\r")
BRACKETS = re.compile(r"[()\[\]{}]")


def blocking_scripts(document: Document) -> tuple[str, ...]:
    """The addresses of the head's classic scripts with neither async nor defer, each once."""
    found = (
        _address(document, node, "src")
        for node in live(document, "script[src]")
        if is_synchronous(node) and enclosing(node, "head") is not None
    )
    return tuple(dict.fromkeys(url for url in found if url))


def blocking_sheets(document: Document) -> tuple[str, ...]:
    """The addresses of the head's style sheets that hold on every screen, each once."""
    found = (
        _address(document, node, "href")
        for node in live(document, "link[rel][href]")
        if _is_blocking_sheet(node) and enclosing(node, "head") is not None
    )
    return tuple(dict.fromkeys(url for url in found if url))


def synchronous_scripts(document: Document) -> Iterator[tuple[str, str]]:
    """The classic scripts that run while the document is parsed: (address, "") or ("", source), in order."""
    for node in live(document, "script"):
        if attribute(node, "src") is None:
            # Without a source async and defer mean nothing.
            if _is_classic(node):
                yield "", node.text() or ""
        elif is_synchronous(node) and (url := _address(document, node, "src")):
            yield url, ""


def is_synchronous(node: LexborNode) -> bool:
    """Whether the parser waits for this script, and for its file."""
    return _is_classic(node) and attribute(node, "async") is None and attribute(node, "defer") is None


def written_at_once(script: str) -> int:
    """How many calls of document.write a script makes whenever it runs, and first of all.

    Counted are statements of their own outside of all brackets: what stands in a function or behind a condition
    (as in `window.jQuery || document.write(…)`) may never run, and another document's write is not this one's.
    """
    if "document.write" not in script:
        return 0
    code: list[str] = []
    position = 0
    for kind, start, end in pieces(script):
        code += script[position:start], "\n" if kind is Kind.SPACE and "\n" in script[start:end] else _stand_in(kind)
        position = end
        if kind is Kind.UNKNOWN and end == len(script):
            break
    plain = "".join([*code, script[position:]])
    count = depth = 0
    at = 0
    for call in WRITE.finditer(plain):
        for bracket in BRACKETS.finditer(plain, at, call.start()):
            depth += 1 if bracket[0] in "([{" else -1
        at = call.start()
        before = plain[max(0, at - 200) : at].rstrip(" \t")
        count += depth == 0 and (not before or before[-1] in STATEMENT_ENDS) and not _is_continued(before)
    return count


def _stand_in(kind: Kind) -> str:
    return {Kind.SPACE: " ", Kind.COMMENT: "", Kind.LITERAL: "0", Kind.UNKNOWN: "("}[kind]


def _is_continued(before: str) -> bool:
    """Whether the line before goes on here: a condition, an operator, `else`, a function's arrow."""
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
    """The http(s) address without a fragment; None for what is not fetched over the network."""
    value = (attribute(node, name) or "").strip()
    url = resolve(document, value) if value else None
    if url is None or url.protocol not in ("http:", "https:"):
        return None
    url.hash = ""
    return url.href.removesuffix("#")
