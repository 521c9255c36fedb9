"""Dashboard pages of webhooks.

All members may view webhooks, and admins may change them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST, require_safe

from accounts.authentication import member_caller
from accounts.identity.freshness import require_fresh_login, session_suffices
from accounts.models import Membership
from accounts.roles import MemberRequest, known, page_of, requires
from accounts.shown_once import SECRETS
from accounts.submissions import form_page
from infrastructure.api.errors import NotFound
from infrastructure.api.inputs import checked, parse_address
from infrastructure.api.throttling import refuse_over_rate
from infrastructure.web.forms import AddressField, HintedLabel, RefusalForm, TicksField
from scans.policy import scan_policy
from webhooks import pages, services
from webhooks.models import MAX_NAME_LENGTH, EventKind, Webhook
from webhooks.requests import TestRequestSerializer, WebhookRequest, WebhookRequestSerializer
from webhooks.services import SECRET_OVERLAP, WEBHOOK
from website_scan.errors import Refusal
from website_scan.messages import counted

Role = Membership.Role
DEFAULT_EVENTS = (EventKind.SCAN_COMPLETED, EventKind.SCAN_FAILED, EventKind.SCAN_PARTIAL)
FORMAT_HINTS = {
    Webhook.Format.STANDARD: "JSON for your own receiver, as documented.",
    Webhook.Format.SLACK: "A message for a Slack incoming webhook.",
    Webhook.Format.TEAMS: "A card for a Teams workflow, “When a webhook request is received”.",
}


class WebhookForm(RefusalForm):
    about = {"events": "event", "INVALID_URL": "url", "DOMAIN_BLOCKED": "url"}
    name = forms.CharField(
        label="Name",
        required=False,
        max_length=MAX_NAME_LENGTH,
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    url = AddressField("Address", "https://example.com/hooks/scans", "off")
    event = TicksField(
        [(kind, HintedLabel(kind, str(kind.label))) for kind in EventKind],
        label="Events",
        initial=DEFAULT_EVENTS,
    )
    format = forms.ChoiceField(
        choices=[(body_format, HintedLabel(body_format.label, hint)) for body_format, hint in FORMAT_HINTS.items()],
        widget=forms.RadioSelect,
        initial=Webhook.Format.STANDARD,
        required=False,
    )

    @property
    def webhook_request(self) -> WebhookRequest:
        """Return the WebhookRequest of a valid form.

        Without a format, the webhook's format does not change. Raises the refusals of the API's fields.
        """
        values = self.cleaned_data
        target = parse_address(values["url"], scan_policy(), "url")
        events = checked(WebhookRequestSerializer, "events", values["event"])
        name = checked(WebhookRequestSerializer, "name", values["name"]) if values["name"].strip() else None
        return WebhookRequest(name, target, events, values["format"] or None)

    def add_refusal(self, refusal: Refusal) -> int:
        """Add a refusal as a form error, and focus the first field.

        The form is far down the page, so it would be out of view without the focus.
        """
        self.fields["url"].widget.attrs["autofocus"] = True
        return super().add_refusal(refusal)


@require_safe
@requires(Role.VIEWER)
def webhooks(request: MemberRequest) -> HttpResponse:
    return _render_list(request, WebhookForm(), 200)


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Role.ADMIN)
@require_fresh_login("POST")
def webhook_new(request: MemberRequest) -> HttpResponse:
    """Register a webhook and redirect to its new secret.

    The page displays the secret once.
    """

    def show(form: WebhookForm, status: int) -> HttpResponse:
        return (
            _render_list(request, form, status) if form.is_bound else redirect(page_of(request.membership, "webhooks"))
        )

    def submit(form: WebhookForm) -> HttpResponse:
        caller = member_caller(request.membership)
        refuse_over_rate(request, caller)
        webhook, secret = services.register_webhook(caller=caller, request=form.webhook_request)
        return _show_secret(request, webhook.id, secret)

    return form_page(request, WebhookForm, show, submit)


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
@requires(Role.VIEWER)
@known
def webhook(request: MemberRequest, webhook_id: str) -> HttpResponse:
    """Render a webhook's settings, state and delivery log."""
    webhook = WEBHOOK.find(request.membership.organization_id, webhook_id)
    form = WebhookForm(initial={"url": webhook.url, "event": webhook.events, "format": webhook.format})
    return _render_detail(request, webhook, form, 200)


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Role.ADMIN)
@require_fresh_login("POST")
@known
def webhook_edit(request: MemberRequest, webhook_id: str) -> HttpResponse:
    member = request.membership
    webhook_page = page_of(member, "webhook", webhook_id)

    def show(form: WebhookForm, status: int) -> HttpResponse:
        if not form.is_bound:
            return redirect(webhook_page)
        return _render_detail(request, WEBHOOK.find(member.organization_id, webhook_id), form, status)

    def submit(form: WebhookForm) -> HttpResponse:
        webhook, caller = WEBHOOK.find(member.organization_id, webhook_id), member_caller(member)
        refuse_over_rate(request, caller)
        services.update_webhook(caller=caller, webhook=webhook, request=form.webhook_request)
        messages.success(request, "The webhook was changed.")
        return redirect(webhook_page)

    return form_page(request, WebhookForm, show, submit)


