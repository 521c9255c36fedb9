"""A report's link preview, with a title and a picture (card)."""

from __future__ import annotations

from django.urls import reverse

from infrastructure.web.cards.drawing import Card, CardGrade
from infrastructure.web.cards.previews import Preview, address_of, day_of, title_of
from infrastructure.web.cards.responses import digest_of
from scans.models import Scan


def card_of(scan: Scan) -> Card:
    """Return the link preview's card for a scan's report."""
    host, path = address_of(scan.url)
    label = scan.get_type_display()
    notes = [day_of(scan.created_at)]
    if scan.status == Scan.Status.PARTIAL:
        notes.append("partial report")
    grades = (CardGrade(label, scan.grade or "", scan.score),)
    return Card(host, heading=f"{label} report", path=path, note=", ".join(notes), grades=grades)


def card_address(scan: Scan, digest: str) -> str:
    """Return the URL path for the card with this digest.

    A sample has the scan ID `sample/<type>`.
    """
    return reverse("report-card", args=[scan.id, digest])


def preview_of(scan: Scan) -> Preview:
    """Return the link preview for a scan's report."""
    label = scan.get_type_display()
    subject = label if label.isupper() else label.lower()
    title = title_of(f"{scan.grade} ({scan.score}): {subject} of", scan.url)
    return Preview(title, card_address(scan, digest_of(card_of(scan))))
