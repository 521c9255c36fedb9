"""Submit members' forms: build the response, refuse early, and prevent duplicates."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from django.http import HttpResponse, QueryDict

from accounts import drafts
from accounts.authentication import member_caller
from accounts.roles import MemberRequest
from infrastructure.api import idempotency
from infrastructure.api.errors import refuse_in_maintenance
from infrastructure.api.idempotency import Once
from infrastructure.api.throttling import refuse_over_rate
from infrastructure.web.forms import IdempotentForm, RefusalForm
from website_scan.errors import Refusal

Form = TypeVar("Form", bound=RefusalForm)


def refuse_over_rate_or_in_maintenance(request: MemberRequest) -> None:
    """Raise a Refusal if the member exceeds the rate limit, or during maintenance.

    Does not validate the input.
    """
    refuse_over_rate(request, member_caller(request.membership))
    refuse_in_maintenance()


def form_page(
    request: MemberRequest,
    make: Callable[[QueryDict | None], Form],
    show: Callable[[Form, int], HttpResponse],
    submit: Callable[[Form], HttpResponse],
) -> HttpResponse:
    """Return the response for a page with a form.

    `make` creates the form, `show` renders it with a status.

    1. GET renders the form, with its author's draft if the session has one.
    2. POST renders an invalid form again, with 400.
    3. `submit` processes a valid form and redirects. A refusal is displayed beside its field, with its status; a
       refusal with 404 is about the page itself and is raised.
    """
    if request.method != "POST":
        return show(make(drafts.restore(request)), 200)
    form = make(request.POST)
    if not form.is_valid():
        return show(form, 400)
    try:
        return submit(form)
    except Refusal as refusal:
        if refusal.status == 404:
            raise
        return show(form, form.add_refusal(refusal))


def form_idempotency(request: MemberRequest, form: IdempotentForm) -> Once | None:
    """Return the form's idempotency key with a digest of its input.

    Returns None without a key.

    The digest excludes credentials.
    """
    values = {name: entries for name, entries in request.POST.lists() if drafts.is_saved(name)}
    return idempotency.once(form.key, values)
