"""Data exports: request, make part by part, read. The files are rows, because hosts share the database but no disk."""

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
from infrastructure.postgresql.deletion import delete_with_what_refers
from website_scan.timestamps import timestamp

logger = logging.getLogger(__name__)

KEPT = timedelta(days=7)
# Shortest time between two requests of an organization.
PAUSE = timedelta(hours=1)
# A part ends at the first of these limits: of time, because other tasks wait for this process, and of size, because
# a slow connection has to download a file in one go.
PART_BYTES = 64 * 1024 * 1024
PART_S = 30.0
CHUNK_BYTES = 1024 * 1024
MAX_BYTES = 20 * 1024**3
# Longer than a part takes, including its last batch.
LEASE = Lease(timedelta(minutes=3))


def request_export(*, actor: Membership) -> DataExport:
    """Start an export of all of the organization's data, which replaces the previous export.

    Raises AccountRefused if the actor is not an owner, while an export is being made, and within an hour after the
    last request.
    """
    if actor.is_owner:
        # Before the organization's row is locked, because deleting large files takes time.
        ended = DataExportPart.objects.exclude(export__status=DataExport.Status.MAKING)
        old = ended.filter(export__organization=actor.organization_id, export__created_at__lte=timezone.now() - PAUSE)
        delete_with_what_refers(old)
    with transaction.atomic():
        organization = lock(actor.organization_id)
        found = access.rows(Membership, organization.id).filter(id=actor.id).select_related("user").first()
        if found is None or not found.is_owner:
            raise AccountRefused("Only an owner can export the organization's data.")
        before = access.rows(DataExport, organization.id).first()
        if before is not None and before.status == DataExport.Status.MAKING:
            raise AccountRefused("An export is already being prepared.")
        if before is not None and before.created_at > timezone.now() - PAUSE:
            raise AccountRefused("The last export was requested less than an hour ago. Try again later.")
        access.rows(DataExport, organization.id).delete()  # its files are deleted already
        export = DataExport.objects.create(organization=organization, requested_by=found.user)
        activity.record_by(found, "organization.export_requested", organization.name)
        transaction.on_commit(lambda: queue.enqueue("accounts.tasks.make_export", export.id))
    return export


def export_of(organization_id: int) -> DataExport | None:
    """Return the organization's last export; None if there is none or it has expired."""
    export = access.rows(DataExport, organization_id).select_related("requested_by").first()
    return None if export is None or is_expired(export) else export


def is_expired(export: DataExport) -> bool:
    return export.ended_at is not None and export.ended_at <= timezone.now() - KEPT


def chunks_of(part: DataExportPart) -> Iterator[bytes]:
    """Yield the chunks of a file. One query per chunk, so that a slow reader keeps no transaction open."""
    number = 0
    while (data := part.chunks.filter(number=number).values_list("data", flat=True).first()) is not None:
        yield bytes(data)
        number += 1


def make_part(export_id: str) -> None:
    """Make the next file of an export. Duplicate messages are harmless, because one worker at a time has the claim."""
    token = uuid.uuid4()
    now = timezone.now()
    making = DataExport.objects.filter(LEASE.free, id=export_id, status=DataExport.Status.MAKING)
    if not making.filter(organization__closed_at=None).update(**LEASE.taken(token)):
        return
    export = DataExport.objects.select_related("organization").get(id=export_id)
    deadline = time.monotonic() + PART_S
    with tempfile.TemporaryFile() as file:
        cursor = write_part(
            file,
            export.organization_id,
            kinds(),
            export.cursor,
            lambda: file.tell() >= PART_BYTES or time.monotonic() > deadline,
            readme_of(export.organization, now),
        )
        _keep(export, token, file, cursor)


def readme_of(organization: Organization, now: datetime) -> str:
    docs = f"{settings.BASE_URL}{reverse('docs-guide', args=['export'])}"
    return README.format(organization=organization.name, moment=timestamp(now), docs=docs)


def _keep(export: DataExport, token: uuid.UUID, file: IO[bytes], cursor: dict[str, object] | None) -> None:
    size = file.seek(0, 2)
    file.seek(0)
    with transaction.atomic():
        locked = DataExport.objects.select_for_update(no_key=True, of=("self",)).select_related(
            "organization", "requested_by"
        )
        mine = locked.filter(id=export.id, claim_token=token).first()
        if mine is None or mine.organization.closed_at is not None:
            return  # the lease expired and another worker took the export, or the organization was closed
        before = mine.parts.aggregate(number=Max("number"), size=Sum("size"))
        part = mine.parts.create(number=(before["number"] or 0) + 1, size=size)
        number = 0
        while data := file.read(CHUNK_BYTES):
            DataExportChunk.objects.create(part=part, number=number, data=data)
            number += 1
        mine.release()
        if cursor is not None and (before["size"] or 0) + size > MAX_BYTES:
            logger.error("export %s has more than %d bytes and was ended", mine.id, MAX_BYTES)
            mine.status = DataExport.Status.FAILED
        elif cursor is None:
            mine.status = DataExport.Status.READY
        else:
            mine.cursor = cursor
        if mine.status == DataExport.Status.MAKING:
            transaction.on_commit(lambda: queue.enqueue("accounts.tasks.make_export", mine.id))
        else:
            mine.ended_at = timezone.now()
            _tell(mine)
        mine.save()


def _tell(export: DataExport) -> None:
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
            "days": KEPT.days,
            "page_url": f"{settings.BASE_URL}{reverse('organization-export', args=[organization.slug])}",
        },
    )


def wake_waiting() -> None:
    """Enqueue the exports whose next part no worker makes, because the message was lost or the worker died."""
    making = DataExport.objects.filter(LEASE.free, status=DataExport.Status.MAKING, organization__closed_at=None)
    for export_id in making.values_list("id", flat=True):
        queue.enqueue("accounts.tasks.make_export", export_id)
