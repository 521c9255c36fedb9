"""Dockerfile and compose.yaml, as far as they can be tested without running them; `test_images.py` runs them."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from celery.bin.base import CLIContext
from celery.bin.celery import celery as celery_command
from django.core.management import get_commands, load_command_class
from gunicorn.config import Config

from config.celery import app
from operations.stack.management.commands.up import programs
from website_scan.environment import defaults

ROOT = Path(__file__).resolve().parents[2]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
OURS = tuple(name for name, service in SERVICES.items() if service.get("image", "").startswith("website-scan-service"))
WORKERS = tuple(name for name in OURS if "worker" in SERVICES[name].get("command", ()))
# Variables that compose.yaml sets itself, or that are not for production.
NOT_FOR_OPERATORS = {"DATA_DIR", "DEBUG", "PORT"}
# Secrets that the browser's worker does not need, and that a page which breaks out of the browser could read.
KEYS = ("SECRET_KEY", "SECRET_KEY_FALLBACKS", "ENCRYPTION_KEYS", "EMAIL_URL", "METRICS_TOKEN", "OIDC_PROVIDERS")
# Variables of compose.yaml alone: those that it requires, and the most processes of its workers.
OF_COMPOSE = {"POSTGRES_PASSWORD", "REDIS_PASSWORD"}
PROCESSES = {"WORKER_PROCESSES", "BROWSER_PROCESSES"}
# Variables that the image sets for Python and Django.
OF_PYTHON = {"PATH", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE", "DJANGO_SETTINGS_MODULE"}


def instructions() -> list[tuple[str, str]]:
    """Return the Dockerfile's instructions with their arguments, with continuation lines joined."""
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [(name, " ".join(rest.split())) for name, _, rest in (line.partition(" ") for line in lines)]


def of(instruction: str, stage: str = "") -> list[str]:
    """Return the arguments of an instruction wherever it stands, or in one stage."""
    found, current = [], ""
    for name, arguments in instructions():
        current = arguments.rpartition(" ")[2] if name == "FROM" else current
        if name == instruction and stage in ("", current):
            found.append(arguments)
    return found


def command_of(service: str) -> list[str]:
    """Return the command of a service, its own or the image's, with the defaults of variables."""
    command: list[str] = SERVICES[service].get("command") or json.loads(of("CMD", "service")[0])
    return [re.sub(r"\$\{\w+:-(\w+)\}", r"\1", word) for word in command]


RESULTS = ("command", "browser", "service")


def test_the_images_are_pinned_to_hashes_and_do_not_run_as_root() -> None:
    assert of("ARG") == ["PYTHON_IMAGE=python:3.12-slim-bookworm"]
    assert of("FROM")[0] == "${PYTHON_IMAGE} AS python"
    assert of("FROM")[-1].endswith(" AS service")  # the image without a target
    installed = {run.partition(" &&")[0] for run in of("RUN") if run.startswith("$INSTALL")}
    assert {run for run in installed if "--require-hashes" not in run} == {"$INSTALL --no-deps ."}
    for stage in RESULTS:
        assert of("USER", stage) == ["10001:10001"]
        assert not any("pip" in run or "INSTALL" in run for run in of("RUN", stage))
    ours = "PATH=/opt/venv/bin:$PATH "
    variables = " ".join(arguments for stage in ("python", *RESULTS) for arguments in of("ENV", stage))
    assert set(re.findall(r"(\w+)=", variables.replace(ours, ""))) <= OF_PYTHON | defaults.keys()


@pytest.mark.parametrize(("image", "service"), [("service", "web"), ("browser", "browser")])
def test_an_image_does_without_compose_what_its_first_service_does(image: str, service: str) -> None:
    options, probe = re.fullmatch(r"(.*?) CMD (.*)", of("HEALTHCHECK", image)[0]).groups()  # type: ignore[union-attr]
    checked = SERVICES[service]["healthcheck"]
    kind, *test = checked["test"]
    assert (json.loads(probe) if kind == "CMD" else [probe]) == [each.replace("$$", "$") for each in test]
    assert dict(re.findall(r"--([\w-]+)=(\w+)", options)) == {
        key.replace("_", "-"): str(value) for key, value in checked.items() if key != "test"
    }
    assert json.loads(of("CMD", image)[0]) == command_of(service)


