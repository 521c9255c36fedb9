"""Command `make images`, which builds the Dockerfile's images and writes an SBOM (CycloneDX 1.6) for each.

With Docker, or with Podman where there is no Docker. Where the base image can't be pulled, and with `--base debian`,
root makes one from Debian's own packages (needs Podman and mmdebstrap). Podman's builds get pip's settings and the
certificates of this machine, which do not get into the images. What a list holds is read from the files of the image.
"""

from __future__ import annotations

import argparse
import ast
import email.parser
import email.policy
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from msgspec import Struct
from packageurl import PackageURL

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
from website_scan import __version__  # noqa: E402

IMAGES = {
    "service": "website-scan-service",
    "browser": "website-scan-service-browser",
    "command": "website-scan-command",
}
BASE = "python:3.12-slim-bookworm"  # This is the default base image of the Dockerfile.
RELEASE = "bookworm"
DEBIAN_BASE = "localhost/website-scan-base"
# Packages for the same Python commands as in the official image, and the certificates for pip.
PACKAGES = "usr-is-merged,python-is-python3,python3-venv,ca-certificates"
EXCLUDED = ("path-exclude=/usr/share/man/*", "path-exclude=/usr/share/locale/*", "path-exclude=/usr/share/doc/*")
INCLUDED = "path-include=/usr/share/doc/*/copyright"
HOOKS = "/usr/share/mmdebstrap/hooks/maybe-merged-usr"
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
PROXIES = ("http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")
MB = 1_000_000


class ImagesError(Exception):
    """Raised when an image cannot be built.

    The message says how to fix the problem.
    """


