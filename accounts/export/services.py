"""Request, write and read data exports.

PostgreSQL stores the files, because hosts share no disk.
"""

from __future__ import annotations

import logging
import tempfile
import time
import uuid
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import IO

from django.conf import settings
from django.db import transaction
from django.db.models import Max, Sum
from django.urls import reverse
from django.utils import timezone

from accounts import access, activity
from accounts.export.kinds import kinds
from accounts.export.writing import README, write_part
from accounts.mailing import outbox
from accounts.models import DataExport, DataExportChunk, DataExportPart, Membership, Organization
from accounts.services import AccountRefused, lock
from infrastructure import queue
from infrastructure.leases import Lease
from infrastructure.postgresql.deletion import delete_with_references
from website_scan.timestamps import timestamp

logger = logging.getLogger(__name__)

RETENTION = timedelta(days=7)
# Minimum time between two export requests of an organization.
MIN_INTERVAL = timedelta(hours=1)
# A part ends when it reaches one of these limits. The size is limited because a slow connection downloads the file in
# one request, and the time because other tasks wait for this process.
MAX_PART_BYTES = 64 * 1024 * 1024
MAX_PART_S = 30.0
CHUNK_BYTES = 1024 * 1024
MAX_EXPORT_BYTES = 20 * 1024**3
# The lease is longer than the time for writing a part, including its last batch.
LEASE = Lease(timedelta(minutes=3))


def request_export(*, actor: Membership) -> DataExport:
    """Start an organization's data export, which replaces its previous export.

    Raises AccountRefused if the actor is not an owner, while an export is being written, and within an hour after the
    last request.
    """
    if actor.is_owner:
        # The previous export's files are deleted before the organization's row is locked, because large files take
        # time.
        ended = DataExportPart.objects.exclude(export__status=DataExport.Status.MAKING)
        replaceable_parts = ended.filter(
            export__organization=actor.organization_id, export__created_at__lte=timezone.now() - MIN_INTERVAL
        )
        delete_with_references(replaceable_parts)
    with transaction.atomic():
        organization = lock(actor.organization_id)
        owner = access.rows(Membership, organization.id).filter(id=actor.id).select_related("user").first()
        if owner is None or not owner.is_owner:
            raise AccountRefused("Only an owner can export the organization's data.")
        previous = access.rows(DataExport, organization.id).first()
        if previous is not None and previous.status == DataExport.Status.MAKING:
            raise AccountRefused("An export is already being prepared.")
        if previous is not None and previous.created_at > timezone.now() - MIN_INTERVAL:
            raise AccountRefused("The last export was requested less than an hour ago. Try again later.")
        access.rows(DataExport, organization.id).delete()
        export = DataExport.objects.create(organization=organization, requested_by=owner.user)
        activity.record_by_member(owner, "organization.export_requested", organization.name)
        transaction.on_commit(lambda: queue.enqueue("accounts.tasks.make_export", export.id))
    return export


def find_export(organization_id: int) -> DataExport | None:
    """Return the organization's last export, or None if it has none or the export has expired."""
    export = access.rows(DataExport, organization_id).select_related("requested_by").first()
    return None if export is None or is_expired(export) else export


def is_expired(export: DataExport) -> bool:
    return export.ended_at is not None and export.ended_at <= timezone.now() - RETENTION


def read_chunks(part: DataExportPart) -> Iterator[bytes]:
    """Yield an export file in chunks.

    Every chunk is a separate query, so that a slow client does not keep a transaction open.
    """
    number = 0
    while (data := part.chunks.filter(number=number).values_list("data", flat=True).first()) is not None:
        yield bytes(data)
        number += 1


def write_next_part(export_id: str) -> None:
    """Write an export's next file.

    Safe to call twice, because a worker must claim the export first.
    """
    token = uuid.uuid4()
    now = timezone.now()
    making = DataExport.objects.filter(LEASE.free, id=export_id, status=DataExport.Status.MAKING)
    if not making.filter(organization__closed_at=None).update(**LEASE.taken(token)):
        return
    export = DataExport.objects.select_related("organization").get(id=export_id)
    deadline = time.monotonic() + MAX_PART_S
    with tempfile.TemporaryFile() as file:
        cursor = write_part(
            file,
            export.organization_id,
            kinds(),
            export.cursor,
            lambda: file.tell() >= MAX_PART_BYTES or time.monotonic() > deadline,
            render_readme(export.organization, now),
        )
        _store_part(export, token, file, cursor)


def render_readme(organization: Organization, now: datetime) -> str:
    docs = f"{settings.BASE_URL}{reverse('docs-guide', args=['export'])}"
    return README.format(organization=organization.name, moment=timestamp(now), docs=docs)


def _store_part(export: DataExport, token: uuid.UUID, file: IO[bytes], cursor: dict[str, object] | None) -> None:
    size = file.seek(0, 2)
    file.seek(0)
    with transaction.atomic():
        locked = DataExport.objects.select_for_update(no_key=True, of=("self",)).select_related(
            "organization", "requested_by"
        )
        owned = locked.filter(id=export.id, claim_token=token).first()
        if owned is None or owned.organization.closed_at is not None:
            return  # Another worker has claimed the export after the lease expired, or the organization was closed.
        written = owned.parts.aggregate(number=Max("number"), size=Sum("size"))
        part = owned.parts.create(number=(written["number"] or 0) + 1, size=size)
        number = 0
        while data := file.read(CHUNK_BYTES):
            DataExportChunk.objects.create(part=part, number=number, data=data)
            number += 1
        owned.release()
        if cursor is not None and (written["size"] or 0) + size > MAX_EXPORT_BYTES:
            logger.error("export %s has more than %d bytes and was ended", owned.id, MAX_EXPORT_BYTES)
            owned.status = DataExport.Status.FAILED
        elif cursor is None:
            owned.status = DataExport.Status.READY
        else:
            owned.cursor = cursor
        if owned.status == DataExport.Status.MAKING:
            transaction.on_commit(lambda: queue.enqueue("accounts.tasks.make_export", owned.id))
        else:
            owned.ended_at = timezone.now()
            _notify_requester(owned)
        owned.save()


def _notify_requester(export: DataExport) -> None:
    if export.status != DataExport.Status.READY or export.requested_by is None:
        return
    organization = export.organization
    outbox.post(
        to=export.requested_by,
        template="export_ready",
        subject=f"The data export of {organization.name} is ready",
        topic=f"exports:{organization.pk}",
        organization=organization,
        key=f"export-ready:{export.id}",
        context={
            "days": RETENTION.days,
            "page_url": f"{settings.BASE_URL}{reverse('organization-export', args=[organization.slug])}",
        },
    )


def enqueue_stalled_exports() -> None:
    """Enqueue exports that no worker continues, because the Celery message was lost or the worker died."""
    making = DataExport.objects.filter(LEASE.free, status=DataExport.Status.MAKING, organization__closed_at=None)
    for export_id in making.values_list("id", flat=True):
        queue.enqueue("accounts.tasks.make_export", export_id)
