"""A logged-in user's pages for the account, sessions, organizations and invitations."""

from __future__ import annotations

from typing import cast

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts import access, drafts, limits, mail, roles, sessions
from accounts.addresses import mailbox
from accounts.identity.freshness import log_in_new_person, session_suffices
from accounts.limits import Limit
from accounts.mailing import topics
from accounts.mailing.quiet_hours import quiet_hours_of
from accounts.members import accept_invitation, find_invitation, mail_invitation, proves_address, remove_member
from accounts.models import Invitation, User
from accounts.pages.forms import NewPasswordForm, NewPersonForm, OrganizationForm, TimeZoneForm
from accounts.pages.login import (
    invalid_link_page,
    limit_mails,
    mail_not_sent_page,
    notify_of_new_password,
)
from accounts.pages.security import limit_authentications
from accounts.roles import require_login
from accounts.services import (
    MAX_OWNED_ORGANIZATIONS,
    AccountRefused,
    change_time_zone,
    count_owned_organizations,
    create_organization,
    create_person,
)
from website_scan.ids import is_id
from website_scan.messages import counted

MAX_ORGANIZATIONS_PER_DAY = 5


@require_safe
@require_login
def start(request: HttpRequest) -> HttpResponse:
    """Redirect after a login to the last selected organization, or to the form for the first organization."""
    membership = roles.current_membership(request)
    return redirect("organization-new") if membership is None else redirect(roles.page_of(membership, "overview"))


@require_http_methods(["GET", "HEAD", "POST"])
@require_login
@session_suffices("asks for the present password itself")
def account(request: HttpRequest) -> HttpResponse:
    """Show the e-mail address and sessions.

    POST changes the password, which ends all other sessions.
    """
    user = cast("User", request.user)
    form = NewPasswordForm(user, request.POST or None)
    if request.method == "POST":
        if refusal := limit_authentications(request, user):
            return refusal
        if form.is_valid():
            form.save()
            update_session_auth_hash(request, user)
            sessions.end_other_sessions(user, keep=sessions.current_login_id(request))
            notify_of_new_password(user)
            messages.success(request, "Your password has been changed. All other sessions have been ended.")
            return redirect("account")
    rows = sessions.sessions_of_user(user)[: sessions.MAX_LISTED_SESSIONS]
    context = {
        "form": form,
        "zone_form": TimeZoneForm(initial={"time_zone": user.time_zone}),
        "sessions": [(row, sessions.browser_name(row.user_agent)) for row in rows],
        "current": sessions.current_login_id(request),
        "quiet_hours": quiet_hours_of(user),
        "stopped": topics.unsubscribed_topics(user),
    }
    return render(request, "accounts/account.html", context)


@require_POST
@require_login
@session_suffices("the person's own preference")
def account_time_zone(request: HttpRequest) -> HttpResponse:
    """Set the time zone of a person's pages and e-mails."""
    user = cast("User", request.user)
    form = TimeZoneForm(request.POST)
    if form.is_valid():
        change_time_zone(user=user, name=form.cleaned_data["time_zone"])
        messages.success(request, "The time zone has been saved.")
    else:
        messages.error(request, "Choose a time zone from the list.")
    return redirect("account")


@require_POST
@require_login
@session_suffices("takes access away")
def session_end(request: HttpRequest, session_id: str) -> HttpResponse:
    if not is_id("login", session_id):
        raise Http404
    get_object_or_404(sessions.sessions_of_user(cast("User", request.user)), id=session_id).delete()
    messages.success(request, "The session has been ended.")
    return redirect("account")


@require_POST
@require_login
@session_suffices("takes access away")
def sessions_end(request: HttpRequest) -> HttpResponse:
    count = sessions.end_other_sessions(cast("User", request.user), keep=sessions.current_login_id(request))
    messages.success(request, f"{counted(count, 'other session')} ended.")
    return redirect("account")


