"""Limits of list imports.

They are checked before an upload is parsed, because parsing a long one takes seconds.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

from django.core.cache import cache
from redis.exceptions import RedisError

from accounts.models import Tier
from infrastructure.api.errors import RateLimited, ServiceUnavailable
from sites.lists import upload_workbooks
from sites.lists.services import ListLimit
from sites.lists.uploads import estimate_rows, kind_of
from website_scan.messages import counted

# Uploads up to this length are parsed in milliseconds, so several may be parsed at the same time.
MAX_SHORT_UPLOAD_BYTES = 64 * 1024
# An upload may have more rows than the plan allows sites, because rows with the same URL are merged.
ROWS_PER_SITE = 10
MIN_MAX_ROWS = 1_000
RETRY_AFTER_S = 5
# Redis forgets the import of a killed process after this time.
MAX_IMPORT_S = 120

_long_import = threading.Semaphore(1)


def refuse_long_upload(organization_id: int, content: bytes, media_type: str) -> None:
    """Raise ListLimit if an upload is much too long for the organization's plan."""
    most = Tier.objects.values_list("list_entries", flat=True).get(organization=organization_id)
    if estimate_rows(content, media_type) > max(MIN_MAX_ROWS, ROWS_PER_SITE * most):
        raise ListLimit(f"Your plan allows {counted(most, 'site')} in all lists together. The upload is much longer.")


@contextlib.contextmanager
def import_slot(organization_id: int, content: bytes, media_type: str = "") -> Iterator[None]:
    """Context manager that reserves the right to parse a long upload.

    Each organization and each process parses only one long upload at a time. A workbook is always long, because it is
    compressed. Raises RateLimited or ServiceUnavailable if another long upload is being imported.
    """
    is_workbook = kind_of(media_type) == upload_workbooks.MEDIA_TYPE
    if len(content) <= MAX_SHORT_UPLOAD_BYTES and not is_workbook:
        yield
        return
    key = f"list-import:{organization_id}"
    if not _add(key):
        raise RateLimited("Another import of your organization is running. Try again when it has ended.", RETRY_AFTER_S)
    try:
        if not _long_import.acquire(blocking=False):
            raise ServiceUnavailable("Another long list is being imported. Try again in a few seconds.", RETRY_AFTER_S)
        try:
            yield
        finally:
            _long_import.release()
    finally:
        with contextlib.suppress(RedisError):
            cache.delete(key)


def _add(key: str) -> bool:
    """Reserve the key for an import, or return False if another import has it.

    Without Redis, only the process's own limit applies.
    """
    try:
        return cache.add(key, 1, MAX_IMPORT_S)
    except RedisError:
        return True
