"""Tests for the upload of large files of sites in parts."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.website_scan.command.test_lists import (
    NO_CONTENT,
    NO_LISTS,
    json_answer,
    lists_answer,
    requested_paths,
    run_list_command,
)
from tests.website_scan.command.test_remote import Fake, refusal
from tests.website_scan.command.test_remote import fake as fake
from website_scan.command import list_parts
from website_scan.command.errors import ServerRefused
from website_scan.command.list_parts import split
from website_scan.command.remote import KEY

LIST: dict[str, object] = {"id": "lst_" + "a" * 22, "name": "zone", "entries": 0}


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY, "key")
    monkeypatch.setattr(list_parts, "LINES_PER_PART", 2)
    monkeypatch.setattr(list_parts, "MAX_LINES_AT_ONCE", 3)


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        (b"a.se\nb.se\nc.se", [b"a.se\nb.se", b"c.se"]),
        (b"a.se\r\n\r\nb.se\rc.se\r\n", [b"a.se\nb.se", b"c.se"]),
        (
            b"\xef\xbb\xbfDomain Name,Tags\na.se,x\nb.se,\nc.se,",
            [b"Domain Name,Tags\na.se,x\nb.se,", b"Domain Name,Tags\nc.se,"],
        ),
        (b"sep=;\nurl;tags\na.se;x\nb.se\nc.se", [b"sep=;\nurl;tags\na.se;x\nb.se", b"sep=;\nurl;tags\nc.se"]),
        (b"sep=;\na.se;x\nb.se\nc.se", [b"sep=;\na.se;x\nb.se", b"sep=;\nc.se"]),
        (
            b'"Domain";Nr.;Time: UTC\na.se;1;x\nb.se\nc.se',
            [b'"Domain";Nr.;Time: UTC\na.se;1;x\nb.se', b'"Domain";Nr.;Time: UTC\nc.se'],
        ),
        (b'1,"https://a.se/"\n2,b.se\n3,c.se', [b'1,"https://a.se/"\n2,b.se', b"3,c.se"]),
        (b"", []),
    ],
)
def test_each_part_has_the_header_line(content: bytes, parts: list[bytes]) -> None:
    assert list(split(content)) == parts


def test_large_file_is_sent_in_parts(fake: Fake, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "zone.txt"
    file.write_text("a.se\nb.se\nc.se\nd.se\ne.se\n")
    numbers = {"added": 1, "removed": 0, "changed": 0, "unchanged": 1}
    fake.answers += [
        lists_answer(LIST),
        *(json_answer(numbers) for _ in range(3)),
        json_answer({"removed": 4, "next_cursor": "ent_" + "b" * 22}),
        json_answer({"removed": 2, "next_cursor": None}),
    ]
    assert run_list_command(fake, "push", str(file)) == 0
    assert "3 added, 6 removed, 0 changed, 3 unchanged" in capsys.readouterr().err
    _, *paths = requested_paths(fake)
    name = paths[0].partition("import=")[2]
    entries = f"/v1/lists/{LIST['id']}/entries?import={name}"
    assert paths == [
        *[f"POST {entries}"] * 3,
        f"DELETE {entries}&cursor=",
        f"DELETE {entries}&cursor=ent_{'b' * 22}",
    ]


@pytest.mark.parametrize(("imported", "is_deleted"), [(0, True), (2, False)])
def test_interrupted_push_keeps_the_imported_parts_of_a_new_list(
    fake: Fake, tmp_path: Path, capsys: pytest.CaptureFixture[str], imported: int, is_deleted: bool
) -> None:
    file = tmp_path / "zone.txt"
    file.write_text("a.se\nb.se\nc.se\nd.se\n")
    fake.answers += [
        json_answer(NO_LISTS),
        json_answer(LIST, 201),
        refusal(400, "INVALID_ENTRIES"),
        json_answer(LIST | {"entries": imported}),
        NO_CONTENT,
    ]
    with pytest.raises(ServerRefused, match="INVALID_ENTRIES"):
        run_list_command(fake, "push", str(file))
    assert (f"DELETE /v1/lists/{LIST['id']}" in requested_paths(fake)) is is_deleted
    message = f"zone ({LIST['id']}) has 2 sites so far. Push the same file again to import the others."
    assert (message in capsys.readouterr().err) is not is_deleted


def test_small_file_for_a_large_list_is_sent_in_parts(fake: Fake, tmp_path: Path) -> None:
    file = tmp_path / "zone.txt"
    file.write_text("a.se\n")
    numbers = {"added": 1, "removed": 0, "changed": 0, "unchanged": 0}
    fake.answers += [
        lists_answer(LIST | {"entries": 100_001}),
        json_answer(numbers),
        json_answer({"removed": 7, "next_cursor": None}),
    ]
    assert run_list_command(fake, "push", str(file)) == 0
    assert [path.partition("?")[0] for path in requested_paths(fake)[1:]] == [
        f"POST /v1/lists/{LIST['id']}/entries",
        f"DELETE /v1/lists/{LIST['id']}/entries",
    ]
