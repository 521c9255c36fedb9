"""Tests for Dockerfile and compose.yaml without running containers.

See `test_images.py` for the others.
"""

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
OWN_SERVICES = tuple(
    name for name, service in SERVICES.items() if service.get("image", "").startswith("website-scan-service")
)
WORKERS = tuple(name for name in OWN_SERVICES if "worker" in SERVICES[name].get("command", ()))
# compose.yaml sets these variables itself, or production does not use them.
VARIABLES_NOT_FOR_OPERATORS = {"DATA_DIR", "DEBUG", "PORT"}
# Pages that escape from the browser could read these secrets.
KEYS = ("SECRET_KEY", "SECRET_KEY_FALLBACKS", "ENCRYPTION_KEYS", "EMAIL_URL", "METRICS_TOKEN", "OIDC_PROVIDERS")
# Only compose.yaml has these passwords and maximum numbers of workers.
COMPOSE_PASSWORDS = {"POSTGRES_PASSWORD", "REDIS_PASSWORD"}
COMPOSE_PROCESSES = {"WORKER_PROCESSES", "BROWSER_PROCESSES"}
# Variables that the image sets for Python and Django.
PYTHON_VARIABLES = {"PATH", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE", "DJANGO_SETTINGS_MODULE"}


def instructions() -> list[tuple[str, str]]:
    """Return the Dockerfile's instructions with their arguments.

    Continuation lines are joined.
    """
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [(name, " ".join(arguments.split())) for name, _, arguments in (line.partition(" ") for line in lines)]


def arguments_of(instruction: str, stage: str = "") -> list[str]:
    """Return the arguments of a Dockerfile instruction.

    Every use in one stage or in all stages is included.
    """
    matches, current_stage = [], ""
    for name, arguments in instructions():
        current_stage = arguments.rpartition(" ")[2] if name == "FROM" else current_stage
        if name == instruction and stage in ("", current_stage):
            matches.append(arguments)
    return matches


def command_of(service: str) -> list[str]:
    """Return a service's command from compose.yaml or from its image.

    Variables have their defaults.
    """
    command: list[str] = SERVICES[service].get("command") or json.loads(arguments_of("CMD", "service")[0])
    return [re.sub(r"\$\{\w+:-(\w+)\}", r"\1", word) for word in command]


RESULTS = ("command", "browser", "service")


def test_images_are_pinned_to_hashes() -> None:
    assert arguments_of("ARG") == ["PYTHON_IMAGE=python:3.12-slim-bookworm"]
    assert arguments_of("FROM")[0] == "${PYTHON_IMAGE} AS python"
    # The last stage is the image that is built without a target.
    assert arguments_of("FROM")[-1].endswith(" AS service")
    install_commands = {run.partition(" &&")[0] for run in arguments_of("RUN") if run.startswith("$INSTALL")}
    assert {run for run in install_commands if "--require-hashes" not in run} == {"$INSTALL --no-deps ."}
    for stage in RESULTS:
        assert arguments_of("USER", stage) == ["10001:10001"]
        assert not any("pip" in run or "INSTALL" in run for run in arguments_of("RUN", stage))
    path_variable = "PATH=/opt/venv/bin:$PATH "
    variables = " ".join(arguments for stage in ("python", *RESULTS) for arguments in arguments_of("ENV", stage))
    assert set(re.findall(r"(\w+)=", variables.replace(path_variable, ""))) <= PYTHON_VARIABLES | defaults.keys()


@pytest.mark.parametrize(("image", "service"), [("service", "web"), ("browser", "browser")])
def test_image_has_the_command_of_its_service(image: str, service: str) -> None:
    options, probe = re.fullmatch(r"(.*?) CMD (.*)", arguments_of("HEALTHCHECK", image)[0]).groups()  # type: ignore[union-attr]
    healthcheck = SERVICES[service]["healthcheck"]
    kind, *test = healthcheck["test"]
    assert (json.loads(probe) if kind == "CMD" else [probe]) == [word.replace("$$", "$") for word in test]
    assert dict(re.findall(r"--([\w-]+)=(\w+)", options)) == {
        key.replace("_", "-"): str(value) for key, value in healthcheck.items() if key != "test"
    }
    assert json.loads(arguments_of("CMD", image)[0]) == command_of(service)


def test_root_file_systems_are_read_only() -> None:
    assert all(service["read_only"] for service in SERVICES.values())
    for name in OWN_SERVICES:
        writable = [*SERVICES[name]["tmpfs"], *SERVICES[name].get("volumes", ())]
        assert writable == ["/tmp"]
        assert {"mem_limit", "pids_limit"} <= SERVICES[name].keys()


# Like a worker, this code loads all tasks, and it also renders a page.
START_CODE = """
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
def test_service_starts_with_the_files_in_the_image(tmp_path: Path) -> None:
    for copy in arguments_of("COPY", "code"):
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
        execution = subprocess.run(
            [sys.executable, *arguments],
            cwd=tmp_path,
            env=environment | extra,
            capture_output=True,
            text=True,
            check=False,
        )
        assert execution.returncode == 0, execution.stderr

    # The build also runs the command without SECRET_KEY, database and Redis.
    run("manage.py", "collectstatic", "--noinput")
    collected_files = json.loads((data / "static" / "staticfiles.json").read_text(encoding="utf-8"))["paths"]
    assert {path.relative_to(ROOT / "static").as_posix() for path in (ROOT / "static").rglob("*.*")} <= set(
        collected_files
    )
    secret = "x1" * 20
    run("-m", "gunicorn", *command_of("web")[1:], "--check-config", SECRET_KEY=secret)
    run("manage.py", "checks")
    run("-c", START_CODE, SECRET_KEY=secret, ALLOWED_HOSTS="testserver")


def test_dockerignore_lists_the_copied_files() -> None:
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert ignored[0] == "*"
    copied = {source for copy in arguments_of("COPY") if "--from" not in copy for source in copy.split()[:-1]}
    assert {line.removeprefix("!") for line in ignored if line.startswith("!")} == copied


@pytest.mark.parametrize("service", OWN_SERVICES)
def test_service_has_only_known_variables(service: str) -> None:
    assert set(SERVICES[service]["environment"]) <= defaults.keys()


@pytest.mark.parametrize("service", OWN_SERVICES)
def test_documented_variables_are_passed_on(service: str) -> None:
    """`.env` sets only variables that compose.yaml lists.

    Others would be ignored without a warning.
    """
    environment = SERVICES[service]["environment"]
    assert defaults.keys() - VARIABLES_NOT_FOR_OPERATORS == set(environment)
    fixed = ("DATABASE_URL", "REDIS_URL", "WORKER_HEARTBEAT_FILE")
    passed_variables = {name: value for name, value in environment.items() if name not in fixed}
    if service == "browser":
        assert not any(passed_variables.pop(name).startswith("$") for name in KEYS)
    assert all(value.startswith(f"${{{name}:") for name, value in passed_variables.items())


def test_browser_service_allows_sandbox_namespaces() -> None:
    browser = SERVICES["browser"]
    assert browser["cap_drop"] == ["ALL"]
    assert browser["security_opt"] == ["no-new-privileges:true", "seccomp=deploy/seccomp.json"]
    assert browser["mem_limit"] == browser["memswap_limit"]
    profile = json.loads((ROOT / "deploy" / "seccomp.json").read_text(encoding="utf-8"))
    (refused_system_calls,) = profile["syscalls"]
    assert (profile["defaultAction"], refused_system_calls["action"]) == ("SCMP_ACT_ALLOW", "SCMP_ACT_ERRNO")
    assert not {"clone", "clone3", "unshare", "chroot"} & set(refused_system_calls["names"])
    assert {"mount", "setns", "bpf", "ptrace", "keyctl", "init_module", "kexec_load"} <= set(
        refused_system_calls["names"]
    )


def test_empty_variable_is_treated_as_unset() -> None:
    unset = [name for name, value in SERVICES["web"]["environment"].items() if value.endswith(":-}")]
    code = "from config import settings; from website_scan import environment; print(environment.problems)"
    variables = {"PATH": os.environ["PATH"], "SECRET_KEY": "x1" * 20}
    execution = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=variables | dict.fromkeys(unset, ""),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (execution.stdout.strip(), execution.stderr) == ("[]", "")


def test_variables_of_compose_yaml_are_known() -> None:
    text = (ROOT / "compose.yaml").read_text(encoding="utf-8")
    variables = set(re.findall(r"(?<!\$)\$\{(\w+)", text))
    assert variables <= defaults.keys() | COMPOSE_PASSWORDS | COMPOSE_PROCESSES
    assert variables >= COMPOSE_PASSWORDS | COMPOSE_PROCESSES
    # Secrets have no default.
    for name in ("SECRET_KEY", *COMPOSE_PASSWORDS):
        assert not re.search(rf"\$\{{{name}\b(?!:\?)", text), name


def test_only_web_publishes_a_port() -> None:
    published_ports = {name: service["ports"] for name, service in SERVICES.items() if "ports" in service}
    assert published_ports == {"web": ["127.0.0.1:8000:8000"]}
    assert COMPOSE["networks"]["inside"] == {"internal": True}
    assert all(SERVICES[name]["networks"] == ["inside"] for name in ("postgresql", "redis", "migrate", "scheduler"))


def test_services_wait_for_the_migrations() -> None:
    assert {name for name, service in SERVICES.items() if "test" in service["healthcheck"]} == set(SERVICES) - {
        "migrate"
    }
    assert {"migrate", "web", "scheduler", *WORKERS} == set(OWN_SERVICES)
    for name in set(OWN_SERVICES) - {"migrate"}:
        assert SERVICES[name]["depends_on"]["migrate"] == {"condition": "service_completed_successfully"}


@pytest.mark.parametrize(("age_s", "is_healthy"), [(20, True), (300, False), (None, False)])
@pytest.mark.parametrize("service", WORKERS)
def test_worker_with_fresh_heartbeat_is_healthy(
    tmp_path: Path, service: str, age_s: int | None, is_healthy: bool
) -> None:
    file = tmp_path / "heartbeat"
    if age_s is not None:
        file.touch()
        os.utime(file, (time.time() - age_s,) * 2)
    assert "WORKER_HEARTBEAT_FILE" in SERVICES[service]["environment"]
    kind, probe = SERVICES[service]["healthcheck"]["test"]
    assert kind == "CMD-SHELL"
    execution = subprocess.run(
        ["sh", "-c", probe.replace("$$", "$")],
        env=os.environ | {"WORKER_HEARTBEAT_FILE": str(file)},
        capture_output=True,
        check=False,
    )
    assert (execution.returncode == 0) == is_healthy


def test_gunicorn_accepts_its_command() -> None:
    program, *arguments = command_of("web")
    assert program == "gunicorn"
    options = Config().parser().parse_args(arguments)
    assert options.args == ["config.wsgi:application"]
    assert options.worker_class == "config.gunicorn.Worker"


@pytest.mark.parametrize("service", [*WORKERS, "scheduler"])
def test_celery_accepts_its_command(service: str) -> None:
    program, *arguments = command_of(service)
    assert program == "celery"
    name = "beat" if service == "scheduler" else "worker"
    position = arguments.index(name)
    group = celery_command.make_context("celery", arguments[: position + 1])
    # Celery's own command group sets the same context object.
    group.obj = CLIContext(app, no_color=True, workdir=None, quiet=True)
    options = celery_command.commands[name].make_context(name, arguments[position + 1 :], parent=group).params
    if service in WORKERS:
        assert options["queues"] == queues_in_command(command_of(service))


def queues_in_command(command: Sequence[str]) -> list[str]:
    return command[command.index("--queues") + 1].split(",")


def test_queues_have_one_worker_in_compose() -> None:
    queues_of_workers = [queues_in_command(command_of(name)) for name in WORKERS]
    queues = [queue for names in queues_of_workers for queue in names]
    assert len(queues) == len(set(queues))
    assert {route["queue"] for route in app.conf.task_routes.values()} <= set(queues)
    commands = [program.command for program in programs(ROOT, 8000, {})]
    assert set(queues) == {
        queue for command in commands if "--queues" in command for queue in queues_in_command(command)
    }


def test_manage_py_accepts_its_command() -> None:
    python, script, name, *arguments = command_of("migrate")
    assert (python, script) == ("python", "manage.py")
    command = load_command_class(get_commands()[name], name)
    assert command.create_parser(script, name).parse_args(arguments).interactive is False
