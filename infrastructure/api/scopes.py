"""Scopes of API keys, from the least to the most; each scope includes those before it."""

from __future__ import annotations

from django.db.models import TextChoices

from website_scan.errors import Refusal


class Scope(TextChoices):
    READ = "read"
    SCAN = "scan"
    MANAGE = "manage"

    def holds(self, needed: Scope) -> bool:
        """Return True if this scope includes `needed`."""
        order = list(Scope)
        return order.index(self) >= order.index(needed)


class InsufficientScope(Refusal):
    """Refusal of a valid key whose scope is not enough."""

    code = "INSUFFICIENT_SCOPE"
    status = 403

    def __init__(self, scope: Scope, needed: Scope) -> None:
        super().__init__(f"This takes an API key with the scope {needed}; the scope of this one is {scope}.")
