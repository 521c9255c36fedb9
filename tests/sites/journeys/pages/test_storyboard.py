"""Tests for the page of a run: its states, its steps and their pictures."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.test import Client
from django.utils import timezone

from sites.models import Audit, AuditPage, JourneyStep
from tests.factories import Member, member_of, person_of
from tests.page_reading import browser_of, page_of, strings, text_of
from tests.populated_journeys import JPEG, PICTURE, populate_journeys
from tests.sites.journeys.runs import EXAMPLES, example_steps, make_journey, run, worker_with_browser
from tests.targets.server import Site


@pytest.fixture
def ids(home: Member) -> dict[str, str]:
    return populate_journeys(home, 0, timezone.now(), person_of(home, "owner", "owner@people.test"))


@pytest.fixture
def client(home: Member) -> Client:
    return browser_of(home)


def test_states_have_grades_pictures_and_former_scores(client: Client, ids: dict[str, str]) -> None:
    response = client.get(f"/audit/{ids['journey_audit_id']}")
    frames = page_of(response).xpath("//ol[contains(@class, 'states-board')]/li")
    names = [frame.xpath("string(.//h3)").strip() for frame in frames]
    assert [name[:9] for name in names] == ["Account", "Orders wi", "Signed ou"]
    text = " ".join(frames[0].text_content().split())
    assert "After step 5 · /account" in text
    assert "95 was 71" in text
    assert strings(frames[0], ".//img/@src") == [f"/audit/{ids['journey_audit_id']}/steps/4/picture"]


def test_states_name_what_came_new(client: Client, home: Member, ids: dict[str, str]) -> None:
    before = AuditPage.objects.filter(audit=ids["journey_before_audit_id"])
    Audit.objects.get(id=ids["journey_before_audit_id"]).findings.filter(check_id="exposed-git").delete()
    assert before.exists()
    path = f"/audit/{ids['journey_audit_id']}"
    (first, *_) = page_of(client.get(path)).xpath("//p[@class='new-here']")
    assert "The Git repository is public" in first.text_content()
    (link, *_) = strings(first, "a/@href")
    assert link.startswith(f"{path}#")
    Audit.objects.filter(id=ids["journey_audit_id"]).update(shared_at=timezone.now())
    assert not page_of(Client().get(path)).xpath("//p[@class='new-here']")


def test_steps_have_sentences_durations_and_notes(client: Client, ids: dict[str, str]) -> None:
    response = client.get(f"/audit/{ids['journey_audit_id']}?show=steps")
    frames = page_of(response).xpath("//ol[@class='storyboard']/li")
    texts = [" ".join(frame.text_content().split()) for frame in frames]
    assert [text.partition(" ")[0] for text in texts] == ["1", "2", "3", "4", "5", "7", "9"]
    assert "Enter the secret “password” in “Password”. Done 0.4 s · /account" in texts[2]
    assert texts[3].endswith("A new window was closed.")
    assert texts[4].endswith("Judged Account")


def test_stopped_run_shows_the_failed_step_with_near_matches(client: Client, ids: dict[str, str]) -> None:
    response = client.get(f"/audit/{ids['stopped_journey_audit_id']}")
    text = text_of(response)
    assert "Step 7 failed Click “Orders”. Step 7: no element is named “Orders”." in text
    assert "On the page there were: link “My orders” button “Order <again>”" in text
    assert text.count("no element is named “Orders”") == 1
    assert "Not reached" in text_of(client.get(f"/audit/{ids['stopped_journey_audit_id']}?show=steps"))


def test_run_without_states_shows_where_it_stopped(client: Client, ids: dict[str, str]) -> None:
    assert "Step 4 failed" in text_of(client.get(f"/audit/{ids['journey_run_id']}"))


def test_running_run_has_no_storyboard_yet(client: Client, ids: dict[str, str]) -> None:
    path = f"/audit/{ids['running_journey_audit_id']}"
    assert not page_of(client.get(path)).xpath("//ol[contains(@class, 'storyboard')]")
    assert "No steps yet" in text_of(client.get(f"{path}?show=steps"))


def test_texts_of_steps_are_escaped(client: Client, ids: dict[str, str]) -> None:
    hostile = "<img src=x onerror=alert(1)>"
    steps = JourneyStep.objects.filter(audit=ids["stopped_journey_audit_id"])
    steps.update(
        text=hostile, problem=hostile, near_matches=[hostile], notes=[hostile], url=f"https://x.example/{hostile}"
    )
    AuditPage.objects.filter(audit=ids["stopped_journey_audit_id"]).update(state=hostile)
    for rest in ("", "?show=steps", "?show=pages"):
        assert hostile not in client.get(f"/audit/{ids['stopped_journey_audit_id']}{rest}").content.decode()


def test_pictures_are_for_readers_of_the_run_only(client: Client, ids: dict[str, str]) -> None:
    path = f"/audit/{ids['journey_audit_id']}/steps/0/picture"
    response = client.get(path)
    assert (response.status_code, response["Content-Type"], response.content) == (200, "image/webp", PICTURE)
    assert response["Cache-Control"] == "private, no-cache"
    assert client.get(path, headers={"If-None-Match": response["ETag"]}).status_code == 304
    assert client.get(path.replace("/0/", "/5/")).status_code == 404
    assert browser_of(member_of("Away")).get(path).status_code == 404
    assert Client().get(path).status_code == 302
    Audit.objects.filter(id=ids["journey_audit_id"]).update(shared_at=timezone.now())
    assert Client().get(path).status_code == 200
    Audit.objects.filter(id=ids["journey_audit_id"]).update(kept_days=0)
    assert client.get(path).status_code == 404


def test_picture_has_the_type_of_its_content(client: Client, ids: dict[str, str]) -> None:
    JourneyStep.objects.filter(audit=ids["journey_audit_id"], position=0).update(picture=JPEG)
    response = client.get(f"/audit/{ids['journey_audit_id']}/steps/0/picture")
    assert (response["Content-Type"], response.content) == ("image/jpeg", JPEG)


def test_run_links_to_its_journey_for_members_only(client: Client, ids: dict[str, str]) -> None:
    path, journey = f"/audit/{ids['journey_audit_id']}", f"/o/home/journeys/{ids['journey_id']}"
    assert {journey, f"{journey}/run"} <= set(strings(page_of(client.get(path)), "//a/@href | //form/@action"))
    Audit.objects.filter(id=ids["journey_audit_id"]).update(shared_at=timezone.now())
    assert journey not in Client().get(path).content.decode()


@pytest.fixture
def worker() -> Iterator[None]:
    with worker_with_browser():
        yield


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_second_run_of_an_example_shows_new_faults_and_pictures(home: Member, worker: None) -> None:
    example = EXAMPLES["account"]

    with Site(example.make(is_faulty=False)) as site:
        journey = make_journey(home, site.url, example_steps("account"), example.secrets)
        run(journey)
        site.routes.update(example.make(is_faulty=True))
        audit = run(journey)
    client = browser_of(home)
    response = client.get(f"/audit/{audit.id}")
    assert len(page_of(response).xpath("//ol[contains(@class, 'states-board')]/li")) == len(example.states)
    assert page_of(response).xpath("//p[@class='new-here']")
    (picture, *_) = strings(page_of(response), "//ol[contains(@class, 'states-board')]//img/@src")
    assert client.get(picture)["Content-Type"] == "image/jpeg"
    contents = [client.get(f"/audit/{audit.id}{rest}").content.decode() for rest in ("", "?show=steps", "?show=pages")]
    assert not [value for value in example.secrets.values() if any(value in content for content in contents)]
