"""An organization's pages for members, settings and the activity log."""

from __future__ import annotations

from typing import cast

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, QueryDict, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts import access, activity, drafts, limits, mail, usage
from accounts.addresses import mailbox
from accounts.branding import branding_of
from accounts.identity.freshness import require_fresh_login, session_suffices
from accounts.limits import Limit
from accounts.mailing import topics
from accounts.members import (
    MAX_OPEN_INVITATIONS,
    change_role,
    copyable_link_token,
    grantable_roles,
    invitation_token,
    limit_member,
    mail_invitation,
    may_manage,
    open_invitations,
    remove_member,
    revoke_invitation,
)
from accounts.members import invite as invite_member
from accounts.models import ActivityEvent, Invitation, Membership, User
from accounts.pages import activity_exports
from accounts.pages.activity_sentences import action_label, log_line
from accounts.pages.branding_form import BrandingForm
from accounts.pages.forms import (
    ActivityFilterForm,
    LoginRequirementsForm,
    PageForm,
    SettingsForm,
)
from accounts.pages.login import limit_mails, mail_not_sent_page
from accounts.pages.member_forms import InvitationForm, LimitsForm, RoleForm
from accounts.pages.role_table import role_table
from accounts.roles import MemberRequest, page_of, requires
from accounts.services import AccountRefused, change_login, change_organization
from accounts.usage import tier_limits
from website_scan.ids import is_id

Role = Membership.Role

MAX_INVITATIONS_PER_HOUR = 30
MAX_INVITATIONS_PER_RECIPIENT_AND_DAY = 5
MEMBERS_PER_PAGE = 50


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Role.VIEWER)
@require_fresh_login("POST")
def members(request: MemberRequest) -> HttpResponse:
    """List an organization's members. Admins invite people by POST."""
    actor = request.membership
    data = request.POST or drafts.restore(request)
    form = InvitationForm(data, roles=grantable_roles(actor), initial={"role": Role.MEMBER})
    if request.method == "POST":
        if not actor.is_admin:
            return _forbidden_page(request)
        if form.is_valid():
            response = _invite(request, form)
            if response is not None:
                return response
    rows = access.rows(Membership, actor.organization_id).select_related("user").order_by("id")
    after = PageForm(request.GET)
    if after.is_valid() and after.cleaned_data["after"]:
        rows = rows.filter(id__gt=after.cleaned_data["after"])
    rows_with_next = list(rows[: MEMBERS_PER_PAGE + 1])
    page = rows_with_next[:MEMBERS_PER_PAGE]
    invitations = _list_invitations(request) if actor.is_admin else []
    context = {
        "section": "members",
        "form": form,
        "rows": [(row, may_manage(actor, row)) for row in page],
        "after": page[-1].id if len(rows_with_next) > len(page) else None,
        "is_first": not after.is_valid() or not after.cleaned_data["after"],
        "invitations": invitations,
        "most": MAX_OPEN_INVITATIONS,
        "is_full": len(invitations) >= MAX_OPEN_INVITATIONS and not form.is_bound,
        "grantable": [Role(role) for role in grantable_roles(actor)],
        "tasks": role_table(),
    }
    return render(request, "accounts/members.html", context)


def _list_invitations(request: MemberRequest) -> list[tuple[Invitation, str]]:
    """Return the open invitations with their links, which admins can copy.

    A superuser gets the link that proves the address, because they can read the e-mail in the log anyway.
    """
    create_token = invitation_token if request.user.is_superuser else copyable_link_token
    return [
        (invitation, settings.BASE_URL + reverse("invite", args=[create_token(invitation)]))
        for invitation in open_invitations(request.membership.organization_id)
    ]


def _invite(request: MemberRequest, form: InvitationForm) -> HttpResponse | None:
    actor, email = request.membership, form.cleaned_data["email"]
    if refusal := _limit_invitations(request, email) or limit_mails(request, email):
        return refusal
    try:
        values = form.cleaned_data
        invitation = invite_member(actor=actor, email=email, role=values["role"], limits=values["limits"])
    except AccountRefused as error:
        form.add_error("email", str(error))
        return None
    try:
        mail_invitation(invitation)
    except mail.MailNotSent:
        revoke_invitation(actor=actor, invitation=invitation)
        return mail_not_sent_page(request)
    messages.success(request, f"{email} has been invited.")
    return redirect(page_of(request.membership, "members"))


