"""What a target is shown before it shows its page, as rows keep it: names in the clear, the rest encrypted."""

from __future__ import annotations

import json
from typing import Any

from django.db import models

from infrastructure import encryption
from scanner.net.credentials import Credentials, InvalidRequestField, parse


class CredentialsForgotten(InvalidRequestField):
    """It was made with credentials that are not kept any more."""


def sealed(credentials: Credentials | None) -> dict[str, Any]:
    """The columns that hold credentials: what may be shown of them, and what may not."""
    if credentials is None:
        return {"credential_names": None, "encrypted_credentials": None}
    return {
        "credential_names": credentials.names,
        "encrypted_credentials": encryption.encrypt(json.dumps(credentials.request)),
    }


class Keyed(models.Model):
    """A row that may have credentials."""

    credential_names = models.JSONField(null=True, blank=True, help_text="What of the credentials may be shown.")
    encrypted_credentials = models.BinaryField(null=True, blank=True)

    class Meta:
        abstract = True

    @property
    def credentials(self) -> Credentials | None:
        """What the target is shown.

        Raises `CredentialsForgotten`, or `cryptography.fernet.InvalidToken` when no key fits.
        """
        if self.credential_names is None:
            return None
        if self.encrypted_credentials is None:
            raise CredentialsForgotten("The credentials are no longer kept. Start a new scan with them.")
        return parse(json.loads(encryption.decrypt(bytes(self.encrypted_credentials))))
