"""Pages to delete an organization or an account, which a user confirms by typing its name."""

from __future__ import annotations

from typing import cast

from django.contrib import messages
from django.contrib.auth import logout
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from accounts.closing.services import close_account, close_organization_as_owner, organizations_without_other_owner
from accounts.identity.freshness import require_fresh_login
from accounts.models import Membership, User
from accounts.pages.forms import ConfirmationForm
from accounts.roles import MemberRequest, require_login, requires
from accounts.services import AccountRefused


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Membership.Role.OWNER)
@require_fresh_login("POST")
def organization_delete(request: MemberRequest) -> HttpResponse:
    """Delete an organization after its owner has typed its name."""
    organization = request.membership.organization
    form = ConfirmationForm(request.POST or None, expected=organization.name, label="Name of the organization")
    if request.method == "POST" and form.is_valid():
        try:
            close_organization_as_owner(actor=request.membership)
        except AccountRefused as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, f"{organization} has been deleted.")
            return redirect("organizations")
    return render(request, "accounts/organization_delete.html", {"section": "settings", "form": form})


@require_http_methods(["GET", "HEAD", "POST"])
@require_login
@require_fresh_login("POST")
def account_delete(request: HttpRequest) -> HttpResponse:
    """Delete an account after the person has typed their e-mail address."""
    user = cast("User", request.user)
    form = ConfirmationForm(request.POST or None, expected=user.email, label="Your e-mail address")
    if request.method == "POST" and form.is_valid():
        try:
            close_account(user=user, actor=user)
        except AccountRefused as error:
            form.add_error(None, str(error))
        else:
            logout(request)
            messages.success(request, "Your account has been deleted.")
            return redirect("landing")
    return render(
        request, "accounts/account_delete.html", {"form": form, "only_owned": organizations_without_other_owner(user)}
    )
