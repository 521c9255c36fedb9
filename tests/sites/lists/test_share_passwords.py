"""Tests for shared pages with a password."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client

from sites.lists import share_passwords
from sites.models import ListShare
from tests.factories import Member
from tests.page_reading import browser_of, page_of, text_of
from tests.sites.lists.cast import make_list
from tests.sites.lists.snapshot_cast import SnapshotSite, make_share, snapshot

PASSWORD = "four correct horses"


@pytest.fixture
def share(home: Member) -> ListShare:
    cache.clear()
    site_list = make_list(home, name="Ministries")
    snapshot(site_list, [SnapshotSite("https://secret.example/", {"seo": 97}, "pppp")])
    share = make_share(site_list, has_table=True)
    share.password = share_passwords.hashed(PASSWORD)
    share.save()
    return share


def enter(client: Client, share: ListShare, password: str) -> Any:
    return client.post(f"/list/{share.id}/password", {"password": password})


def test_locked_page_reveals_nothing(share: ListShare) -> None:
    page = Client().get(f"/list/{share.id}")
    assert page.status_code == 200
    assert "This page has a password" in text_of(page)
    for hidden in ("Ministries", "secret.example", "og:image"):
        assert hidden not in page.content.decode()
    assert page["X-Robots-Tag"] == "noindex, nofollow"
    assert "no-store" in page["Cache-Control"]
    assert Client().get(f"/list/{share.id}.svg").status_code == 404
    assert Client().get(f"/list/{share.id}/card/0123456789abcdef.png").status_code == 404


def test_password_opens_the_page_and_its_badge(share: ListShare) -> None:
    client = Client()
    refused = enter(client, share, "four correct horse")
    assert (refused.status_code, "This is not the password." in text_of(refused)) == (403, True)
    opened = enter(client, share, PASSWORD)
    assert (opened.status_code, opened["Location"]) == (302, f"/list/{share.id}")
    (cookie,) = [morsel for name, morsel in opened.cookies.items() if name.startswith("opened_")]
    assert (cookie["path"], cookie["httponly"], cookie["samesite"]) == (f"/list/{share.id}", True, "Lax")
    page = client.get(f"/list/{share.id}")
    assert "Ministries" in text_of(page)
    assert "secret.example" in text_of(page)
    assert "This page has a password" in text_of(Client().get(f"/list/{share.id}"))


def test_cookie_opens_its_page_until_a_change(home: Member, share: ListShare) -> None:
    client = Client()
    cookie = enter(client, share, PASSWORD).cookies[f"opened_{share.id}"].value
    other = make_share(share.site_list)
    other.password = share_passwords.hashed(PASSWORD)
    other.save()
    thief = Client()
    thief.cookies[f"opened_{other.id}"] = cookie
    assert "This page has a password" in text_of(thief.get(f"/list/{other.id}"))
    share.password = share_passwords.hashed(PASSWORD)
    share.save()
    assert "This page has a password" in text_of(client.get(f"/list/{share.id}"))


@pytest.mark.parametrize("cookie", ["", "x", "a:b:c", "é", "W10:1:1"])
def test_forged_cookies_do_not_open_the_page(share: ListShare, cookie: str) -> None:
    client = Client()
    client.cookies[f"opened_{share.id}"] = cookie
    assert "This page has a password" in text_of(client.get(f"/list/{share.id}"))


def test_attempts_are_limited_by_client_and_page(share: ListShare, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(share_passwords, "ATTEMPTS_OF_CLIENT", 2)
    monkeypatch.setattr(share_passwords, "ATTEMPTS_OF_SHARE", 3)
    client = Client(REMOTE_ADDR="192.0.2.1")
    assert [enter(client, share, "wrong").status_code for _ in range(3)] == [403, 403, 429]
    others = [Client(REMOTE_ADDR=f"192.0.2.{number}") for number in (2, 3)]
    assert [enter(other, share, "wrong").status_code for other in others] == [403, 429]


def test_page_without_a_password_has_no_form(home: Member, share: ListShare) -> None:
    public = make_share(share.site_list)
    assert enter(Client(), public, "").status_code == 404
    assert "Ministries" in text_of(Client().get(f"/list/{public.id}"))


def test_password_is_never_returned(home: Member, share: ListShare) -> None:
    path = f"/v1/lists/{share.site_list_id}/shares"
    created = home.api.post(path, {"password": PASSWORD}).json()
    assert created["has_password"] is True
    assert PASSWORD not in home.api.get(path).content.decode()
    assert home.api.post(path, {}).json()["has_password"] is False
    assert home.api.post(path, {"password": None}).json()["has_password"] is False
    for wrong in ("short", "x" * 129, 12345678, "nul\0nulnul"):
        refused = home.api.post(path, {"password": wrong})
        assert (refused.status_code, refused.json()["code"]) == (400, "INVALID_PARAMS")


def test_password_is_set_on_the_page(home: Member, share: ListShare) -> None:
    path = f"/o/{home.organization.slug}/lists/{share.site_list_id}/sharing"
    browser = browser_of(home)
    refused = browser.post(f"{path}/new", {"password": "short"}, follow=True)
    assert "password must have 8 to 128 characters." in text_of(refused)
    done = browser.post(f"{path}/new", {"password": PASSWORD}, follow=True)
    assert "Anyone with its address and the password can read it" in text_of(done)
    assert text_of(done).count("with a password") >= 2
    assert not page_of(done).xpath("//details[contains(@class, 'badge-of-list')]"), "it has no badge"
    assert ListShare.objects.exclude(password="").count() == 2
