"""Checks of sensitive files that are public by mistake.

The content identifies the files.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, ClassVar, Self

from website_scan.addresses import normal_address
from website_scan.catalogue import Category, check
from website_scan.findings import CRITICAL, HIGH, LOW, MEDIUM, NotApplicable, Server
from website_scan.messages import counted, excerpt, size
from website_scan.net.errors import NetError
from website_scan.outcomes import Fail, Fix, Pass, Verdict, Warn, outcome
from website_scan.places import Column, Identity, Place, Status
from website_scan.security.evidence import Exposure, FolderExposure, PathAnswer, SourceMaps
from website_scan.security.file_signatures import HEALTH_ONLY_PROOF
from website_scan.values import Count, Excerpt, Values

CATEGORY = Category("Sensitive file exposure", weight=10)

# Server settings that deny dot files, except the folder /.well-known.
DENY_DOT_FILES_SETTINGS = {
    Server.NGINX: r"location ~ /\.(?!well-known) { return 404; }",
    Server.APACHE: r'RedirectMatch 404 "/\.(?!well-known)"',
}


class RequestedPath(Place, frozen=True):
    """Path of a possible sensitive file.

    It has the status and type of the response, but not the content.
    """

    kind: ClassVar[str] = "path"

    path: Annotated[str, Identity(normal_address), Column("Path", "address")]
    status: Status
    media_type: Annotated[str, Column("Content type", "mono")]
    size_bytes: Annotated[int, Column("Size", "number", "bytes")]
    is_exposed: Annotated[bool, Column("Public", "short")]
    proof: Annotated[str | None, Column("What it holds")]

    @classmethod
    def from_answer(cls, answer: PathAnswer) -> Self:
        return cls(
            path=excerpt(answer.path),
            status=answer.status,
            media_type=answer.media_type,
            size_bytes=answer.size_bytes,
            is_exposed=answer.is_exposed,
            proof=answer.excerpt or None,
        )

    @property
    def label(self) -> str:
        return f"{self.path} ({self.proof}; {size(self.size_bytes)})"


class PathsUnanswered(NetError):
    """Raised if exposure cannot be judged.

    The check found no file, but got no response for some paths.
    """

    code = "URL_NOT_REACHABLE"


@check(
    "exposed-git",
    name="Git repository is not public",
    outcomes={"public": "Git repository is public"},
    why="Anyone can download the source code with its history, and every secret that was ever committed.",
    consequence="Anyone can download your site's program code and its history, with any passwords saved there.",
    severity=CRITICAL,
    fix=Fix(
        "Delete `.git` from the web root, or block it. Replace every secret in its history.",
        {
            Server.NGINX: r"location ~ /\.git { return 404; }",
            Server.APACHE: r'RedirectMatch 404 "/\.git"',
            Server.IIS: '<hiddenSegments><add segment=".git"/></hiddenSegments>',
        },
    ),
    references=("CWE-527", "OWASP WSTG-CONF-04"),
)
def exposed_git(exposure: Exposure, folders: FolderExposure) -> Verdict:
    return _judge_answers((*exposure.families["exposed-git"], *folders.families.get("exposed-git", ())))


@check(
    "exposed-svn-hg",
    name="Subversion and Mercurial data are not public",
    outcomes={
        "public": "Version control data is public",
        "subversion": "Subversion data is public",
        "mercurial": "Mercurial data is public",
    },
    why="Anyone can download the source code with its history, and every secret that was ever committed.",
    consequence="Anyone may be able to download your site's program code, with any passwords saved there.",
    severity=HIGH,
    fix=Fix(
        "Delete `.svn` and `.hg` from the web root, or block them.",
        {
            Server.NGINX: r"location ~ /\.(svn|hg) { return 404; }",
            Server.APACHE: r'RedirectMatch 404 "/\.(svn|hg)"',
            Server.IIS: '<hiddenSegments><add segment=".svn"/><add segment=".hg"/></hiddenSegments>',
        },
    ),
    references=("CWE-527", "OWASP WSTG-CONF-04"),
)
def exposed_svn_hg(exposure: Exposure) -> Verdict:
    answers = exposure.families["exposed-svn-hg"]
    systems = {"subversion" if "/.svn" in answer.path else "mercurial" for answer in answers if answer.is_exposed}
    return _judge_answers(answers, outcome=systems.pop() if len(systems) == 1 else "public")


@check(
    "exposed-env",
    name="Environment file is not public",
    outcomes={"public": "Environment file is public"},
    why="Environment files hold database passwords and API keys in plain text.",
    consequence="Anyone can read your site's secret settings, such as passwords, and may use them to get at your data.",
    severity=CRITICAL,
    fix=Fix(
        "Move `.env` out of the web root, block dot files, and replace every secret in it.",
        DENY_DOT_FILES_SETTINGS | {Server.IIS: '<hiddenSegments><add segment=".env"/></hiddenSegments>'},
    ),
    references=("CWE-538", "CWE-200", "OWASP WSTG-CONF-04"),
)
def exposed_env(exposure: Exposure, folders: FolderExposure) -> Verdict:
    return _judge_answers((*exposure.families["exposed-env"], *folders.families.get("exposed-env", ())))


@check(
    "exposed-credentials",
    name="Credential files are not public",
    outcomes={"public": "Credential file is public"},
    why="Anyone who finds the file can log in to servers, registries or cloud accounts in your name.",
    consequence="Anyone can read log-in data that is stored on your server, and may use it in your name.",
    severity=CRITICAL,
    fix="Delete the file from the web root, block dot files, and revoke the keys and passwords in it.",
    references=("CWE-538", "CWE-522", "OWASP WSTG-CONF-04"),
)
def exposed_credentials(exposure: Exposure) -> Verdict:
    return _judge_answers(exposure.families["exposed-credentials"])


@check(
    "exposed-backup",
    name="Backup archives are not public",
    outcomes={"public": "Backup archive is public"},
    why="An archive of the site holds its source code, its configuration and often its data.",
    consequence="Anyone can download a backup of your site, which may contain passwords and your customers' data.",
    severity=HIGH,
    fix="Delete the archive from the web root, and keep backups where the web server cannot read them.",
    references=("CWE-530", "OWASP WSTG-CONF-04"),
)
def exposed_backup(exposure: Exposure) -> Verdict:
    return _judge_answers(exposure.families["exposed-backup"])


@check(
    "exposed-sql-dump",
    name="Database dumps are not public",
    outcomes={"public": "Database dump is public"},
    why="A dump holds the database's tables, often with customers' data and password hashes.",
    consequence="Anyone can download a copy of your database, which may contain your customers' data.",
    severity=CRITICAL,
    fix="Delete the dump from the web root, and treat every record and password in it as stolen.",
    references=("CWE-530", "CWE-200", "OWASP WSTG-CONF-04"),
)
def exposed_sql_dump(exposure: Exposure) -> Verdict:
    return _judge_answers(exposure.families["exposed-sql-dump"])


@check(
    "exposed-sqlite",
    name="SQLite databases are not public",
    outcomes={"public": "SQLite database is public"},
    why="Such a file is a whole database, often with customers' data and password hashes.",
    consequence="Anyone can download a whole database of your site, which may contain your customers' data.",
    severity=CRITICAL,
    fix="Move the database out of the web root, and treat every record and password in it as stolen.",
    references=("CWE-538", "CWE-200", "OWASP WSTG-CONF-04"),
)
def exposed_sqlite(exposure: Exposure) -> Verdict:
    return _judge_answers(exposure.families["exposed-sqlite"])


@check(
    "exposed-source-backup",
    name="Backups of source files are not public",
    outcomes={"public": "Backup of a source file is public"},
    why="Servers send a copy named .bak or ~ as text, with the code and the passwords in it.",
    consequence="Anyone can read program code of your site, with any passwords that are written in it.",
    severity=CRITICAL,
    fix=Fix(
        "Delete the copies that editors leave, block them, and change the passwords in them.",
        {
            Server.NGINX: r"location ~ (\.bak|~|\.swp)$ { return 404; }",
            Server.APACHE: r'RedirectMatch 404 "(\.bak|~|\.swp)$"',
            Server.IIS: '<fileExtensions><add fileExtension=".bak" allowed="false"/></fileExtensions>',
        },
    ),
    references=("CWE-530", "CWE-540", "OWASP WSTG-CONF-04"),
)
def exposed_source_backup(exposure: Exposure) -> Verdict:
    return _judge_answers(exposure.families["exposed-source-backup"])


@check(
    "exposed-phpinfo",
    name="phpinfo() is not public",
    outcomes={"public": "phpinfo() is public"},
    why="phpinfo() lists versions, paths, modules and environment variables, which help attackers.",
    severity=MEDIUM,
    fix="Delete the script that calls `phpinfo()`.",
    references=("CWE-497", "OWASP WSTG-CONF-02"),
)
def exposed_phpinfo(exposure: Exposure) -> Verdict:
    return _judge_answers(exposure.families["exposed-phpinfo"], noun="page")


@check(
    "exposed-server-status",
    name="Server status page is not public",
    outcomes={"public": "Server status page is public"},
    why="The page shows which addresses visit which pages, with their query strings, as it happens.",
    severity=MEDIUM,
    fix=Fix(
        "Allow access to the page, and to `/server-info`, only from the server itself.",
        {Server.APACHE: '<Location "/server-status"> Require local </Location>'},
    ),
    references=("CWE-497", "Apache HTTP Server, mod_status"),
)
def exposed_server_status(exposure: Exposure) -> Verdict:
    return _judge_answers(exposure.families["exposed-server-status"], noun="page")


@check(
    "exposed-actuator",
    name="Spring Boot Actuator is not public",
    outcomes={
        "public": "Spring Boot Actuator is public",
        "health-check": outcome("Spring Boot health check is public", LOW),
    },
    why="Actuator endpoints can reveal environment variables and memory, and some change the application.",
    consequence="Anyone can look inside your running site, and may find passwords or change how it works.",
    severity=HIGH,
    fix="Set `management.endpoints.web.exposure.include=health`, and require a login for everything below `/actuator`.",
    references=("CWE-497", "CWE-306", "Spring Boot, “Exposing Endpoints”"),
)
def exposed_actuator(exposure: Exposure) -> Verdict:
    answers = exposure.families["exposed-actuator"]
    public = [answer for answer in answers if answer.is_exposed]
    if public and all(answer.excerpt == HEALTH_ONLY_PROOF for answer in public):
        return Warn(
            "health-check",
            "{endpoints} {endpoints:shows|show} only that Spring Boot runs here.",
            endpoints=Count(len(public), "endpoint"),
            places=[RequestedPath.from_answer(answer) for answer in public],
        )
    return _judge_answers(answers, noun="endpoint")


@check(
    "exposed-compose",
    name="Docker Compose file is not public",
    outcomes={"public": "Docker Compose file is public"},
    why="The file names services, images, ports and often passwords of the whole installation.",
    severity=MEDIUM,
    fix="Keep `docker-compose.yml` out of the web root, and change the passwords in it.",
    references=("CWE-538", "OWASP WSTG-CONF-04"),
)
def exposed_compose(exposure: Exposure) -> Verdict:
    return _judge_answers(exposure.families["exposed-compose"])


@check(
    "exposed-ds-store",
    name=".DS_Store file is not public",
    outcomes={"public": ".DS_Store file is public"},
    why="The file lists the names of files in the folder, including those that nothing links to.",
    severity=LOW,
    fix=Fix(
        "Delete `.DS_Store` from the web root, and block dot files.",
        DENY_DOT_FILES_SETTINGS | {Server.IIS: '<hiddenSegments><add segment=".DS_Store"/></hiddenSegments>'},
    ),
    references=("CWE-538", "OWASP WSTG-CONF-04"),
)
def exposed_ds_store(exposure: Exposure) -> Verdict:
    return _judge_answers(exposure.families["exposed-ds-store"])


@check(
    "exposed-logs",
    name="Log files are not public",
    outcomes={"public": "Log file is public"},
    why="Logs hold visitors' addresses, paths, stack traces and sometimes session IDs or passwords.",
    severity=MEDIUM,
    fix=Fix(
        "Write logs outside the web root, and block them.",
        {
            Server.NGINX: r"location ~ \.log$ { return 404; }",
            Server.APACHE: r'RedirectMatch 404 "\.log$"',
            Server.IIS: '<fileExtensions><add fileExtension=".log" allowed="false"/></fileExtensions>',
        },
    ),
    references=("CWE-532", "OWASP WSTG-CONF-04"),
)
def exposed_logs(exposure: Exposure) -> Verdict:
    return _judge_answers(exposure.families["exposed-logs"])


@check(
    "exposed-api-docs",
    name="API description is not public",
    outcomes={"public": "API description is public"},
    why="A description of every operation shows attackers where to start.",
    severity=LOW,
    fix="If the API is not meant for the public, require a login for its description, and turn off "
    "GraphQL introspection.",
    references=("CWE-200", "OWASP API Security Top 10 2023, API9"),
)
def exposed_api_docs(exposure: Exposure) -> Verdict:
    return _judge_answers(exposure.families["exposed-api-docs"], Warn, noun="API description")


@check(
    "exposed-source-maps",
    name="Source maps are not public",
    outcomes={"public": "Source maps are public"},
    why="Source maps give anyone the original source code, with its comments.",
    severity=LOW,
    fix="Build without source maps for production, or upload them to the error tracker only (hidden source maps).",
    references=("CWE-540", "ECMA-426", "MDN: SourceMap"),
)
def exposed_source_maps(maps: SourceMaps) -> Verdict:
    if not maps.answers:
        return NotApplicable("The page loads no script of its own that could have a source map.")
    return _judge_answers(maps.answers, Warn, noun="source map")


def _judge_answers(
    answers: Sequence[PathAnswer], fault: type[Fail | Warn] = Fail, *, outcome: str = "public", noun: str = "file"
) -> Verdict:
    """Return a finding if files are exposed, else a pass.

    Raises `PathsUnanswered` if no file is exposed but some paths got no response.
    """
    public = [RequestedPath.from_answer(answer) for answer in answers if answer.is_exposed]
    if public:
        return fault(outcome, "{files} {files:is|are} public.", files=Count(len(public), noun), places=public)
    unanswered = [answer for answer in answers if answer.status is None]
    if unanswered:
        first = unanswered[0]
        raise PathsUnanswered(
            f"{counted(len(unanswered), 'path')} of {len(answers)} got no answer that could be judged "
            f"({excerpt(first.path)}: {first.error})"
        )
    return Pass(
        "No such file is public: {answers}.",
        answers=Values([Excerpt(f"{excerpt(answer.path, 100)} ({_describe_status(answer)})") for answer in answers]),
        details=[RequestedPath.from_answer(answer) for answer in answers],
    )


def _describe_status(answer: PathAnswer) -> str:
    return "200, but other content" if answer.status == 200 else str(answer.status)
