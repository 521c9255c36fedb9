"""The secrets that the database holds encrypted: where they are, and whether the keys that are set decrypt them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from allauth.mfa.models import Authenticator
from cryptography.fernet import InvalidToken
from django.apps import apps
from django.db.models import BinaryField, Model

from infrastructure import encryption

FACTOR_SECRETS = ("secret", "seed")
# A wrong key decrypts none of them, so the newest few of each kind tell.
SAMPLE = 20
LOST_KEY = (
    "Add the former key to SECRET_KEY_FALLBACKS (or ENCRYPTION_KEYS, if it was there) and restart: webhooks, "
    "credentials and second factors fail without it."
)


def encrypted_columns() -> Iterator[tuple[type[Model], str]]:
    """Find the encrypted columns of all apps: binary fields whose names begin with `encrypted_`."""
    for model in apps.get_models():
        for field in model._meta.local_fields:
            if isinstance(field, BinaryField) and field.name.startswith("encrypted_"):
                yield model, field.name


def count_unreadable() -> tuple[int, int]:
    """Try the newest secrets of each kind; return the number that no key decrypts, and the number of all tried."""
    unreadable = tried = 0
    for stored in _newest():
        tried += 1
        try:
            encryption.decrypt(stored)
        except InvalidToken:
            unreadable += 1
    return unreadable, tried


def _newest() -> Iterator[bytes]:
    for model, column in encrypted_columns():
        kept = model._default_manager.exclude(**{column: None}).order_by("-pk")
        yield from kept.values_list(column, flat=True)[:SAMPLE]
    factors = Authenticator.objects.order_by("-pk").values_list("data", flat=True)[:SAMPLE]
    yield from islice((data[name].encode() for data in factors for name in FACTOR_SECRETS if name in data), SAMPLE)
