"""Values kept in a session for a later page: encrypted, for a limited time, and handed out once."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from cryptography.fernet import InvalidToken
from django.http import HttpRequest

from infrastructure.encryption import decrypt, encrypt


@dataclass(frozen=True, slots=True)
class SessionBox:
    """Box of a session for JSON values by key. It holds at most `most` of them, each for `max_age_s` seconds.

    Two tabs keep values under different keys. The session's row holds them encrypted, since a copy of the database
    must not contain them.
    """

    name: str
    most: int
    max_age_s: int

    def put(self, request: HttpRequest, key: str, value: Any) -> None:
        """Keep a value; the oldest ones make room for it."""
        kept: dict[str, str] = request.session.get(self.name, {})
        kept.pop(key, None)
        kept[key] = encrypt(json.dumps({"at": time.time(), "value": value})).decode()
        request.session[self.name] = dict(list(kept.items())[-self.most :])

    def take(self, request: HttpRequest, key: str) -> Any:
        """Hand out and forget the value of the key; returns None if there is none, or if it is too old."""
        kept: dict[str, str] = request.session.get(self.name, {})
        if key not in kept:
            return None
        stored = kept.pop(key)
        self._set(request, kept)
        return self._value(stored)

    def keep_only(self, request: HttpRequest, wanted: Callable[[Any], bool]) -> None:
        """Forget all values but those that are `wanted`."""
        kept: dict[str, str] = request.session.get(self.name, {})
        if kept:
            self._set(request, {key: each for key, each in kept.items() if wanted(self._value(each))})

    def _set(self, request: HttpRequest, kept: dict[str, str]) -> None:
        if kept:
            request.session[self.name] = kept
        else:
            request.session.pop(self.name, None)

    def _value(self, stored: str) -> Any:
        try:
            found = json.loads(decrypt(stored.encode()))
        except InvalidToken:  # its key has been removed from the ring since
            return None
        return found["value"] if time.time() - found["at"] < self.max_age_s else None
