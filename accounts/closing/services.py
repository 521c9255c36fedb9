"""Close organizations and accounts, so that they are unusable immediately.

`accounts.closing.deletion` deletes the rows later, because deleting a large organization takes minutes, and because
requests that began before the closing still need the rows.
"""

from __future__ import annotations

from django.db import transaction
from django.dispatch import Signal
from django.utils import timezone

from accounts import access, activity
from accounts.identity.factors import delete_login_data
from accounts.members import end_invitations
from accounts.models import ApiKey, Invitation, LoginSession, Membership, Organization, User
from accounts.services import AccountRefused, lock
from website_scan.ids import random_base62

# Signal with the argument `organization`, sent in the transaction that closes the organization. Receivers stop its
# running work.
organization_closed = Signal()

NO_ADDRESS = "closed.invalid"  # Reserved domain that never receives mail (RFC 2606, section 2).


def close_organization_as_owner(*, actor: Membership) -> None:
    """Close an organization at an owner's request.

    Raises AccountRefused for members who are not owners.
    """
    with transaction.atomic():
        organization = lock(actor.organization_id)
        owner = access.rows(Membership, organization.id).filter(id=actor.id).first()
        if owner is None or not owner.is_owner:
            raise AccountRefused("Only an owner can delete an organization.")
        close_organization(organization)


def close_organization(organization: Organization) -> None:
    """Close an organization.

    Revokes keys and invitations, removes members, stops its work and frees its slug.
    """
    with transaction.atomic():
        organization = lock(organization.id)
        now = timezone.now()
        access.rows(ApiKey, organization.id).filter(revoked_at=None).update(revoked_at=now)
        access.rows(Invitation, organization.id).filter(accepted_at=None, revoked_at=None).update(revoked_at=now)
        access.rows(Membership, organization.id).delete()
        organization_closed.send(Organization, organization=organization)
        # The slug is changed last. It is a key column, so the change waits for transactions that refer to the row. One
        # of them could deadlock with this transaction when it ends a scan.
        slug = f"closed-{random_base62(16).lower()}"
        Organization.objects.filter(id=organization.id).update(closed_at=now, slug=slug)


def organizations_without_other_owner(user: User) -> list[Organization]:
    """Return the organizations whose only owner is this user."""
    owners = Membership.objects.filter(role=Membership.Role.OWNER, user__is_active=True)
    own = owners.filter(user=user).values("organization_id")
    ids_with_other_owners = owners.exclude(user=user).values("organization_id")
    return list(Organization.objects.filter(id__in=own).exclude(id__in=ids_with_other_owners).order_by("name"))


def close_account(*, user: User, actor: User) -> None:
    """Close an account by deleting its memberships, sessions and personal data.

    Raises AccountRefused if the user is an organization's only owner.

    Activity log entries about the person and API keys that the person created are not deleted.
    """
    with transaction.atomic():
        memberships = access.memberships_of_user(user).select_related("organization", "user")
        # The organizations are locked in the order of their IDs, so that two concurrent closings cannot deadlock.
        for organization_id in sorted(memberships.values_list("organization_id", flat=True)):
            lock(organization_id)
        if organizations := organizations_without_other_owner(user):
            names = ", ".join(organization.name for organization in organizations)
            raise AccountRefused(f"You are the only owner of {names}. Make someone else an owner, or delete it first.")
        for membership in memberships:
            end_invitations(by=actor, subject=membership)
            action, object_name = ("member.left", "") if actor == user else ("member.removed", user.email)
            activity.record(membership.organization, actor, action, object_name)
        memberships.delete()
        LoginSession.objects.filter(user=user).delete()
        delete_login_data(user)
        user.email = f"{random_base62(22).lower()}@{NO_ADDRESS}"
        user.first_name = user.last_name = ""
        user.is_active = user.is_staff = user.is_superuser = False
        user.closed_at = timezone.now()
        user.set_unusable_password()
        user.save()
