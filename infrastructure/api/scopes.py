"""What a key may do, from the least to the most; each scope holds those before it."""

from __future__ import annotations

from django.db.models import TextChoices

from scanner.errors import Refusal


class Scope(TextChoices):
    READ = "read"
    SCAN = "scan"
    MANAGE = "manage"

    def holds(self, needed: Scope) -> bool:
        """Whether a key of this scope may do what takes `needed`."""
        order = list(Scope)
        return order.index(self) >= order.index(needed)


class InsufficientScope(Refusal):
    """The key is valid, but not for this."""

    code = "INSUFFICIENT_SCOPE"
    status = 403

    def __init__(self, scope: Scope, needed: Scope) -> None:
        super().__init__(f"This takes an API key with the scope {needed}; the scope of this one is {scope}.")
