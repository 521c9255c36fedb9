"""What django-allauth asks of the house about second factors."""

from __future__ import annotations

from typing import Any

from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.models import Authenticator
from django.http import HttpRequest

from accounts import sessions
from accounts.identity import notices
from accounts.models import User
from infrastructure import encryption

SERVICE = "Website Scan Service"
# Recovery codes come and go with the others.
KINDS = {"totp": "authenticator app", "webauthn": "passkey"}


class MFAAdapter(DefaultMFAAdapter):
    """Secrets stand in the database under the ring of keys that all others are under."""

    error_messages = DefaultMFAAdapter.error_messages | {
        "incorrect_code": "This code is wrong, or has been used. Enter the next one.",
    }

    def encrypt(self, text: str) -> str:
        return encryption.encrypt(text).decode()

    def decrypt(self, encrypted_text: str) -> str:
        return encryption.decrypt(encrypted_text.encode())

    def get_totp_issuer(self) -> str:
        return SERVICE

    def build_totp_svg(self, url: str) -> str:
        """The template draws it: what the library makes has no text for who cannot see it."""
        return ""

    def generate_authenticator_name(self, user: Any, type: Authenticator.Type) -> str:
        return f"Passkey {Authenticator.objects.filter(user_id=user.pk, type=type).count() + 1}"

    def get_public_key_credential_rp_entity(self) -> dict[str, str]:
        return super().get_public_key_credential_rp_entity() | {"name": SERVICE}


def note_added(request: HttpRequest, user: User, authenticator: Authenticator, **_: object) -> None:
    """Receives `authenticator_added`. Sessions that were begun without it end."""
    if authenticator.type not in KINDS:
        return
    notices.note(user, "person.second_factor_added", KINDS[authenticator.type])
    sessions.end_others(user, keep=sessions.current_id(request))


def note_removed(user: User, authenticator: Authenticator, **_: object) -> None:
    """Receives `authenticator_removed`."""
    if authenticator.type in KINDS:
        notices.note(user, "person.second_factor_removed", KINDS[authenticator.type])


def note_reset(user: User, **_: object) -> None:
    """Receives `authenticator_reset`: new recovery codes."""
    notices.note(user, "person.codes_replaced")


def note_failure(request: HttpRequest, user: User, **_: object) -> None:
    """Receives `authentication_failed`: whoever it was knew the password."""
    notices.note(user, "person.second_factor_failed", address=notices.address(request))


def note_use(
    request: HttpRequest, user: User, authenticator: Authenticator, reauthenticated: bool, **_: object
) -> None:
    """Receives `authenticator_used`."""
    if authenticator.type == Authenticator.Type.RECOVERY_CODES:
        notices.tell(user, "codes_used", request)