def _limit_invitations(request: MemberRequest, email: str) -> HttpResponse | None:
    """Count an invitation.

    The inviter's and the recipient's limits span all organizations.
    """
    actor = request.membership
    sender_limits = [
        Limit(str(actor.organization_id), MAX_INVITATIONS_PER_HOUR),
        Limit(f"by {actor.user_id}", MAX_INVITATIONS_PER_HOUR),
    ]
    recipient_limits = [Limit(mailbox(email), MAX_INVITATIONS_PER_RECIPIENT_AND_DAY)]
    return limits.refusal(request, "invite", sender_limits, window_s=limits.HOUR_S) or limits.refusal(
        request, "invited", recipient_limits, window_s=limits.DAY_S
    )


@require_POST
@requires(Role.ADMIN)
@require_fresh_login()
def member_role(request: MemberRequest, membership_id: int) -> HttpResponse:
    subject = _find_member(request, membership_id)
    form = RoleForm(request.POST, roles=grantable_roles(request.membership))
    if not form.is_valid():
        messages.error(request, "Your role does not allow this.")
        return redirect(page_of(request.membership, "members"))
    try:
        change_role(actor=request.membership, subject=subject, role=form.cleaned_data["role"])
    except AccountRefused as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"{subject.user} now has the role {form.cleaned_data['role']}.")
    return redirect(page_of(request.membership, "members"))


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Role.ADMIN)
@require_fresh_login("POST")
def member_limits(request: MemberRequest, membership_id: int) -> HttpResponse:
    """Limit a viewer or a member to some sites."""
    subject = _find_member(request, membership_id)
    initial = {"limits": "\n".join(subject.limited_to)}
    form = LimitsForm(request.POST or drafts.restore(request), initial=initial)
    if request.method == "POST" and form.is_valid():
        try:
            limit_member(actor=request.membership, subject=subject, limits=form.cleaned_data["limits"])
        except AccountRefused as error:
            form.add_error("limits", str(error))
        else:
            messages.success(request, f"The sites of {subject.user} have been saved.")
            return redirect(page_of(request.membership, "members"))
    context = {"section": "members", "subject": subject, "form": form}
    return render(request, "accounts/member_limits.html", context, status=400 if form.errors else 200)


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Role.ADMIN)
@session_suffices("takes access away")
def member_remove(request: MemberRequest, membership_id: int) -> HttpResponse:
    subject = _find_member(request, membership_id)
    if request.method != "POST":
        return render(request, "accounts/member_remove.html", {"section": "members", "subject": subject})
    try:
        remove_member(actor=request.membership, subject=subject)
    except AccountRefused as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"{subject.user} is no longer a member.")
    return redirect(page_of(request.membership, "members"))


@require_POST
@requires(Role.ADMIN)
@session_suffices("takes access away")
def invitation_revoke(request: MemberRequest, invitation_id: str) -> HttpResponse:
    if not is_id("inv", invitation_id):
        raise Http404
    invitation = get_object_or_404(access.rows(Invitation, request.membership.organization_id), id=invitation_id)
    try:
        revoke_invitation(actor=request.membership, invitation=invitation)
    except AccountRefused as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"The invitation for {invitation.email} has been revoked.")
    return redirect(page_of(request.membership, "members"))


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Role.VIEWER)
@require_fresh_login("POST")
def organization_settings(request: MemberRequest) -> HttpResponse:
    """Show settings, tier and limits to all members.

    By POST, owners change the settings.
    """
    actor = request.membership
    organization = actor.organization
    if request.method == "POST" and not actor.is_owner:
        return _forbidden_page(request)
    initial = {"name": organization.name, "shares_reports": organization.shares_reports}
    form = SettingsForm(request.POST or drafts.restore(request), initial=initial)
    if request.method == "POST" and form.is_valid():
        change_organization(actor=actor, **form.cleaned_data)
        messages.success(request, "The settings have been saved.")
        return redirect(page_of(request.membership, "organization-settings"))
    return settings_page(request, form=form)


@require_POST
@requires(Role.OWNER)
@require_fresh_login()
def organization_login(request: MemberRequest) -> HttpResponse:
    """Set the login requirements for the organization's members."""
    form = _login_form(request, request.POST)
    if form.is_valid():
        actor = request.membership
        # The middleware sets `session_providers` on this instance of the user only.
        actor.user = cast("User", request.user)
        values = form.cleaned_data
        provider, domain = values.get("provider", ""), values.get("domain", "")
        try:
            change_login(actor=actor, second_factor=values["second_factor"], provider=provider, domain=domain)
        except AccountRefused as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, "The settings have been saved.")
            return redirect(page_of(actor, "organization-settings"))
    return settings_page(request, login_form=form)


