"""Tests that a real API server accepts the manifests.

It is stricter than the schemas. The manifests are in deploy/kubernetes.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator

import pytest
import yaml

from tests import kubernetes
from tests.kubernetes import Cluster
from tests.release.test_containers import ROOT

FOLDER = ROOT / "deploy" / "kubernetes"
DOC = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
SECTION = DOC[DOC.index("\n### Kubernetes\n") : DOC.index("\n### Users and organizations\n")]
NAMESPACE = "website-scan"

# The API server is built once on a machine, which takes minutes.
pytestmark = pytest.mark.timeout(2400)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with kubernetes.cluster() as running:
        yield running


@pytest.fixture(scope="module")
def manifests(cluster: Cluster) -> str:
    """Manifests of the example.

    They are applied once.
    """
    built = cluster.with_supported_versions(cluster.run("kustomize", FOLDER / "example").stdout)
    applied = cluster.run("apply", "--filename=-", stdin=built).stdout
    assert len(applied.splitlines()) == len(list(yaml.safe_load_all(built)))
    return built


def test_server_stores_all_manifest_fields(cluster: Cluster, manifests: str) -> None:
    """`kubectl diff` shows every field that the server dropped or changed."""
    assert cluster.run("diff", "--filename=-", stdin=manifests).stdout == ""


def test_server_side_apply_accepts_the_manifests(cluster: Cluster, manifests: str) -> None:
    """Server-side apply is stricter than client-side apply.

    All list keys and types must be exact.
    """
    cluster.run("apply", "--server-side", "--force-conflicts", "--filename=-", stdin=manifests)


def test_manifests_apply_to_any_namespace(cluster: Cluster) -> None:
    built = cluster.with_supported_versions(cluster.run("kustomize", FOLDER / "base").stdout)
    cluster.run("create", "namespace", "elsewhere")
    cluster.run("apply", "--namespace=elsewhere", "--dry-run=server", "--filename=-", stdin=built)


@pytest.mark.parametrize(
    ("right", "wrong", "complaint"),
    [
        ("cidr: 0.0.0.0/0", "cidr: 1.0.0.0/24", "must be a strict subset"),
        (
            "matchLabels:\n      app.kubernetes.io/component: browser",
            "matchLabels:\n      tier: none",
            "`selector` does not match",
        ),
        ("memory: 3Gi", "memory: 1Gi", "must be less than or equal to memory limit"),
        ("name: shared", "name: shraed", "Not found"),
    ],
)
def test_server_detects_errors_beyond_the_schemas(
    cluster: Cluster, manifests: str, right: str, wrong: str, complaint: str
) -> None:
    broken = manifests.replace(right, wrong, 1)
    assert broken != manifests
    refusal = cluster.run("apply", "--dry-run=server", "--filename=-", stdin=broken, check=False)
    assert complaint in refusal.stderr


def test_documented_secret_has_all_mounted_keys(cluster: Cluster, manifests: str) -> None:
    (command,) = re.findall(r"^(kubectl create secret .*?[^\\])$", SECTION, re.MULTILINE | re.DOTALL)
    script = command.replace("kubectl ", f"'{cluster.kubectl}' --kubeconfig '{cluster.configuration}' ", 1)
    subprocess.run(["bash", "-euc", script], check=True, capture_output=True)
    stored_keys = cluster.get("secret", "website-scan", NAMESPACE)["data"]
    mounted = {
        item["key"]
        for manifest in yaml.safe_load_all(manifests)
        if manifest["kind"] in {"Deployment", "Job"}
        for volume in manifest["spec"]["template"]["spec"]["volumes"]
        if "secret" in volume
        for item in volume["secret"]["items"]
    }
    assert stored_keys.keys() == mounted


def test_old_migration_job_must_be_deleted(cluster: Cluster, manifests: str) -> None:
    (delete,) = re.findall(r"^kubectl (delete job .*)$", SECTION, re.MULTILINE)
    upgraded = manifests.replace(":1.0.0", ":1.1.0")
    refusal = cluster.run("apply", "--filename=-", stdin=upgraded, check=False)
    assert "field is immutable" in refusal.stderr
    cluster.run(*delete.split())
    cluster.run("apply", "--filename=-", stdin=upgraded)
    container = cluster.get("job", "website-scan-migrate", NAMESPACE)["spec"]["template"]["spec"]["containers"][0]
    assert container["image"].endswith(":1.1.0")
