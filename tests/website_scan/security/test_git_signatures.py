"""Tests for signatures of Git files.

Sources: gitrepository-layout, git-check-ref-format, gitformat-index and others.
"""

from __future__ import annotations

import pytest

from website_scan.security import file_signatures, git_signatures
from website_scan.security.sensitive_files import files_beside

COMMIT = "9f2c" * 10
SHA256 = "9f2c" * 16
ACTOR = "Alice Müller <alice@example.com> 1700000000 +0100"


@pytest.mark.parametrize(
    "branch",
    [
        "heads/main", "heads/feature/x-1", "heads/fix/#12", "heads/user@host", "heads/@/x", "heads/a+b", "heads/naïve",
        "heads/修正", "heads/a=b,c;d", "heads/(wip)", "heads/it's", "heads/\"x\"", "heads/a|b&c", "heads/x{1}",
        "heads/100%", "heads/a.b", "heads/$x!", "heads/lock", "heads/.invalid", f"heads/{'a' * 255}", "remotes/a/main",
        "bisect/x",
    ],
)  # fmt: skip
def test_head_refers_to_valid_branch(branch: str) -> None:
    assert git_signatures.git_head(f"ref: refs/{branch}\n".encode())


@pytest.mark.parametrize(
    "branch",
    [
        "heads/a b", "heads/a..b", "heads/a~1", "heads/a^", "heads/a:b", "heads/a?", "heads/*", "heads/[a",
        "heads/a\\b",
        "heads/a@{1}", "heads//a", "heads/", "heads/a.", "heads/a.lock", "heads/a.lock/b", "heads/.a", "heads/a\tb",
        "heads/a\x7f", "heads/main\nis what stands there",
    ],
)  # fmt: skip
def test_invalid_branch_is_no_head(branch: str) -> None:
    assert git_signatures.git_head(f"ref: refs/{branch}\n".encode()) is None


@pytest.mark.parametrize(
    ("signature", "body"),
    [
        ("git_head", f"{COMMIT}\n".encode()),
        ("git_head", SHA256.encode()),
        ("git_head", b"ref:refs/heads/main"),
        ("git_index", b"DIRC\0\0\0\2\0\0\0\1" + bytes(72)),
        ("git_index", b"DIRC\0\0\0\4\0\0\1\0" + bytes(72)),
        ("git_index", b"DIRC\0\0\0\3\0\0\0\0"),
        ("git_reflog", f"{'0' * 40} {COMMIT} {ACTOR}\tcommit (initial): x\n".encode()),
        ("git_reflog", f"{'0' * 64} {SHA256} {ACTOR}\n".encode()),
        ("git_reflog", f"{COMMIT} {COMMIT} root <> 1700000000 -0330\tpull\n".encode()),
        ("git_packed_refs", b"# pack-refs with: peeled fully-peeled sorted \n"),
        ("git_packed_refs", f"{COMMIT} refs/heads/main\n{COMMIT} refs/tags/v1\n".encode()),
        ("git_fetch_head", f"{COMMIT}\t\tbranch 'main' of https://git.example.com/a\n".encode()),
        ("git_fetch_head", f"{COMMIT}\tnot-for-merge\ttag 'v1' of git.example.com:a\n".encode()),
        ("git_exclude", b"# git ls-files --others --exclude-from=.git/info/exclude\n*~\n"),
    ],
)
def test_signature_matches_git_file(signature: str, body: bytes) -> None:
    assert getattr(git_signatures, signature)(body)


@pytest.mark.parametrize(
    ("signature", "body"),
    [
        ("git_head", b"0123456789abcdef"),
        ("git_head", b"ref: main"),
        ("git_index", b"DIRC"),
        ("git_index", b"DIRC is how an index begins"),
        ("git_index", b"DIRC\0\0\0\7\0\0\0\1" + bytes(72)),
        ("git_reflog", f"A line looks like {COMMIT} {COMMIT} {ACTOR}\n".encode()),
        ("git_reflog", f"{COMMIT}  index.html\n".encode()),  # The file is a list of checksums.
        ("git_packed_refs", f"{COMMIT} main\n".encode()),
        ("git_packed_refs", b"# pack-refs\n"),
        ("git_fetch_head", f"{COMMIT}\tindex.html\n".encode()),
        ("git_exclude", b"# exclude\n*.log\n"),
    ],
)
def test_similar_text_is_no_git_file(signature: str, body: bytes) -> None:
    assert getattr(git_signatures, signature)(body) is None


@pytest.mark.parametrize("body", ["[Core]\n\tbare = false\n", "[core] bare = false\n", "[core]bare=true\n"])
def test_git_config_has_many_spellings(body: str) -> None:
    """Section names in Git's configuration ignore case.

    A variable may follow on the same line.
    """
    assert file_signatures.git_config(body.encode())


def test_sentence_like_configuration_is_rejected() -> None:
    assert file_signatures.git_config(b"[core] is the section where the settings stand\n") is None


@pytest.mark.parametrize(
    ("path", "folders"),
    [
        ("/", []),
        ("/index.html?x=/a/", []),
        ("/app/", ["/app"]),
        ("/app/index.html", ["/app"]),
        ("/app/orders/1", ["/app", "/app/orders"]),
        ("/app/orders/1/items/?page=2", ["/app", "/app/orders/1/items"]),
    ],
)
def test_files_are_requested_in_page_folders(path: str, folders: list[str]) -> None:
    files = files_beside(path)
    assert [file.path for file in files.get("exposed-env", ())] == [f"{folder}/.env" for folder in folders]
    assert [file.path for file in files.get("exposed-git", ())] == [
        f"{folder}/.git/{name}" for folder in folders for name in ("config", "HEAD", "index")
    ]
