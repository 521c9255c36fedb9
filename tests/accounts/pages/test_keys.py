"""Tests for the dashboard pages of API keys, and their entries in the activity log."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta

import pytest
from django.test import Client
from django.utils import timezone

from accounts import activity
from accounts.keys import services
from accounts.models import ActivityEvent, ApiKey, FormerKey
from accounts.pages.forms import KeyForm
from tests.factories import Api, Member, browser_of, person_of
from tests.generated import description
from tests.page_reading import page_of


@pytest.fixture
def admin(home: Member) -> Client:
    return browser_of(person_of(home, "admin", "admin@people.test"))


def create(client: Client, name: str = "Nightly build", **fields: str) -> tuple[str, ApiKey]:
    """Create an API key, and return the page with its plaintext, and its row."""
    response_of_post = client.post("/o/home/keys/", {"name": name, "scope": "scan", "lifetime": ""} | fields)
    assert response_of_post.status_code == 302, "reloading the page that shows the key must not make another"
    response = client.get(response_of_post["Location"])
    assert response.status_code == 200
    assert "no-store" in response["Cache-Control"]
    return response.content.decode(), ApiKey.objects.get(name=name)


def plaintext_on_page(page: str) -> str:
    _, _, rest = page.partition('<code id="plaintext">')
    return rest.partition("<")[0]


def test_plaintext_of_a_new_key_is_displayed_once(admin: Client) -> None:
    page, key = create(admin)
    plaintext = plaintext_on_page(page)
    assert Api(plaintext).get("/v1/usage").status_code == 200
    reloaded = admin.get(f"/o/home/keys/?shown={key.id}", follow=True).content.decode()
    assert "The secret of Nightly build has been shown already." in reloaded
    listed = admin.get("/o/home/keys/").content.decode()
    assert plaintext not in reloaded + listed
    assert key.digest not in listed
    assert f"{key.prefix}…" in listed
    assert "by admin@people.<wbr>test" in listed
    event = ActivityEvent.objects.latest("id")
    assert (event.action, event.object_name) == ("key.created", f"Nightly build ({key.prefix}…)")
    assert plaintext not in str(event.details)


def test_scope_hints_name_all_api_tags() -> None:
    readable, writable = set(), set()
    for methods in description()["paths"].values():
        for method, operation in methods.items():
            if isinstance(operation, dict) and "tags" in operation:
                readable |= set(operation["tags"])
                writable |= set(operation["tags"]) if method != "get" else set()
    hints = {value: str(label.hint).lower() for value, label in KeyForm.base_fields["scope"].choices}  # type: ignore[attr-defined]
    assert {tag for tag in readable if tag.lower() not in hints["read"]} == set()
    assert {tag for tag in writable if tag.lower() not in hints["scan"] + hints["manage"]} == set()


def test_key_form_sent_twice_creates_one_key(admin: Client) -> None:
    create(admin)
    again = admin.post("/o/home/keys/", {"name": "Nightly build", "scope": "scan", "lifetime": ""}).content.decode()
    assert "An active key with this name already exists. Choose another name." in again
    assert "wss_" not in plaintext_on_page(again)
    assert ApiKey.objects.filter(name="Nightly build").count() == 1


@pytest.mark.parametrize(("lifetime", "days"), [("30", 30), ("90", 90), ("365", 365)])
def test_key_expires_after_the_selected_lifetime(admin: Client, lifetime: str, days: int) -> None:
    page, key = create(admin, lifetime=lifetime)
    assert key.expires_at is not None
    assert abs(key.expires_at - timezone.now() - timedelta(days=days)) < timedelta(minutes=1)
    ApiKey.objects.filter(id=key.id).update(expires_at=timezone.now())
    assert Api(plaintext_on_page(page)).get("/v1/usage").json()["code"] == "UNAUTHORIZED"
    assert "Expired" in admin.get("/o/home/keys/").content.decode()


GOOD = {"name": "a", "scope": "read", "lifetime": ""}


@pytest.mark.parametrize(
    ("form", "message"),
    [
        ({"name": ""}, "required"),
        ({"name": "x" * 101}, "at most 100 characters"),
        ({"name": "a\nb"}, "on one line"),
        ({"scope": ""}, "required"),
        ({"scope": "root"}, "Select a valid choice"),
        ({"lifetime": "9999"}, "Select a valid choice"),
        ({"lifetime": "date"}, "Choose a day from"),
        ({"lifetime": "date", "last_day": "2020-01-01"}, "Choose a day from"),
        ({"lifetime": "date", "last_day": "9999-12-31"}, "Choose a day from"),
        ({"lifetime": "date", "last_day": "31.12.2030"}, "Enter a valid date"),
    ],
)
def test_invalid_key_form_displays_an_error(admin: Client, form: dict[str, str], message: str) -> None:
    before = ApiKey.objects.count()
    assert message in admin.post("/o/home/keys/", GOOD | form).content.decode()
    assert ApiKey.objects.count() == before


def test_key_expires_at_the_end_of_the_selected_day(admin: Client) -> None:
    day = timezone.now().date() + timedelta(days=10)
    _, key = create(admin, lifetime="date", last_day=str(day))
    assert key.expires_at == datetime.combine(day + timedelta(days=1), time.min, UTC)


@pytest.mark.parametrize("scope", ["read", "scan", "manage"])
def test_new_key_has_the_selected_scope(admin: Client, scope: str) -> None:
    page, key = create(admin, scope=scope)
    assert key.scope == scope
    assert ("-d &#x27;{" in page or "-d '{" in page.split("Create a key")[0]) == (scope != "read"), (
        "an example that works"
    )
    started = Api(plaintext_on_page(page)).post("/v1/scan", {})
    assert (started.status_code == 403) == (scope == "read")


def test_number_of_active_keys_is_limited(admin: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "MAX_ACTIVE_KEYS", 1)
    page = admin.post("/o/home/keys/", {"name": "One more", "scope": "scan", "lifetime": ""}).content.decode()
    assert "which is the maximum" in page


def test_key_is_revoked_after_confirmation(home: Member, admin: Client) -> None:
    path = f"/o/home/keys/{home.key.id}/revoke"
    assert "Revoke this key?" in admin.get(path).content.decode()
    assert home.api.get("/v1/usage").status_code == 200
    assert admin.post(path)["Location"] == "/o/home/keys/"
    refused = home.api.get("/v1/usage")
    assert (refused.status_code, refused.json()["code"]) == (401, "KEY_REVOKED")
    assert "Revoked" in admin.get("/o/home/keys/").content.decode()
    assert admin.post(path).status_code == 404
    assert ActivityEvent.objects.filter(action="key.revoked").count() == 1


def test_key_is_renamed_in_the_list(home: Member, admin: Client) -> None:
    path = f"/o/home/keys/{home.key.id}/rename"
    assert admin.post(path, {"name": "Nightly"})["Location"] == "/o/home/keys/"
    home.key.refresh_from_db()
    assert home.key.name == "Nightly"
    create(admin, name="Deploys")
    refused = admin.post(path, {"name": "Deploys"}).content.decode()
    assert refused.count("An active key with this name already exists. Choose another name.") == 1
    assert f'aria-describedby="{home.key.id}_error"' in refused
    assert 'value="Deploys"' in refused, "what was typed stays"
    assert "required" in admin.post(path, {"name": " "}).content.decode()
    assert admin.get(path).status_code == 405


def test_regenerated_secret_is_displayed_once(home: Member, admin: Client) -> None:
    path = f"/o/home/keys/{home.key.id}/regenerate"
    form = admin.get(path).content.decode()
    assert f'value="{home.key.prefix}"' in form
    redirected = admin.post(path, {"replaces": home.key.prefix, "lifetime": "30", "at_once": ""})
    list_page = admin.get(redirected["Location"])
    assert "no-store" in list_page["Cache-Control"]
    new = plaintext_on_page(list_page.content.decode())
    assert Api(new).get("/v1/usage").status_code == home.api.get("/v1/usage").status_code == 200
    listed = admin.get("/o/home/keys/").content.decode()
    assert new not in listed
    assert "Former secret of tests" in listed
    again = admin.post(path, {"replaces": home.key.prefix, "lifetime": "30", "at_once": "1"}, follow=True)
    assert "This key has just been regenerated." in again.content.decode()
    assert home.api.get("/v1/usage").status_code == 200, "a form that is sent again ends nothing"


def test_leaked_secret_stops_working_immediately(home: Member, admin: Client) -> None:
    form = {"replaces": home.key.prefix, "lifetime": "", "at_once": "1"}
    response = admin.post(f"/o/home/keys/{home.key.id}/regenerate", form, follow=True)
    new = plaintext_on_page(response.content.decode())
    assert Api(new).get("/v1/usage").status_code == 200
    assert home.api.get("/v1/usage").json()["code"] == "KEY_REVOKED"


def test_regeneration_form_preselects_the_previous_lifetime(home: Member, admin: Client) -> None:
    _page, key = create(admin, lifetime="365")
    chosen = page_of(admin.get(f"/o/home/keys/{key.id}/regenerate"))
    assert chosen.xpath("//select[@name='lifetime']/option[@selected]/@value") == ["365"]
    never = page_of(admin.get(f"/o/home/keys/{home.key.id}/regenerate"))
    assert never.xpath("//select[@name='lifetime']/option[@selected]/@value") == [""]


def test_former_secret_is_ended_after_confirmation(home: Member, admin: Client) -> None:
    form = {"replaces": home.key.prefix, "lifetime": ""}
    admin.post(f"/o/home/keys/{home.key.id}/regenerate", form)
    path = f"/o/home/keys/{home.key.id}/former/{FormerKey.objects.get().pk}/end"
    assert path in admin.get("/o/home/keys/").content.decode()
    assert "End this former secret?" in admin.get(path).content.decode()
    assert home.api.get("/v1/usage").status_code == 200
    assert admin.post(path)["Location"] == "/o/home/keys/"
    assert home.api.get("/v1/usage").json()["code"] == "KEY_REVOKED"
    assert (admin.get(path).status_code, admin.post(path).status_code) == (404, 404)


def test_key_pages_display_the_last_used_address(home: Member, admin: Client) -> None:
    Api(home.plaintext, "192.0.2.44").get("/v1/usage")
    for page in ("", f"{home.key.id}/revoke", f"{home.key.id}/regenerate"):
        assert "192.<wbr>0.<wbr>2.<wbr>44" in admin.get(f"/o/home/keys/{page}").content.decode(), page


def test_name_of_a_revoked_key_can_be_reused(home: Member, admin: Client) -> None:
    _, key = create(admin)
    admin.post(f"/o/home/keys/{key.id}/revoke")
    form = {"name": "Nightly build", "scope": "scan", "lifetime": ""}
    again = admin.post("/o/home/keys/", form, follow=True).content.decode()
    assert plaintext_on_page(again).startswith("wss_")


@pytest.mark.parametrize("role", ["member", "viewer"])
def test_members_and_viewers_have_no_link_to_keys(home: Member, role: str) -> None:
    client = browser_of(person_of(home, role, "other@people.test"))
    assert "/o/home/keys/" not in client.get("/o/home/members/").content.decode()


def test_key_names_are_escaped(admin: Client) -> None:
    page, _ = create(admin, name="<script>alert(1)</script>")
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page


def test_activity_log_names_actor_and_action(home: Member, stranger: Member, admin: Client) -> None:
    create(admin, name="<b>bold</b>")
    activity.record(home.organization, None, "webhook.created", "https://receiver.test/", events=["scan.failed"])
    activity.record(stranger.organization, None, "key.created", "not for home")
    page = admin.get("/o/home/activity/").content.decode()
    assert (
        "<strong>admin@people.<wbr>test</strong></a> created the API key <strong>&lt;b&gt;bold&lt;/<wbr>b&gt;" in page
    )
    assert (
        "<strong>The service</strong> added the webhook <strong>https://<wbr>receiver.<wbr>test/<wbr></strong>" in page
    )
    assert "not for home" not in page


def test_activity_log_is_paginated_and_filtered_by_action(
    home: Member, admin: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(activity, "PAGE_SIZE", 2)
    ActivityEvent.objects.all().delete()
    for number in range(5):
        activity.record(home.organization, None, "scan.created" if number % 2 else "key.created", f"target-{number}")

    def listed_numbers(path: str) -> list[int]:
        page = admin.get(path).content.decode()
        return [number for number in reversed(range(5)) if f"target-{number}" in page]

    assert listed_numbers("/o/home/activity/") == [4, 3]
    older = ActivityEvent.objects.get(object_name="target-3").pk
    assert f"before={older}" in admin.get("/o/home/activity/").content.decode()
    assert listed_numbers(f"/o/home/activity/?before={older}") == [2, 1]
    assert listed_numbers("/o/home/activity/?action=scan.created") == [3, 1]
    assert "There are no events of this kind." in admin.get("/o/home/activity/?action=unheard.of").content.decode()


@pytest.mark.parametrize(
    "query", ["before=x", "before=-1", "before=99999999999999999999", "action=%00", "action=" + "x" * 99]
)
def test_invalid_activity_query_shows_the_first_page(home: Member, admin: Client, query: str) -> None:
    response = admin.get(f"/o/home/activity/?{query}")
    assert response.status_code == 200
    assert "created the API key" in response.content.decode()


def test_activity_events_remain_after_deletion_of_the_person(home: Member) -> None:
    person = person_of(home, "owner", "gone@people.test")
    activity.record(home.organization, person, "key.revoked", "x" * 500)
    person.delete()
    event = ActivityEvent.objects.latest("id")
    assert (event.actor, event.actor_email, len(event.object_name)) == (None, "gone@people.test", 300)
