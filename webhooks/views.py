"""Dashboard pages of webhooks.

All members may view webhooks, and admins may change them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.authentication import member_caller
from accounts.identity.freshness import require_fresh_login, session_suffices
from accounts.models import Membership
from accounts.roles import MemberRequest, known, page_of, requires
from accounts.submissions import form_page
from infrastructure.api.errors import NotFound
from infrastructure.api.inputs import checked
from infrastructure.api.throttling import refuse_over_rate
from webhooks import pages, services
from webhooks.forms import WebhookEditForm
from webhooks.models import Webhook
from webhooks.requests import TestRequestSerializer, WebhookRequest
from webhooks.services import WEBHOOK
from webhooks.setup_views import show_secret
from website_scan.errors import Refusal
from website_scan.messages import counted

Role = Membership.Role


@require_safe
@requires(Role.VIEWER)
def webhooks(request: MemberRequest) -> HttpResponse:
    """Render the list of webhooks, with links to the set-up pages for admins."""
    webhooks = pages.webhooks_of_organization(request.membership.organization_id)
    limit = request.membership.organization.tier.webhooks
    context = {
        "section": "webhooks",
        "webhooks": webhooks,
        "limit": limit,
        "is_full": len(webhooks) >= limit,
        "base_url": settings.BASE_URL,
    }
    return render(request, "webhooks/list.html", context)


@require_safe
@requires(Role.VIEWER)
@known
def webhook(request: MemberRequest, webhook_id: str) -> HttpResponse:
    """Render a webhook's settings, state and delivery log."""
    webhook = WEBHOOK.find(request.membership.organization_id, webhook_id)
    names = ("name", "url", "format")
    form = WebhookEditForm(initial={name: getattr(webhook, name) for name in names} | {"event": webhook.events})
    return _render_detail(request, webhook, form, 200)


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Role.ADMIN)
@require_fresh_login("POST")
@known
def webhook_edit(request: MemberRequest, webhook_id: str) -> HttpResponse:
    member = request.membership
    webhook_page = page_of(member, "webhook", webhook_id)

    def show(form: WebhookEditForm, status: int) -> HttpResponse:
        if not form.is_bound:
            return redirect(webhook_page)
        return _render_detail(request, WEBHOOK.find(member.organization_id, webhook_id), form, status)

    def submit(form: WebhookEditForm) -> HttpResponse:
        webhook, caller = WEBHOOK.find(member.organization_id, webhook_id), member_caller(member)
        refuse_over_rate(request, caller)
        services.update_webhook(caller=caller, webhook=webhook, request=form.webhook_request())
        messages.success(request, "The webhook was changed.")
        return redirect(webhook_page)

    return form_page(request, WebhookEditForm, show, submit)


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
    return show_secret(request, webhook_id, secret, is_new=False, valid_until=valid_until)


@require_POST
@requires(Role.ADMIN)
@known
@session_suffices("sends to an address that was confirmed before")
def webhook_test(request: MemberRequest, webhook_id: str) -> HttpResponse:
    """Send a test event. The form field `back` is `ready` on the last page of the set-up, which shows the result."""

    def send() -> None:
        kind = checked(TestRequestSerializer, "event", request.POST.get("event", ""))
        services.send_test(**_service_arguments(request, webhook_id), kind=kind)

    is_setup = request.POST.get("back") == "ready"
    message = "" if is_setup else "The test event is being sent. The log shows the result."
    return _redirect_after_sending(request, webhook_id, send, message, page="webhook-ready" if is_setup else "webhook")


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
    request: MemberRequest, webhook_id: str, send: Callable[[], object], message: str, *, page: str = "webhook"
) -> HttpResponse:
    """Call `send`, and redirect to the webhook's page with a message.

    `page` is the URL name of another page of the webhook.
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
    return redirect(page_of(request.membership, page, webhook_id))


def _render_detail(request: MemberRequest, webhook: Webhook, form: WebhookEditForm, status: int) -> HttpResponse:
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
