"""Run `docker compose` with Podman and prebuilt images.

first_hour.py uses the commands `up`, `exec`, `run` and `down`.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from typing import Any

from tests.images import Podman, Stack

STATE = Path(os.environ["STATE"])
STATE_FILE = STATE / "containers.json"
AUTHORITY = "/authority.pem"
NAMES = ("scan.example.com", "mail.example.com", "example.com")


class Server(Stack):
    """Stack with the variables of `.env` in the working directory.

    It is on the ports that compose.yaml publishes.
    """

    def __init__(self, podman: Podman) -> None:
        super().__init__(podman)
        networks = json.loads(self.podman.run("network", "inspect", self.network("outside")))
        (subnet,) = networks[0]["subnets"]
        self._server: str = subnet["gateway"]
        lines = Path(".env").read_text(encoding="utf-8").splitlines()
        variables = dict(line.split("=", 1) for line in lines)
        self.configure(
            # The scanned site is on the server itself, with the test's own authority.
            variables | {"SCAN_ALLOWED_NETWORKS": f"{self._server}/32", "SCAN_CA_BUNDLE": AUTHORITY}
        )

    def port_for(self, published: str) -> int:
        return int(published)

    def options(self, name: str) -> list[str]:
        hosts = [f"--add-host={name}:{self._server}" for name in NAMES]
        trust = [f"--volume={STATE / 'authority.pem'}:{AUTHORITY}:ro", f"--env=SSL_CERT_FILE={AUTHORITY}"]
        return [*super().options(name), *hosts, *trust]


def up(podman: Podman) -> None:
    """Start all services.

    Unlike with Compose, a second call does not replace changed services.
    """
    server = Server(podman)
    server.up()
    state: dict[str, Any] = {
        "running": server.running,
        "options": {name: server.options(name) for name in server.services},
        "images": {name: service["image"] for name, service in server.services.items()},
    }
    STATE_FILE.write_text(json.dumps(state))


def main() -> None:
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="command", required=True)
    up_parser = commands.add_parser("up")
    up_parser.add_argument("--detach", action="store_true", required=True)
    up_parser.add_argument("--build", action="store_true", required=True)
    commands.add_parser("down")
    run_parser = commands.add_parser("run")
    run_parser.add_argument("--rm", action="store_true", required=True)
    run_parser.add_argument("--volume", action="append", default=[])
    run_parser.add_argument("--env", action="append", default=[])
    for command_parser in (run_parser, commands.add_parser("exec")):
        command_parser.add_argument("service")
        command_parser.add_argument("arguments", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    podman = Podman(Path(os.environ["PODMAN"]))
    os.environ.update(podman.environment)
    if options.command == "up":
        up(podman)
        return
    if options.command == "down":
        podman.try_run("rm", "--all", "--force", "--time=0", "--volumes")
        return
    state = json.loads(STATE_FILE.read_text())
    if options.command == "exec":
        container = state["running"][options.service][0]
        # Podman 4 with a terminal sometimes loses the exit status of a short command.
        terminal = ["--interactive", "--tty"] if "createsuperuser" in options.arguments else []
        os.execvp("podman", ["podman", "exec", *terminal, container, *options.arguments])
    extra_options = [f"--volume={volume}" for volume in options.volume] + [
        f"--env={variable}" for variable in options.env
    ]
    command = ["podman", "run", "--rm", *state["options"][options.service], *extra_options]
    os.execvp("podman", [*command, state["images"][options.service], *options.arguments])


if __name__ == "__main__":
    main()
