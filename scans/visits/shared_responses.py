"""Cache for the HTTP responses of an audit.

With it, visits do not request the same files and links again. Each process has a cache in memory, and the processes
share responses through Redis. Responses to requests with credentials stay in the memory of the process that received
them.
"""

from __future__ import annotations

import functools
import hashlib
import re
import time

from scans.visits.audit_store import MAX_CACHED_AUDITS, AuditStore
from website_scan.net.http.answers import KEPT_S, Answers, Key
from website_scan.net.http.response import Response

# Limit for each audit and process. It is small, because a worker has many processes.
MAX_MEMORY_BYTES = 8 * 1024 * 1024
# Maximum compressed size of a shared text, of another shared response, and of all responses that an audit shares in
# five minutes. Other responses have a lower limit, because most images are on one page only.
MAX_TEXT_BYTES, MAX_OTHER_BYTES = 512 * 1024, 32 * 1024
MAX_BYTES_PER_AUDIT = 16 * 1024 * 1024
TEXT = re.compile(r"text/|application/(?:[\w.+-]*(?:json|xml|javascript))")


class SharedAnswers:
    """Redis cache for the responses of one audit.

    Thread-safe. No method raises an error. Implements SharedAnswers.
    """

    def __init__(self, audit_id: str) -> None:
        self._store = AuditStore(
            audit_id,
            "answers",
            lifetime_s=int(KEPT_S),
            max_bytes=MAX_TEXT_BYTES,
            max_total_bytes=MAX_BYTES_PER_AUDIT,
        )

    def find(self, key: Key) -> tuple[Response, float] | None:
        stored = self._store.find(_cache_name(key))
        if not isinstance(stored, tuple):
            return None
        response, received_at = stored
        return response, max(0.0, time.time() - received_at)

    def keep(self, key: Key, response: Response) -> None:
        is_text = TEXT.match((response.headers.get("Content-Type") or "").lower())
        if len(response.body) <= (MAX_TEXT_BYTES if is_text else MAX_OTHER_BYTES):
            self._store.store(_cache_name(key), (response, time.time()))


@functools.lru_cache(MAX_CACHED_AUDITS)
def answers_of(audit_id: str) -> Answers:
    """Return the response cache of one audit.

    New audits have an empty cache, because the site may have been fixed.
    """
    return Answers(MAX_MEMORY_BYTES, shared=SharedAnswers(audit_id))


def _cache_name(key: Key) -> str:
    """Return a digest of the request, which may be too long for a Redis key."""
    url, is_decoded, headers = key
    return hashlib.sha256(repr((url, is_decoded, sorted(headers))).encode()).hexdigest()[:32]
