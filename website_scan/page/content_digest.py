"""Digest of a page's elements and texts, which shows whether the page has changed between two scans."""

from __future__ import annotations

import hashlib
import itertools
import re

from website_scan.page.evidence import Document

MAX_NODES = 100_000
UNSEEN_TAGS = frozenset({"script", "style", "noscript", "template"})
DIGITS = re.compile(r"\d+")


def content_digest(document: Document) -> str:
    """Return a hash of the page's elements and texts in order.

    Attributes, scripts and digits are left out, because counters, dates and tokens change with each visit.
    """
    digest = hashlib.sha256()
    root = document.tree.root
    nodes = root.traverse(include_text=True) if root is not None else ()
    for node in itertools.islice(nodes, MAX_NODES):
        if node.is_element_node:
            if node.tag not in UNSEEN_TAGS:
                digest.update(f"<{node.tag}>".encode())
        elif node.is_text_node and (node.parent is None or node.parent.tag not in UNSEEN_TAGS):
            text = " ".join((node.text_content or "").split())
            digest.update(DIGITS.sub("0", text).encode("utf-8", "replace"))
    return digest.hexdigest()[:16]
