"""Content-Security-Policy middleware and decorator, named as in Django 6, which will replace this module."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence

from django.conf import settings
from django.http import HttpRequest, HttpResponse

Directives = Mapping[str, Sequence[str]]

HEADER = "Content-Security-Policy"


class ContentSecurityPolicyMiddleware:
    """Middleware that sends the policy `SECURE_CSP` with every response, except for views with `csp_override`."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        # Django's debug pages have inline styles.
        if not (settings.DEBUG and response.status_code in (404, 500)):
            response.headers.setdefault(HEADER, policy(settings.SECURE_CSP))
        return response


def policy(directives: Directives) -> str:
    """Return the Content-Security-Policy header's value (CSP Level 3, section 2.2)."""
    return "; ".join(f"{name} {' '.join(sources)}".rstrip() for name, sources in directives.items())


def csp_override(
    directives: Directives,
) -> Callable[[Callable[..., HttpResponse]], Callable[..., HttpResponse]]:
    """Decorate a view to send these directives instead of `SECURE_CSP`."""

    def decorate(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
        @functools.wraps(view)
        def wrapped(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
            response = view(request, *args, **kwargs)
            response.headers[HEADER] = policy(directives)
            return response

        return wrapped

    return decorate
