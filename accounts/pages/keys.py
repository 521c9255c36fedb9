"""Pages for an organization's API keys."""

from __future__ import annotations

from typing import cast
from urllib.parse import urlencode

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from accounts import access, drafts
from accounts.identity import notices
from accounts.identity.freshness import require_fresh_login, session_suffices
from accounts.keys.services import (
    MAX_ACTIVE_KEYS,
    add_api_key,
    end_former_key,
    list_keys,
    regenerate_api_key,
    rename_api_key,
    revoke_api_key,
)
from accounts.models import ApiKey, Membership, User
from accounts.pages.forms import KeyForm, KeyNameForm, KeyRegenerationForm
from accounts.roles import MemberRequest, page_of, requires
from accounts.services import AccountRefused
from accounts.shown_once import SECRETS
from infrastructure.api.scopes import Scope
from website_scan.ids import is_id

Role = Membership.Role

MAX_LISTED_KEYS = 100  # The limit exceeds the number of active keys, which come first.


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Role.ADMIN)
@require_fresh_login("POST")
def keys(request: MemberRequest) -> HttpResponse:
    """List the API keys.

    POST creates a key. `shown` in the URL is the new key's ID, whose plaintext is displayed.
    """
    form = KeyForm(request.POST or drafts.restore(request))
    if request.method == "POST" and form.is_valid():
        values = form.cleaned_data
        try:
            key, plaintext = add_api_key(
                actor=request.membership,
                name=values["name"],
                scope=Scope(values["scope"]),
                expires_at=form.expires_at(),
            )
        except AccountRefused as error:
            form.add_error("name", str(error))
        else:
            context = {"key": key.name, "organization": request.membership.organization}
            notices.post(cast("User", request.user), "key_made", request, **context)
            return _show_plaintext(request, key, plaintext)
    new_key_id = request.GET.get("shown", "")
    if request.method == "GET" and new_key_id:
        key = _find_key(request, new_key_id)
        plaintext = SECRETS.take(request, key.id)
        if plaintext is None:
            again = "If you did not copy it, regenerate the key to get a new one."
            messages.info(request, f"The secret of {key.name} has been shown already. {again}")
            return redirect(page_of(request.membership, "keys"))
        return _render_list(request, form, shown=key, plaintext=plaintext)
    return _render_list(request, form)


def _show_plaintext(request: MemberRequest, key: ApiKey, plaintext: str) -> HttpResponse:
    """Redirect to the list of API keys, which displays the new plaintext."""
    SECRETS.put(request, key.id, plaintext)
    return redirect(f"{page_of(request.membership, 'keys')}?{urlencode({'shown': key.id})}")


@require_POST
@requires(Role.ADMIN)
@session_suffices("a name gives no access")
def key_rename(request: MemberRequest, key_id: str) -> HttpResponse:
    """Rename an API key. The list displays errors next to the key."""
    key = _find_key(request, key_id)
    form = KeyNameForm(request.POST, auto_id=f"{key_id}_%s")
    if form.is_valid():
        try:
            rename_api_key(actor=request.membership, key_id=key_id, name=form.cleaned_data["name"])
        except AccountRefused as error:
            form.add_error("name", str(error))
        else:
            messages.success(request, f"The key {key.name} is now called {form.cleaned_data['name']}.")
            return redirect(page_of(request.membership, "keys"))
    return _render_list(request, KeyForm(), renamed=key_id, renaming=form)


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Role.ADMIN)
@require_fresh_login("POST")
def key_regenerate(request: MemberRequest, key_id: str) -> HttpResponse:
    """Regenerate an API key, then redirect to the list, which displays the new secret once."""
    key = _find_key(request, key_id)
    form = KeyRegenerationForm(request.POST or None, key=key)
    if form.is_valid():
        values = form.cleaned_data
        try:
            key, plaintext = regenerate_api_key(
                actor=request.membership,
                key_id=key_id,
                prefix=values["replaces"],
                expires_at=form.expires_at(),
                at_once=bool(values["at_once"]),
            )
        except AccountRefused as error:
            messages.error(request, str(error))
            return redirect(page_of(request.membership, "key-regenerate", key_id))
        return _show_plaintext(request, key, plaintext)
    now = timezone.now()
    context = {
        "section": "keys",
        "key": key,
        "form": form,
        "former": key.former.filter(expires_at__gt=now),
        "has_ended": key.expires_at is not None and key.expires_at <= now,
    }
    return render(request, "accounts/key_regenerate.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Role.ADMIN)
@session_suffices("takes access away")
def former_key_end(request: MemberRequest, key_id: str, former_id: int) -> HttpResponse:
    """Invalidate an API key's former secret before it expires."""
    key = _find_key(request, key_id)
    former = get_object_or_404(key.former.filter(expires_at__gt=timezone.now()), id=former_id)
    if request.method != "POST":
        return render(request, "accounts/former_key_end.html", {"section": "keys", "key": key, "former": former})
    try:
        end_former_key(actor=request.membership, key_id=key_id, former_id=former_id)
    except AccountRefused as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"The former secret {former.prefix}… of {key.name} has ended.")
    return redirect(page_of(request.membership, "keys"))


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Role.ADMIN)
@session_suffices("takes access away")
def key_revoke(request: MemberRequest, key_id: str) -> HttpResponse:
    key = _find_key(request, key_id)
    if request.method != "POST":
        context = {"section": "keys", "key": key, "former": key.former.filter(expires_at__gt=timezone.now())}
        return render(request, "accounts/key_revoke.html", context)
    revoke_api_key(key, request.membership.user)
    messages.success(request, f"The key {key.name} has been revoked.")
    return redirect(page_of(request.membership, "keys"))


def _find_key(request: MemberRequest, key_id: str) -> ApiKey:
    """Return the organization's API key. Raises Http404 if the key is revoked."""
    if not is_id("key", key_id):
        raise Http404
    rows = access.rows(ApiKey, request.membership.organization_id).select_related("organization")
    return get_object_or_404(rows, id=key_id, revoked_at=None)


def _render_list(
    request: MemberRequest,
    form: KeyForm,
    *,
    shown: ApiKey | None = None,
    plaintext: str = "",
    renamed: str = "",
    renaming: KeyNameForm | None = None,
) -> HttpResponse:
    """Render the list of API keys with its forms.

    `shown` is a key with a new secret, `plaintext`; `renamed` is the ID of the key that the form `renaming` is for.
    """
    now = timezone.now()
    keys = list(list_keys(request.membership.organization_id, now)[:MAX_LISTED_KEYS])
    context = {
        "section": "keys",
        "form": form,
        "shown": shown,
        "plaintext": plaintext,
        "renamed": renamed,
        "renaming": renaming,
        "keys": keys,
        "most": MAX_ACTIVE_KEYS,
        "is_full": not form.is_bound and sum(key.revoked_at is None for key in keys) >= MAX_ACTIVE_KEYS,
        "now": now,
        "base_url": settings.BASE_URL,
    }
    return render(request, "accounts/keys.html", context)