def test_the_root_file_system_of_every_service_is_read_only() -> None:
    assert all(service["read_only"] for service in SERVICES.values())
    for name in OURS:
        writable = [*SERVICES[name]["tmpfs"], *SERVICES[name].get("volumes", ())]
        assert writable == ["/tmp"]
        assert {"mem_limit", "pids_limit"} <= SERVICES[name].keys()


# Loads what a worker loads (the tasks), the system checks, and a page with templates and links to collected files.
LOADED = """
import django
django.setup()
from django.core.management import call_command
from django.test import Client
from config.celery import app
call_command("check")
app.loader.import_default_modules()
app.tasks["scans.tasks.run_scan"]
assert Client().get("/").status_code == 200
"""


@pytest.mark.slow
def test_what_the_image_holds_is_enough_to_start(tmp_path: Path) -> None:
    for copy in of("COPY", "code"):
        *sources, destination = copy.split()
        if sources[0].startswith("--from"):
            continue
        for source in sources:
            target = tmp_path / destination
            if (ROOT / source).is_dir():
                shutil.copytree(ROOT / source, target, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(ROOT / source, target)
    data = tmp_path / "data"
    environment = {"PATH": os.environ["PATH"], "DATA_DIR": str(data), "DJANGO_SETTINGS_MODULE": "config.settings"}

    def run(*arguments: str, **extra: str) -> None:
        ran = subprocess.run(
            [sys.executable, *arguments],
            cwd=tmp_path,
            env=environment | extra,
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode == 0, ran.stderr

    run("manage.py", "collectstatic", "--noinput")  # as in the build: without SECRET_KEY, database or Redis
    collected = json.loads((data / "static" / "staticfiles.json").read_text(encoding="utf-8"))["paths"]
    assert {path.relative_to(ROOT / "static").as_posix() for path in (ROOT / "static").rglob("*.*")} <= set(collected)
    secret = "x1" * 20
    run("-m", "gunicorn", *command_of("web")[1:], "--check-config", SECRET_KEY=secret)
    run("manage.py", "checks")
    run("-c", LOADED, SECRET_KEY=secret, ALLOWED_HOSTS="testserver")


def test_the_build_leaves_out_what_the_image_does_not_take() -> None:
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert ignored[0] == "*"
    taken = {source for copy in of("COPY") if "--from" not in copy for source in copy.split()[:-1]}
    assert {line.removeprefix("!") for line in ignored if line.startswith("!")} == taken


@pytest.mark.parametrize("service", OURS)
def test_every_variable_of_a_service_is_one_that_is_read(service: str) -> None:
    assert set(SERVICES[service]["environment"]) <= defaults.keys()


@pytest.mark.parametrize("service", OURS)
def test_every_documented_variable_is_passed_on(service: str) -> None:
    """`.env` sets only variables that compose.yaml lists; others would be ignored without a warning."""
    environment = SERVICES[service]["environment"]
    assert defaults.keys() - NOT_FOR_OPERATORS == set(environment)
    decided = ("DATABASE_URL", "REDIS_URL", "WORKER_HEARTBEAT_FILE")
    ours = {name: value for name, value in environment.items() if name not in decided}
    if service == "browser":
        assert not any(ours.pop(name).startswith("$") for name in KEYS)
    assert all(value.startswith(f"${{{name}:") for name, value in ours.items())


def test_the_browser_gets_namespaces_for_its_sandbox_and_a_bound_for_its_memory() -> None:
    browser = SERVICES["browser"]
    assert browser["cap_drop"] == ["ALL"]
    assert browser["security_opt"] == ["no-new-privileges:true", "seccomp=deploy/seccomp.json"]
    assert browser["mem_limit"] == browser["memswap_limit"]
    profile = json.loads((ROOT / "deploy" / "seccomp.json").read_text(encoding="utf-8"))
    (refused,) = profile["syscalls"]
    assert (profile["defaultAction"], refused["action"]) == ("SCMP_ACT_ALLOW", "SCMP_ACT_ERRNO")
    assert not {"clone", "clone3", "unshare", "chroot"} & set(refused["names"])
    assert {"mount", "setns", "bpf", "ptrace", "keyctl", "init_module", "kexec_load"} <= set(refused["names"])


def test_a_variable_that_is_passed_on_empty_is_as_good_as_unset() -> None:
    unset = [name for name, value in SERVICES["web"]["environment"].items() if value.endswith(":-}")]
    code = "from config import settings; from website_scan import environment; print(environment.problems)"
    known = {"PATH": os.environ["PATH"], "SECRET_KEY": "x1" * 20}
    ran = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=known | dict.fromkeys(unset, ""),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.stdout.strip(), ran.stderr) == ("[]", "")


def test_every_variable_that_compose_asks_for_is_known() -> None:
    text = (ROOT / "compose.yaml").read_text(encoding="utf-8")
    asked = set(re.findall(r"(?<!\$)\$\{(\w+)", text))
    assert asked <= defaults.keys() | OF_COMPOSE | PROCESSES
    assert asked >= OF_COMPOSE | PROCESSES
    # Secrets have no default.
    for name in ("SECRET_KEY", *OF_COMPOSE):
        assert not re.search(rf"\$\{{{name}\b(?!:\?)", text), name


def test_only_web_is_published_and_only_on_loopback() -> None:
    published = {name: service["ports"] for name, service in SERVICES.items() if "ports" in service}
    assert published == {"web": ["127.0.0.1:8000:8000"]}
    assert COMPOSE["networks"]["inside"] == {"internal": True}
    assert all(SERVICES[name]["networks"] == ["inside"] for name in ("postgresql", "redis", "migrate", "scheduler"))


def test_everything_but_the_migrations_is_watched_and_waits_for_them() -> None:
    assert {name for name, each in SERVICES.items() if "test" in each["healthcheck"]} == set(SERVICES) - {"migrate"}
    assert {"migrate", "web", "scheduler", *WORKERS} == set(OURS)
    for name in set(OURS) - {"migrate"}:
        assert SERVICES[name]["depends_on"]["migrate"] == {"condition": "service_completed_successfully"}


@pytest.mark.parametrize(("age_s", "is_healthy"), [(20, True), (300, False), (None, False)])
@pytest.mark.parametrize("service", WORKERS)
def test_a_worker_is_healthy_while_its_file_is_fresh(
    tmp_path: Path, service: str, age_s: int | None, is_healthy: bool
) -> None:
    file = tmp_path / "heartbeat"
    if age_s is not None:
        file.touch()
        os.utime(file, (time.time() - age_s,) * 2)
    assert "WORKER_HEARTBEAT_FILE" in SERVICES[service]["environment"]
    kind, probe = SERVICES[service]["healthcheck"]["test"]
    assert kind == "CMD-SHELL"
    ended = subprocess.run(
        ["sh", "-c", probe.replace("$$", "$")],
        env=os.environ | {"WORKER_HEARTBEAT_FILE": str(file)},
        capture_output=True,
        check=False,
    )
    assert (ended.returncode == 0) == is_healthy


def test_gunicorn_understands_its_command() -> None:
    program, *arguments = command_of("web")
    assert program == "gunicorn"
    parsed = Config().parser().parse_args(arguments)
    assert parsed.args == ["config.wsgi:application"]
    assert parsed.worker_class == "config.gunicorn.Worker"


@pytest.mark.parametrize("service", [*WORKERS, "scheduler"])
def test_celery_understands_its_command(service: str) -> None:
    program, *arguments = command_of(service)
    assert program == "celery"
    name = "beat" if service == "scheduler" else "worker"
    position = arguments.index(name)
    group = celery_command.make_context("celery", arguments[: position + 1])
    group.obj = CLIContext(app, no_color=True, workdir=None, quiet=True)  # as the group's own function does
    options = celery_command.commands[name].make_context(name, arguments[position + 1 :], parent=group).params
    if service in WORKERS:
        assert options["queues"] == queues_of(command_of(service))


def queues_of(command: Sequence[str]) -> list[str]:
    return command[command.index("--queues") + 1].split(",")


def test_every_queue_that_tasks_go_to_is_served_by_one_worker_as_under_make_run() -> None:
    served = [queues_of(command_of(name)) for name in WORKERS]
    queues = [queue for each in served for queue in each]
    assert len(queues) == len(set(queues))
    assert {route["queue"] for route in app.conf.task_routes.values()} <= set(queues)
    commands = [program.command for program in programs(ROOT, 8000, {})]
    assert set(queues) == {queue for each in commands if "--queues" in each for queue in queues_of(each)}


def test_manage_py_understands_its_command() -> None:
    python, script, name, *arguments = command_of("migrate")
    assert (python, script) == ("python", "manage.py")
    command = load_command_class(get_commands()[name], name)
    assert command.create_parser(script, name).parse_args(arguments).interactive is False
