"""A user's login sessions.

The user can list and end them from any browser.

A Django session contains the ID of a `LoginSession` row. Without this row, the session's user is anonymous. Nobody can
create a session from the contents of a row.
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
from infrastructure.web.time_zones import set_reader_zone

LOGIN_ID_KEY = "login"
LAST_SEEN_QUERY = "SELECT last_seen_at FROM accounts_loginsession WHERE id = %(id)s AND user_id = %(user)s"
# `last_seen_at` is updated at most this often, because updating it in every request would turn reads into writes.
LAST_SEEN_UPDATE_INTERVAL = timedelta(minutes=5)
MAX_LISTED_SESSIONS = 50

# Maps parts of User-Agent headers to names. The first match counts, because Edge, for example, also claims to be
# Chrome.
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
    """Django's middleware, but it also requires a LoginSession row.

    The user is loaded lazily.

    A response that depends on the user gets `Cache-Control: no-store`, unless its view sets the header, because the
    next person with the same browser could see a cached page.
    """

    def process_request(self, request: HttpRequest) -> None:
        super().process_request(request)
        request.user = SimpleLazyObject(lambda: _load_person(request))  # type: ignore[assignment]  # Django does the same.

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Add `Cache-Control: no-store` to responses that depend on the logged-in user."""
        set_reader_zone("")  # The thread's next request may come from somebody else.
        if getattr(request, "has_person", False) and not response.has_header("Cache-Control"):
            add_never_cache_headers(response)
        return response


def create_login_session(request: HttpRequest, user: User, **_: object) -> None:
    """Create the LoginSession row for a new session, and delete other users' drafts.

    Receives `user_logged_in`.
    """
    now = timezone.now()
    LoginSession.objects.filter(user=user, last_seen_at__lt=now - lifetime()).delete()
    # The browser may already have a session.
    delete_current_session(request)
    row = LoginSession.objects.create(
        user=user,
        address=request.META.get("REMOTE_ADDR", "")[:45],
        user_agent=request.META.get("HTTP_USER_AGENT", "").replace("\0", "")[:300],
    )
    request.session[LOGIN_ID_KEY] = row.id
    drafts.delete_drafts_of_others(request, user)


def delete_current_session(request: HttpRequest) -> None:
    """Delete the LoginSession row for the request's session, before a logout."""
    LoginSession.objects.filter(id=current_login_id(request)).delete()


def current_login_id(request: HttpRequest) -> str:
    login_id: str = request.session.get(LOGIN_ID_KEY, "")
    return login_id


def sessions_of_user(user: User) -> QuerySet[LoginSession]:
    """Return the user's unexpired sessions, last seen first."""
    expired_before = timezone.now() - lifetime()
    return LoginSession.objects.filter(user=user, last_seen_at__gte=expired_before).order_by("-last_seen_at")


def end_other_sessions(user: User, keep: str = "") -> int:
    """End all the user's sessions except the one with the ID `keep`.

    Returns how many ended.
    """
    count, _ = LoginSession.objects.filter(user=user).exclude(id=keep).delete()
    return count


def browser_name(user_agent: str) -> str:
    """Return the browser's name from a User-Agent header, such as "Firefox on Linux"."""
    browser = next((name for token, name in BROWSERS if token in user_agent), "")
    system = next((name for token, name in SYSTEMS if token in user_agent), "")
    if browser and system:
        return f"{browser} on {system}"
    return browser or system or "Unknown browser"


def _load_person(request: HttpRequest) -> User | AnonymousUser:
    login_id = current_login_id(request)
    user = get_user(request)
    if not isinstance(user, User):
        # Django ends a session when the password was changed.
        if login_id:
            LoginSession.objects.filter(id=login_id).delete()
        return user
    now = timezone.now()
    rows = fetch(LAST_SEEN_QUERY, {"id": login_id, "user": user.pk})
    if not rows:
        request.session.flush()
        return AnonymousUser()
    ((last_seen_at,),) = rows
    set_reader_zone(user.time_zone)
    request.has_person = True  # type: ignore[attr-defined]
    records = get_authentication_records(request, user)
    user.session_providers = frozenset(record["provider"] for record in records if record["method"] == "socialaccount")
    if last_seen_at < now - LAST_SEEN_UPDATE_INTERVAL:
        address = request.META.get("REMOTE_ADDR", "")[:45]
        login_session = LoginSession.objects.filter(id=login_id, user=user, last_seen_at=last_seen_at)
        login_session.update(last_seen_at=now, address=address)
    return user


def lifetime() -> timedelta:
    return timedelta(seconds=settings.SESSION_COOKIE_AGE)
