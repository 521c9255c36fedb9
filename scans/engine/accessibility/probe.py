"""The document as assistive technology meets it."""

from __future__ import annotations

from scans.engine.accessibility.document import AccessibleDocument
from scans.engine.catalogue import probe
from scans.engine.page.evidence import Document


@probe()
def accessible_document(document: Document) -> AccessibleDocument:
    """The parsed page with its hidden elements and its IDs worked out."""
    return AccessibleDocument(document)
