"""Model for journeys, whose states audits judge."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone

from accounts.models import ApiKey, Organization
from infrastructure import encryption
from scans.models.requirements import WithRequirements
from scans.models.viewing import WithViewing
from website_scan.ids import new_id
from website_scan.journeys.journey import Journey as Steps
from website_scan.journeys.recordings import read_recording
from website_scan.journeys.rules import MAX_TITLE_CHARACTERS

MAX_NAME_LENGTH = MAX_TITLE_CHARACTERS


def new_journey_id() -> str:
    return new_id("jny")


def secret_columns(secrets: Mapping[str, str]) -> dict[str, Any]:
    """Return the values of the columns that store secrets.

    One column has the names in plain text, the other has the encrypted values by name.
    """
    if not secrets:
        return {"secret_names": [], "encrypted_secrets": None}
    return {"secret_names": sorted(secrets), "encrypted_secrets": encryption.encrypt(json.dumps(dict(secrets)))}


class Journey(WithViewing, WithRequirements):
    """Named list of steps in a browser. A run of it is an audit whose pages are the states.

    The organization has to prove that it controls the site before the journey may run. `proof_token` is the same for
    all journeys of the organization on the site.
    """

    class Proof(models.TextChoices):
        DNS = "dns", "DNS record"
        FILE = "file", "file on the server"
        META = "meta", "meta element of the start page"
        EXEMPT = "exempt", "network that the operator has exempted"

    id = models.CharField(primary_key=True, max_length=40, default=new_journey_id, editable=False)
    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="journeys", db_index=False)
    api_key = models.ForeignKey(ApiKey, on_delete=models.SET_NULL, null=True, blank=True, db_index=False)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, db_index=False
    )
    created_at = models.DateTimeField(default=timezone.now)
    name = models.CharField(max_length=MAX_NAME_LENGTH)
    recording: models.JSONField[dict[str, Any], dict[str, Any]] = models.JSONField(
        help_text="In the format of Chrome DevTools' Recorder. Secrets appear as {{name}} only."
    )
    start_url = models.CharField(max_length=8192, help_text="Address of the first navigation.")
    site = models.CharField(max_length=253, help_text="Registrable domain of the start, or its host if it has none.")
    identity_providers = ArrayField(
        models.CharField(max_length=253), default=list, blank=True, help_text="Hosts where secrets may be typed, too."
    )
    types = ArrayField(models.CharField(max_length=16))
    secret_names = ArrayField(
        models.CharField(max_length=40), default=list, blank=True, help_text="Names of the secrets that have a value."
    )
    encrypted_secrets = models.BinaryField(null=True, blank=True)

    proof_token = models.CharField(max_length=40, help_text="Public text that the site has to publish.")
    proof_method = models.CharField(max_length=8, choices=Proof, blank=True, default="")
    proven_scope = models.CharField(
        max_length=260,
        blank=True,
        default="",
        help_text="Host under control, with the hosts below it, and the only port if not all ports were proven.",
    )
    proven_at = models.DateTimeField(null=True, blank=True, help_text="When the latest check of control succeeded.")

    class Meta:
        indexes = [
            models.Index(fields=["organization", "-created_at", "-id"], name="journey_newest_first"),
        ]

    def __str__(self) -> str:
        return f"{self.id} ({self.name})"

    @property
    def steps(self) -> Steps:
        """Steps of the journey, without secrets."""
        return read_recording(json.dumps(self.recording)).journey

    @property
    def missing_secrets(self) -> list[str]:
        """Names of the secrets that the steps use and that have no value."""
        return [name for name in self.steps.secret_names if name not in self.secret_names]

    @property
    def secrets(self) -> dict[str, str]:
        """Values of the secrets by name, in plain text.

        Raises `cryptography.fernet.InvalidToken` if no key decrypts them.
        """
        if self.encrypted_secrets is None:
            return {}
        values: dict[str, str] = json.loads(encryption.decrypt(bytes(self.encrypted_secrets)))
        return values
