"""Drafts of forms that were submitted after the session had ended.

They return when the same person logs in.

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
# The session stores drafts by the path and query of the form's page.
DRAFTS = SessionValues("drafts", most=3, max_age_s=3600)
MAX_DRAFT_LENGTH = 200_000
MAX_DRAFTS_PER_HOUR = 20
# These fields are never stored: passwords, credentials, and fields that protect the form.
UNSAVED_FIELDS = frozenset({FIELD, "csrfmiddlewaretoken", "headers", "cookies", "username", "password"})
# Forms with fields of any number for secrets begin their names with this.
SECRET_PREFIX = "secret-"  # noqa: S105  the name of a field


def is_saved(name: str) -> bool:
    """Return False for fields that are never stored."""
    return name not in UNSAVED_FIELDS and not name.startswith(SECRET_PREFIX)


def draft_of(request: HttpRequest) -> dict[str, object]:
    """Context processor that adds `draft_of`, a signed user ID for a hidden field.

    Empty for anonymous users.
    """
    return {FIELD: SimpleLazyObject(lambda: _signed_author(request))}


def save(request: HttpRequest) -> bool:
    """Store the submitted form input in the session until its author logs in, and add a message about it.

    Returns False if the form has no drafts, belongs to somebody else, or could not be stored.
    """
    if request.method != "POST" or not (author := _verified_author(request)):
        return False
    if request.user.is_authenticated and request.user.pk != author:
        return False
    entered = request.POST.copy()
    for name in [name for name in entered if not is_saved(name)]:
        del entered[name]
    text = entered.urlencode()
    hourly = [Limit(str(author), MAX_DRAFTS_PER_HOUR)]
    if len(text) > MAX_DRAFT_LENGTH or limits.refusal(request, "draft", hourly, window_s=limits.HOUR_S):
        messages.warning(request, "Your session had ended, and your input could not be saved.")
        return False
    DRAFTS.put(request, request.get_full_path(), {"author": author, "text": text})
    if not request.user.is_authenticated:
        messages.info(request, "Your session has ended. Log in to return to the form with your input.")
    return True


def restore(request: HttpRequest) -> QueryDict | None:
    """Remove and return the user's draft of this page's form, and add a message.

    Returns None without a draft.
    """
    if request.method != "GET" or not isinstance(request.user, User):
        return None
    draft = DRAFTS.take(request, request.get_full_path())
    if draft is None or draft["author"] != request.user.pk:
        return None
    unsaved = "Nothing was saved yet: check it, then send it again."
    messages.info(request, f"Your input is back, except for passwords and credentials. {unsaved}")
    return QueryDict(draft["text"])


def delete_drafts_of_others(request: HttpRequest, user: User) -> None:
    """Delete the session's drafts, except those that belong to the user who logs in."""
    DRAFTS.retain_only(request, lambda draft: draft is not None and draft["author"] == user.pk)


def _signed_author(request: HttpRequest) -> str:
    return signing.dumps(request.user.pk, salt=SALT) if request.user.is_authenticated else ""


def _verified_author(request: HttpRequest) -> int | None:
    try:
        author: int = signing.loads(request.POST.get(FIELD, ""), salt=SALT)
    except signing.BadSignature:
        return None
    return author
