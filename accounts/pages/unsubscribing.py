"""Pages of unsubscribe links: the signed token names the person and the topic, so nobody has to log in."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_POST

from accounts import limits
from accounts.identity.freshness import session_suffices
from accounts.limits import Limit
from accounts.mailing.topics import subscription_of
from accounts.pages.login import link_is_dead

# High, because a mail service sends the clicks of all its users from few addresses.
CLICKS_PER_CLIENT = 300
CLICKS_PER_TOKEN = 20


@csrf_exempt  # a mail program has no cookies; the signed token authorizes the request
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@session_suffices("the link from the e-mail proves the address")
def unsubscribe(request: HttpRequest, token: str) -> HttpResponse:
    """Unsubscribe by POST, as RFC 8058 requires. GET only asks, because mail scanners follow every link."""
    return _page(request, token, stop=True)


@csrf_exempt
@never_cache
@require_POST
@session_suffices("the link from the e-mail proves the address")
def subscribe_again(request: HttpRequest, token: str) -> HttpResponse:
    """Undo an unsubscription."""
    return _page(request, token, stop=False)


def _page(request: HttpRequest, token: str, *, stop: bool) -> HttpResponse:
    attempts = [Limit(limits.client(request), CLICKS_PER_CLIENT), Limit(f"token {token}", CLICKS_PER_TOKEN)]
    if request.method == "POST" and (refusal := limits.refusal(request, "unsubscribe", attempts)):
        return refusal
    found = subscription_of(token)
    if found is None:
        return link_is_dead(request, "It may be incomplete: copy all of it from the e-mail and try again.")
    if request.method == "POST":
        (found.stop if stop else found.resume)()
    return render(request, "accounts/unsubscribe.html", {"subscription": found, "done": request.method == "POST"})
