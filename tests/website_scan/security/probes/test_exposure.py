"""Test that the exposure probes find sensitive files but not soft 404s."""

from __future__ import annotations

import gzip
import json
import random
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator

import pytest

from tests.targets.exposed_files import (
    ACTUATOR,
    COMPOSE,
    ENV,
    GIT_CONFIG,
    LARAVEL_LOG,
    MYSQL_DUMP,
    OPENAPI,
    PHPINFO,
    SECRET,
    SERVER_STATUS,
    SOURCE_MAP,
    WP_CONFIG,
    files,
    make_database,
    make_zip,
)
from tests.targets.server import Answer, Request, Route, Site
from tests.website_scan.cast import POLICY, head, target
from website_scan.findings import ScanType
from website_scan.net.client import Network
from website_scan.net.http.response import Response
from website_scan.page.fetch import SiteProtected, fetch_page, page_references, parse_document
from website_scan.page.soft_404 import resembles
from website_scan.result import Budget, ScanResult
from website_scan.run import scan
from website_scan.security.evidence import Exposure, FolderExposure, PathAnswer
from website_scan.security.probes import exposure as probe
from website_scan.security.probes.not_found import not_found_baseline

PAGE = Answer(head("", '<h1>Shop</h1><script src="/js/app.js"></script><script src="/js/other.js?v=1"></script>'))
SCRIPT = Answer("let a = 1;\n//# sourceMappingURL=app.js.map\n", headers={"Content-Type": "text/javascript"})
FILES = files()
FAMILIES = sorted(FILES)


def gather_exposure(site: Site, host: str = "localhost") -> Exposure:
    """Return the evidence of the exposure and source map probes."""
    with Network(POLICY) as network:
        page = fetch_page(target(site.url_as(host)), network)
        references = page_references(parse_document(page))
        baseline = not_found_baseline(page, network)
        maps = probe.source_maps(page, references, baseline, network)
        exposure = probe.exposure(page, baseline, network)
    return Exposure({**exposure.families, "exposed-source-maps": maps.answers})


def exposed_paths(exposure: Exposure) -> dict[str, set[str]]:
    """Return the exposed paths of all families, without their queries."""
    return {
        family: paths
        for family, answers in exposure.families.items()
        if (paths := {answer.path.partition("?")[0] for answer in answers if answer.is_exposed})
    }


def responses_by_path(exposure: Exposure) -> list[PathAnswer]:
    return [answer for answers in exposure.families.values() for answer in answers]


@pytest.fixture
def site() -> Iterator[Site]:
    with Site({"/": PAGE, "/js/app.js": SCRIPT}) as site:
        yield site


# Tests for sites with the files of one family.


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("media_type", ["application/octet-stream", "text/plain", ""])
def test_file_is_found_by_content(site: Site, family: str, media_type: str) -> None:
    for path, content in FILES[family].items():
        site.routes[path] = Answer(content, headers={"Content-Type": media_type})
    exposure = gather_exposure(site)
    assert exposed_paths(exposure) == {family: set(FILES[family])}
    assert all(answer.error == "" for answer in responses_by_path(exposure))
    assert len(site.requests) < 90


@pytest.mark.parametrize("family", ["exposed-git", "exposed-env", "exposed-sql-dump", "exposed-credentials"])
def test_file_is_found_on_site_with_soft_404s(site: Site, family: str) -> None:
    site.routes["*"] = Answer(head("", "<h1>Not here</h1>"))
    for path, content in FILES[family].items():
        site.routes[path] = Answer(content, headers={"Content-Type": "text/html"})
    assert exposed_paths(gather_exposure(site)) == {family: set(FILES[family])}