@require_POST
@requires(Role.ADMIN)
@known
@session_suffices("sends to an address that was confirmed before")
def webhook_enable(request: MemberRequest, webhook_id: str) -> HttpResponse:
    """Enable a webhook, and send its waiting deliveries."""
    _switch_webhook(request, webhook_id, enabled=True)
    messages.success(request, "The webhook is enabled. Waiting events are being sent.")
    return redirect(page_of(request.membership, "webhook", webhook_id))


@require_POST
@requires(Role.ADMIN)
@known
@session_suffices("takes access away")
def webhook_disable(request: MemberRequest, webhook_id: str) -> HttpResponse:
    """Disable a webhook.

    Its deliveries wait until it is enabled again.
    """
    _switch_webhook(request, webhook_id, enabled=False)
    messages.success(request, "The webhook is disabled. Its events are kept until you enable it again.")
    return redirect(page_of(request.membership, "webhook", webhook_id))


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Role.ADMIN)
@known
@session_suffices("takes access away")
def webhook_delete(request: MemberRequest, webhook_id: str) -> HttpResponse:
    """Render the page that confirms the deletion of a webhook.

    A POST deletes the webhook with its delivery log.
    """
    webhook = WEBHOOK.find(request.membership.organization_id, webhook_id)
    if request.method != "POST":
        return render(request, "webhooks/delete.html", {"section": "webhooks", "webhook": webhook})
    services.delete_webhook(**_service_arguments(request, webhook_id))
    messages.success(request, "The webhook was deleted.")
    return redirect(page_of(request.membership, "webhooks"))


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Role.ADMIN)
@require_fresh_login("POST")
@known
def webhook_rotate(request: MemberRequest, webhook_id: str) -> HttpResponse:
    """Rotate a webhook's secret and redirect to the new one.

    The page displays the secret once.
    """
    if request.method != "POST":
        return redirect(page_of(request.membership, "webhook", webhook_id))
    try:
        secret, valid_until = services.rotate_secret(
            **_service_arguments(request, webhook_id), at_once="at_once" in request.POST
        )
    except NotFound:
        raise
    except Refusal as refusal:
        messages.error(request, str(refusal))
        return redirect(page_of(request.membership, "webhook", webhook_id))
    return _show_secret(request, webhook_id, secret, is_new=False, valid_until=valid_until)


@require_POST
@requires(Role.ADMIN)
@known
@session_suffices("sends to an address that was confirmed before")
def webhook_test(request: MemberRequest, webhook_id: str) -> HttpResponse:
    def send() -> None:
        kind = checked(TestRequestSerializer, "event", request.POST.get("event", ""))
        services.send_test(**_service_arguments(request, webhook_id), kind=kind)

    return _redirect_after_sending(
        request,
        webhook_id,
        send,
        "The test event is being sent. The log shows the result.",
    )


