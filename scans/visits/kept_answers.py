"""Cache of an audit's HTTP responses: its next visits do not request the same files and links again.

Each process has its own, and the processes share theirs through Redis. Responses to requests with credentials stay in
the process that has received them.
"""

from __future__ import annotations

import functools
import re
import time

from scans.visits.audit_store import AuditStore
from website_scan.net.http.answers import KEPT_S, Answers, Key
from website_scan.net.http.response import Response

AUDITS = 2
KEPT_BYTES = 8 * 1024 * 1024  # for each audit; a worker has many processes
# Maximum size of a shared response, as text and as anything else, and of all that an audit shares in five minutes,
# compressed. Most images are only on one page.
TEXT_BYTES, OTHER_BYTES = 512 * 1024, 32 * 1024
MAX_AUDIT_BYTES = 16 * 1024 * 1024
TEXT = re.compile(r"text/|application/(?:[\w.+-]*(?:json|xml|javascript))")


class SharedAnswers:
    """Responses of one audit in Redis. Thread-safe; no method raises an error. See `answers.SharedAnswers`."""

    def __init__(self, audit_id: str) -> None:
        self._store = AuditStore(
            audit_id,
            "answers",
            kept_s=int(KEPT_S),
            is_renewed=False,
            max_bytes=TEXT_BYTES,
            max_total_bytes=MAX_AUDIT_BYTES,
        )

    def find(self, key: Key) -> tuple[Response, float] | None:
        found = self._store.find("response", _request(key))
        if not isinstance(found, tuple):
            return None
        response, received_at = found
        return response, max(0.0, time.time() - received_at)

    def keep(self, key: Key, response: Response) -> None:
        is_text = TEXT.match((response.headers.get("Content-Type") or "").lower())
        if len(response.body) <= (TEXT_BYTES if is_text else OTHER_BYTES):
            self._store.keep("response", _request(key), (response, time.time()))


@functools.lru_cache(AUDITS)
def answers_of(audit_id: str) -> Answers:
    """Return the cache of one audit. Audits share none: a new one may begin because the site was fixed a minute ago."""
    return Answers(KEPT_BYTES, shared=SharedAnswers(audit_id))


def _request(key: Key) -> str:
    url, is_decoded, headers = key
    return repr((url, is_decoded, sorted(headers)))