class Engine(Struct, frozen=True):
    """Container engine that builds and stores images, either `docker` or `podman`."""

    name: str

    def run(self, *arguments: str) -> None:
        """Run an engine command and print its output.

        Raises ImagesError if the command fails.
        """
        if subprocess.run([self.name, *arguments], cwd=ROOT, check=False).returncode:
            raise ImagesError(f"`{self.name} {arguments[0]}` failed; its last lines say why.")

    def output_of(self, *arguments: str) -> str:
        """Return the output of an engine command.

        Raises ImagesError if the command fails.
        """
        process = subprocess.run([self.name, *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
        if process.returncode:
            raise ImagesError(f"`{self.name} {arguments[0]}` failed: {process.stderr.strip()}")
        return process.stdout.strip()

    def has(self, image: str) -> bool:
        process = subprocess.run([self.name, "image", "inspect", image], capture_output=True, check=False)
        return process.returncode == 0

    def image_size_bytes(self, image: str) -> int:
        """Return an image's uncompressed size with all its layers, in bytes."""
        return int(self.output_of("image", "inspect", "--format", "{{.Size}}", image))


def find_engine(name: str | None) -> Engine:
    """Return the engine `name`, or else Docker if its daemon responds, or else Podman.

    Raises ImagesError.
    """
    if name:
        return Engine(name)
    if shutil.which("docker") and not subprocess.run(["docker", "info"], capture_output=True, check=False).returncode:
        return Engine("docker")
    if shutil.which("podman"):
        return Engine("podman")
    raise ImagesError("There is neither a Docker that answers nor Podman here. As root: apt install podman mmdebstrap")


def prepare_base(engine: Engine, base: str) -> str:
    """Pull the base image, or build it from Debian's packages, and return its name.

    Raises ImagesError.
    """
    if base != "debian":
        if engine.has(base) or not subprocess.run([engine.name, "pull", base], cwd=ROOT, check=False).returncode:
            return base
        print(f"{base} could not be pulled.", flush=True)
    if engine.name != "podman" or os.geteuid() != 0 or shutil.which("mmdebstrap") is None:
        raise ImagesError(
            "Only root can make a base from Debian's packages, with Podman: apt install podman mmdebstrap"
        )
    print(f"Making {DEBIAN_BASE} from the packages of Debian {RELEASE} …", flush=True)
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        archive = Path(folder, "base.tar")
        options = [f"--dpkgopt={option}" for option in (*EXCLUDED, INCLUDED)]
        if Path(HOOKS).is_dir():
            options.append(f"--hook-dir={HOOKS}")
        command = [
            "mmdebstrap",
            "--quiet",
            "--variant=minbase",
            f"--include={PACKAGES}",
            *options,
            RELEASE,
            str(archive),
        ]
        process = subprocess.run([*command, *apt_sources()], capture_output=True, text=True, check=False)
        if process.returncode:
            raise ImagesError(f"mmdebstrap failed:\n{process.stderr[-2000:]}")
        engine.output_of("import", str(archive), DEBIAN_BASE)
    return DEBIAN_BASE


def apt_sources() -> list[str]:
    """Return this machine's apt sources for the Debian release, its updates and its security updates."""
    line_format = "deb $(REPO_URI) $(RELEASE) $(COMPONENT)"
    command = ["apt-get", "indextargets", "--format", line_format]
    command += ["Created-By: Packages", "Origin: Debian", "Component: main"]
    lines = subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines()
    releases = {RELEASE, f"{RELEASE}-updates", f"{RELEASE}-security"}
    return sorted({line for line in lines if line.split()[2] in releases})


def pip_settings() -> dict[str, str]:
    """Return pip's settings on this machine by option, from its configuration files and environment variables."""
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "config", "list"]
    lines = subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines()
    settings: dict[str, str] = {}
    for key, _, value in sorted(line.partition("=") for line in lines if "=" in line):
        section, _, name = key.rpartition(".")
        if name and section in ("global", "install", ":env:"):
            settings[name] = ast.literal_eval(value)
    return settings


def mount_options(folder: Path) -> list[str]:
    """Return Podman's options that mount this machine's pip settings and certificates during a build.

    The settings are written to a file in `folder`.
    """
    settings = pip_settings()
    lines = [f"{name} = " + "\n    ".join(value.split("\n")) for name, value in settings.items()]
    file = folder / "pip.conf"
    file.write_text("\n".join(["[global]", *lines, ""]))
    words = [word for value in settings.values() for word in value.split()]
    # The parent folder of a local index is mounted, because the index links to files next to it.
    paths = [Path(word.removeprefix("file://")).parent if word.startswith("file:") else Path(word) for word in words]
    mounts = {f"{path}:{path}:ro" for path in (CERTIFICATES, *paths) if path.is_absolute() and path.exists()}
    return [f"--volume={mount}" for mount in (f"{file}:/etc/pip.conf:ro", *sorted(mounts))]


def build(engine: Engine, base: str, targets: Sequence[str]) -> None:
    """Build the targets' images from a base image, with labels for the version and, in a Git clone, for the commit."""
    command = ["git", "rev-parse", "HEAD"]
    revision = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()
    labels = {"version": __version__, "revision": revision, "base.name": base}
    options = [f"--label=org.opencontainers.image.{name}={value}" for name, value in labels.items() if value]
    options += [f"--build-arg={name}" for name in PROXIES if name in os.environ]
    with tempfile.TemporaryDirectory() as folder:
        if engine.name == "podman":
            # Only Docker's image format supports health checks. A chroot needs neither cgroups nor an OCI runtime.
            options += [
                "--format=docker",
                "--isolation=chroot",
                "--network=host",
                "--pull=never",
                *mount_options(Path(folder)),
            ]
        for target in targets:
            print(f"Building {IMAGES[target]} …", flush=True)
            arguments = [
                f"--build-arg=PYTHON_IMAGE={base}",
                f"--target={target}",
                f"--tag={IMAGES[target]}",
                f"--tag={IMAGES[target]}:{__version__}",
                ".",
            ]
            engine.run("build", *options, *arguments)


def packages_in_image(engine: Engine, image: str) -> Iterator[tuple[str, str, str, str]]:
    """Yield the type, name, version and licence of all packages in an image, without running it.

    The type is that of package URLs: `deb`, `pypi` or `generic`. The licence of Debian packages is empty.
    """
    for variable in json.loads(engine.output_of("image", "inspect", "--format", "{{json .Config.Env}}", image)) or ():
        name, _, value = variable.partition("=")
        if name == "PYTHON_VERSION":  # Official images set this variable. Their Python is not a Debian package.
            yield "generic", "python", value, ""
    container = engine.output_of("create", image)
    try:
        with (
            subprocess.Popen([engine.name, "export", container], stdout=subprocess.PIPE) as process,
            tarfile.open(fileobj=process.stdout, mode="r|") as files,
        ):
            for file in files:
                path = file.name.removeprefix("./")
                if path == "var/lib/dpkg/status" and (data := files.extractfile(file)):
                    yield from debian_packages(data.read().decode())
                elif path.endswith(".dist-info/METADATA") and (data := files.extractfile(file)):
                    yield python_package(data.read().decode())
    finally:
        engine.output_of("rm", "--force", container)


def debian_packages(status: str) -> Iterator[tuple[str, str, str, str]]:
    for paragraph in status.split("\n\n"):
        fields = email.parser.HeaderParser(policy=email.policy.compat32).parsestr(paragraph)
        if fields["Status"] == "install ok installed":
            yield "deb", fields["Package"], fields["Version"], ""


def python_package(metadata: str) -> tuple[str, str, str, str]:
    fields = email.parser.HeaderParser(policy=email.policy.compat32).parsestr(metadata)
    return "pypi", fields["Name"], fields["Version"], fields["License-Expression"] or ""


def write_sbom(engine: Engine, target: str, folder: Path) -> tuple[Path, Counter[str]]:
    """Write the SBOM for an image, with the image's ID. Return its path and the number of packages by type."""
    id = engine.output_of("image", "inspect", "--format", "{{.Id}}", IMAGES[target]).removeprefix("sha256:")
    image = Component(
        name=IMAGES[target],
        version=__version__,
        type=ComponentType.CONTAINER,
        bom_ref=IMAGES[target],
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=id)],
    )
    bom, counts = Bom(), Counter[str]()
    bom.metadata.component = image
    for package_type, name, version, licence in sorted(set(packages_in_image(engine, IMAGES[target]))):
        url = PackageURL(package_type, "debian" if package_type == "deb" else None, name, version)
        licences = [LicenseFactory().make_from_string(licence)] if licence else []
        bom.components.add(Component(name=name, version=version, purl=url, licenses=licences, bom_ref=str(url)))
        counts[package_type] += 1
    bom.register_dependency(image, bom.components)
    document: dict[str, Any] = json.loads(JsonV1Dot6(bom).output_as_string())
    document.pop("serialNumber")
    document["metadata"].pop("timestamp")  # Without its timestamp, the SBOM changes only if the image changes.
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"sbom-{IMAGES[target]}.json"
    file.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    return file, counts


