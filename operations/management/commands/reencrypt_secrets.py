"""`manage.py reencrypt_secrets`: encrypt all stored secrets with the first key, so that other keys can be removed."""

from __future__ import annotations

from typing import Any

from allauth.mfa.models import Authenticator
from cryptography.fernet import InvalidToken
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction
from django.db.models import Model

from infrastructure import encryption
from operations.stored_secrets import FACTOR_SECRETS, encrypted_columns


class Command(BaseCommand):
    help = "Encrypts all secrets in the database with the first key, so that the other keys can go."
    requires_system_checks = ["environment"]

    def handle(self, *args: Any, **options: Any) -> None:
        changed = unreadable = 0
        for model, column in encrypted_columns():
            rows = model._default_manager.exclude(**{column: None}).order_by()
            for id in rows.values_list("pk", flat=True).iterator():
                try:
                    changed += _reencrypt(model, column, id)
                except InvalidToken:
                    unreadable += 1
                    self.stderr.write(f"{model._meta.verbose_name} {id}: no key fits")
        for id in Authenticator.objects.order_by().values_list("pk", flat=True).iterator():
            try:
                changed += _reencrypt_factor(id)
            except InvalidToken:
                unreadable += 1
                self.stderr.write(f"second factor {id}: no key fits")
        self.stdout.write(f"{changed} secrets were re-encrypted.")
        if unreadable:
            raise CommandError(f"{unreadable} secrets could not be read: a key is missing. Add it and run this again.")


def _reencrypt(model: type[Model], column: str, id: str | int) -> int:
    """Encrypt a row's secret with the first key. Return 1 if another key had encrypted the secret, else 0.

    The row is locked, because another process may change or delete the row meanwhile.
    """
    with transaction.atomic():
        row = model._default_manager.select_for_update(no_key=True).filter(pk=id).first()
        if row is None or getattr(row, column) is None:
            return 0
        before = bytes(getattr(row, column))
        after = encryption.reencrypt(before)
        if after == before:
            return 0
        setattr(row, column, after)
        row.save(update_fields=[column])
        return 1


def _reencrypt_factor(id: int) -> int:
    """Encrypt a second factor's secrets with the first key. Returns 1 or 0 like `_reencrypt`."""
    with transaction.atomic():
        row = Authenticator.objects.select_for_update(no_key=True).filter(pk=id).first()
        before = {} if row is None else {name: row.data[name] for name in FACTOR_SECRETS if name in row.data}
        after = {name: encryption.reencrypt(value.encode()).decode() for name, value in before.items()}
        if row is None or after == before:
            return 0
        row.data |= after
        row.save(update_fields=["data"])
        return 1
