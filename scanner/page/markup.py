"""The elements of a document as a browser with scripts sees them, their attributes, and where references lead."""

from __future__ import annotations

import ipaddress
import itertools
import threading
from collections.abc import Iterator

import ada_url
from selectolax.lexbor import LexborHTMLParser, LexborNode

from scanner.page.evidence import Document

# Limits for pages that are made to be slow: browsers flatten trees deeper than this, too.
MAX_NODES = 20_000
MAX_DEPTH = 512


def select(within: LexborHTMLParser | LexborNode, selector: str) -> list[LexborNode]:
    """Every element that matches, in document order; the only way to ask a tree for elements.

    A tree keeps the state of a search in itself. Making the results may run a finalizer, which lets another thread go
    on, and its search in the same tree then ends the process.
    """
    with _one_search:
        found = within.css(selector)
    # An element comes once for every selector of the list that it matches.
    return list({each.mem_id: each for each in found}.values()) if "," in selector else found


_one_search = threading.Lock()


def live(document: Document, selector: str) -> Iterator[LexborNode]:
    """The first elements that match, in document order.

    What stands in `<template>` and `<noscript>` is not in the tree, as in a browser that runs scripts.
    `selector` had better be without descendant combinators: they take forever on deep pages.
    """
    return itertools.islice(select(document.tree, selector), MAX_NODES)


def enclosing(node: LexborNode, tag: str) -> LexborNode | None:
    """The nearest ancestor of that tag."""
    parent = node.parent
    for _ in range(MAX_DEPTH):
        if parent is None or parent.tag == tag:
            return parent
        parent = parent.parent
    return None


def http_equivs(document: Document, header: str, *, anywhere: bool = False) -> list[str]:
    """What `<meta http-equiv>` says in place of a response header: each element's content, in order.

    Browsers obey some of them `anywhere`, others in the head only (HTML Standard, section 4.2.5.3).
    """
    return [
        attribute(node, "content") or ""
        for node in live(document, "meta[http-equiv]" if anywhere else "head > meta[http-equiv]")
        if (attribute(node, "http-equiv") or "").strip().lower() == header.lower()
    ]


def attribute(node: LexborNode, name: str) -> str | None:
    """An attribute's value, the empty string when it has none, None when it is absent."""
    attributes = node.attributes
    return (attributes[name] or "") if name in attributes else None


def resolve(document: Document, reference: str) -> ada_url.URL | None:
    """The absolute URL of a reference in the document, None when it is not a URL."""
    return parse_url(reference, document.base.url)


def parse_url(reference: str, base: str) -> ada_url.URL | None:
    """The absolute URL of a reference, None when it is not a URL (WHATWG URL)."""
    try:
        return ada_url.URL(reference, base)
    except ValueError:
        return None


def http_address(url: ada_url.URL | None) -> str | None:
    """What is asked for: an http(s) URL without its fragment; None when it is not one."""
    if url is None or url.protocol not in ("http:", "https:"):
        return None
    url.hash = ""
    return url.href.removesuffix("#")


def is_plaintext(url: ada_url.URL) -> bool:
    """Whether it is fetched over http, and not from this machine (W3C Secure Contexts: loopback is trustworthy)."""
    if url.protocol != "http:":
        return False
    host = url.hostname.strip("[]")
    try:
        return not ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host != "localhost" and not host.endswith(".localhost")


def elements(node: LexborNode) -> Iterator[LexborNode]:
    """The child elements, in order."""
    child = node.first_child
    while child is not None:
        if child.is_element_node:
            yield child
        child = child.next


def texts(node: LexborNode) -> Iterator[str]:
    """The pieces of text that are not blank, in order. A byte order mark is blank, as in JavaScript."""
    child = node.first_child
    while child is not None:
        if child.is_text_node:
            text = (child.text_content or "").replace("\ufeff", " ").strip()
            if text:
                yield text
        child = child.next
