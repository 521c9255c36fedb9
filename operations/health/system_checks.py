"""Django system checks that report invalid settings at start.

Each message has an ID and a hint.
"""

from __future__ import annotations

from collections.abc import Sequence

from django.conf import settings
from django.core import checks
from django.core.checks import CheckMessage, Error, Info, Tags, register
from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError

from infrastructure.environment import KEY_INSTRUCTIONS
from infrastructure.web.mail import is_mail_logged
from operations.stored_secrets import LOST_KEY, count_unreadable
from scans.browser import browser_program
from scans.plug_ins import enabled_plug_ins
from website_scan.environment import problems
from website_scan.net.browser import missing_packages, sandbox_problem

# Tags of checks. Commands with machine-readable output run only the checks of environment variables.
ENVIRONMENT, BROWSER, PLUG_INS = "environment", "browser", "plug-ins"


@register(ENVIRONMENT)
def environment_variables(**_: object) -> list[CheckMessage]:
    """Return one error for every variable with an invalid value."""
    return [Error(problem.message, hint=problem.hint, id=f"environment.{problem.name}") for problem in problems]


@register(ENVIRONMENT)
def secret_key(**_: object) -> list[CheckMessage]:
    """Return an error if SECRET_KEY is not set.

    `environment_variables` reports a key that is too short.
    """
    try:
        if settings.SECRET_KEY:
            return []
    except ImproperlyConfigured:
        pass  # Django raises this for an empty key. The error below names the environment variable.
    if any(problem.name == "SECRET_KEY" for problem in problems):
        return []
    return [Error("SECRET_KEY is not set.", hint=KEY_INSTRUCTIONS, id="environment.SECRET_KEY")]


@register(ENVIRONMENT)
def log_format(**_: object) -> list[CheckMessage]:
    """Return a warning about an unknown LOG_FORMAT, which is replaced by text."""
    if settings.LOG_FORMAT in ("text", "json"):
        return []
    return [
        checks.Warning(
            f"LOG_FORMAT {settings.LOG_FORMAT!r} is unknown, so text is used.",
            hint="Set it to text or json.",
            id="environment.LOG_FORMAT",
        )
    ]


@register(ENVIRONMENT)
def mail(**_: object) -> list[CheckMessage]:
    """Return a warning if a public service writes e-mails to the log.

    Nobody receives them, and the log exposes links.

    E-mails in the log are meant for a service on one's own machine.
    """
    if not settings.SECURE or not is_mail_logged():
        return []
    return [
        checks.Warning(
            "BASE_URL is https, and mail goes to the log: people get no links to sign up, join or reset a password, "
            "and whoever reads the log can use them.",
            hint="Set EMAIL_URL to a mail server, such as smtp+tls://user:password@host:587.",
            id="environment.EMAIL_URL",
        )
    ]


@register(Tags.database)
def stored_secrets(databases: Sequence[str] | None = None, **_: object) -> list[CheckMessage]:
    """Return a warning if the configured keys do not decrypt stored secrets.

    Runs in `migrate` and `prepare`.
    """
    if not databases:
        return []
    try:
        unreadable, total = count_unreadable()
    except DatabaseError:
        return []  # Tables do not exist yet, or the database does not answer, which the command itself reports.
    if not unreadable:
        return []
    message = f"{unreadable} of the {total} newest secrets in the database are encrypted with a key that is not set."
    return [checks.Warning(message, hint=LOST_KEY, id="environment.SECRET_KEY_FALLBACKS")]


@register(PLUG_INS, deploy=True)
def plug_ins(**_: object) -> list[CheckMessage]:
    """Return a warning for each plug-in in SCAN_PLUGINS that cannot be used, and for its checks that cannot run."""
    warnings: list[CheckMessage] = []
    for plug_in in enabled_plug_ins():
        problems = [plug_in.error] if plug_in.error else plug_in.description.problems
        warnings += [
            checks.Warning(
                f"Plug-in {plug_in.name}: {problem}",
                hint="`manage.py checks --plugins` lists the installed plug-ins.",
                id="scans.W004",
            )
            for problem in problems
        ]
    return warnings


# `deploy=True` excludes this check from ordinary commands. In containers, only one worker has a browser, so commands in
# other containers would warn of a missing browser.
@register(BROWSER, deploy=True)
def browser(**_: object) -> list[CheckMessage]:
    """Return which browser scans use, or a warning that some checks need one."""
    if settings.SCAN_BROWSER == "off":
        return [Info("Scans use no browser: SCAN_BROWSER is off.", id="scans.I002")]
    program = browser_program()
    if program is None:
        packages = ", ".join(missing_packages())
        missing = f"the packages {packages} are not installed" if packages else "no Chromium was found"
        return [
            checks.Warning(
                f"Scans use no browser: {missing}. Checks that need one are left out.",
                hint="`make browser` installs what is missing; SCAN_BROWSER=off switches the browser off.",
                id="scans.W001",
            )
        ]
    used = Info(f"Scans use the browser {program}.", id="scans.I001")
    if not settings.SCAN_BROWSER_SANDBOX:
        hint = "A hole in Chromium is then a way into the worker's user. Unset SCAN_BROWSER_SANDBOX where you can."
        return [used, checks.Warning("The browser runs without its sandbox.", hint=hint, id="scans.W002")]
    if problem := sandbox_problem(program):
        hint = (
            "Run workers as an ordinary user where user namespaces are allowed (in containers: deploy/seccomp.json);"
            " SCAN_BROWSER_SANDBOX=off runs it without."
        )
        return [
            used,
            checks.Warning(f"The browser will not start: it gets no sandbox, {problem}.", hint=hint, id="scans.W003"),
        ]
    return [used]
