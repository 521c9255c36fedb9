"""Services that invite, add and remove members and change their roles.

Each service first locks the organization's row, so that two concurrent changes cannot leave the organization without
an owner, and reads the actor's role again under the lock.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from django.conf import settings
from django.core import signing
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from accounts import access, activity, mail
from accounts.mailing import outbox
from accounts.models import INVITATION_LIFETIME, RANKS, Invitation, Membership, User
from accounts.services import AccountRefused, lock
from infrastructure.mail_addresses import NormalForm, normal_form, spellings, with_normal_domain
from website_scan.written_urls import split_url

INVITATION_SALT = "accounts.invitation"
COPYABLE_LINK_SALT = "accounts.invitation.copied"
MAX_OPEN_INVITATIONS = 100
Role = Membership.Role
LIMITABLE_ROLES = (Role.VIEWER, Role.MEMBER)
ALL_SITES = "all sites"


def grantable_roles(actor: Membership) -> list[str]:
    """Return the roles that this member may grant, highest first.

    Only owners may grant the owner role.
    """
    if not actor.is_admin:
        return []
    return [role for role in reversed(RANKS) if actor.is_owner or role != Role.OWNER]


def may_manage(actor: Membership, subject: Membership) -> bool:
    """Return True if the actor may change or end the membership `subject`.

    Only owners may change owners.
    """
    return actor.is_owner or (actor.is_admin and not subject.is_owner)


@transaction.atomic
def change_role(*, actor: Membership, subject: Membership, role: str) -> None:
    actor, subject = _lock_and_reload(actor), _reload(subject)
    if not may_manage(actor, subject) or role not in grantable_roles(actor):
        raise AccountRefused("Your role does not allow this.")
    if subject.role == role:
        return
    _require_another_owner(subject)
    _refuse_limits_of_managers(role, subject.limited_to)
    before, subject.role = subject.role, role
    subject.save(update_fields=["role"])
    changed = {"from": before, "to": role}
    activity.record_by_member(actor, "member.role_changed", subject.user.email, role=changed)
    end_invitations(by=actor.user, subject=subject, but=grantable_roles(subject))


@transaction.atomic
def limit_member(*, actor: Membership, subject: Membership, limits: Sequence[str]) -> None:
    """Limit a viewer or a member to some sites (`accounts.visible_sites`), or lift the limit if there are none.

    Raises AccountRefused.
    """
    actor, subject = _lock_and_reload(actor), _reload(subject)
    if not may_manage(actor, subject):
        raise AccountRefused("Your role does not allow this.")
    _refuse_limits_of_managers(subject.role, limits)
    if subject.limited_to == list(limits):
        return
    changed = {"from": ", ".join(subject.limited_to) or ALL_SITES, "to": ", ".join(limits) or ALL_SITES}
    subject.limited_to = list(limits)
    subject.save(update_fields=["limited_to"])
    outbox.withdraw_all(subject.user, subject.organization)
    activity.record_by_member(actor, "member.limited", subject.user.email, sites=changed)


@transaction.atomic
def remove_member(*, actor: Membership, subject: Membership) -> None:
    """End the actor's own membership or another member's.

    Raises AccountRefused.
    """
    actor, subject = _lock_and_reload(actor), _reload(subject)
    is_own_membership = actor.id == subject.id
    if not is_own_membership and not may_manage(actor, subject):
        raise AccountRefused("Your role does not allow this.")
    _require_another_owner(subject)
    end_invitations(by=actor.user, subject=subject)
    subject.delete()
    action = "member.left" if is_own_membership else "member.removed"
    activity.record_by_member(actor, action, "" if is_own_membership else subject.user.email)


@transaction.atomic
def invite(*, actor: Membership, email: str, role: str, limits: Sequence[str] = ()) -> Invitation:
    """Create an invitation, and revoke an earlier one to the same address.

    `limits` are the sites that the person will be limited to.

    Raises AccountRefused.
    """
    actor = _lock_and_reload(actor)
    if role not in grantable_roles(actor):
        raise AccountRefused("Your role does not allow this.")
    _refuse_limits_of_managers(role, limits)
    person = access.find_person(email)
    if person is not None and access.rows(Membership, actor.organization_id).filter(user=person).exists():
        raise AccountRefused("This person is already a member.")
    now = timezone.now()
    pending = access.rows(Invitation, actor.organization_id).filter(accepted_at=None, revoked_at=None)
    _to_address(pending, email).update(revoked_at=now)
    if pending.filter(expires_at__gt=now).count() >= MAX_OPEN_INVITATIONS:
        raise AccountRefused(
            f"There are {MAX_OPEN_INVITATIONS} pending invitations, which is the maximum. Revoke one first."
        )
    invitation = Invitation.objects.create(
        organization=actor.organization,
        email=with_normal_domain(email),
        role=role,
        limited_to=list(limits),
        invited_by=actor.user,
        created_at=now,
        expires_at=now + INVITATION_LIFETIME,
    )
    sites = {"sites": ", ".join(limits)} if limits else {}
    activity.record_by_member(actor, "member.invited", email, role=role, **sites)
    return invitation


@transaction.atomic
def revoke_invitation(*, actor: Membership, invitation: Invitation) -> None:
    """Revoke an invitation, which invalidates its link. Raises AccountRefused."""
    actor = _lock_and_reload(actor)
    if invitation.role not in grantable_roles(actor):
        raise AccountRefused("Your role does not allow this.")
    if open_invitations(actor.organization_id).filter(id=invitation.id).update(revoked_at=timezone.now()):
        activity.record_by_member(actor, "invitation.revoked", invitation.email)


def open_invitations(organization_id: int) -> QuerySet[Invitation]:
    rows = access.rows(Invitation, organization_id)
    return rows.filter(accepted_at=None, revoked_at=None, expires_at__gt=timezone.now())


def is_invited(email: str) -> bool:
    """Return True if any organization has an open invitation to this e-mail address."""
    rows = Invitation.objects.filter(accepted_at=None, revoked_at=None, expires_at__gt=timezone.now())
    return _to_address(rows, email).exists()


def _to_address(invitations: QuerySet[Invitation], email: str) -> QuerySet[Invitation]:
    return invitations.alias(normal=NormalForm("email")).filter(normal__in=spellings(email))


def invitation_token(invitation: Invitation) -> str:
    """Return the token for the link in the invitation's e-mail.

    The token proves access to the invited mailbox.
    """
    return signing.dumps(invitation.id, salt=INVITATION_SALT)


def copyable_link_token(invitation: Invitation) -> str:
    """Return the token for an invitation link that admins can copy.

    This token does not prove the e-mail address.

    If it did, admins could create accounts with other people's addresses, and accept other organizations' invitations
    to these people.
    """
    return signing.dumps(invitation.id, salt=COPYABLE_LINK_SALT)


def proves_address(token: str) -> bool:
    """Return True for a token from `invitation_token`, which only the invited mailbox receives."""
    return _invitation_id(token, INVITATION_SALT) is not None


def find_invitation(token: str) -> Invitation | None:
    """Return the open invitation for a link's token, with its organization, or None."""
    invitation_id = _invitation_id(token, INVITATION_SALT) or _invitation_id(token, COPYABLE_LINK_SALT)
    rows = Invitation.objects.select_related("organization", "invited_by")
    return rows.filter(id=invitation_id, accepted_at=None, revoked_at=None, expires_at__gt=timezone.now()).first()