@require_http_methods(["GET", "HEAD", "POST"])
@require_login
@session_suffices("gives nobody else access")
def organization_new(request: HttpRequest) -> HttpResponse:
    """Create an organization.

    If sign-up is closed, only staff may create organizations.
    """
    user = cast("User", request.user)
    may_create_organization = settings.SIGN_UP_OPEN or user.is_staff
    form = OrganizationForm(request.POST or drafts.restore(request))
    if may_create_organization and request.method == "POST" and form.is_valid():
        # The rate limit counts attempts instead of rows, because users may delete their organizations and account.
        daily = [Limit(mailbox(user.email), MAX_ORGANIZATIONS_PER_DAY)]
        if refusal := limits.refusal(request, "organization", daily, window_s=limits.DAY_S):
            return refusal
        try:
            organization = create_organization(name=form.cleaned_data["organization"], owner=user)
        except AccountRefused as error:
            form.add_error(None, str(error))
        else:
            roles.select_organization(request, organization.id)
            messages.success(request, f"{organization} is ready for its first scan.")
            return redirect("overview", organization.slug)
    status = 200 if may_create_organization or request.method != "POST" else 403
    has_maximum_organizations = not form.is_bound and count_owned_organizations(user) >= MAX_OWNED_ORGANIZATIONS
    context = {
        "form": form,
        "may": may_create_organization,
        "is_full": has_maximum_organizations,
        "most": MAX_OWNED_ORGANIZATIONS,
    }
    return render(request, "accounts/organization_new.html", context, status=status)


@require_POST
@require_login
@session_suffices("the person's own preference")
def organization_switch(request: HttpRequest) -> HttpResponse:
    """Switch the dashboard to another of the user's organizations."""
    selected = request.POST.get("organization", "")
    if not (selected.isascii() and selected.isdecimal() and len(selected) < 19):
        selected = "0"
    rows = access.memberships_of_user(request.user).select_related("organization")
    membership = get_object_or_404(rows, organization_id=int(selected))
    roles.select_organization(request, membership.organization_id)
    return redirect(roles.page_of(membership, "overview"))


@require_http_methods(["GET", "HEAD", "POST"])
@require_login
@session_suffices("takes access away")
def organization_leave(request: HttpRequest, organization_id: int) -> HttpResponse:
    rows = access.memberships_of_user(request.user).select_related("organization")
    membership = get_object_or_404(rows, organization_id=organization_id)
    if request.method != "POST":
        return render(request, "accounts/organization_leave.html", {"left": membership})
    try:
        remove_member(actor=membership, subject=membership)
    except AccountRefused as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"You have left {membership.organization}.")
    return redirect("organizations")


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@session_suffices("the link from the e-mail proves the address")
def invite(request: HttpRequest, token: str) -> HttpResponse:
    """Accept an invitation from its link, with an existing or a new account."""
    invitation = find_invitation(token)
    if invitation is None:
        return invalid_link_page(request, "It may have been used, revoked, or be older than a week. Ask for a new one.")
    email = invitation.email
    context = {"invitation": invitation, "token": token, "login": False, "joins": False, "form": None}
    person = access.find_person(email)
    if request.user.is_authenticated:
        if request.user != person:
            return render(request, "accounts/invite_other.html", context)
        return (
            _join_organization(request, token, person)
            if request.method == "POST"
            else _render_invitation(request, context | {"joins": True})
        )
    if person is not None:
        return _render_invitation(request, context | {"login": True})
    if not proves_address(token):
        return (
            _mail_link_to_new_person(request, invitation)
            if request.method == "POST"
            else _render_invitation(request, context)
        )
    form = NewPersonForm(request.POST or None, email=email)
    if form.is_valid():
        try:
            person = create_person(email=email, password=form.cleaned_data["password"])
        except AccountRefused as error:
            form.add_error(None, str(error))
        else:
            log_in_new_person(request, person)
            return _join_organization(request, token, person)
    return _render_invitation(request, context | {"form": form})


def _mail_link_to_new_person(request: HttpRequest, invitation: Invitation) -> HttpResponse:
    """E-mail the invitation's link, because a copied link does not allow a new user to create an account."""
    if refusal := limit_mails(request, invitation.email):
        return refusal
    try:
        mail_invitation(invitation)
    except mail.MailNotSent:
        return mail_not_sent_page(request)
    context = {"title": f"Join {invitation.organization}", "what": "a link to create your account and join"}
    return render(request, "accounts/mail_sent.html", context)


def _render_invitation(request: HttpRequest, context: dict[str, object]) -> HttpResponse:
    return render(request, "accounts/invite.html", context)


def _join_organization(request: HttpRequest, token: str, person: User) -> HttpResponse:
    invitation = find_invitation(token)
    if invitation is None:
        return invalid_link_page(request, "It has just been used or revoked. Ask for a new one.")
    try:
        membership = accept_invitation(invitation=invitation, user=person)
    except AccountRefused as error:
        messages.error(request, str(error))
        return redirect("organizations")
    roles.select_organization(request, membership.organization_id)
    messages.success(request, f"Welcome to {invitation.organization}.")
    return redirect("overview", invitation.organization.slug)
