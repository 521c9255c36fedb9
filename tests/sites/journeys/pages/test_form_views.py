"""Tests for the pages that create and change journeys."""

from __future__ import annotations

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from accounts.models import Tier, User
from sites.journeys.pages.carried import MAX_AGE_S
from sites.models import Journey
from tests.factories import Member, member_of
from tests.page_reading import browser_of, page_of, strings, text_of
from tests.responses import ClientResponse
from tests.sites.journeys.cast import make_journey
from website_scan.journeys.recordings import recording_of
from website_scan.journeys.short_form import read_short_form

NEW = "/o/home/journeys/new"
PASSWORD = "Correct-horse-7"
STEPS = f"open /login\nfill “Password” with “{PASSWORD}”\nclick “Sign in”\njudge “Account”"
RECORDING = {
    "title": "Recorded log-in",
    "steps": [
        {"type": "navigate", "url": "https://shop.example.com/login"},
        {"type": "change", "target": "main", "selectors": [["aria/Password"]], "value": PASSWORD},
        {"type": "click", "target": "main", "selectors": [["aria/Sign in"]], "offsetX": 5, "offsetY": 5},
    ],
}


@pytest.fixture
def client(home: Member) -> Client:
    return browser_of(home)


def preview(client: Client, steps: str = STEPS, start: str = "shop.example.com", path: str = NEW) -> ClientResponse:
    return client.post(path, {"start": start, "steps": steps})


def upload(client: Client, content: bytes) -> ClientResponse:
    return client.post(NEW, {"file": SimpleUploadedFile("login.json", content, "application/json")})


def fields_of(response: ClientResponse) -> dict[str, str | list[str]]:
    """Return the fields of the form for the settings as a browser would send them."""
    (form,) = page_of(response).xpath("//form[contains(@class, 'journey-form')]")
    fields: dict[str, str | list[str]] = {}
    for field in form.xpath(".//input[@name] | .//textarea[@name] | .//select[@name]"):
        name, value = field.get("name"), field.value
        if field.get("type") in ("radio", "checkbox"):
            if field.get("checked") is None:
                continue
            value = field.get("value", "on")
        if field.get("type") == "checkbox":
            fields[name] = [*fields.get(name, []), value]
        elif field.tag == "input" and field.get("type") == "radio":
            fields[name] = value
        else:
            fields[name] = value or ""
    return fields


def test_preview_shows_the_steps_in_words_and_stores_nothing(client: Client) -> None:
    response = preview(client)
    assert response.status_code == 200
    text = text_of(response)
    assert "Open https://shop.example.com/login. line 1" in text
    assert "Enter the secret “password” in “Password”. line 2" in text
    assert "The typed text is stored as the secret {{password}}, not in the journey." in text
    assert not Journey.objects.exists()


def test_preview_contains_no_typed_password(client: Client) -> None:
    assert PASSWORD not in preview(client).content.decode()
    assert PASSWORD not in upload(client, json.dumps(RECORDING, indent=2).encode()).content.decode()


def test_previewed_journey_is_created_once_with_its_secret(client: Client, home: Member) -> None:
    fields = fields_of(preview(client)) | {"name": "Log-in", "state-0": "Form"}
    for _ in range(2):
        assert client.post(NEW, fields).status_code == 302
    journey = Journey.objects.get()
    assert (journey.organization, journey.name, journey.secrets) == (
        home.organization,
        "Log-in",
        {"password": PASSWORD},
    )
    assert [step.name for step in journey.steps.steps if hasattr(step, "name")] == ["Form", "Account"]
    assert PASSWORD not in json.dumps(journey.recording)


def test_uploaded_recording_becomes_a_journey_with_named_states(client: Client) -> None:
    response = upload(client, json.dumps(RECORDING, indent=2).encode())
    fields = fields_of(response)
    assert (fields["name"], fields["judge"]) == ("Recorded log-in", "navigations")
    created = client.post(NEW, fields | {"state-2": "Account", "judge": "steps", "type": ["accessibility"]})
    journey = Journey.objects.get()
    assert created["Location"] == f"/o/home/journeys/{journey.id}"
    assert (journey.types, str(journey.steps.rule)) == (["accessibility"], "steps")


@pytest.mark.parametrize(
    ("steps", "line", "problem"),
    [
        ("open /\nclik “Sign in”", "2", "Did you mean “click”?"),
        ("open /\nclick", "2", "Example: click button"),
        ('{"title": "A",\n "steps": [\n  {"type": "teleport"}\n]}', "3", "cannot be executed"),
    ],
)
def test_refusal_is_beside_the_refused_line(client: Client, steps: str, line: str, problem: str) -> None:
    response = preview(client, steps)
    assert response.status_code == 400
    (refused,) = page_of(response).xpath("//li[@class='is-refused']")
    assert refused.xpath("string(span[@class='line-number'])") == line
    assert problem in refused.text_content()
    assert steps.splitlines()[0] in page_of(response).xpath("string(//textarea[@name='steps'])")


def test_refused_recording_shows_no_typed_values(client: Client) -> None:
    steps = [*RECORDING["steps"][:2], {"type": "teleport"}]
    response = upload(client, json.dumps({"title": "A", "steps": steps}, indent=2).encode())
    assert response.status_code == 400
    assert "teleport" in text_of(response)
    assert PASSWORD not in response.content.decode()


