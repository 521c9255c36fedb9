"""Unsubscribe pages.

A signed token in the link identifies the user and the topic, without a login.
"""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_POST

from accounts import limits
from accounts.identity.freshness import session_suffices
from accounts.limits import Limit
from accounts.mailing.topics import find_subscription
from accounts.pages.login import invalid_link_page

# The limit is high, because a mail service sends the clicks of all its users from few IP addresses.
MAX_CLICKS_PER_CLIENT = 300
MAX_CLICKS_PER_TOKEN = 20


@csrf_exempt  # CSRF protection is off, because mail programs send no cookies. The signed token authorizes the request.
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@session_suffices("the link from the e-mail proves the address")
def unsubscribe(request: HttpRequest, token: str) -> HttpResponse:
    """Unsubscribe by POST, as RFC 8058 requires.

    GET only displays a form, because mail scanners follow every link.
    """
    return _subscription_page(request, token, stop=True)


@csrf_exempt
@never_cache
@require_POST
@session_suffices("the link from the e-mail proves the address")
def subscribe_again(request: HttpRequest, token: str) -> HttpResponse:
    """Subscribe the user to the topic again."""
    return _subscription_page(request, token, stop=False)


def _subscription_page(request: HttpRequest, token: str, *, stop: bool) -> HttpResponse:
    attempts = [Limit(limits.client(request), MAX_CLICKS_PER_CLIENT), Limit(f"token {token}", MAX_CLICKS_PER_TOKEN)]
    if request.method == "POST" and (refusal := limits.refusal(request, "unsubscribe", attempts)):
        return refusal
    subscription = find_subscription(token)
    if subscription is None:
        return invalid_link_page(request, "It may be incomplete: copy all of it from the e-mail and try again.")
    if request.method == "POST":
        (subscription.stop if stop else subscription.resume)()
    context = {"subscription": subscription, "done": request.method == "POST"}
    return render(request, "accounts/unsubscribe.html", context)
