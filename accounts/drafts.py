"""Drafts: form input that was sent after the session had ended, stored until its author has logged in again.

A form supports drafts if it contains `accounts/_draft.html` and its page calls `restore` for GET requests, as
`form_page` does. The hidden field of that template contains the signed ID of the author, so that strangers cannot fill
sessions and nobody else can read the input.
"""

from __future__ import annotations

from django.contrib import messages
from django.core import signing
from django.http import HttpRequest, QueryDict
from django.utils.functional import SimpleLazyObject

from accounts import limits
from accounts.limits import Limit
from accounts.models import User
from infrastructure.web.session_values import SessionValues

FIELD = "draft_of"
SALT = "accounts.drafts"
# Drafts in the session. The key is the path and query of the form's page.
DRAFTS = SessionValues("drafts", most=3, max_age_s=3600)
MAX_LENGTH = 200_000
MAX_DRAFTS_PER_HOUR = 20
# Fields that are not stored: passwords, credentials, and the fields that protect the form.
UNSAVED_FIELDS = frozenset({FIELD, "csrfmiddlewaretoken", "headers", "cookies", "username", "password"})


def draft_of(request: HttpRequest) -> dict[str, object]:
    """Return the template context `draft_of`, the value of the hidden field, which is empty for an anonymous user."""
    return {FIELD: SimpleLazyObject(lambda: _signed_author(request))}


def save(request: HttpRequest) -> bool:
    """Store the input of a form's POST in the session until its author has logged in, and add a message about it.

    Returns False if the form has no drafts, belongs to somebody else, or could not be stored.
    """
    if request.method != "POST" or not (author := _author(request)):
        return False
    if request.user.is_authenticated and request.user.pk != author:
        return False
    entered = request.POST.copy()
    for name in UNSAVED_FIELDS:
        entered.pop(name, None)
    text = entered.urlencode()
    hourly = [Limit(str(author), MAX_DRAFTS_PER_HOUR)]
    if len(text) > MAX_LENGTH or limits.refusal(request, "draft", hourly, window_s=limits.HOUR_S):
        messages.warning(request, "Your session had ended, and your input could not be kept.")
        return False
    DRAFTS.put(request, request.get_full_path(), {"author": author, "text": text})
    if not request.user.is_authenticated:
        messages.info(request, "Your session has ended. Log in to return to the form with your input.")
    return True


def restore(request: HttpRequest) -> QueryDict | None:
    """Remove and return the author's draft of the form on this page, with a message about it; None without a draft."""
    if request.method != "GET" or not isinstance(request.user, User):
        return None
    draft = DRAFTS.take(request, request.get_full_path())
    if draft is None or draft["author"] != request.user.pk:
        return None
    unsaved = "Nothing was saved yet: check it, then send it again."
    messages.info(request, f"Your input is back, except for passwords and credentials. {unsaved}")
    return QueryDict(draft["text"])


def delete_of_others(request: HttpRequest, user: User) -> None:
    """Delete the session's drafts of everybody but the person who logs in."""
    DRAFTS.retain_only(request, lambda draft: draft is not None and draft["author"] == user.pk)


def _signed_author(request: HttpRequest) -> str:
    return signing.dumps(request.user.pk, salt=SALT) if request.user.is_authenticated else ""


def _author(request: HttpRequest) -> int | None:
    try:
        author: int = signing.loads(request.POST.get(FIELD, ""), salt=SALT)
    except signing.BadSignature:
        return None
    return author
