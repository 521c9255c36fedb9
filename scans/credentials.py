"""Credentials that scans send to their targets.

They are encrypted, and are deleted after their retention period.
"""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.utils import timezone

from infrastructure.retention import HasTime, always
from scans.models import KEPT, Scan, WithCredentials
from website_scan.net.credentials import OriginCredentials
from website_scan.net.targets import Target

BATCH = 1000


def credentials_of_scan(scan_id: str, target: Target) -> OriginCredentials | None:
    """Return the credentials of a scan for its target.

    Raises `CredentialsForgotten` and `InvalidToken`.
    """
    scan = Scan.objects.filter(id=scan_id).first()
    return credentials_for_target(scan, target) if scan is not None else None


def credentials_for_target(row: WithCredentials, target: Target) -> OriginCredentials | None:
    """Return the credentials of a row, such as an audit, for its target.

    Raises the errors of `credentials_of_scan`.
    """
    credentials = row.credentials
    return OriginCredentials(target.origin, credentials) if credentials is not None else None


def forget(model: type[WithCredentials], has_time: HasTime = always) -> bool:
    """Delete the credentials of rows whose report has expired.

    Returns False if time ran out.
    """
    rows: QuerySet[Any] = model._default_manager.filter(encrypted_credentials__isnull=False)
    while has_time():
        expired = rows.filter(created_at__lte=timezone.now() - KEPT)
        ids = list(expired.values_list("pk", flat=True)[:BATCH])
        model._default_manager.filter(pk__in=ids).update(encrypted_credentials=None)
        if len(ids) < BATCH:
            return True
    return False
