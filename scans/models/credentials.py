"""Model mixin with columns for a target's credentials.

Names are in plain text, values are encrypted.
"""

from __future__ import annotations

import json
from typing import Any

from django.db import models

from infrastructure import encryption
from website_scan.net.credentials import Credentials, InvalidRequestField, parse


class CredentialsForgotten(InvalidRequestField):
    """Exception for a row whose credentials were deleted after their retention period."""


def credential_columns(credentials: Credentials | None) -> dict[str, Any]:
    """Return the values of the columns that store credentials.

    One column has the names in plain text, the other has the encrypted credentials.
    """
    if credentials is None:
        return {"credential_names": None, "encrypted_credentials": None}
    return {
        "credential_names": credentials.names,
        "encrypted_credentials": encryption.encrypt(json.dumps(credentials.request)),
    }


class WithCredentials(models.Model):
    """Abstract model with optional credentials for the target."""

    credential_names = models.JSONField(
        null=True, blank=True, help_text="Names of the credentials, which may be shown."
    )
    encrypted_credentials = models.BinaryField(null=True, blank=True)

    class Meta:
        abstract = True

    @property
    def credentials(self) -> Credentials | None:
        """Credentials in plain text, or None.

        Raises `CredentialsForgotten` after their retention, or `cryptography.fernet.InvalidToken` if no key decrypts
        them.
        """
        if self.credential_names is None:
            return None
        if self.encrypted_credentials is None:
            raise CredentialsForgotten("The credentials are no longer stored. Start a new scan with them.")
        return parse(json.loads(encryption.decrypt(bytes(self.encrypted_credentials))))
