"""`docker compose up|exec|run|down` on the new server of first_hour.py: Podman, with images that were built before."""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from typing import Any

from tests.images import Podman, Stack

STATE = Path(os.environ["STATE"])
KEPT = STATE / "containers.json"
AUTHORITY = "/authority.pem"
NAMES = ("scan.example.com", "mail.example.com", "example.com")


class Server(Stack):
    """The stack of the working directory's `.env`, on the ports that compose.yaml names."""

    def __init__(self, podman: Podman) -> None:
        super().__init__(podman)
        found = json.loads(self.podman.said("network", "inspect", self.network("outside")))
        (subnet,) = found[0]["subnets"]
        self._server: str = subnet["gateway"]
        lines = Path(".env").read_text(encoding="utf-8").splitlines()
        variables = dict(line.split("=", 1) for line in lines)
        self.configure(
            # A public site, and a public authority: here one is on the server itself, and the other its own.
            variables | {"SCAN_ALLOWED_NETWORKS": f"{self._server}/32", "SCAN_CA_BUNDLE": AUTHORITY}
        )

    def port_for(self, published: str) -> int:
        return int(published)

    def options(self, name: str) -> list[str]:
        hosts = [f"--add-host={each}:{self._server}" for each in NAMES]
        trust = [f"--volume={STATE / 'authority.pem'}:{AUTHORITY}:ro", f"--env=SSL_CERT_FILE={AUTHORITY}"]
        return [*super().options(name), *hosts, *trust]


def up(podman: Podman) -> None:
    """Start everything. A second time, Compose would replace what has changed; the page does not."""
    server = Server(podman)
    server.up()
    kept: dict[str, Any] = {
        "running": server.running,
        "options": {name: server.options(name) for name in server.services},
        "images": {name: service["image"] for name, service in server.services.items()},
    }
    KEPT.write_text(json.dumps(kept))


def main() -> None:
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="command", required=True)
    starting = commands.add_parser("up")
    starting.add_argument("--detach", action="store_true", required=True)
    starting.add_argument("--build", action="store_true", required=True)
    commands.add_parser("down")
    running = commands.add_parser("run")
    running.add_argument("--rm", action="store_true", required=True)
    running.add_argument("--volume", action="append", default=[])
    running.add_argument("--env", action="append", default=[])
    for each in (running, commands.add_parser("exec")):
        each.add_argument("service")
        each.add_argument("arguments", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    podman = Podman(Path(os.environ["PODMAN"]))
    os.environ.update(podman.environment)
    if options.command == "up":
        up(podman)
        return
    if options.command == "down":
        podman.ran("rm", "--all", "--force", "--time=0", "--volumes")
        return
    kept = json.loads(KEPT.read_text())
    if options.command == "exec":
        container = kept["running"][options.service][0]
        # Compose always gives a terminal. Podman 4 sometimes loses the status of a short command that has one.
        terminal = ["--interactive", "--tty"] if "createsuperuser" in options.arguments else []
        os.execvp("podman", ["podman", "exec", *terminal, container, *options.arguments])
    given = [f"--volume={each}" for each in options.volume] + [f"--env={each}" for each in options.env]
    command = ["podman", "run", "--rm", *kept["options"][options.service], *given]
    os.execvp("podman", [*command, kept["images"][options.service], *options.arguments])


if __name__ == "__main__":
    main()