def main() -> None:
    parser = argparse.ArgumentParser(prog="make images", description=__doc__)
    parser.add_argument(
        "--base", default=BASE, help=f"image with Python and apt, or `debian` to make one; default: {BASE}"
    )
    parser.add_argument("--engine", choices=("docker", "podman"), help="default: docker if it answers, else podman")
    parser.add_argument("--target", action="append", choices=IMAGES, help="only this image; may be repeated")
    parser.add_argument("--bills", type=Path, default=ROOT / "var", help="folder of the lists; default: var")
    options = parser.parse_args()
    began = time.monotonic()
    try:
        engine = find_engine(options.engine)
        base = prepare_base(engine, options.base)
        targets = options.target or list(IMAGES)
        build(engine, base, targets)
        base_size = engine.image_size_bytes(base)
        print(f"{base}: {base_size / MB:,.0f} MB")
        for target in targets:
            size = engine.image_size_bytes(IMAGES[target])
            file, counts = write_sbom(engine, target, options.bills)
            packages = ", ".join(f"{count} {package_type}" for package_type, count in sorted(counts.items()))
            print(
                f"{IMAGES[target]}: {size / MB:,.0f} MB, {(size - base_size) / MB:,.0f} above its base; "
                f"{file}: {packages}"
            )
    except ImagesError as error:
        sys.exit(str(error))
    print(f"{time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
