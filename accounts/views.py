"""Logging in."""

from __future__ import annotations

import logging
from typing import Any

from django.contrib.auth import views
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django_ratelimit.core import get_usage
from redis.exceptions import RedisError

from accounts.forms import LoginForm

logger = logging.getLogger(__name__)

WINDOW_S = 60
ATTEMPTS_PER_ADDRESS = 20
ATTEMPTS_PER_ACCOUNT = 10


class LoginView(views.LoginView):
    """E-mail address and password; afterwards to `next`, when that is on our own host.

    Attempts are limited per client address and per account. Fails closed: without Redis nobody logs in.
    """

    authentication_form = LoginForm
    redirect_authenticated_user = True

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            too_many = _too_many_attempts(request)
        except RedisError as error:
            logger.warning("nobody can log in, Redis does not answer: %s", error)
            return _refuse(request, 503, "Logging in is not possible at the moment.")
        if too_many:
            return _refuse(request, 429, "Too many attempts to log in. Try again in a minute.")
        return super().post(request, *args, **kwargs)


def admin_login(request: HttpRequest) -> HttpResponse:
    """In place of the admin's own form, which would go round the limit of attempts."""
    if not request.user.is_authenticated:
        return redirect_to_login(request.GET.get("next") or reverse("admin:index"), reverse("login"))
    if not request.user.is_staff:
        raise PermissionDenied
    return HttpResponseRedirect(reverse("admin:index"))


def _too_many_attempts(request: HttpRequest) -> bool:
    subjects = (
        (request.META.get("REMOTE_ADDR", ""), ATTEMPTS_PER_ADDRESS),
        (request.POST.get("username", "").strip().lower(), ATTEMPTS_PER_ACCOUNT),
    )
    # A list, not a generator: every attempt counts for both.
    over = [_count(request, subject, limit) > limit for subject, limit in subjects]
    return any(over)


def _count(request: HttpRequest, subject: str, limit: int) -> int:
    usage = get_usage(request, group="login", key=lambda *_: subject, rate=(limit, WINDOW_S), increment=True)
    count: int = usage["count"]
    return count


def _refuse(request: HttpRequest, status: int, message: str) -> HttpResponse:
    response = render(request, "error.html", {"status": status, "message": message}, status=status)
    response["Retry-After"] = str(WINDOW_S)
    return response
