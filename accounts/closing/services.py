"""Deleting an organization or an account: out of use at once, its rows later, by `accounts.closing.deletion`.

At once would be too late and too early: a large organization's rows take minutes, and requests that began before would
meet rows that are gone.
"""

from __future__ import annotations

from django.db import transaction
from django.dispatch import Signal
from django.utils import timezone

from accounts import access, activity
from accounts.identity.factors import forget
from accounts.members import end_invitations
from accounts.models import ApiKey, Invitation, LoginSession, Membership, Organization, User
from accounts.services import AccountRefused, lock
from scanner.ids import random_base62

# Sent in the transaction that closes an `organization`: what runs for it is to stop.
organization_closed = Signal()

NO_ADDRESS = "closed.invalid"  # RFC 2606, section 2: no mail gets there


def close_organization_as_owner(*, actor: Membership) -> None:
    """What an owner asks for; raises AccountRefused for everybody else."""
    with transaction.atomic():
        organization = lock(actor.organization_id)
        found = access.rows(Membership, organization.id).filter(id=actor.id).first()
        if found is None or not found.is_owner:
            raise AccountRefused("Only an owner can delete an organization.")
        close_organization(organization)


def close_organization(organization: Organization) -> None:
    """Nobody belongs to it from now on, no key works, nothing runs for it, and its name is free."""
    with transaction.atomic():
        organization = lock(organization.id)
        now = timezone.now()
        access.rows(ApiKey, organization.id).filter(revoked_at=None).update(revoked_at=now)
        access.rows(Invitation, organization.id).filter(accepted_at=None, revoked_at=None).update(revoked_at=now)
        access.rows(Membership, organization.id).delete()
        organization_closed.send(Organization, organization=organization)
        # At last, as a new name waits for all who refer to the row: those who end a scan must not wait for us as well.
        slug = f"closed-{random_base62(16).lower()}"
        Organization.objects.filter(id=organization.id).update(closed_at=now, slug=slug)


def only_owned(user: User) -> list[Organization]:
    """The organizations that would be nobody's without this person."""
    owners = Membership.objects.filter(role=Membership.Role.OWNER, user__is_active=True)
    mine = owners.filter(user=user).values("organization_id")
    shared = owners.exclude(user=user).values("organization_id")
    return list(Organization.objects.filter(id__in=mine).exclude(id__in=shared).order_by("name"))


def close_account(*, user: User, actor: User) -> None:
    """End a person's memberships and sessions and forget who they were; raises AccountRefused for an only owner.

    What they did stays in the logs of their organizations, as do the keys that they made.
    """
    with transaction.atomic():
        memberships = access.memberships_of(user).select_related("organization", "user")
        # In one order, so that two who leave at once wait for each other instead of for ever.
        for organization_id in sorted(memberships.values_list("organization_id", flat=True)):
            lock(organization_id)
        if alone := only_owned(user):
            names = ", ".join(organization.name for organization in alone)
            raise AccountRefused(f"You are the only owner of {names}. Make someone else an owner, or delete it first.")
        for membership in memberships:
            end_invitations(by=actor, subject=membership)
            action, target = ("member.left", "") if actor == user else ("member.removed", user.email)
            activity.record(membership.organization, actor, action, target)
        memberships.delete()
        LoginSession.objects.filter(user=user).delete()
        forget(user)
        user.email = f"{random_base62(22).lower()}@{NO_ADDRESS}"
        user.first_name = user.last_name = ""
        user.is_active = user.is_staff = user.is_superuser = False
        user.closed_at = timezone.now()
        user.set_unusable_password()
        user.save()
