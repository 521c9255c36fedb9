"""Find the database columns with encrypted secrets, and check whether the configured keys fit."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from allauth.mfa.models import Authenticator
from cryptography.fernet import InvalidToken
from django.apps import apps
from django.db.models import BinaryField, Model

from infrastructure import encryption

FACTOR_SECRETS = ("secret", "seed")
# Number of secrets of each kind to try. A wrong key decrypts no secret, so testing a few of the newest is enough.
SAMPLE = 20
LOST_KEY = (
    "Add the former key to SECRET_KEY_FALLBACKS (or ENCRYPTION_KEYS, if it was there) and restart: webhooks, "
    "credentials and second factors fail without it."
)


def encrypted_columns() -> Iterator[tuple[type[Model], str]]:
    """Yield all models' encrypted columns, which are binary fields with names that begin with `encrypted_`."""
    for model in apps.get_models():
        for field in model._meta.local_fields:
            if isinstance(field, BinaryField) and field.name.startswith("encrypted_"):
                yield model, field.name


def count_unreadable() -> tuple[int, int]:
    """Try to decrypt the newest secrets of every kind.

    Return how many failed and how many were tried.
    """
    unreadable = total = 0
    for secret in _newest():
        total += 1
        try:
            encryption.decrypt(secret)
        except InvalidToken:
            unreadable += 1
    return unreadable, total


def _newest() -> Iterator[bytes]:
    for model, column in encrypted_columns():
        rows = model._default_manager.exclude(**{column: None}).order_by("-pk")
        yield from rows.values_list(column, flat=True)[:SAMPLE]
    factors = Authenticator.objects.order_by("-pk").values_list("data", flat=True)[:SAMPLE]
    yield from islice((data[name].encode() for data in factors for name in FACTOR_SECRETS if name in data), SAMPLE)
