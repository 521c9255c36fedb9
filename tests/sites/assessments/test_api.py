"""Tests for the API of assessments."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.utils import timezone

from accounts.keys.services import create_api_key
from accounts.models import Membership, Tier, User
from infrastructure.api.scopes import Scope
from reports.models import Mute
from sites.assessments import loading, refreshing
from sites.models import Assessment, AssessmentEvent, AssessmentFinding, AssessmentPage, AssessmentResult, Audit
from tests.factories import Api, Member, person_of
from tests.sites.assessments.cast import HOST, assess, audit_of, check, decide, museum_audit, result_of
from tests.sites.assessments.storing import whole_report
from website_scan.ids import new_id

HUGE = 10**30


@pytest.fixture
def museum(home: Member) -> Assessment:
    return assess(home, museum_audit(home))


@pytest.fixture
def reader(home: Member) -> Api:
    """Client with a key that may only read."""
    return Api(create_api_key(organization=home.organization, name="reader", scope=Scope.READ)[1])


def body_of(response: Any, status: int = 200) -> Any:
    assert response.status_code == status, response.content
    return json.loads(response.getvalue())


def code_of(response: Any) -> tuple[int, str]:
    return response.status_code, response.json()["code"]


def test_assessment_is_created_from_an_audit(home: Member) -> None:
    audit = museum_audit(home)
    body = {"audit": audit.id, "name": "Museum", "level": "A", "sample_size": 2, "evaluators": "Ada\nBert"}
    response = home.api.post("/v1/assessments", body)
    created = body_of(response, 201)
    assert response["Location"] == f"/v1/assessments/{created['id']}"
    assert (created["pages"], created["level"], created["evaluators"]) == (2, "A", "Ada\nBert")
    assert created["refreshing"]
    refreshing.copy_results(created["id"])
    read = body_of(home.api.get(f"/v1/assessments/{created['id']}"))
    assert not read["refreshing"]
    assert read["audit_id"] == audit.id
    assert body_of(home.api.get("/v1/assessments")) == {"assessments": [read], "total": 1, "limit": 20, "offset": 0}
    assert body_of(home.api.get("/v1/assessments?offset=1"))["assessments"] == []


def test_repeated_idempotency_key_creates_one_assessment(home: Member) -> None:
    body = {"audit": museum_audit(home).id, "name": "Museum"}
    first = home.api.post("/v1/assessments", body, Idempotency_Key="one")
    again = home.api.post("/v1/assessments", body, Idempotency_Key="one")
    assert first.json() == again.json()
    assert (first.headers.get("Idempotent-Replayed"), again["Idempotent-Replayed"]) == (None, "true")
    other = home.api.post("/v1/assessments", body | {"name": "Gallery"}, Idempotency_Key="one")
    assert code_of(other) == (422, "IDEMPOTENCY_MISMATCH")
    assert Assessment.objects.count() == 1


def test_creation_is_refused_without_results_or_over_the_plan(home: Member, stranger: Member) -> None:
    running = audit_of(home, {"/": (check("image-alt", "pass"),)})
    Audit.objects.filter(id=running.id).update(status="running", completed_at=None)
    assert code_of(home.api.post("/v1/assessments", {"audit": running.id, "name": "A"})) == (409, "AUDIT_NOT_COMPLETE")
    foreign = museum_audit(stranger)
    assert code_of(home.api.post("/v1/assessments", {"audit": foreign.id, "name": "A"})) == (404, "AUDIT_NOT_FOUND")
    body = {"audit": museum_audit(home).id, "name": "Museum"}
    assert home.api.post("/v1/assessments", body).status_code == 201
    assert code_of(home.api.post("/v1/assessments", body)) == (409, "ASSESSMENT_LIMIT")


def test_assessment_is_changed_finished_and_deleted(home: Member, museum: Assessment) -> None:
    path = f"/v1/assessments/{museum.id}"
    changed = body_of(home.api.patch(path, {"name": "City museum", "scope": "All pages.", "shared": True}))
    assert (changed["name"], changed["scope"], changed["shared"]) == ("City museum", "All pages.", True)
    assert body_of(home.api.patch(path, {"status": "finished"}))["status"] == "finished"
    finished: tuple[tuple[str, str, Any], ...] = (
        ("PATCH", "", {"scope": "Some pages."}),
        ("POST", "/refresh", {"audit": museum_audit(home).id}),
        ("POST", "/pages", {"url": f"{HOST}/tickets"}),
        ("PATCH", "/pages/1", {"name": "Start"}),
        ("DELETE", "/pages/1", None),
        ("POST", "/criteria/2.4.3", {"result": "passed"}),
        ("PUT", "/pages/1/results/2.4.3", {"version": 0, "result": "passed"}),
        ("PUT", f"/findings/{museum.findings.latest('id').id}/dispute", {"reason": "Decoration."}),
        ("DELETE", f"/findings/{museum.findings.latest('id').id}/dispute", None),
    )
    for method, end, body in finished:
        response = home.api.call(method, path + end, json.dumps(body).encode() if body else b"", "application/json")
        assert code_of(response) == (409, "ASSESSMENT_FINISHED"), (method, end)
    assert body_of(home.api.patch(path, {"status": "open", "scope": "Some pages."}))["scope"] == "Some pages."
    assert home.api.delete(path).status_code == 204
    assert code_of(home.api.get(path)) == (404, "ASSESSMENT_NOT_FOUND")


def test_texts_of_10000_characters_are_accepted_in_every_field(home: Member, museum: Assessment) -> None:
    texts = dict.fromkeys(("scope", "evaluators", "method", "burden", "exempt_content"), "\u00e9" * 10_000)
    assert body_of(home.api.patch(f"/v1/assessments/{museum.id}", texts))["burden"] == texts["burden"]
    note = {"version": 0, "note": "\u00e9" * 10_000, "remedy": "\u00e9" * 10_000}
    assert body_of(home.api.put(f"/v1/assessments/{museum.id}/pages/1/results/2.4.3", note))["note"] == note["note"]


def test_refresh_copies_a_later_audit_once_at_a_time(home: Member, museum: Assessment) -> None:
    path = f"/v1/assessments/{museum.id}/refresh"
    later = museum_audit(home)
    assert body_of(home.api.post(path, {"audit": later.id}), 202)["refreshing"]
    assert code_of(home.api.post(path, {"audit": later.id})) == (409, "ASSESSMENT_BUSY")
    refreshing.copy_results(museum.id)
    assert body_of(home.api.get(f"/v1/assessments/{museum.id}"))["audit_id"] == later.id
    other_site = audit_of(home, {"/": (check("image-alt", "pass"),)}, url="https://other.example/")
    assert code_of(home.api.post(path, {"audit": other_site.id})) == (400, "INVALID_PARAMS")
    assert code_of(home.api.post(path, {"audit": new_id("aud")})) == (404, "AUDIT_NOT_FOUND")


def test_pages_are_listed_added_named_and_removed(home: Member, museum: Assessment) -> None:
    path = f"/v1/assessments/{museum.id}/pages"
    listed = body_of(home.api.get(f"{path}?limit=2&offset=1"))
    assert ([page["number"] for page in listed["pages"]], listed["total"]) == ([2, 3], 3)
    state = {"url": f"{HOST}/shop", "name": "Cart with one item", "is_state": True}
    response = home.api.post(path, state)
    added = body_of(response, 201)
    assert (added["number"], added["title"], added["reason"]) == (4, "Cart with one item", "added")
    assert response["Location"] == f"{path}/4"
    assert code_of(home.api.post(path, state | {"name": ""})) == (400, "INVALID_PARAMS")
    assert code_of(home.api.post(path, {"url": "ftp://example.com/"})) == (400, "INVALID_URL")
    assert body_of(home.api.patch(f"{path}/2", {"name": "Visit us"}))["title"] == "Visit us"
    assert body_of(home.api.patch(f"{path}/2", {"name": ""}))["title"] == f"{HOST}/visit"
    assert home.api.delete(f"{path}/4").status_code == 204
    assert code_of(home.api.delete(f"{path}/4")) == (404, "PAGE_NOT_FOUND")


def test_criteria_have_results_over_all_pages(home: Member, museum: Assessment) -> None:
    rows = {row["number"]: row for row in body_of(home.api.get(f"/v1/assessments/{museum.id}/criteria"))["criteria"]}
    assert len(rows) == 55
    assert (rows["1.1.1"]["outcome"], rows["1.1.1"]["pages"]["failed"]) == ("failed", 1)
    path = f"/v1/assessments/{museum.id}/criteria/1.1.1"
    assert body_of(home.api.post(path, {"result": "passed", "note": "Looked."})) == {"updated": 2}
    assert body_of(home.api.post(path, {"result": "failed", "note": "No text."})) == {"updated": 0}
    assert code_of(home.api.post(f"{path}1", {"result": "passed"})) == (404, "CRITERION_NOT_FOUND")


def test_results_are_filtered_and_ordered(home: Member, museum: Assessment) -> None:
    decide(home, museum, 3, "1.4.10", "passed")
    path = f"/v1/assessments/{museum.id}/results"
    of_page = body_of(home.api.get(f"{path}?page=2&limit=100"))
    assert of_page["total"] == 55
    numbers = [row["criterion"] for row in of_page["results"]]
    assert numbers == [criterion.number for criterion in loading.standard_criteria(museum)]
    assert [row["page"] for row in body_of(home.api.get(f"{path}?criterion=1.1.1"))["results"]] == [1, 2, 3]
    failed = body_of(home.api.get(f"{path}?outcome=failed"))
    assert [(row["page"], row["criterion"], row["automatic"]) for row in failed["results"]] == [(2, "1.1.1", "fails")]
    passed = body_of(home.api.get(f"{path}?outcome=passed&page=3"))
    assert [row["criterion"] for row in passed["results"]] == ["1.4.10"]
    assert body_of(home.api.get(f"{path}?page=2&criterion=1.1.1&outcome=passed"))["results"] == []
    everything = body_of(home.api.get(f"{path}?limit=100&offset=100"))
    assert (everything["total"], len(everything["results"])) == (165, 65)
    assert code_of(home.api.get(f"{path}?page=4")) == (404, "PAGE_NOT_FOUND")
    assert code_of(home.api.get(f"{path}?criterion=9.9.9")) == (404, "CRITERION_NOT_FOUND")
    for query in (f"page={HUGE}", "page=0", "page=x", "outcome=fine", "limit=0", "result=passed"):
        assert code_of(home.api.get(f"{path}?{query}")) == (400, "INVALID_PARAMS"), query


def test_second_writer_gets_the_result_of_the_first(home: Member, museum: Assessment) -> None:
    path = f"/v1/assessments/{museum.id}/pages/1/results/2.4.3"
    first = body_of(home.api.put(path, {"version": 0, "result": "failed", "note": "The order jumps."}))
    assert (first["version"], first["outcome"], first["tested_by"]) == (1, "failed", "API key tests")
    response = home.api.put(path, {"version": 0, "result": "passed"})
    assert code_of(response) == (409, "RESULT_CHANGED")
    assert response.json()["current"] == first
    second = body_of(home.api.put(path, {"version": 1, "remedy": "Use the order of the page."}))
    assert (second["version"], second["note"]) == (2, "The order jumps.")


def test_automatic_failure_is_disputed_before_it_passes(home: Member, museum: Assessment) -> None:
    path = f"/v1/assessments/{museum.id}"
    assert code_of(home.api.put(f"{path}/pages/2/results/1.1.1", {"version": 0, "result": "passed"})) == (
        400,
        "INVALID_PARAMS",
    )
    (finding,) = [row for row in body_of(home.api.get(f"{path}/findings?page=2"))["findings"] if row["has_failed"]]
    assert [place["text"] for place in finding["places"]] == ["#a", "#b"]
    disputed = body_of(home.api.put(f"{path}/findings/{finding['id']}/dispute", {"reason": "Decoration."}))
    assert (disputed["disputed"], disputed["dispute_reason"]) == (True, "Decoration.")
    assert [row["id"] for row in body_of(home.api.get(f"{path}/findings?disputed=true"))["findings"]] == [finding["id"]]
    assert body_of(home.api.get(f"{path}/findings?disputed=false"))["total"] == 1
    body_of(home.api.put(f"{path}/pages/2/results/1.1.1", {"version": 0, "result": "passed"}))
    withdrawn = body_of(home.api.delete(f"{path}/findings/{finding['id']}/dispute"))
    assert withdrawn["disputed"] is False
    assert not Mute.objects.filter(ended_at=None).exists()


def test_findings_are_filtered_by_state(home: Member) -> None:
    before = {"/": (check("image-alt", "fail", "#a"), check("html-has-lang", "fail", "html"))}
    museum = assess(home, audit_of(home, before))
    after = {"/": (check("image-alt", "pass"), check("html-has-lang", "fail", "html"), check("color-contrast", "fail"))}
    path = f"/v1/assessments/{museum.id}"
    body_of(home.api.post(f"{path}/refresh", {"audit": audit_of(home, after).id}), 202)
    refreshing.copy_results(museum.id)
    states = {
        state: [row["check"] for row in body_of(home.api.get(f"{path}/findings?state={state}"))["findings"]]
        for state in ("new", "still", "fixed")
    }
    assert states == {"new": ["color-contrast"], "still": ["html-has-lang"], "fixed": ["image-alt"]}
    for query in ("state=old", "disputed=yes", f"page={HUGE}"):
        assert code_of(home.api.get(f"{path}/findings?{query}")) == (400, "INVALID_PARAMS"), query


def test_log_names_who_changed_what(home: Member, museum: Assessment) -> None:
    decide(home, museum, 1, "2.4.3", "passed", note="By keyboard.")
    log = body_of(home.api.get(f"/v1/assessments/{museum.id}/log"))
    assert [event["action"] for event in log["events"]] == ["result", "results_copied", "created"]
    entry = log["events"][0]
    assert (entry["actor"], entry["api_key"], entry["page"], entry["criterion"]) == (
        "API key tests",
        home.key.id,
        1,
        "2.4.3",
    )
    assert (entry["before"], entry["after"]) == (
        {"result": "untested", "note": ""},
        {"result": "passed", "note": "By keyboard."},
    )
    assert (
        body_of(home.api.get(f"/v1/assessments/{museum.id}/log?limit=1&offset=2"))["events"][0]["action"] == "created"
    )


def test_report_has_the_whole_assessment(home: Member, museum: Assessment) -> None:
    decide(home, museum, 3, "2.4.3", "failed", note="The <order> jumps.", remedy="Use the order of the page.")
    response = home.api.get(f"/v1/assessments/{museum.id}/report")
    assert body_of(response) == json.loads(json.dumps(whole_report(Assessment.objects.get(id=museum.id))))
    assert response["Content-Disposition"] == f'attachment; filename="{museum.id}.json"'
    report = body_of(home.api.get(f"/v1/assessments/{museum.id}/report?format=json"))
    (criterion,) = [row for row in report["criteria"] if row["number"] == "2.4.3"]
    assert [row["note"] for row in criterion["results"]] == ["The <order> jumps."]
    unknown = home.api.get(f"/v1/assessments/{museum.id}/report?format=pdf")
    assert code_of(unknown) == (400, "INVALID_PARAMS")


@pytest.mark.parametrize(
    ("name", "content_type", "ending", "part"),
    [
        ("openacr", "application/yaml", "-openacr.yaml", "Museum"),
        ("earl", "application/ld+json", "-earl.jsonld", "earl:failed"),
        ("csv", "text/csv; charset=utf-8", ".csv", "The <order> jumps."),
        ("statement", "text/markdown; charset=utf-8", "-statement.md", "2.4.3"),
    ],
)
def test_report_is_written_in_other_formats(
    home: Member, museum: Assessment, name: str, content_type: str, ending: str, part: str
) -> None:
    decide(home, museum, 3, "2.4.3", "failed", note="The <order> jumps.")
    response = home.api.get(f"/v1/assessments/{museum.id}/report?format={name}")
    assert response.status_code == 200
    assert response["Content-Type"] == content_type
    assert response["Content-Disposition"] == f'attachment; filename="{museum.id}{ending}"'
    assert part in response.getvalue().decode()


def requests_of(museum: Assessment) -> list[tuple[str, str, Any]]:
    """Return a valid request for each route of an assessment."""
    path, finding = f"/v1/assessments/{museum.id}", museum.findings.get(has_failed=True).id
    return [
        *(("GET", path + end, None) for end in ("", "/pages", "/criteria", "/results", "/findings", "/log", "/report")),
        ("PATCH", path, {"name": "Gallery"}),
        ("POST", f"{path}/refresh", {"audit": museum.audit_id}),
        ("POST", f"{path}/pages", {"url": f"{HOST}/tickets"}),
        ("PATCH", f"{path}/pages/1", {"name": "Start"}),
        ("DELETE", f"{path}/pages/1", None),
        ("POST", f"{path}/criteria/2.4.3", {"result": "passed"}),
        ("PUT", f"{path}/pages/2/results/2.4.3", {"version": 0, "result": "passed"}),
        ("PUT", f"{path}/findings/{finding}/dispute", {"reason": "Decoration."}),
        ("DELETE", f"{path}/findings/{finding}/dispute", None),
        ("DELETE", path, None),
    ]


def send(api: Api, method: str, path: str, body: Any) -> Any:
    return api.call(method, path, b"" if body is None else json.dumps(body).encode(), "application/json")


def rows() -> list[Any]:
    models = (Assessment, AssessmentPage, AssessmentResult, AssessmentFinding, AssessmentEvent, Mute)
    return [list(model.objects.order_by("pk").values()) for model in models]


def test_other_organizations_get_404(home: Member, stranger: Member, museum: Assessment) -> None:
    before = rows()
    for method, path, body in requests_of(museum):
        assert code_of(send(stranger.api, method, path, body)) == (
            404,
            ("AUDIT_NOT_FOUND" if path.endswith("/refresh") else "ASSESSMENT_NOT_FOUND"),
        ), (method, path)
    assert body_of(stranger.api.get("/v1/assessments"))["total"] == 0
    assert rows() == before


def test_read_key_reads_and_writes_nothing(home: Member, museum: Assessment, reader: Api) -> None:
    before = rows()
    for method, path, body in [*requests_of(museum), ("POST", "/v1/assessments", {"audit": museum.audit_id})]:
        response = send(reader, method, path, body)
        if method == "GET":
            assert response.status_code == 200, path
        else:
            assert code_of(response) == (403, "INSUFFICIENT_SCOPE"), (method, path)
    assert rows() == before


def test_every_route_needs_a_key_and_accepts_a_valid_request(home: Member, museum: Assessment) -> None:
    Tier.objects.update(assessments=10)
    for method, path, body in requests_of(museum):
        assert code_of(send(Api(), method, path, body)) == (401, "UNAUTHORIZED")
        assert send(home.api, method, path, body).status_code in (200, 201, 202, 204), (method, path)


@pytest.mark.parametrize("number", ["0", "01", "-1", "x", "9" * 10, str(HUGE), "%00", "\u0661", "1/2"])
def test_numbers_that_no_row_can_have_are_not_found(home: Member, museum: Assessment, number: str) -> None:
    path = f"/v1/assessments/{museum.id}"
    result = {"version": 0, "result": "passed"}
    assert code_of(home.api.patch(f"{path}/pages/{number}", {"name": "A"})) == (404, "PAGE_NOT_FOUND")
    assert code_of(home.api.delete(f"{path}/pages/{number}")) == (404, "PAGE_NOT_FOUND")
    assert code_of(home.api.put(f"{path}/pages/{number}/results/2.4.3", result)) == (404, "PAGE_NOT_FOUND")
    assert code_of(home.api.put(f"{path}/pages/1/results/{number}", result)) == (404, "CRITERION_NOT_FOUND")
    assert code_of(home.api.post(f"{path}/criteria/{number}", {"result": "passed"})) == (404, "CRITERION_NOT_FOUND")
    dispute = f"{path}/findings/{number}/dispute"
    assert code_of(home.api.put(dispute, {"reason": "A"})) == (404, "FINDING_NOT_FOUND")
    assert code_of(home.api.delete(dispute)) == (404, "FINDING_NOT_FOUND")


def test_results_stay_when_the_audit_and_the_member_are_gone(home: Member, museum: Assessment) -> None:
    person = person_of(home, "member", "ada@example.com")
    result = result_of(museum, 1, "2.4.3")
    AssessmentResult.objects.filter(id=result.id).update(
        result="passed", tested_by=person, tested_by_name="Ada", tested_at=timezone.now(), version=1
    )
    Assessment.objects.filter(id=museum.id).update(created_by=person)
    path = f"/v1/assessments/{museum.id}"
    before = body_of(home.api.get(f"{path}/report"))
    Audit.objects.all().delete()
    Membership.objects.filter(user=person).delete()
    User.objects.filter(id=person.id).delete()
    after = body_of(home.api.get(f"{path}/report"))
    assert after == before
    assert "Ada" in json.dumps(after)
    assert body_of(home.api.get(f"{path}/log"))["total"] == 2
