"""django-allauth account adapter for login, messages, security notices and the activity log."""

from __future__ import annotations

from typing import Any, cast

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.internal.stagekit import clear_login
from allauth.account.models import EmailAddress
from django.contrib import messages
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme

from accounts import access, mail, sessions
from accounts.identity import devices, freshness, notices
from accounts.models import User

# Texts for the messages of django-allauth that are displayed. Its other messages only repeat what the pages say.
MESSAGES = {
    "account/messages/email_confirmation_sent.txt": "Follow the link in the e-mail that we have sent to {email}.",
    "account/messages/email_confirmed.txt": "Your e-mail address is now {email}.",
    "account/messages/email_confirmation_failed.txt": "{email} belongs to another account.",
    "mfa/messages/totp_activated.txt": "Your authenticator app has been added.",
    "mfa/messages/totp_deactivated.txt": "Your authenticator app has been removed.",
    "mfa/messages/webauthn_added.txt": "The passkey has been added.",
    "mfa/messages/webauthn_removed.txt": "The passkey has been removed.",
    "mfa/messages/recovery_codes_generated.txt": "You have new recovery codes. Keep them in a safe place.",
}
# Maps django-allauth's account e-mails to keys in `notices.SECURITY`.
NOTICES = {
    "mfa/email/totp_activated": "app_added",
    "mfa/email/totp_deactivated": "app_removed",
    "mfa/email/webauthn_added": "passkey_added",
    "mfa/email/webauthn_removed": "passkey_removed",
    "mfa/email/recovery_codes_generated": "codes_replaced",
    "socialaccount/email/account_connected": "provider_connected",
}


class AccountAdapter(DefaultAccountAdapter):
    """Adapter for accounts.

    Django's authentication backend checks the password, not django-allauth's.

    So an unconfirmed address cannot be used to log in. The pages limit attempts (`accounts.limits`).
    """

    error_messages = DefaultAccountAdapter.error_messages | {
        "email_password_mismatch": "The e-mail address or the password is wrong.",
        "enter_current_password": "The password is wrong.",
        "incorrect_password": "The password is wrong.",
        "incorrect_code": "This code is wrong, or has been used. Enter the next one.",
        "duplicate_email": "This is your e-mail address already.",
    }

    def is_ajax(self, request: HttpRequest) -> bool:
        """Return True for the script that requests a passkey's challenge.

        All other requests get HTML pages.
        """
        return request.path == reverse("mfa_login_webauthn") and super().is_ajax(request)

    def is_safe_url(self, url: str) -> bool:
        return url_has_allowed_host_and_scheme(url, {self.request.get_host()}, require_https=self.request.is_secure())

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        """Disable django-allauth's login rate limit, because `accounts.limits` limits logins."""

    def login(self, request: HttpRequest, user: Any) -> None:
        """Log the user in after all factors were verified, and send a security notice if the browser is new."""
        is_new_browser = user.last_login is not None and devices.read_device_id(request, user.email) is None
        super().login(request, user)
        notices.record(
            user, "person.logged_in", method=freshness.describe_methods(request, user), address=notices.address(request)
        )
        if is_new_browser:
            notices.post(user, "new_device", request)

    def post_login(self, request: HttpRequest, user: Any, **kwargs: Any) -> HttpResponse:
        response = super().post_login(request, user, **kwargs)
        freshness.mark_reauthenticated(request, user)
        if "_session_expiry" not in request.session:
            # The session expires when the browser closes, unless the form has set an expiry.
            request.session.set_expiry(0)
        devices.set_cookie(request, response, user.email)
        return response

    def logout(self, request: HttpRequest) -> None:
        """Log the user out, and delete the LoginSession row."""
        sessions.delete_current_session(request)
        super().logout(request)

    def respond_user_inactive(self, request: HttpRequest, user: Any) -> HttpResponse:
        """Return the error page for a login to an account that was closed, or that an operator has deactivated."""
        clear_login(request)
        context = {"status": 403, "message": "This account has been closed."}
        return render(request, "error.html", context, status=403)

    def add_message(
        self,
        request: HttpRequest,
        level: int,
        message_template: str | None = None,
        message_context: dict[str, Any] | None = None,
        extra_tags: str = "",
        message: str | None = None,
    ) -> None:
        text = MESSAGES.get(message_template or "", "").format(**message_context or {}) or message
        if text:
            messages.add_message(request, level, text, extra_tags=extra_tags)

    def confirm_email(self, request: HttpRequest, email_address: EmailAddress) -> bool:
        """Set the account's e-mail address to the confirmed address, unless another account already has it."""
        owner = access.find_person(email_address.email)
        if owner is not None and owner.pk != email_address.user_id:
            self.add_message(
                request,
                messages.ERROR,
                "account/messages/email_confirmation_failed.txt",
                {"email": email_address.email},
            )
            return False
        try:
            with transaction.atomic():
                return super().confirm_email(request, email_address)
        except IntegrityError:
            return False

    def send_confirmation_mail(self, request: HttpRequest, emailconfirmation: Any, signup: bool) -> None:
        """Send the confirmation link to an account's new e-mail address.

        Raises MailNotSent.

        If an account with this address exists, only the e-mail says so, not the page.
        """
        email = emailconfirmation.email_address.email
        if access.find_person(email):
            mail.send("account_exists", email, "You already have an account")
            return
        account = emailconfirmation.email_address.user
        mail.send("email_change", email, "Confirm your e-mail address", key=emailconfirmation.key, account=account)

    def send_notification_mail(
        self, template_prefix: str, user: Any, context: dict[str, Any] | None = None, email: str | None = None
    ) -> None:
        """Send this service's security notice instead of django-allauth's, to the old address if that has changed."""
        if template_prefix == "account/email/email_changed" and context:
            notices.record(cast("User", user), "person.email_changed", context["to_email"])
            sessions.end_other_sessions(user, keep=sessions.current_login_id(self.request))
            notices.notify_former_address(context["from_email"], context["to_email"])
        elif template_prefix in NOTICES:
            provider = getattr((context or {}).get("provider"), "name", "")
            notices.post(cast("User", user), NOTICES[template_prefix], self.request, provider=provider)
