"""Dashboard pages that set up a new webhook, one for each format.

Slack and Teams get a test message at once. They ignore signatures, so their secret is not displayed. Other receivers
need the secret first.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.contrib import messages
from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_safe
from msgspec import Struct

from accounts.authentication import member_caller
from accounts.identity.freshness import require_fresh_login
from accounts.models import Membership
from accounts.roles import MemberRequest, known, page_of, requires
from accounts.shown_once import SECRETS
from accounts.submissions import form_page
from infrastructure.api.throttling import refuse_over_rate
from webhooks import pages, services
from webhooks.forms import WebhookForm
from webhooks.models import GROUPED_EVENTS, EventKind, Webhook
from webhooks.services import SECRET_OVERLAP, WEBHOOK
from website_scan.errors import Refusal

Role = Membership.Role
Format = Webhook.Format


class Setup(Struct, frozen=True):
    """What the set-up page of a format displays and preselects."""

    events: Sequence[EventKind]
    choices: Sequence[EventKind]
    placeholder: str
    default_name: str


# Chats receive one event for the alerts of all monitors, so the events of single monitors would add nothing.
CHAT_CHOICES = [kind for kind in EventKind if kind not in GROUPED_EVENTS]
CHAT_EVENTS = [kind for kind in CHAT_CHOICES if kind.startswith(("monitor.", "list."))]
SCAN_EVENTS = [EventKind.SCAN_COMPLETED, EventKind.SCAN_FAILED, EventKind.SCAN_PARTIAL]
SETUPS = {
    Format.SLACK: Setup(CHAT_EVENTS, CHAT_CHOICES, "https://hooks.slack.com/services/…", "Slack"),
    Format.TEAMS: Setup(CHAT_EVENTS, CHAT_CHOICES, "https://….logic.azure.com/workflows/…", "Microsoft Teams"),
    Format.STANDARD: Setup(SCAN_EVENTS, list(EventKind), "https://example.com/hooks/scans", "the host"),
}


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Role.ADMIN)
@require_fresh_login("POST")
def webhook_new(request: MemberRequest, webhook_format: str) -> HttpResponse:
    """Render the set-up page of a format, or register the webhook.

    Slack and Teams get a test message, and the next page shows its result. Other formats redirect to the new secret.
    """
    if webhook_format not in Format.values:
        raise Http404
    body_format, member = Format(webhook_format), request.membership

    def make_form(data: QueryDict | None) -> WebhookForm:
        setup = SETUPS[body_format]
        form = WebhookForm(data, initial={"event": setup.events})
        form.offer(setup.choices)
        form.fields["url"].widget.attrs["placeholder"] = setup.placeholder
        form.fields["name"].widget.attrs["placeholder"] = f"Default: {setup.default_name}"
        return form

    def show(form: WebhookForm, status: int) -> HttpResponse:
        count, limit = len(pages.webhooks_of_organization(member.organization_id)), member.organization.tier.webhooks
        context = {
            "section": "webhooks",
            "format": body_format,
            "form": form,
            "limit": limit,
            "is_full": count >= limit and not form.is_bound,
        }
        return render(request, "webhooks/new.html", context, status=status)

    def submit(form: WebhookForm) -> HttpResponse:
        caller = member_caller(member)
        refuse_over_rate(request, caller)
        webhook, secret = services.register_webhook(caller=caller, request=form.webhook_request(body_format))
        if webhook.is_signed:
            return show_secret(request, webhook.id, secret)
        try:
            services.send_test(caller=caller, webhook_id=webhook.id)
        except Refusal as refusal:
            messages.error(request, f"The test was not sent. {refusal}")
        return redirect(page_of(member, "webhook-ready", webhook.id))

    return form_page(request, make_form, show, submit)


def show_secret(
    request: MemberRequest, webhook_id: str, secret: str, *, is_new: bool = True, valid_until: datetime | None = None
) -> HttpResponse:
    """Store a secret in the session and redirect to its page.

    The page displays the secret once. `valid_until` is the time until which the former secret remains valid.
    """
    until = valid_until.isoformat() if valid_until else None
    SECRETS.put(request, webhook_id, {"secret": secret, "is_new": is_new, "valid_until": until})
    return redirect(page_of(request.membership, "webhook-new-secret", webhook_id))


@never_cache
@require_GET
@requires(Role.ADMIN)
@known
def webhook_secret(request: MemberRequest, webhook_id: str) -> HttpResponse:
    """Render a new secret once.

    Later requests for this page redirect to the webhook's page.
    """
    webhook = WEBHOOK.find(request.membership.organization_id, webhook_id)
    stored = SECRETS.take(request, webhook_id)
    if stored is None:
        messages.info(request, "The secret has been shown already. If you did not copy it, rotate it to get a new one.")
        return redirect(page_of(request.membership, "webhook", webhook_id))
    valid_until = stored["valid_until"]
    context = {
        "section": "webhooks",
        "webhook": webhook,
        "secret": stored["secret"],
        "valid_until": datetime.fromisoformat(valid_until) if valid_until else None,
        "is_new": stored["is_new"],
        "overlap_hours": SECRET_OVERLAP // timedelta(hours=1),
    }
    return render(request, "webhooks/secret.html", context)


@require_safe
@requires(Role.ADMIN)
@known
def webhook_ready(request: MemberRequest, webhook_id: str) -> HttpResponse:
    """Render the last step of the set-up: the result of the last test, and a button for another one."""
    webhook = WEBHOOK.find(request.membership.organization_id, webhook_id)
    context = {"section": "webhooks", "webhook": webhook, "entry": pages.last_test(webhook)}
    return render(request, "webhooks/ready.html", context)