@pytest.mark.parametrize(
    ("start", "steps", "status", "problem"),
    [
        ("", "", 400, "Choose the file of a recording, or write steps."),
        ("", "open /", 400, "The first address must be whole."),
        ("http://localhost/", "open /", 403, ""),
        ("shop.example.com", "open /\nopen https://other.example.org/", 400, "not part of the site"),
    ],
)
def test_unusable_steps_are_refused(client: Client, start: str, steps: str, status: int, problem: str) -> None:
    response = preview(client, steps, start)
    assert response.status_code == status
    assert problem in text_of(response)


@pytest.mark.parametrize("content", [b"\xff\xfe{}", b'{"log": {}}', b"{" * 300_000, b"{}"])
def test_unreadable_file_is_refused(client: Client, content: bytes) -> None:
    assert upload(client, content).status_code == 400


def test_forged_old_and_foreign_previews_are_refused(
    client: Client, home: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    fields = fields_of(preview(client))
    assert client.post(NEW, fields | {"carried": "forged"}).status_code == 400
    assert browser_of(home).post(NEW, fields).status_code == 400
    member_of("Away")
    monkeypatch.setattr("sites.journeys.pages.carried.MAX_AGE_S", -MAX_AGE_S)
    response = client.post(NEW, fields)
    assert response.status_code == 400
    assert "too old" in text_of(response)
    assert not Journey.objects.exists()


def test_invalid_settings_are_marked_and_secrets_are_never_rendered(client: Client) -> None:
    fields = fields_of(preview(client)) | {"state-0": "Account", "secret-password": "another-Secret-9", "name": ""}
    response = client.post(NEW, fields)
    assert response.status_code == 400
    assert strings(page_of(response), "//p[@id='id_state-0_error' or @id='id_state-2_error']/text()") == [
        "Another state has this name."
    ]
    assert "another-Secret-9" not in response.content.decode()


def test_full_plan_offers_no_form(client: Client, home: Member) -> None:
    Tier.objects.filter(name=home.organization.tier_id).update(journeys=1)
    make_journey(home)
    assert "The only journey of your plan is in use" in text_of(client.get(NEW))
    fields = fields_of(preview(client))
    response = client.post(NEW, fields)
    assert response.status_code == 409
    assert "Your plan allows 1 journey." in text_of(response)


def test_edit_keeps_secrets_that_are_left_empty(client: Client, home: Member) -> None:
    journey = make_journey(home)
    fields = fields_of(client.get(f"/o/home/journeys/{journey.id}/edit"))
    assert not {"secret-user", "secret-password"} - fields.keys()
    client.post(f"/o/home/journeys/{journey.id}/edit", fields | {"name": "Members", "secret-password": "another-9"})
    changed = Journey.objects.get()
    assert (changed.name, changed.secrets) == ("Members", {**journey.secrets, "password": "another-9"})
    assert changed.proven_at == journey.proven_at
    assert recording_of(changed.steps)["steps"] == journey.recording["steps"]
    client.post(f"/o/home/journeys/{journey.id}/edit", fields | {"forget-user": "on"})
    assert Journey.objects.get().secret_names == ["password"]


def test_replaced_steps_on_another_site_need_a_new_proof(client: Client, home: Member) -> None:
    journey = make_journey(home)
    path = f"/o/home/journeys/{journey.id}"
    fields = fields_of(preview(client, "open /\njudge “Start”", "other.example.org", f"{path}/steps"))
    response = client.post(f"{path}/edit", fields, follow=True)
    assert "prove control before the next run" in text_of(response)
    changed = Journey.objects.get()
    assert (changed.site, changed.proven_at, changed.secrets) == ("example.org", None, {})


def test_steps_of_another_journey_cannot_be_carried(client: Client, home: Member) -> None:
    Tier.objects.filter(name=home.organization.tier_id).update(journeys=2)
    one, other = make_journey(home), make_journey(home, name="Other")
    fields = fields_of(preview(client, "open /\njudge “Start”", path=f"/o/home/journeys/{one.id}/steps"))
    assert client.post(f"/o/home/journeys/{other.id}/edit", fields).status_code == 400


def test_secrets_are_in_no_draft(client: Client, home: Member) -> None:
    journey = make_journey(home)
    path = f"/o/home/journeys/{journey.id}/edit"
    fields = fields_of(client.get(path)) | {"name": "Draft", "secret-password": "another-9"}
    user = client.session["_auth_user_id"]
    client.logout()
    assert client.post(path, fields)["Location"].startswith("/login/")
    client.force_login(User.objects.get(pk=user))
    response = client.get(path)
    assert fields_of(response)["name"] == "Draft"
    assert "another-9" not in response.content.decode()


def test_written_steps_can_be_edited_as_text(client: Client, home: Member) -> None:
    journey = make_journey(home)
    path = f"/o/home/journeys/{journey.id}/steps"
    text = page_of(client.get(path)).xpath("string(//textarea[@name='steps'])")
    assert "click button “Sign in”" in text
    assert read_short_form(text, title="Journey").journey.steps == journey.steps.steps


def test_steps_of_a_recording_are_offered_as_a_download(client: Client, home: Member) -> None:
    client.post(NEW, fields_of(upload(client, json.dumps(RECORDING, indent=2).encode())))
    path = f"/o/home/journeys/{Journey.objects.get().id}"
    response = client.get(f"{path}/steps")
    assert "cannot be written as text" in text_of(response)
    assert f"{path}/recording.json" in strings(page_of(response), "//a/@href")
