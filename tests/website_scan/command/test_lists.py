"""Tests for `website-scan list …`."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.website_scan.command.test_remote import Answer, Fake, fake, refusal
from website_scan.command import lists
from website_scan.command.arguments import PROGRAM, is_list_command
from website_scan.command.errors import ServerRefused, WrongUsage
from website_scan.command.lists import ITEMS_PER_REQUEST
from website_scan.command.main import run
from website_scan.command.remote import KEY, ServiceClient

__all__ = ["fake"]

LIST = {"id": "lst_0123456789012345678901", "name": "sites", "entries": 0}
RUN = {"id": "run_1", "status": "running", "entries": 1204, "done": 0, "failed": 0, "left_out": 0}
CHANGES = {"added": 1200, "removed": 3, "changed": 0, "unchanged": 4}
NO_CONTENT: Answer = (204, {}, b"")
NO_LISTS = {"lists": [], "total": 0}


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY, "wss_key")


def json_answer(body: object, status: int = 200) -> Answer:
    return status, {}, json.dumps(body).encode()


def lists_answer(*site_lists: dict[str, object]) -> Answer:
    return json_answer({"lists": site_lists or [LIST], "total": len(site_lists or [LIST])})


def requested_paths(server: Fake) -> list[str]:
    return [f"{method} {path}" for method, path, *_ in server.requests]


def run_list_command(server: Fake, *arguments: str) -> int:
    return lists.run(["--server", server.address, "list", *arguments], PROGRAM)


@pytest.mark.parametrize(
    ("arguments", "is_about"),
    [
        (["list", "run", "sites"], True),
        (["--server", "https://a.example", "list", "push", "x.csv"], True),
        (["--server=https://a.example", "list"], True),
        (["--server", "list", "https://a.example"], False),
        (["https://a.example", "list"], False),
        (["--server"], False),
        ([], False),
    ],
)
def test_server_option_may_precede_list(arguments: Sequence[str], is_about: bool) -> None:
    assert is_list_command(arguments) is is_about


def test_push_replaces_the_sites_of_a_list(fake: Fake, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "sites.csv"
    file.write_bytes("url,tags\nhttps://bücher.example,=a;b\n".encode("utf-8-sig"))
    fake.answers = [lists_answer(), json_answer(CHANGES)]
    assert run_list_command(fake, "push", str(file)) == 0
    assert requested_paths(fake) == [
        f"GET /v1/lists?limit={ITEMS_PER_REQUEST}&offset=0",
        f"PUT /v1/lists/{LIST['id']}/entries",
    ]
    *_, headers, body = fake.requests[-1]
    assert (headers["Content-Type"], body) == ("text/csv", file.read_bytes())
    numbers = "1,200 added, 3 removed, 0 changed, 4 unchanged."
    assert capsys.readouterr().err == f"Updated sites ({LIST['id']}): {numbers}\n"


def test_push_creates_a_new_list(fake: Fake, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "new.txt"
    file.write_text("a.example\n")
    fake.answers = [json_answer(NO_LISTS), json_answer({**LIST, "name": "Ministries"}, 201), json_answer(CHANGES)]
    assert run_list_command(fake, "push", str(file), "Ministries") == 0
    assert json.loads(fake.requests[1][3]) == {
        "name": "Ministries",
        "types": ["security", "performance", "accessibility", "seo"],
    }
    assert fake.requests[2][2]["Content-Type"] == "text/plain"
    assert capsys.readouterr().err.startswith("Created Ministries")


def test_push_limits_a_new_list_to_categories_of_security(fake: Fake, tmp_path: Path) -> None:
    file = tmp_path / "new.txt"
    file.write_text("a.example\n")
    fake.answers = [json_answer(NO_LISTS), json_answer(LIST, 201), json_answer(CHANGES)]
    assert run_list_command(fake, "push", str(file), "--categories", "mail,names") == 0
    assert json.loads(fake.requests[1][3]) == {"name": "new", "types": ["security"], "categories": ["mail", "names"]}


def test_push_changes_the_categories_of_an_existing_list(fake: Fake, tmp_path: Path) -> None:
    file = tmp_path / "sites.txt"
    file.write_text("a.example\n")
    fake.answers = [lists_answer(), json_answer(LIST), json_answer(CHANGES)]
    assert run_list_command(fake, "push", str(file), "--categories", "mail") == 0
    assert requested_paths(fake)[1:] == [f"PATCH /v1/lists/{LIST['id']}", f"PUT /v1/lists/{LIST['id']}/entries"]
    assert json.loads(fake.requests[1][3]) == {"categories": ["mail"]}


def test_refused_push_deletes_the_new_list(fake: Fake, tmp_path: Path) -> None:
    file = tmp_path / "sites.json"
    file.write_text("[]")
    faults = [{"line": line, "code": "INVALID_URL", "error": "No address."} for line in range(1, 101)]
    refused = {"code": "INVALID_ENTRIES", "error": "1,204 lines are not valid.", "entries": faults, "count": 1204}
    fake.answers = [
        json_answer(NO_LISTS),
        json_answer(LIST, 201),
        json_answer(refused, 400),
        json_answer(LIST | {"entries": 0}),
        NO_CONTENT,
    ]
    with pytest.raises(ServerRefused) as refusal:
        run_list_command(fake, "push", str(file))
    lines = str(refusal.value).splitlines()
    assert lines[0].endswith("INVALID_ENTRIES: 1,204 lines are not valid.")
    assert (lines[1], lines[-1], len(lines)) == ("  line 1: No address.", "  and 1,184 more", 22)
    assert requested_paths(fake)[-1] == f"DELETE /v1/lists/{LIST['id']}"
    assert fake.requests[2][2]["Content-Type"] == "application/json"


def test_refused_push_keeps_an_existing_list(fake: Fake, tmp_path: Path) -> None:
    file = tmp_path / "sites.csv"
    file.write_text("x")
    fake.answers = [lists_answer(), refusal(400, "INVALID_ENTRIES")]
    with pytest.raises(ServerRefused, match="INVALID_ENTRIES"):
        run_list_command(fake, "push", str(file))
    assert not [request for request in requested_paths(fake) if request.startswith("DELETE")]


def test_push_from_standard_input_needs_a_list_name(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    def piped_text() -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a.example")))

    piped_text()
    with pytest.raises(WrongUsage, match="name or the ID"):
        run_list_command(fake, "push", "-")
    piped_text()
    fake.answers = [json_answer(LIST), json_answer(CHANGES)]
    assert run_list_command(fake, "push", "-", str(LIST["id"]), "--quiet") == 0
    assert fake.requests[-1][3] == b"a.example"


def test_push_of_a_missing_file_is_a_usage_error(fake: Fake) -> None:
    with pytest.raises(WrongUsage, match="can't be read: No such file"):
        run_list_command(fake, "push", "/nonexistent.csv")


def test_list_name_must_be_unique(fake: Fake) -> None:
    others = [{"id": f"lst_{number:022d}", "name": "other"} for number in range(ITEMS_PER_REQUEST)]
    page = json_answer({"lists": others, "total": ITEMS_PER_REQUEST + 1})
    fake.answers = [page, json_answer({"lists": [LIST], "total": ITEMS_PER_REQUEST + 1}), json_answer(RUN, 202)]
    assert run_list_command(fake, "run", "sites") == 0
    fake.answers = [lists_answer(LIST, LIST)]
    with pytest.raises(WrongUsage, match="2 lists have the name sites: use an ID"):
        run_list_command(fake, "run", "sites")
    fake.answers = [json_answer(NO_LISTS)]
    with pytest.raises(ServerRefused, match="no list with the name sites"):
        run_list_command(fake, "run", "sites")


def test_run_prints_the_id_of_the_new_run(fake: Fake, capsys: pytest.CaptureFixture[str]) -> None:
    fake.answers = [lists_answer(), json_answer(RUN, 202)]
    assert run_list_command(fake, "run", "sites") == 0
    assert capsys.readouterr() == ("run_1\n", "A run of sites with 1,204 sites has begun.\n")


@pytest.mark.parametrize(("status", "exit_status"), [("completed", 0), ("partial", 3), ("cancelled", 3)])
def test_run_with_wait_polls_until_the_end(
    fake: Fake, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], status: str, exit_status: int
) -> None:
    waited: list[float] = []
    monkeypatch.setattr(ServiceClient, "wait", lambda _, seconds: waited.append(seconds))
    ended = RUN | {"status": status, "done": 1200, "failed": 4}
    fake.answers = [lists_answer(), json_answer(RUN, 202), json_answer(RUN), json_answer(ended)]
    assert run_list_command(fake, "run", "sites", "--wait") == exit_status
    assert waited == [lists.POLL_INTERVAL_S] * 2
    assert requested_paths(fake)[-1] == f"GET /v1/lists/{LIST['id']}/runs/run_1"
    message = f"The run of sites is {status}: 1,200 sites judged, 4 failed, 0 left out.\n"
    assert capsys.readouterr().err == message


def test_export_writes_the_latest_snapshot(fake: Fake, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    statuses = ("running", "cancelled", "partial", "completed")
    runs = json_answer({"runs": [{"id": f"run_{status}", "status": status} for status in statuses]})
    content = "url,title\r\nhttps://a.example/,ü\u2028\r\n" * 9_000
    fake.answers = [lists_answer(), runs, (200, {}, content.encode())]
    target = tmp_path / "out.csv"
    target.write_text("before")
    assert run_list_command(fake, "export", "sites", "--output", str(target)) == 0
    assert target.read_bytes().decode() == content
    assert [file.name for file in tmp_path.iterdir()] == ["out.csv"]
    assert requested_paths(fake)[-1] == f"GET /v1/lists/{LIST['id']}/snapshots/run_partial/export/csv"
    assert capsys.readouterr().err == f"Written: {target}.\n"


def test_export_writes_a_snapshot_to_standard_output(fake: Fake, capsys: pytest.CaptureFixture[str]) -> None:
    fake.answers = [lists_answer(), (200, {}, b'{"url": "https://a.example/"}\n')]
    assert run_list_command(fake, "export", "sites", "--snapshot", "run_1/../x", "--format", "jsonl") == 0
    assert requested_paths(fake)[-1] == f"GET /v1/lists/{LIST['id']}/snapshots/run_1%2F..%2Fx/export/jsonl"
    assert capsys.readouterr() == ('{"url": "https://a.example/"}\n', "")


def test_export_needs_a_snapshot(fake: Fake) -> None:
    fake.answers = [lists_answer(), json_answer({"runs": [RUN]})]
    with pytest.raises(ServerRefused, match="no snapshot yet"):
        run_list_command(fake, "export", "sites")


def test_incomplete_export_does_not_replace_the_file(fake: Fake, tmp_path: Path) -> None:
    fake.answers = [lists_answer(), (200, {"Transfer-Encoding": "chunked"}, b"5\r\nhello\r\n")]
    target = tmp_path / "out.csv"
    target.write_text("before")
    with pytest.raises(ServerRefused, match="did not send all of it"):
        run_list_command(fake, "export", "sites", "--snapshot", "run_1", "--output", str(target))
    assert target.read_text() == "before"
    assert [file.name for file in tmp_path.iterdir()] == ["out.csv"]


def test_unwritable_file_is_reported_before_the_download(fake: Fake, tmp_path: Path) -> None:
    fake.answers = [lists_answer()]
    with pytest.raises(WrongUsage, match="can't be written"):
        run_list_command(fake, "export", "sites", "--output", str(tmp_path / "none" / "out.csv"))
    assert len(fake.requests) == 1


def test_list_command_needs_a_server_and_an_action(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["list", "run", "sites"]) == 2
    assert "specify its address with --server" in capsys.readouterr().err
    for wrong in (["list"], ["list", "erase", "sites"], ["list", "push"], ["list", "export", "x", "--format", "pdf"]):
        with pytest.raises(SystemExit) as ended:
            run(["--server", "https://scan.example.com", *wrong])
        assert ended.value.code == 2
        assert "Usage: website-scan --server URL list" in capsys.readouterr().err
    with pytest.raises(SystemExit) as ended:
        run(["list", "push", "--help"])
    assert ended.value.code == 0
    assert "website-scan --server URL list push FILE [NAME|ID]" in capsys.readouterr().out