@require_POST
@requires(Role.ADMIN)
@known
@session_suffices("sends to an address that was confirmed before")
def delivery_replay(request: MemberRequest, webhook_id: str, delivery_id: str) -> HttpResponse:
    return _redirect_after_sending(
        request,
        webhook_id,
        lambda: services.replay_delivery(**_service_arguments(request, webhook_id), delivery_id=delivery_id),
        "The delivery is being sent again.",
    )


@require_POST
@requires(Role.ADMIN)
@known
@session_suffices("sends to an address that was confirmed before")
def webhook_recover(request: MemberRequest, webhook_id: str) -> HttpResponse:
    """Send all failed deliveries created after the time in the form again."""
    try:
        since = datetime.fromisoformat(request.POST.get("since", "")).replace(tzinfo=UTC)
    except ValueError:
        messages.error(request, "Enter a date and a time, such as 2026-11-21 07:15.")
        return redirect(page_of(request.membership, "webhook", webhook_id))
    counts: list[int] = []
    recover = functools.partial(services.recover_failed, **_service_arguments(request, webhook_id), since=since)
    response = _redirect_after_sending(request, webhook_id, lambda: counts.append(recover()), "")
    for count in counts:
        if count:
            deliveries = counted(count, "failed delivery is", "failed deliveries are")
            messages.success(request, f"{deliveries} being sent again.")
        else:
            messages.info(request, "No delivery has failed since then.")
    return response


def _service_arguments(request: MemberRequest, webhook_id: str) -> dict[str, Any]:
    """Return the caller and the webhook ID.

    All service functions take them.
    """
    return {"caller": member_caller(request.membership), "webhook_id": webhook_id}


def _switch_webhook(request: MemberRequest, webhook_id: str, *, enabled: bool) -> None:
    webhook = WEBHOOK.find(request.membership.organization_id, webhook_id)
    caller = member_caller(request.membership)
    services.update_webhook(caller=caller, webhook=webhook, request=WebhookRequest(enabled=enabled))


def _redirect_after_sending(
    request: MemberRequest, webhook_id: str, send: Callable[[], object], message: str
) -> HttpResponse:
    """Call `send` and show the result on the webhook's page.

    Redirects to the page with a message.
    """
    try:
        refuse_over_rate(request, member_caller(request.membership))
        send()
    except NotFound:
        raise
    except Refusal as refusal:
        messages.error(request, str(refusal))
    else:
        if message:
            messages.success(request, message)
    return redirect(page_of(request.membership, "webhook", webhook_id))


def _render_list(request: MemberRequest, form: WebhookForm, status: int) -> HttpResponse:
    webhooks = [
        (webhook, pages.displayed_url(webhook, request.membership))
        for webhook in pages.webhooks_of_organization(request.membership.organization_id)
    ]
    limit = request.membership.organization.tier.webhooks
    context = {
        "section": "webhooks",
        "webhooks": webhooks,
        "limit": limit,
        "is_full": len(webhooks) >= limit and not form.is_bound,
        "form": form,
        "base_url": settings.BASE_URL,
    }
    return render(request, "webhooks/list.html", context, status=status)


def _render_detail(request: MemberRequest, webhook: Webhook, form: WebhookForm, status: int) -> HttpResponse:
    now = timezone.now()
    context = {
        "section": "webhooks",
        "webhook": webhook,
        "address": pages.displayed_url(webhook, request.membership),
        "former_secrets": list(webhook.former_secrets.filter(expires_at__gt=now).order_by("expires_at")),
        "form": form,
        "log": pages.delivery_log(webhook, request.GET),
        "since": now - timedelta(days=1),
        "retention_days": request.membership.organization.tier.deliveries_kept_days,
    }
    return render(request, "webhooks/detail.html", context, status=status)


def _show_secret(
    request: MemberRequest, webhook_id: str, secret: str, *, is_new: bool = True, valid_until: datetime | None = None
) -> HttpResponse:
    """Store a secret in the session and redirect to its page.

    The page displays the secret once. `valid_until` is the time until which the former secret remains valid.
    """
    until = valid_until.isoformat() if valid_until else None
    SECRETS.put(request, webhook_id, {"secret": secret, "is_new": is_new, "valid_until": until})
    return redirect(page_of(request.membership, "webhook-new-secret", webhook_id))
