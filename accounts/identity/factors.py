"""What a person can log in with, as the rows of django-allauth say it."""

from __future__ import annotations

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount

from accounts.models import User

SECOND = (Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN)


def factors_of(user: User) -> list[Authenticator]:
    """The authenticator app, passkeys and recovery codes, the oldest first."""
    return list(Authenticator.objects.filter(user=user).order_by("created_at", "id"))


def has_second_factor(user: User) -> bool:
    return Authenticator.objects.filter(user=user, type__in=SECOND).exists()


def providers_of(user: User) -> set[str]:
    """The IDs of the identity providers that the account is connected with."""
    return set(SocialAccount.objects.filter(user=user).values_list("provider", flat=True))


def keep_address(user: User) -> None:
    """Let the library know the account's address, which was proven before there was an account.

    Operators change it without telling the library; then what it has known is nobody's any more.
    """
    EmailAddress.objects.filter(user=user, verified=True).exclude(email=user.email).delete()
    EmailAddress.objects.get_or_create(user=user, email=user.email, defaults={"verified": True, "primary": True})


def forget_factors(user: User) -> int:
    """The account has no second factor any more; returns how many rows there were."""
    count, _ = Authenticator.objects.filter(user=user).delete()
    return count


def forget(user: User) -> None:
    """Nobody can log in with any of it any more."""
    for model in (EmailAddress, Authenticator, SocialAccount):
        model._default_manager.filter(user=user).delete()