def _invitation_id(token: str, salt: str) -> str | None:
    try:
        return str(signing.loads(token, salt=salt, max_age=INVITATION_LIFETIME))
    except signing.BadSignature:
        return None


def mail_invitation(invitation: Invitation) -> None:
    """Send the invitation's link to the invited address. Raises MailNotSent."""
    mail.send(
        "invitation",
        invitation.email,
        # The organization's name is not in the subject, because strangers can choose the name.
        f"{invitation.invited_by} invites you to {split_url(settings.BASE_URL).netloc}",
        invitation=invitation,
        token=invitation_token(invitation),
        days=INVITATION_LIFETIME.days,
    )


@transaction.atomic
def accept_invitation(*, invitation: Invitation, user: User) -> Membership:
    """Accept an invitation, and create the membership.

    An existing role does not change. Raises AccountRefused.
    """
    if normal_form(user.email) != normal_form(invitation.email):
        raise AccountRefused("This invitation is for another e-mail address.")
    pending = open_invitations(invitation.organization_id).filter(id=invitation.id)
    if not pending.update(accepted_at=timezone.now()):
        raise AccountRefused("This invitation has been used or revoked.")
    membership, is_new_member = Membership.objects.get_or_create(
        organization=invitation.organization,
        user=user,
        defaults={"role": invitation.role, "limited_to": invitation.limited_to},
    )
    if is_new_member:
        outbox.withdraw_all(user, invitation.organization)
        activity.record(invitation.organization, user, "member.joined", role=invitation.role)
    return membership


def end_invitations(*, by: User, subject: Membership, but: Collection[str] = ()) -> None:
    """Revoke the member's open invitations, except those for the roles in `but`.

    Otherwise people could still accept the invitation of somebody who may no longer invite.
    """
    invitations = open_invitations(subject.organization_id).filter(invited_by=subject.user)
    for invitation in invitations.exclude(role__in=but):
        Invitation.objects.filter(id=invitation.id).update(revoked_at=timezone.now())
        activity.record(subject.organization, by, "invitation.revoked", invitation.email)


def _lock_and_reload(actor: Membership) -> Membership:
    lock(actor.organization_id)
    return _reload(actor)


def _reload(membership: Membership) -> Membership:
    rows = access.rows(Membership, membership.organization_id).select_related("organization", "user")
    reloaded = rows.filter(id=membership.id).first()
    if reloaded is None:
        raise AccountRefused("This person is no longer a member.")
    return reloaded


def _refuse_limits_of_managers(role: str, limits: Sequence[str]) -> None:
    """Raise AccountRefused for an owner or admin with limits: they manage everything in the organization."""
    if limits and role not in LIMITABLE_ROLES:
        raise AccountRefused("Only viewers and members can be limited to some sites. Lift the limit first.")


def _require_another_owner(subject: Membership) -> None:
    """Raise AccountRefused if the member is the organization's only owner.

    Closed accounts do not count as owners.
    """
    if subject.role != Role.OWNER:
        return
    owners = access.rows(Membership, subject.organization_id).filter(role=Role.OWNER, user__is_active=True)
    if not owners.exclude(id=subject.id).exists():
        raise AccountRefused("An organization needs an owner. Make someone else an owner first.")
