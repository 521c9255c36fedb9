"""What sites answered to an audit in this process: its next visits here need not ask for the same files again."""

from __future__ import annotations

import functools

from scanner.net.http.answers import Answers

AUDITS = 2
KEPT_BYTES = 8 * 1024 * 1024  # for each; a worker has many processes


@functools.lru_cache(AUDITS)
def answers_of(audit_id: str) -> Answers:
    """Of one audit alone: another one may begin because something was mended a minute ago."""
    return Answers(KEPT_BYTES)
