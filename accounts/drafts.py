"""Drafts: the input of forms that could not be accepted because the session had ended, until their author is back.

A form takes part if it contains `accounts/_draft.html` and its page calls `take` for GET requests, as `form_page` does.
The hidden field there names the author, signed, so that strangers cannot fill sessions, and nobody else gets the input.
"""

from __future__ import annotations

from django.contrib import messages
from django.core import signing
from django.http import HttpRequest, QueryDict
from django.utils.functional import SimpleLazyObject

from accounts import limits
from accounts.limits import Limit
from accounts.models import User
from infrastructure.web.session_box import SessionBox

FIELD = "draft_of"
SALT = "accounts.drafts"
# By the path and query of the form's page.
DRAFTS = SessionBox("drafts", most=3, max_age_s=3600)
MAX_LENGTH = 200_000
KEPT_PER_HOUR = 20
# Passwords and credentials are not stored, and neither are the fields that protect the form.
UNKEPT = frozenset({FIELD, "csrfmiddlewaretoken", "headers", "cookies", "username", "password"})


def draft_of(request: HttpRequest) -> dict[str, object]:
    """Context processor: `draft_of`, the value of the hidden field; empty for an anonymous user."""
    return {FIELD: SimpleLazyObject(lambda: _signed(request))}


def keep(request: HttpRequest) -> bool:
    """Keep the input of a form's POST until its author has logged in, and tell them.

    Returns False if the form takes no part, belongs to somebody else, or could not be kept.
    """
    if request.method != "POST" or not (author := _author(request)):
        return False
    if request.user.is_authenticated and request.user.pk != author:
        return False
    entered = request.POST.copy()
    for name in UNKEPT:
        entered.pop(name, None)
    text = entered.urlencode()
    kept_now = [Limit(str(author), KEPT_PER_HOUR)]
    if len(text) > MAX_LENGTH or limits.refusal(request, "draft", kept_now, window_s=limits.HOUR_S):
        messages.warning(request, "Your session had ended, and your input could not be kept.")
        return False
    DRAFTS.put(request, request.get_full_path(), {"author": author, "text": text})
    if not request.user.is_authenticated:
        messages.info(request, "Your session has ended. Log in to return to the form with your input.")
    return True


def take(request: HttpRequest) -> QueryDict | None:
    """Return the author's input for the form on this page, once, and tell them to send it; None if there is none."""
    if request.method != "GET" or not isinstance(request.user, User):
        return None
    kept = DRAFTS.take(request, request.get_full_path())
    if kept is None or kept["author"] != request.user.pk:
        return None
    unsaved = "Nothing was saved yet: check it, then send it again."
    messages.info(request, f"Your input is back, except for passwords and credentials. {unsaved}")
    return QueryDict(kept["text"])


def forget_others(request: HttpRequest, user: User) -> None:
    """Forget the drafts of everybody but the person who logs in."""
    DRAFTS.keep_only(request, lambda kept: kept is not None and kept["author"] == user.pk)


def _signed(request: HttpRequest) -> str:
    return signing.dumps(request.user.pk, salt=SALT) if request.user.is_authenticated else ""


def _author(request: HttpRequest) -> int | None:
    try:
        found: int = signing.loads(request.POST.get(FIELD, ""), salt=SALT)
    except signing.BadSignature:
        return None
    return found
