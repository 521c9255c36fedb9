"""Simulate a new server for the first steps in docs/operations.md.

The section is "From nothing to a running service".

The server has its own network, /etc and mounts in Linux namespaces, so that ports 80 and 443 and the host names of the
page are free. Replacements:

- `docker compose` is Podman with the images of `make images`: tests/release/compose.py
- `apt-get install` unpacks the same Debian packages without configuring them
- `systemctl` starts the same programs with the arguments of Debian's units
- DNS is /etc/hosts, and public certificate authorities are one that Caddy uses and the whole server trusts
"""

from __future__ import annotations

import contextlib
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Self

from tests.project import ROOT
from tests.website_scan.net.tls_servers import Identity

SITE = "scan.example.com"
PACKAGES = ("caddy", "prometheus", "prometheus-alertmanager")
PASSWORD = "correct-horse-battery-staple"  # Password of the superuser.
SHIMS = Path(__file__).parent / "shims"
DONE = re.compile(r"«ended (\d+)»")
BLOCK_TIMEOUT_S = 600  # Containers start one after the other on a busy machine.
# The processes of the namespaces end together with the shell.
NAMESPACES = ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
# The script sets up the server's namespaces before the first command runs.
NAMESPACE_SETUP_SCRIPT = """
set -euo pipefail
mount --make-rprivate /
ip link set lo up
mount -t overlay overlay -o "lowerdir=/etc,upperdir=$STATE/etc,workdir=$STATE/etc-work" /etc
mount -t overlay overlay -o "lowerdir=$STATE/packages/usr:/usr" /usr
mount -t tmpfs tmpfs /var/backups
printf '127.0.0.1 %s\\n' localhost scan.example.com mail.example.com example.com > /etc/hosts
groupadd --system prometheus 2> /dev/null || true
mkdir -p /etc/caddy /etc/prometheus
"$PYTHON" -m tests.release.mailbox "$STATE" &
cd "$STATE/source"
"""


class NewServer:
    """Shell on a new server.

    `mails` are the e-mails sent with its mail account.
    """

    def __init__(self, state: Path, podman: Path) -> None:
        """Set the folders of the server's state and of Podman.

        Podman's folder has the images.
        """
        self.state = state
        self._podman = podman
        self.output = ""

    def __enter__(self) -> Self:
        self._populate()
        main, terminal = pty.openpty()
        self._terminal = main
        variables = {
            "PATH": f"{SHIMS}:{os.environ['PATH']}",
            "STATE": str(self.state),
            "PODMAN": str(self._podman),
            "PYTHON": sys.executable,
            "PYTHONPATH": str(ROOT),
            "SSL_CERT_FILE": str(self.state / "authority.pem"),
            "HOME": str(self.state / "home"),
            "TERM": "dumb",
        }
        self._shell = subprocess.Popen(
            [*NAMESPACES, "bash", "--noprofile", "--norc", "--noediting"],
            stdin=terminal, stdout=terminal, stderr=terminal, env=variables, cwd=ROOT, start_new_session=True,
        )  # fmt: skip
        os.close(terminal)
        self.run("stty -echo; PS1=; PS2=\n" + NAMESPACE_SETUP_SCRIPT)
        return self

    def __exit__(self, *_: object) -> None:
        try:
            if self._shell.poll() is None:
                self.run("docker compose down")
        finally:
            os.close(self._terminal)
            self._shell.kill()
            self._shell.wait()

    @property
    def mails(self) -> list[str]:
        return [path.read_text() for path in sorted((self.state / "mails").iterdir())]

    def run(self, commands: str) -> str:
        """Run a block of commands in the shell and return the output.

        Fails if a command fails.
        """
        block = self.state / "block.sh"
        block.write_text(commands)
        os.write(self._terminal, f'. "{block}"; echo "«ended $?»"\n'.encode())
        output, deadline = "", time.monotonic() + BLOCK_TIMEOUT_S
        while not (end_mark := DONE.search(output)):
            has_shell_ended = self._shell.poll() is not None
            ready, _, _ = select.select([self._terminal], [], [], 0.2)
            if ready and not has_shell_ended:
                with contextlib.suppress(OSError):  # Reading fails with EIO after the shell has ended.
                    output += os.read(self._terminal, 65536).decode("utf-8", "replace")
            else:
                assert not has_shell_ended, f"a command of this block failed:\n{commands}\n{output}"
                assert time.monotonic() < deadline, f"not within {BLOCK_TIMEOUT_S} s: {commands}\n{output}"
            if re.search(r"Password(?: \(again\))?: $", output):
                os.write(self._terminal, f"{PASSWORD}\n".encode())
                output += "\n"
        self.output += output
        assert end_mark[1] == "0", output
        return output.replace("\r\n", "\n")

    def _populate(self) -> None:
        for name in ("etc", "etc-work", "home", "mails", "packages", "downloads"):
            (self.state / name).mkdir()
        archive = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, capture_output=True, check=True).stdout
        (self.state / "source").mkdir()
        subprocess.run(["tar", "--extract", "--directory", self.state / "source"], input=archive, check=True)
        downloads = self.state / "downloads"
        subprocess.run(["apt-get", "download", *PACKAGES], cwd=downloads, capture_output=True, check=True)
        for package in downloads.iterdir():
            subprocess.run(["dpkg", "--extract", package, self.state / "packages"], check=True)
        authority = Identity.root("Authority of the tests")
        (self.state / "authority.pem").write_bytes(authority.pem)
        (self.state / "authority.key").write_bytes(authority.key_pem)
        leaf = authority.issue("mail.example.com")
        (self.state / "mail.pem").write_bytes(leaf.pem + leaf.key_pem)


def can_create_namespaces() -> bool:
    """Return True if the new server can be simulated here.

    This user may create its namespaces, and all required programs are installed.
    """
    if sys.platform != "linux" or os.geteuid() != 0 or not all(map(shutil.which, ("apt-get", "podman", "ip"))):
        return False
    return subprocess.run([*NAMESPACES, "true"], capture_output=True, check=False).returncode == 0


def command_blocks_of_section(page: str) -> list[str]:
    """Return the command blocks of the section on a new server.

    The section is "From nothing to a running service".
    """
    section = page.partition("\n## From nothing to a running service\n")[2].partition("\n## ")[0]
    return re.findall(r"^```bash\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
