"""Login sessions of a person: list them, and end any of them at once from any browser.

A Django session holds the ID of a `LoginSession` row. Without that row, the session's user is anonymous. The row
holds nothing from which a session could be made.
"""

from __future__ import annotations

from datetime import timedelta

from allauth.account.authentication import get_authentication_records
from django.conf import settings
from django.contrib.auth import get_user, middleware
from django.contrib.auth.models import AnonymousUser
from django.db.models import QuerySet
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.utils.cache import add_never_cache_headers
from django.utils.functional import SimpleLazyObject

from accounts import drafts
from accounts.models import LoginSession, User
from infrastructure.postgresql.statements import fetch

SESSION_KEY = "login"
LAST_SEEN = "SELECT last_seen_at FROM accounts_loginsession WHERE id = %(id)s AND user_id = %(user)s"
# Writing "last seen" on every request would turn every read into a write.
LAST_SEEN_STEP = timedelta(minutes=5)
MAX_SHOWN = 50

# Marks in User-Agent headers. The first match counts, because browsers also claim the names that stand after theirs.
BROWSERS = (("Edg", "Edge"), ("OPR/", "Opera"), ("Firefox/", "Firefox"), ("Chrome/", "Chrome"), ("Safari/", "Safari"))
SYSTEMS = (
    ("Android", "Android"),
    ("iPhone", "iOS"),
    ("iPad", "iPadOS"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("CrOS", "ChromeOS"),
    ("Linux", "Linux"),
)


class AuthenticationMiddleware(middleware.AuthenticationMiddleware):
    """Django's middleware, except that a user without a LoginSession row is anonymous. Queries lazily.

    No cache may keep a response that was made for a person, unless its view says more: the next user of the browser
    could see it.
    """

    def process_request(self, request: HttpRequest) -> None:
        super().process_request(request)
        request.user = SimpleLazyObject(lambda: _person(request))  # type: ignore[assignment]  # as Django does

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Send `no-store` if anything has looked at the request's user, and there is one."""
        if getattr(request, "has_person", False) and not response.has_header("Cache-Control"):
            add_never_cache_headers(response)
        return response


def begin(request: HttpRequest, user: User, **_: object) -> None:
    """Receiver of `user_logged_in`: create the LoginSession row of the new session."""
    now = timezone.now()
    LoginSession.objects.filter(user=user, last_seen_at__lt=now - lifetime()).delete()
    end(request)  # a second login in the same browser
    row = LoginSession.objects.create(
        user=user,
        address=request.META.get("REMOTE_ADDR", "")[:45],
        user_agent=request.META.get("HTTP_USER_AGENT", "").replace("\0", "")[:300],
    )
    request.session[SESSION_KEY] = row.id
    drafts.delete_of_others(request, user)


def end(request: HttpRequest) -> None:
    """Delete the LoginSession row of the request's session, before a logout."""
    LoginSession.objects.filter(id=current_id(request)).delete()


def current_id(request: HttpRequest) -> str:
    found: str = request.session.get(SESSION_KEY, "")
    return found


def sessions_of(user: User) -> QuerySet[LoginSession]:
    """Return the person's sessions that have not expired, last seen first."""
    alive = timezone.now() - lifetime()
    return LoginSession.objects.filter(user=user, last_seen_at__gte=alive).order_by("-last_seen_at")


def end_others(user: User, keep: str = "") -> int:
    """End all of the person's sessions except `keep`; returns the number of ended sessions."""
    count, _ = LoginSession.objects.filter(user=user).exclude(id=keep).delete()
    return count


def browser_name(user_agent: str) -> str:
    """Return a readable name for a User-Agent header, such as "Firefox on Linux"."""
    browser = next((name for mark, name in BROWSERS if mark in user_agent), "")
    system = next((name for mark, name in SYSTEMS if mark in user_agent), "")
    if browser and system:
        return f"{browser} on {system}"
    return browser or system or "Unknown browser"


def _person(request: HttpRequest) -> User | AnonymousUser:
    login_id = current_id(request)
    user = get_user(request)
    if not isinstance(user, User):
        if login_id:  # Django has ended the session because the password was changed
            LoginSession.objects.filter(id=login_id).delete()
        return user
    now = timezone.now()
    found = fetch(LAST_SEEN, {"id": login_id, "user": user.pk})
    if not found:
        request.session.flush()
        return AnonymousUser()
    ((last_seen_at,),) = found
    request.has_person = True  # type: ignore[attr-defined]
    records = get_authentication_records(request, user)
    user.session_providers = frozenset(each["provider"] for each in records if each["method"] == "socialaccount")
    if last_seen_at < now - LAST_SEEN_STEP:
        address = request.META.get("REMOTE_ADDR", "")[:45]
        rows = LoginSession.objects.filter(id=login_id, user=user, last_seen_at=last_seen_at)
        rows.update(last_seen_at=now, address=address)
    return user


def lifetime() -> timedelta:
    return timedelta(seconds=settings.SESSION_COOKIE_AGE)
