"""Comparison of two responses for the same address."""

from __future__ import annotations

import re
from collections import Counter

from website_scan.net.http.response import Response
from website_scan.page.soft_404 import media_type

MAX_COMPARED_BYTES = 256 * 1024
TAG = re.compile(rb"<([a-zA-Z][a-zA-Z0-9-]{0,30})")
TITLE = re.compile(rb"<title[^>]{0,200}>([^<]{1,300})", re.IGNORECASE)
# Pages with advertisements or other editions of a site have different texts, but the same structure.
SIMILARITY = 0.5
MIN_TAGS = 10


def is_similar(response: Response, other: Response) -> bool:
    """Return True if two responses are the same page, apart from changing content.

    They have the same status and media type, and the same title or similar markup.
    """
    if (response.status, media_type(response)) != (other.status, media_type(other)):
        return False
    body, other_body = response.body[:MAX_COMPARED_BYTES], other.body[:MAX_COMPARED_BYTES]
    if body == other_body:
        return True
    titles = [match[1].strip() if (match := TITLE.search(text)) else b"" for text in (body, other_body)]
    if titles[0] and titles[0] == titles[1]:
        return True
    tags, others = (Counter(tag.lower() for tag in TAG.findall(text)) for text in (body, other_body))
    total = tags.total() + others.total()
    if total < 2 * MIN_TAGS:
        return titles[0] == titles[1]
    return 2 * (tags & others).total() / total >= SIMILARITY