def _login_form(request: MemberRequest, data: QueryDict | None = None) -> LoginRequirementsForm:
    organization = request.membership.organization
    initial = {
        "second_factor": organization.second_factor_required,
        "provider": organization.login_provider,
        "domain": organization.login_domain,
    }
    providers = [(provider.id, provider.name) for provider in settings.OIDC_PROVIDERS]
    return LoginRequirementsForm(data, initial=initial, providers=providers, prefix="login")


def settings_page(
    request: MemberRequest,
    *,
    form: SettingsForm | None = None,
    login_form: LoginRequirementsForm | None = None,
    branding_form: BrandingForm | None = None,
) -> HttpResponse:
    """Render the settings. Forms that were not submitted show the present settings."""
    actor = request.membership
    organization, tier = actor.organization, actor.organization.tier
    shown_branding = branding_of(organization.id)
    initial = {"name": organization.name, "shares_reports": organization.shares_reports}
    context = {
        "section": "settings",
        "form": form or SettingsForm(initial=initial),
        "login_form": login_form or _login_form(request),
        "branding_form": branding_form or BrandingForm(initial={"name": shown_branding.name if shown_branding else ""}),
        "branding": shown_branding,
        "tier": tier,
        "quota": usage.quota(organization.id, tier_limits(tier), timezone.now()),
        "organization": organization,
        "gets_digest": topics.receives_digest(actor),
    }
    return render(request, "accounts/settings.html", context)


@require_POST
@requires(Role.VIEWER)
@session_suffices("the person's own preference")
def weekly_digest(request: MemberRequest) -> HttpResponse:
    """Switch the weekly e-mail about monitors on or off, for the logged-in user."""
    is_digest_on = request.POST.get("digest") == "on"
    topics.set_weekly_digest(request.membership, on=is_digest_on)
    messages.success(request, "The weekly e-mail is on." if is_digest_on else "The weekly e-mail is off.")
    return redirect(page_of(request.membership, "organization-settings"))


@require_safe
@requires(Role.ADMIN)
def activity_log(request: MemberRequest) -> HttpResponse:
    form = ActivityFilterForm(request.GET)
    before = form.cleaned_data["before"] if form.is_valid() else None
    organization = request.membership.organization
    nothing: tuple[list[ActivityEvent], bool] = ([], False)
    events, more = (
        nothing if form.has_wrong_days else activity.fetch_events_page(organization, form.event_filter, before=before)
    )
    lines = [log_line(event) for event in events]
    context = {
        "section": "activity",
        "lines": lines,
        "older": events[-1].id if more else None,
        "is_first": not before,
        "form": form,
        "wanted": form.event_filter,
        # The activity log displays an API key with its name at the time of the event.
        "whose": form.event_filter.email
        or (lines[0].actor if lines and form.event_filter.key_id else form.event_filter.key_id),
        "query": form.query(),
        "everybody": form.query("action", "from", "to"),
        "days": form.query("from", "to"),
        "formats": activity_exports.MEDIA_TYPES,
        "actions": [(action, action_label(action)) for action in activity.ACTIONS],
        "kept_days": organization.tier.activity_kept_days,
    }
    return render(request, "accounts/activity.html", context, status=400 if form.has_wrong_days else 200)


@require_safe
@requires(Role.ADMIN)
def activity_export(request: MemberRequest, export_format: str) -> HttpResponse | StreamingHttpResponse:
    """Download all activity log events that match the filter."""
    if export_format not in activity_exports.MEDIA_TYPES:
        raise Http404
    organization = request.membership.organization
    form = ActivityFilterForm(request.GET)
    if form.has_wrong_days:
        return redirect(f"{page_of(request.membership, 'activity')}?{request.GET.urlencode()}")
    pieces = activity_exports.export(organization, form.event_filter, export_format)
    response = StreamingHttpResponse(pieces, content_type=activity_exports.MEDIA_TYPES[export_format])
    response["Content-Disposition"] = f'attachment; filename="activity-log-{organization.slug}.{export_format}"'
    return response


def _find_member(request: MemberRequest, membership_id: int) -> Membership:
    rows = access.rows(Membership, request.membership.organization_id).select_related("user")
    return get_object_or_404(rows, id=membership_id)


def _forbidden_page(request: HttpRequest) -> HttpResponse:
    context = {
        "status": 403,
        "shell": "shell.html",
        "message": "Your role does not allow this.",
        "detail": "Ask an owner to change it.",
    }
    return render(request, "error.html", context, status=403)
