"""Tests for `--serve` and `--start`."""

from __future__ import annotations

import http.client
import json
import os
import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest

from tests.command_line import ROOT, environment, run_here
from tests.operations.stack.processes import wait_until
from tests.targets.server import Answer, Site
from website_scan.command import local, preview
from website_scan.command.arguments import parse_arguments
from website_scan.command.errors import WrongUsage
from website_scan.command.folder_server import serve_folder

PAGE = "<!doctype html><html lang=en><head><meta charset=utf-8><title>A bakery</title></head><body><h1>Bread</h1>"


@pytest.fixture
def public(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(local, "browser", lambda: None)
    folder = tmp_path / "public"
    (folder / "about").mkdir(parents=True)
    (folder / "index.html").write_text(PAGE)
    (folder / "about" / "index.html").write_text(PAGE)
    (folder / "team.html").write_text(PAGE)
    (tmp_path / "secret.txt").write_text("secret")
    return folder


class Client:
    def __init__(self, origin: str) -> None:
        self.port = int(origin.rpartition(":")[2])

    def get(self, path: str, method: str = "GET", **headers: str) -> http.client.HTTPResponse:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        connection.request(method, path, headers={"Host": f"localhost:{self.port}"} | headers)
        answer = connection.getresponse()
        answer.content = answer.read()  # type: ignore[attr-defined]  # the connection is closed now
        connection.close()
        return answer


class TestServe:
    @pytest.fixture
    def client(self, public: Path) -> Iterator[Client]:
        with serve_folder(public) as origin:
            yield Client(origin)

    @pytest.mark.parametrize("path", ["/", "/index.html", "/about/", "/team", "/team.html", "/team?a=b", "/%74eam"])
    def test_pages_are_served_like_on_hosting_services(self, client: Client, path: str) -> None:
        answer = client.get(path)
        assert (answer.status, answer.content.decode()) == (200, PAGE)  # type: ignore[attr-defined]
        assert answer.getheader("Content-Type") == "text/html; charset=utf-8"
        assert answer.getheader("Server") is None

    def test_folder_without_a_slash_is_redirected(self, client: Client) -> None:
        answer = client.get("/about")
        assert (answer.status, answer.getheader("Location")) == (301, "/about/")

    @pytest.mark.parametrize(
        ("name", "kind"),
        [
            ("a.css", "text/css; charset=utf-8"),
            ("a.js", "text/javascript; charset=utf-8"),
            ("a.mjs", "text/javascript; charset=utf-8"),
            ("a.json", "application/json; charset=utf-8"),
            ("a.svg", "image/svg+xml; charset=utf-8"),
            ("a.PNG", "image/png"),
            ("a.webp", "image/webp"),
            ("a.avif", "image/avif"),
            ("a.woff2", "font/woff2"),
            ("a.wasm", "application/wasm"),
            ("a.webmanifest", "application/manifest+json; charset=utf-8"),
            ("robots.txt", "text/plain; charset=utf-8"),
            ("sitemap.xml", "application/xml; charset=utf-8"),
            ("a.unknown", "application/octet-stream"),
            ("none", "application/octet-stream"),
        ],
    )
    def test_media_types_do_not_depend_on_the_machine(self, client: Client, public: Path, name: str, kind: str) -> None:
        (public / name).write_bytes(b"x")
        assert client.get(f"/{name}").getheader("Content-Type") == kind

    @pytest.mark.parametrize(
        "path",
        [
            *("/../secret.txt", "/..%2fsecret.txt", "/%2e%2e/secret.txt", "/about/../../secret.txt", "//../secret.txt"),
            *("/link.txt", "/out/secret.txt", "/loop", "/a%00b", "/about", "/.env", "/.git/config", "/about/.env"),
            *("/nowhere", "/pipe", f"/{'a' * 300}", "/index.html/", "/empty/"),
        ],
    )
    def test_hidden_files_are_not_served(self, client: Client, public: Path, path: str) -> None:
        (public / "about" / "index.html").unlink()
        (public / "link.txt").symlink_to("../secret.txt")
        (public / "out").symlink_to("..")
        (public / "loop").symlink_to("loop")
        (public / ".git").mkdir()
        (public / "empty").mkdir()
        for name in (".env", ".git/config", "about/.env"):
            (public / name).write_text("secret")
        os.mkfifo(public / "pipe")
        answer = client.get(path)
        assert answer.status == 404
        assert b"secret" not in answer.content  # type: ignore[attr-defined]

    def test_missing_page_returns_the_404_page(self, client: Client, public: Path) -> None:
        (public / "404.html").write_text("<title>Lost</title>")
        answer = client.get("/nowhere")
        assert (answer.status, answer.content) == (404, b"<title>Lost</title>")  # type: ignore[attr-defined]

    def test_links_within_the_folder_are_served(self, client: Client, public: Path) -> None:
        (public / "new.html").symlink_to("team.html")
        (public / ".well-known").mkdir()
        (public / ".well-known" / "security.txt").write_text("Contact: mailto:a@example.com")
        assert client.get("/new").status == client.get("/.well-known/security.txt").status == 200

    def test_request_with_another_host_name_is_refused(self, client: Client) -> None:
        assert client.get("/", Host=f"evil.example.com:{client.port}").status == 421

    def test_text_is_compressed(self, client: Client) -> None:
        answer = client.get("/", "HEAD", **{"Accept-Encoding": "gzip, br"})
        assert (answer.getheader("Content-Encoding"), answer.content) == ("gzip", b"")  # type: ignore[attr-defined]

    def test_server_listens_only_on_loopback(self, public: Path) -> None:
        with serve_folder(public) as origin:
            port = Client(origin).port
            connections = psutil.Process().net_connections("tcp")
            listening = [connection.laddr for connection in connections if connection.status == "LISTEN"]
            assert [address.ip for address in listening if address.port == port] == ["127.0.0.1"]
        with pytest.raises(ConnectionRefusedError):
            Client(origin).get("/")

    def test_serve_scans_paths_of_the_folder(self, public: Path) -> None:
        ran = run_here("scan", "--serve", "public", "/", "/about/", "--type", "seo", "--format", "json")
        assert ran.returncode == 0, ran.stderr
        urls = [urlsplit(report["url"]) for report in json.loads(ran.stdout)["reports"]]
        assert [(url.hostname, url.path) for url in urls] == [("localhost", "/"), ("localhost", "/about/")]
        alone = run_here("scan", "--serve", "public", "--type", "seo", "--format", "json")
        assert json.loads(alone.stdout)["url"].startswith("http://localhost:")

    def test_serve_accepts_findings_about_its_own_server(self, public: Path) -> None:
        ran = run_here("scan", "--serve", "public", "--type", "security", "--type", "performance", "--fail-on", "low")
        assert "Gate failed" not in ran.stderr, ran.stderr
        quiet = run_here("scan", "--serve", "public", "--type", "security", "--quiet").stdout
        assert " failed, " not in quiet
        assert "Accepted" not in quiet

    def test_file_may_serve_a_folder_of_its_repository(self, public: Path) -> None:
        Path("website-scan.toml").write_text('serve = "public"\nurls = ["/", "/team"]\n')
        options = parse_arguments([])
        assert (options.urls, options.serve) == (("/", "/team"), Path("public"))
        assert parse_arguments(["https://example.com/"]).urls == ("https://example.com/",)

    @pytest.mark.parametrize("serve", ["/etc", "..", "public/../..", "out"])
    def test_file_cannot_set_serve_to_an_outside_folder(self, public: Path, serve: str) -> None:
        Path("out").symlink_to("/etc")
        Path("website-scan.toml").write_text(f'serve = "{serve}"')
        with pytest.raises(WrongUsage, match="must be a folder beside this file"):
            parse_arguments([])

    @pytest.mark.parametrize(
        ("arguments", "complaint"),
        [
            (["--serve", "nowhere"], "nowhere is not a folder"),
            (["--serve", "secret.txt"], "secret.txt is not a folder"),
            (["/about/"], "specify its folder with --serve"),
            (["https://example.com/", "--serve", "public"], "use a path such as /"),
            (["--serve", "public", "--server", "https://scan.example.com"], "works only for scans from this machine"),
            (["--serve", "public", "--start", "true"], "--serve or --start"),
            (["https://example.com/", "--wait-for", "http://localhost:1/"], "use both"),
            (["https://example.com/", "--start", "true", "--server", "https://scan.example.com"], "--start works only"),
            (["--start", "true"], "Specify a URL or --site"),
        ],
    )
    def test_contradictory_options_are_a_usage_error(self, public: Path, arguments: list[str], complaint: str) -> None:
        ran = run_here("scan", *arguments)
        assert (ran.returncode, ran.stdout) == (2, "")
        assert complaint in ran.stderr


# The server has child processes in two sessions and an orphaned process.
SERVER = """
import http.server, os, pathlib, subprocess, sys
port = int(sys.argv[1])
children = [subprocess.Popen(["sleep", "600"]), subprocess.Popen(["sleep", "600"], start_new_session=True)]
orphan = subprocess.run(["sh", "-c", "setsid sleep 600 > /dev/null 2>&1 & echo $!"], capture_output=True, text=True)
pids = [os.getpid(), *(child.pid for child in children), int(orphan.stdout)]
server = http.server.HTTPServer(("127.0.0.1", port), http.server.SimpleHTTPRequestHandler)
print("listening", flush=True)
pathlib.Path("written").write_text(" ".join(map(str, pids)))
os.rename("written", "pids")  # so that whoever finds the file finds it whole
server.serve_forever()
"""


class TestStart:
    @pytest.fixture
    def port(self) -> int:
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            return int(listener.getsockname()[1])

    @pytest.fixture
    def command(self, public: Path, port: int) -> str:
        Path("server.py").write_text(SERVER)
        return f"cd public && {sys.executable} ../server.py {port} || exit 3"

    def start_scan(self, command: str, port: int, *arguments: str) -> subprocess.Popen[str]:
        """Start the command in a separate process, like a shell."""
        program = [sys.executable, str(ROOT / "manage.py"), "scan", f"http://localhost:{port}/", "--start", command]
        return subprocess.Popen(
            [*program, "--type", "seo", *arguments],
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def pids(self) -> list[int]:
        return [int(pid) for pid in Path("public/pids").read_text().split()]

    def assert_no_process_is_left(self) -> None:
        pids = self.pids()
        assert len(pids) == 4
        wait_until(lambda: not any(map(is_running, pids)), 20)

    def test_start_ends_all_its_processes(self, command: str, port: int) -> None:
        ran = run_here("scan", f"http://localhost:{port}/", "--start", command, "--type", "seo")
        assert (ran.returncode, ran.stderr) == (0, "Done: 1 report of 1 page.\n")
        assert "listening" not in ran.stdout
        self.assert_no_process_is_left()

    @pytest.mark.parametrize(
        ("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGKILL, -9)]
    )
    def test_no_process_is_left_after_a_signal(
        self, command: str, port: int, public: Path, number: signal.Signals, status: int
    ) -> None:
        """SIGKILL is like a crash: the command cannot end its server."""
        (public / "index.html").unlink()
        os.mkfifo(public / "index.html")  # The scan waits for the page, because nobody writes into the FIFO.
        # Shells make background processes ignore SIGINT.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup(1) ignores SIGHUP, and the command would inherit this.
        wait = f"http://localhost:{port}/team.html"
        with self.start_scan(command, port, "--wait-for", wait, "--format", "json") as process:
            wait_until(lambda: Path("public/pids").exists() or process.poll() is not None, 60)
            process.send_signal(number)
            output, errors = process.communicate(timeout=60)
        assert process.returncode == status, errors
        self.assert_no_process_is_left()
        assert "Traceback" not in errors
        if output:
            assert json.loads(output)["gate"]["interrupted"] is True

    def test_command_that_ends_early_is_reported(self, public: Path, port: int) -> None:
        command = f"{sys.executable} -c 'print(*range(100), sep=chr(10)); print(chr(27)); raise SystemExit(5)'"
        ran = run_here("scan", f"http://localhost:{port}/", "--start", command, "--type", "seo")
        assert (ran.returncode, ran.stdout) == (3, "")
        lines = ran.stderr.splitlines()
        assert lines[0] == "manage.py scan: --start: the command ended."
        assert lines[-2:] == ["  99", "  \\x1b"]
        assert len(lines) == 21

    def test_server_that_does_not_respond_is_ended(
        self, public: Path, port: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(preview, "START_TIMEOUT_S", 1.0)
        command = "echo $$ > public/pids; sleep 600"
        ran = run_here("scan", f"http://localhost:{port}/", "--start", command, "--type", "seo")
        assert (ran.returncode, ran.stdout) == (3, "")
        assert ran.stderr == f"manage.py scan: --start: http://localhost:{port}/ did not respond for 1 seconds.\n"
        wait_until(lambda: not is_running(*self.pids()), 20)

    def test_scan_waits_while_the_server_has_errors(
        self, public: Path, port: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(preview, "START_TIMEOUT_S", 0.0)
        statuses = iter([None, 502, None, 404])
        monkeypatch.setattr(preview, "_response_status", lambda *_: next(statuses))
        for status in (502, 404):
            ran = run_here("scan", f"http://localhost:{port}/", "--start", "sleep 600", "--type", "seo")
            assert f"responded with status {status}" in ran.stderr

    def test_port_of_another_program_is_reported(self, public: Path) -> None:
        with Site({"/": Answer(PAGE)}) as site:
            ran = run_here("scan", f"{site.url}/", "--start", "touch started", "--type", "seo")
        assert (ran.returncode, ran.stdout) == (2, "")
        assert "another program uses its port" in ran.stderr
        assert not Path("started").exists()

    def test_start_allows_no_loopback_url_from_the_file(self, public: Path, port: int) -> None:
        Path("website-scan.toml").write_text(f'urls = ["http://localhost:{port}/"]')
        ran = run_here("scan", "--start", "touch started")
        assert (ran.returncode, ran.stdout) == (2, "")
        assert f"--allow-network 127.0.0.1/32:{port}" in ran.stderr
        assert not Path("started").exists()

    def test_shell_interprets_the_start_command(self, command: str, port: int) -> None:
        ran = run_here("scan", f"http://127.0.0.1:{port}/", "--start", f"sh -c {shlex.quote(command)}", "--type", "seo")
        assert ran.returncode == 0, ran.stderr
        self.assert_no_process_is_left()


def is_running(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
