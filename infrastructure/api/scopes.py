"""API key scopes, in ascending order. A scope includes all previous scopes."""

from __future__ import annotations

from django.db.models import TextChoices

from website_scan.errors import Refusal


class Scope(TextChoices):
    READ = "read"
    SCAN = "scan"
    MANAGE = "manage"

    def holds(self, required: Scope) -> bool:
        """Return True if a key with this scope may do what `required` permits."""
        order = list(Scope)
        return order.index(self) >= order.index(required)


class InsufficientScope(Refusal):
    """Raised when a valid API key's scope does not permit the request (403)."""

    code = "INSUFFICIENT_SCOPE"
    status = 403

    def __init__(self, scope: Scope, required: Scope) -> None:
        super().__init__(f"This requires an API key with the scope {required}; this key has the scope {scope}.")
