"""Pages for changing a user's e-mail address.

They extend django-allauth's views with limits and templates.
"""

from __future__ import annotations

from typing import Any, cast

from allauth.account import views
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.utils.cache import add_never_cache_headers

from accounts import mail
from accounts.identity.factors import sync_verified_address
from accounts.identity.freshness import reauthenticates_itself, require_fresh_login, session_suffices
from accounts.models import User
from accounts.pages.login import invalid_link_page, limit_mails, mail_not_sent_page
from accounts.roles import require_login


@reauthenticates_itself
class EmailView(views.EmailView):
    """Page that sends a confirmation link to a new e-mail address.

    The change takes effect on confirmation.
    """

    template_name = "accounts/email.html"

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        response: HttpResponseBase = require_login(self._dispatch)(request, *args, **kwargs)
        add_never_cache_headers(response)
        return response

    def _dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        sync_verified_address(cast("User", request.user))
        return cast("HttpResponse", require_fresh_login("POST")(super().dispatch)(request, *args, **kwargs))

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Handle only address changes. django-allauth's other actions are for users with several addresses."""
        form = self.get_form()
        if not form.is_valid():
            return self.form_invalid(form)
        if refusal := limit_mails(request, form.cleaned_data["email"]):
            return refusal
        try:
            return self.form_valid(form)
        except mail.MailNotSent:
            return mail_not_sent_page(request)


@session_suffices("the link from the e-mail proves the address")
class EmailConfirmView(views.ConfirmEmailView):
    """Page for the confirmation link.

    Only POST confirms the address, because mail scanners open links by GET.
    """

    template_name = "accounts/email_confirm.html"

    def render_to_response(self, context: dict[str, Any], **kwargs: Any) -> HttpResponse:
        if not context["confirmation"] or not context["can_confirm"]:
            return invalid_link_page(self.request, "Ask for a new one on the page “Your account”.")
        return super().render_to_response(context, **kwargs)

    def post(self, *args: Any, **kwargs: Any) -> HttpResponse:
        if views.get_emailconfirmation_model().from_key(self.kwargs["key"]) is None:
            return invalid_link_page(self.request, "Ask for a new one on the page “Your account”.")
        super().post(*args, **kwargs)
        return redirect("account" if self.request.user.is_authenticated else "account_login")
