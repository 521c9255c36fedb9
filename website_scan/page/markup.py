"""Functions that read a parsed document.

They return elements, attributes, texts and references.
"""

from __future__ import annotations

import ipaddress
import itertools
import threading
from collections.abc import Iterator

from selectolax.lexbor import LexborHTMLParser, LexborNode

from website_scan.page.evidence import Document
from website_scan.urls import Url

# Browsers flatten trees that are nested more deeply than 512 elements, too.
MAX_NODES = 20_000
MAX_DEPTH = 512


def select(within: LexborHTMLParser | LexborNode, selector: str) -> list[LexborNode]:
    """Return all elements that match a CSS selector, in document order.

    All queries of a tree must use this function.

    A tree stores the state of a search in itself. Creating the results may run a finalizer, which lets another thread
    continue; if that thread searches the same tree, the process crashes.
    """
    with _search_lock:
        nodes = within.css(selector)
    # A selector list returns an element once for each matching selector.
    return list({node.mem_id: node for node in nodes}.values()) if "," in selector else nodes


_search_lock = threading.Lock()


def live(document: Document, selector: str) -> Iterator[LexborNode]:
    """Return the first elements that match a CSS selector.

    They are in document order, at most `MAX_NODES`.

    The content of `<template>` and `<noscript>` is not in the tree, as in a browser that runs scripts. `selector`
    should have no descendant combinators: they are extremely slow on deep pages.
    """
    return itertools.islice(select(document.tree, selector), MAX_NODES)


def enclosing(node: LexborNode, tag: str) -> LexborNode | None:
    """Return the nearest ancestor element with this tag, or None."""
    parent = node.parent
    for _ in range(MAX_DEPTH):
        if parent is None or parent.tag == tag:
            return parent
        parent = parent.parent
    return None


def http_equivs(document: Document, header: str, *, anywhere: bool = False) -> list[str]:
    """Return the contents of `<meta http-equiv>` elements for a header.

    They are in document order.

    Browsers obey some of these elements `anywhere`, others in the head only (HTML Standard, section 4.2.5.3). Browsers
    ignore the case of the name, but ignore the whole element if white space surrounds the name.
    """
    return [
        attribute(node, "content") or ""
        for node in live(document, "meta[http-equiv]" if anywhere else "head > meta[http-equiv]")
        if (attribute(node, "http-equiv") or "").lower() == header.lower()
    ]


def metas_named(document: Document, name: str) -> Iterator[LexborNode]:
    """Yield the `<meta>` elements with this name.

    The name's case is ignored, but white space around it is not.
    """
    return (node for node in live(document, "meta[name]") if (attribute(node, "name") or "").lower() == name)


def attribute(node: LexborNode, name: str) -> str | None:
    """Return an attribute's value.

    None if the attribute is absent, empty if it has no value.
    """
    attributes = node.attributes
    return (attributes[name] or "") if name in attributes else None


def resolve(document: Document, reference: str) -> Url | None:
    """Resolve a reference in the document to an absolute URL.

    None if the reference is invalid.
    """
    return Url.parse(reference, document.base.url)


def http_address(url: Url | None) -> str | None:
    """Return an http(s) URL without its fragment.

    None for other schemes.
    """
    return url.without_fragment if url is not None and url.is_http else None


def is_plaintext(url: Url) -> bool:
    """Return True if the URL is http and not loopback.

    Browsers trust loopback hosts (W3C Secure Contexts).
    """
    if url.scheme != "http":
        return False
    try:
        return not ipaddress.ip_address(url.host).is_loopback
    except ValueError:
        return url.host != "localhost" and not url.host.endswith(".localhost")


def elements(node: LexborNode) -> Iterator[LexborNode]:
    """Yield the child elements of a node, in order."""
    child = node.first_child
    while child is not None:
        if child.is_element_node:
            yield child
        child = child.next


def texts(node: LexborNode) -> Iterator[str]:
    """Yield a node's own texts in order, except blank ones.

    A byte order mark is blank, as in JavaScript.
    """
    child = node.first_child
    while child is not None:
        if child.is_text_node:
            text = (child.text_content or "").replace("\ufeff", " ").strip()
            if text:
                yield text
        child = child.next
