"""Model for invitations to an organization."""

from __future__ import annotations

from datetime import timedelta

from django.db import models
from django.db.models.functions import Lower
from django.utils import timezone

from accounts.models.organizations import Membership, Organization, User, limits_field
from website_scan.ids import new_id

INVITATION_LIFETIME = timedelta(days=7)


def new_invitation_id() -> str:
    """Return a new ID for an invitation.

    The invitation's link contains the signed ID.
    """
    return new_id("inv")


class Invitation(models.Model):
    """Invitation to an organization by a link in an e-mail.

    The link can be used once.
    """

    id = models.CharField(primary_key=True, max_length=40, default=new_invitation_id, editable=False)
    organization = models.ForeignKey(Organization, on_delete=models.CASCADE)
    email = models.EmailField("e-mail address", max_length=254)
    role = models.CharField(max_length=10, choices=Membership.Role, default=Membership.Role.MEMBER)
    limited_to = limits_field()
    invited_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-created_at",)
        constraints = [
            models.UniqueConstraint(
                "organization",
                Lower("email"),
                condition=models.Q(accepted_at=None, revoked_at=None),
                name="invitation_open_unique",
            )
        ]

    def __str__(self) -> str:
        return f"{self.email} ({self.role})"