def test_compressed_response_is_decompressed(site: Site) -> None:
    for path, content in (FILES["exposed-env"] | FILES["exposed-backup"]).items():
        site.routes[path] = Answer(gzip.compress(content), headers={"Content-Encoding": "gzip"})
    # Apache declares the gzip of a .tar.gz as content coding.
    site.routes["/backup.tar.gz"] = Answer(
        FILES["exposed-backup"]["/backup.tar.gz"],
        headers={"Content-Encoding": "x-gzip", "Content-Type": "application/x-tar"},
    )
    assert set(exposed_paths(gather_exposure(site))) == {"exposed-env", "exposed-backup"}


def test_soft_404_comparisons_are_limited(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[str] = []

    def counting_route(answer: Response, path: str, other: Response, other_path: str) -> bool:
        compared.append(path)
        return resembles(answer, path, other, other_path)

    monkeypatch.setattr(probe, "resembles", counting_route)
    site.routes["*"] = Answer("Nothing here", headers={"Content-Type": "text/plain"})
    for paths in FILES.values():
        site.routes |= {
            path: Answer(content, headers={"Content-Type": "text/plain"}) for path, content in paths.items()
        }
    answers = responses_by_path(gather_exposure(site))
    # Another probe compares source maps.
    assert sum(not path.endswith(".map") for path in compared) <= probe.MAX_COMPARISONS
    assert any(answer.is_exposed for answer in answers)
    assert any("without end" in answer.error for answer in answers)


def test_evidence_contains_no_secrets(site: Site) -> None:
    for paths in FILES.values():
        site.routes |= {
            path: Answer(content, headers={"Content-Type": "text/plain"}) for path, content in paths.items()
        }
    exposure = gather_exposure(site)
    assert set(exposed_paths(exposure)) == set(FAMILIES)
    stored_text = repr(exposure)
    for secret in (SECRET, "mBlXAbcd", "AKIAIOSFODNN7EXAMPLE", "W6ph5Mm5", "MII"):
        assert secret not in stored_text
    assert "DB_PASSWORD" in stored_text


def test_evidence_has_size_of_response(site: Site) -> None:
    big = make_database() + bytes(300_000)
    site.routes["/db.sqlite3"] = Answer(big, headers={"Content-Type": "application/vnd.sqlite3; a=b"})
    (answer,) = [answer for answer in responses_by_path(gather_exposure(site)) if answer.is_exposed]
    assert (answer.path, answer.status, answer.size_bytes) == ("/db.sqlite3", 200, len(big))
    assert answer.media_type == "application/vnd.sqlite3"


# Tests for sites that answer every path but have no sensitive files.


def respond_to_all_paths(answer: Answer) -> dict[str, Route]:
    return {"*": answer}


def reflect_path(request: Request) -> Answer:
    lines = f"{request.path}\n[core]\nref: refs/heads/main\nDB_PASSWORD=x\nAPP_KEY=y\nCREATE TABLE a (\n{request.path}"
    return Answer(f"You asked for {lines}", headers={"Content-Type": "text/plain"})


def random_content(request: Request) -> Answer:
    # The seed makes a failure reproducible.
    noise = random.Random(f"{request.connection_number} {request.path}")
    length = noise.randrange(10, 4000)
    return Answer(noise.randbytes(length), headers={"Content-Type": noise.choice(["text/plain", "image/png", ""])})


def serve_archive_everywhere(request: Request) -> Answer:
    return Answer(make_zip() + request.path.encode(), headers={"Content-Type": "application/zip"})


def fake_file(family: str) -> Answer:
    content = next(iter(FILES[family].values()))
    return Answer(content, headers={"Content-Type": "text/plain"})


HONEY = (
    (r"\.git.*head", FILES["exposed-git"]["/.git/HEAD"]),
    (r"\.git", GIT_CONFIG.encode()),
    (r"\.env", ENV.encode()),
    (r"\.hg", FILES["exposed-svn-hg"]["/.hg/requires"]),
    (r"\.svn/wc|sqlite|\w\.db", make_database()),
    (r"\.svn", b"12\n"),
    (r"\.aws", FILES["exposed-credentials"]["/.aws/credentials"]),
    (r"id_rsa|id_ed", FILES["exposed-credentials"]["/id_rsa"]),
    (r"\.npmrc", FILES["exposed-credentials"]["/.npmrc"]),
    (r"htpasswd", FILES["exposed-credentials"]["/.htpasswd"]),
    (r"\.zip|\.tar|\.gz", make_zip()),
    (r"\.sql", MYSQL_DUMP.encode()),
    (r"config.*php", WP_CONFIG.encode()),
    (r"info", PHPINFO.encode()),
    (r"status", SERVER_STATUS.encode()),
    (r"actuator", json.dumps(ACTUATOR).encode()),
    (r"compose", COMPOSE.encode()),
    (r"ds_store", FILES["exposed-ds-store"]["/.DS_Store"]),
    (r"log", LARAVEL_LOG.encode()),
    (r"swagger|openapi|api-docs", json.dumps(OPENAPI).encode()),
    (r"\.map", json.dumps(SOURCE_MAP).encode()),
)


def honeypot(request: Request) -> Answer:
    """Serve a sensitive file at suspicious paths, and 404 elsewhere."""
    for pattern, content in HONEY:
        if re.search(pattern, request.path, re.IGNORECASE):
            return Answer(content, headers={"Content-Type": "text/plain"})
    return Answer("Not found", status=404)


APP = head("", '<div id="root"></div><script src="/js/app.js"></script>')
QUOTES = (
    "How we leaked our secrets\n\nA .git/config begins with\n\n"
    f"{GIT_CONFIG}\nand an environment file looks like\n\n{ENV}\nA dump has lines such as\n\n{MYSQL_DUMP}\n"
    f"In wp-config.php:\n{WP_CONFIG}\nCompose:\n{COMPOSE}\nLogs:\n{LARAVEL_LOG}\n[default]\n"
    "aws_secret_access_key = wJalrXUtnFEMIwJalrXUtnFEMI\n//npm.example.com/:_authToken=abc\n"
    "-----BEGIN RSA PRIVATE KEY-----\n"
    "alice:$apr1$mBlXAbcd$Yg4b9Eo1zXH7hQ2uV0s9T/\nhttps://a:b@git.example.com\nPHP Version 8.2.7\nPHP Extension 2022\n"
    "Apache Status\nServer Version: Apache/2.4\n12\nrevlogv1\nref: refs/heads/main\n"
)
BLOG = head("", f"<article><h1>phpinfo()</h1><pre>{QUOTES}</pre></article>")
FAKES = {f"{family} for every path": respond_to_all_paths(fake_file(family)) for family in FAMILIES}
SOFT_404S: dict[str, dict[str, Route]] = {
    "hard 404": {},
    "HTML with status 200 for every path": respond_to_all_paths(Answer(head("", "<h1>Sorry, not found</h1>"))),
    "single-page app as octets": respond_to_all_paths(
        Answer(APP, headers={"Content-Type": "application/octet-stream"})
    ),
    "single-page app as text": respond_to_all_paths(Answer(APP, headers={"Content-Type": "text/plain"})),
    "single-page app as JSON": respond_to_all_paths(Answer(APP, headers={"Content-Type": "application/json"})),
    "single-page app as ZIP": respond_to_all_paths(Answer(APP, headers={"Content-Type": "application/zip"})),
    "single-page app without a type": respond_to_all_paths(Answer(APP, headers={"Content-Type": ""})),
    "text with the requested path": {"*": reflect_path},
    "redirect to log-in": respond_to_all_paths(Answer.redirect("/login")),
    "302 with .env content": respond_to_all_paths(Answer(ENV, status=302, headers={"Location": "/login"})),
    "403 for every path": respond_to_all_paths(Answer("Forbidden", status=403)),
    "403 with .env content": respond_to_all_paths(Answer(ENV, status=403, headers={"Content-Type": "text/plain"})),
    "401": respond_to_all_paths(Answer("Log in", status=401, headers={"WWW-Authenticate": "Basic"})),
    "206": respond_to_all_paths(Answer(ENV, status=206, headers={"Content-Type": "text/plain"})),
    "500": respond_to_all_paths(Answer("Broken", status=500)),
    "empty 200": respond_to_all_paths(Answer(b"")),
    "JSON error with 200": respond_to_all_paths(
        Answer('{"error": "not found"}', headers={"Content-Type": "application/json"})
    ),
    "JSON with links": respond_to_all_paths(Answer('{"_links": {"self": {"href": "/x"}}, "data": null, "paths": []}')),
    "one image for every path": respond_to_all_paths(
        Answer(b"\x89PNG\r\n\x1a\n" + bytes(500), headers={"Content-Type": "image/png"})
    ),
    "ZIP for every path": {"*": serve_archive_everywhere},
    "gzipped HTML": respond_to_all_paths(Answer(gzip.compress(APP.encode()), headers={"Content-Encoding": "gzip"})),
    "HTML gzipped twice": respond_to_all_paths(
        Answer(gzip.compress(APP.encode()), headers={"Content-Type": "text/plain"})
    ),
    "random content": {"*": random_content},
    "honeypot": {"*": honeypot},
    "text that quotes all files": respond_to_all_paths(Answer(QUOTES, headers={"Content-Type": "text/plain"})),
    **FAKES,
}


@pytest.mark.parametrize("kind", SOFT_404S)
def test_soft_404_is_not_exposed_file(kind: str) -> None:
    with Site(SOFT_404S[kind] | {"/": PAGE, "/js/app.js": SCRIPT}) as site:
        result = security_scan(site)
    verdicts = {check.id: check.status for check in result.checks if check.id.startswith("exposed-")}
    assert verdicts == dict.fromkeys(FAMILIES, "pass")


def test_different_dumps_are_soft_404s(site: Site) -> None:
    def random_dump(request: Request) -> Answer:
        noise = random.Random(request.path)
        rows = "".join(f"({noise.random()}, {noise.randbytes(9).hex()!r}),\n" for _ in range(noise.randrange(3, 90)))
        return Answer(f"INSERT INTO {noise.randbytes(3).hex()} VALUES\n{rows}", headers={"Content-Type": "text/plain"})

    site.routes["*"] = random_dump
    assert exposed_paths(gather_exposure(site)) == {}


def test_echoed_request_is_not_env_file(site: Site) -> None:
    def request_echoed(request: Request) -> Answer:
        """Include a token in the response only for paths of secrets."""
        token = "k9TzQxW4" if request.path.startswith("/.env") and "-" not in request.path else ""
        lines = "".join(f"HEADER_{n}=some value of a header\n" for n in range(30))
        return Answer(f"{lines}SESSION_TOKEN={token}\n", headers={"Content-Type": "text/plain"})

    site.routes["*"] = request_echoed
    assert exposed_paths(gather_exposure(site)) == {}


def test_soft_404_is_recognized_by_baseline(site: Site) -> None:
    site.routes["*"] = Answer(MYSQL_DUMP, headers={"Content-Type": "text/plain"})
    assert exposed_paths(gather_exposure(site)) == {}
    assert not any(path.startswith(("/dump-", "/backup-", "/database-", "/db-")) for path in site.paths())


@pytest.mark.parametrize("body", [BLOG, QUOTES], ids=["HTML", "text"])
def test_article_at_sensitive_paths_is_allowed(site: Site, body: str) -> None:
    media_type = "text/plain" if body is QUOTES else "text/html"
    for paths in FILES.values():
        site.routes |= dict.fromkeys(paths, Answer(body, headers={"Content-Type": media_type}))
    assert exposed_paths(gather_exposure(site)) == {}


def security_scan(site: Site) -> ScanResult:
    with Network(POLICY) as network:
        return scan(target(site.url_as("localhost")), [ScanType.SECURITY], network, Budget())[0]


# Tests that limit the number of requests.


def test_path_is_requested_once(site: Site) -> None:
    exposure = gather_exposure(site)
    requests = Counter(request.path.partition("?")[0] for request in site.requests)
    assert max(requests.values()) == 1  # No path is requested twice.
    assert len(site.requests) <= 70
    assert {answer.path.partition("?")[0] for answer in responses_by_path(exposure)} <= set(requests)
    assert {path for paths in FILES.values() for path in paths} <= set(requests)
    assert not any("example" in path for path in requests)


def test_ip_address_has_no_paths_with_domain(site: Site) -> None:
    gather_exposure(site, "127.0.0.1")
    # Ignore the random paths of the soft 404 detection.
    file_paths = [path for path in site.paths() if not re.fullmatch(r"/(%C0)?[0-9a-f]+", path)]
    assert not any("127" in path or "{" in path for path in file_paths)


def test_eight_requests_run_at_once(site: Site) -> None:
    lock, running, maximum = threading.Lock(), 0, [0]

    def slow(request: Request) -> Answer:
        nonlocal running
        with lock:
            running += 1
            maximum[0] = max(maximum[0], running)
        site.ended.wait(0.01)
        with lock:
            running -= 1
        return Answer("No", status=404)

    site.routes["*"] = slow
    gather_exposure(site)
    assert 2 <= maximum[0] <= 8


def rate_limited_route(allowed: int) -> Callable[[Request], Answer]:
    """Return a route with a rate limit.

    After the allowed number of requests, it answers with status 429.
    """
    lock, count = threading.Lock(), [0]

    def answer(_: Request) -> Answer:
        with lock:
            count[0] += 1
            return Answer("No", status=404 if count[0] <= allowed else 429)

    return answer


def test_requests_end_after_status_429(site: Site) -> None:
    site.routes["*"] = rate_limited_route(10)
    site.routes["/.git/config"] = Answer(GIT_CONFIG, headers={"Content-Type": "text/plain"})
    exposure = gather_exposure(site)
    errors = [answer.error for answer in responses_by_path(exposure) if answer.status is None]
    assert set(errors) == {"The site answered a further request with status 429, too many requests."}
    assert len(site.requests) < 10 + 2 * probe.MAX_CONCURRENT_REQUESTS + 5
    # Responses from before the rate limit are evidence, too.
    assert any(answer.status == 404 for answer in responses_by_path(exposure))


def test_checks_without_response_are_skipped(site: Site) -> None:
    def hang_up(_: Request) -> None:
        return None

    site.routes["/.env.local"] = hang_up
    site.routes["/dump.sql"] = hang_up
    site.routes["/backup.sql"] = Answer(MYSQL_DUMP, headers={"Content-Type": "text/plain"})
    result = security_scan(site)
    skipped = {check.id: check.reason for check in result.skipped_checks if check.id.startswith("exposed-")}
    assert list(skipped) == ["exposed-env"]
    assert "1 path of 4 got no answer that could be judged (/.env.local: localhost closed" in skipped["exposed-env"]
    verdicts = {check.id: check.status for check in result.checks}
    assert verdicts["exposed-sql-dump"] == "fail"  # A single exposed file fails the check.
    assert verdicts["exposed-git"] == "pass"


def test_challenged_probe_stops_early(site: Site) -> None:
    site.routes["*"] = Answer("<title>Just a moment...</title>", status=403, headers={"cf-mitigated": "challenge"})
    with pytest.raises(SiteProtected):
        gather_exposure(site)
    assert len(site.requests) <= 2


def test_file_is_not_judged_without_comparison(site: Site) -> None:
    def sibling_hangs_up(request: Request) -> Answer | None:
        return None if request.path.startswith("/.git/") else Answer("No", status=404)

    site.routes["*"] = sibling_hangs_up
    site.routes["/.git/config"] = Answer(GIT_CONFIG, headers={"Content-Type": "text/plain"})
    site.routes["/.git/HEAD"] = Answer("No", status=404)
    answer = gather_exposure(site).families["exposed-git"][0]
    assert (answer.is_exposed, answer.status) == (False, None)
    assert "without an answer" in answer.error


# Tests for the folders of a page.


def gather_folder_exposure(site: Site, path: str, network: Network) -> FolderExposure:
    page = fetch_page(target(f"{site.url_as('localhost')}{path}"), network)
    return probe.folder_exposure(page, not_found_baseline(page, network), network)


@pytest.mark.parametrize("name", [".git/config", ".git/HEAD", ".git/index", ".env"])
def test_file_in_page_folder_is_found(site: Site, name: str) -> None:
    family = "exposed-env" if name == ".env" else "exposed-git"
    site.routes["/app/orders/1"] = PAGE
    site.routes[f"/app/{name}"] = Answer(FILES[family][f"/{name}"], headers={"Content-Type": "text/plain"})
    with Network(POLICY) as network:
        families = gather_folder_exposure(site, "/app/orders/1", network).families
    exposed = [answer.path for answers in families.values() for answer in answers if answer.is_exposed]
    assert exposed == [f"/app/{name}"]


def test_catch_all_application_exposes_nothing(site: Site) -> None:
    def answer_below_folder(request: Request) -> Answer:
        is_below = request.path.startswith("/app/")
        return Answer(
            ENV if is_below else "No", status=200 if is_below else 404, headers={"Content-Type": "text/plain"}
        )

    site.routes["*"] = answer_below_folder
    with Network(POLICY) as network:
        families = gather_folder_exposure(site, "/app/", network).families
    assert not any(answer.is_exposed for answers in families.values() for answer in answers)


def test_page_in_root_has_no_folder_requests(site: Site) -> None:
    with Network(POLICY) as network:
        assert gather_folder_exposure(site, "/", network).families == {}
    assert not any("/." in path for path in site.paths())


# Tests for source maps.


@pytest.mark.parametrize(
    ("script", "path"),
    [
        (SCRIPT, "/js/app.js.map"),
        (Answer("let a;"), "/js/app.js.map"),  # The source map has the conventional URL.
        (Answer("let a;\n//@ sourceMappingURL=../maps/a.map  \n"), "/maps/a.map"),
        (Answer("let a;", headers={"SourceMap": "/m/b.map"}), "/m/b.map"),
        (Answer("let a;", headers={"X-SourceMap": "c.map?d"}), "/js/c.map?d"),
        (Answer("let a;\n//# sourceMappingURL=https://cdn.example.net/a.map"), None),
        (Answer("let a;\n//# sourceMappingURL=webpack://a.map"), None),
        (Answer("let a;\n//# sourceMappingURL=data:application/json;base64,e30="), None),
    ],
)
def test_source_map_url_has_three_sources(site: Site, script: Answer, path: str | None) -> None:
    site.routes["/"] = Answer(
        head('<script src="/js/app.js"></script><script src="https://cdn.example.net/x.js"></script>')
    )
    site.routes["/js/app.js"] = script
    if path is not None:
        site.routes[path] = Answer(json.dumps(SOURCE_MAP), headers={"Content-Type": "application/json"})
    answers = gather_exposure(site).families["exposed-source-maps"]
    assert [(answer.path, answer.is_exposed) for answer in answers] == ([(path, True)] if path else [])


def test_source_map_needs_its_script(site: Site) -> None:
    def hang_up(_: Request) -> None:
        return None

    site.routes["/js/app.js"] = hang_up
    first = gather_exposure(site).families["exposed-source-maps"][0]
    assert (first.path, first.status) == ("/js/app.js", None)
    assert first.error
