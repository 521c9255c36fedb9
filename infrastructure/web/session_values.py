"""Session values for a later page.

They are encrypted, expire, and are deleted when they are read.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

from cryptography.fernet import InvalidToken
from django.http import HttpRequest
from msgspec import Struct

from infrastructure.encryption import decrypt, encrypt


class SessionValues(Struct, frozen=True):
    """Small key-value store in the session, for at most `most` JSON values that expire after `max_age_s` seconds.

    Different keys separate the tabs of a browser. Values are encrypted, because copies of the database must not reveal
    them.
    """

    name: str
    most: int
    max_age_s: int

    def put(self, request: HttpRequest, key: str, value: Any) -> None:
        """Store a value under a key.

        The oldest values are deleted if there are more than `most`.
        """
        values: dict[str, str] = request.session.get(self.name, {})
        values.pop(key, None)
        values[key] = encrypt(json.dumps({"at": time.time(), "value": value})).decode()
        request.session[self.name] = dict(list(values.items())[-self.most :])

    def take(self, request: HttpRequest, key: str) -> Any:
        """Delete a key's value and return it.

        Returns None if there is no value or it has expired.
        """
        values: dict[str, str] = request.session.get(self.name, {})
        if key not in values:
            return None
        encrypted = values.pop(key)
        self._set(request, values)
        return self._decrypted(encrypted)

    def retain_only(self, request: HttpRequest, is_wanted: Callable[[Any], bool]) -> None:
        """Delete all values for which `is_wanted` returns False."""
        values: dict[str, str] = request.session.get(self.name, {})
        if values:
            self._set(request, {key: value for key, value in values.items() if is_wanted(self._decrypted(value))})

    def _set(self, request: HttpRequest, values: dict[str, str]) -> None:
        if values:
            request.session[self.name] = values
        else:
            request.session.pop(self.name, None)

    def _decrypted(self, encrypted: str) -> Any:
        try:
            entry = json.loads(decrypt(encrypted.encode()))
        except InvalidToken:  # The key was removed from the key ring.
            return None
        return entry["value"] if time.time() - entry["at"] < self.max_age_s else None
