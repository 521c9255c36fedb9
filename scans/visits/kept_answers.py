"""Cache of an audit's HTTP responses in this process: its next visits here do not request the same files again."""

from __future__ import annotations

import functools

from scanner.net.http.answers import Answers

AUDITS = 2
KEPT_BYTES = 8 * 1024 * 1024  # for each audit; a worker has many processes


@functools.lru_cache(AUDITS)
def answers_of(audit_id: str) -> Answers:
    """Return the cache of one audit. Audits share none: a new one may begin because the site was fixed a minute ago."""
    return Answers(KEPT_BYTES)
