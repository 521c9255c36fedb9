"""`manage.py reencrypt_secrets`: after it, only the first key of the ring is needed."""

from __future__ import annotations

from typing import Any

from cryptography.fernet import InvalidToken
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction
from django.db.models import QuerySet

from webhooks.delivery import secrets
from webhooks.models import FormerSecret, Webhook


class Command(BaseCommand):
    help = "Encrypts the secrets of all webhooks with the first key, so that the other keys can go."
    requires_system_checks = ["environment"]

    def handle(self, *args: Any, **options: Any) -> None:
        changed = unreadable = 0
        for rows in (Webhook.objects.all(), FormerSecret.objects.all()):
            for id in rows.order_by().values_list("pk", flat=True).iterator():
                try:
                    changed += _reencrypt(rows, id)
                except InvalidToken:
                    unreadable += 1
                    self.stderr.write(f"{rows.model._meta.verbose_name} {id}: no key fits")
        self.stdout.write(f"{changed} secrets were encrypted anew.")
        if unreadable:
            raise CommandError(f"{unreadable} secrets could not be read: a key is missing. Add it and run this again.")


def _reencrypt(rows: QuerySet[Webhook] | QuerySet[FormerSecret], id: str | int) -> int:
    """1 when the row's secret was under another key. Under the row's lock: it may be rotated meanwhile."""
    with transaction.atomic():
        row = rows.select_for_update(no_key=True).filter(pk=id).first()
        if row is None:
            return 0
        before = bytes(row.encrypted_secret)
        after = secrets.reencrypt(before)
        if after == before:
            return 0
        row.encrypted_secret = after
        row.save(update_fields=["encrypted_secret"])
        return 1
