"""Authentication factors of a person, from django-allauth's tables."""

from __future__ import annotations

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount

from accounts.models import User

SECOND = (Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN)


def factors_of(user: User) -> list[Authenticator]:
    """Return the person's authenticator app, passkeys and recovery codes, the oldest first."""
    return list(Authenticator.objects.filter(user=user).order_by("created_at", "id"))


def has_second_factor(user: User) -> bool:
    return Authenticator.objects.filter(user=user, type__in=SECOND).exists()


def providers_of(user: User) -> set[str]:
    """Return the IDs of the identity providers that the account is connected with."""
    return set(SocialAccount.objects.filter(user=user).values_list("provider", flat=True))


def keep_address(user: User) -> None:
    """Make allauth's row of the account's verified address match the account, whose address was proven at sign-up.

    Operators change the address without changing allauth's rows, so rows of other verified addresses are deleted.
    """
    EmailAddress.objects.filter(user=user, verified=True).exclude(email=user.email).delete()
    EmailAddress.objects.get_or_create(user=user, email=user.email, defaults={"verified": True, "primary": True})


def forget_factors(user: User) -> int:
    """Delete all second factors of the account; returns the number of deleted rows."""
    count, _ = Authenticator.objects.filter(user=user).delete()
    return count


def forget(user: User) -> None:
    """Delete allauth's rows of the account: e-mail addresses, second factors and connected identity providers."""
    for model in (EmailAddress, Authenticator, SocialAccount):
        model._default_manager.filter(user=user).delete()
