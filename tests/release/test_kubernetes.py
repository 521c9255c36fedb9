"""Tests for the manifests in deploy/kubernetes.

tests/release/test_kubernetes_server.py applies the manifests to an API server.
"""

from __future__ import annotations

import re
import subprocess
from functools import cache
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml
from django.conf import settings

from tests.kubernetes import kubectl
from tests.networks import is_within
from tests.release.test_containers import (
    KEYS,
    OWN_SERVICES,
    ROOT,
    SERVICES,
    VARIABLES_NOT_FOR_OPERATORS,
    WORKERS,
    command_of,
    queues_in_command,
)
from website_scan.environment import SECRETS, defaults
from website_scan.net.addresses import IPV4_SPECIAL_NETWORKS, IPV6_GLOBAL_UNICAST, IPV6_SPECIAL_NETWORKS

FOLDER = ROOT / "deploy" / "kubernetes"
FOLDERS = ("base", "autoscaling", "example")
# Kubernetes versions from the oldest that clouds run to the newest with schemas.
VERSIONS = ("1.30", "1.32", "1.34", kubernetes_validate.latest_version())


def kustomization_of(folder: str) -> dict[str, Any]:
    """Return the kustomization of a folder."""
    kustomization: dict[str, Any] = yaml.safe_load((FOLDER / folder / "kustomization.yaml").read_text(encoding="utf-8"))
    return kustomization


MANIFESTS: list[dict[str, Any]] = [
    manifest
    for part in FOLDERS
    for name in kustomization_of(part)["resources"]
    if name.endswith(".yaml")
    for manifest in yaml.safe_load_all((FOLDER / part / name).read_text("utf-8"))
]


@cache
def example() -> list[dict[str, Any]]:
    """Return the example's manifests as built by Kustomize."""
    built = subprocess.run([kubectl(), "kustomize", FOLDER / "example"], capture_output=True, text=True, check=True)
    return list(yaml.safe_load_all(built.stdout))


def manifests_of(kind: str) -> dict[str, dict[str, Any]]:
    """Return the manifests of a kind by name.

    The names' common prefix is removed.
    """
    manifests = [manifest for manifest in MANIFESTS if manifest["kind"] == kind]
    return {manifest["metadata"]["name"].removeprefix("website-scan-"): manifest for manifest in manifests}


PODS = {
    name: manifest["spec"]["template"]["spec"]
    for kind in ("Deployment", "Job")
    for name, manifest in manifests_of(kind).items()
}


def container(name: str) -> dict[str, Any]:
    (only,) = PODS[name]["containers"]
    assert isinstance(only, dict)
    return only


def test_files_are_listed_in_a_kustomization() -> None:
    assert {path.name for path in FOLDER.iterdir()} == set(FOLDERS)
    for part in FOLDERS:
        patches = [patch["path"] for patch in kustomization_of(part).get("patches", ()) if "path" in patch]
        listed_names = {Path(name).name for name in [*kustomization_of(part)["resources"], *patches]} - set(FOLDERS)
        # The file prometheus-adapter.yaml contains values for Helm.
        others = {"kustomization.yaml", "prometheus-adapter.yaml"}
        assert {path.name for path in (FOLDER / part).iterdir()} - others == listed_names


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    "manifest", MANIFESTS, ids=lambda manifest: f"{manifest['kind']}-{manifest['metadata']['name']}"
)
def test_manifest_matches_the_kubernetes_schema(manifest: dict[str, Any], version: str) -> None:
    kubernetes_validate.validate(manifest, version, strict=True)
    assert "namespace" not in manifest["metadata"]  # The operator's kustomization sets the namespace.


@pytest.mark.parametrize("version", VERSIONS)
def test_built_manifests_match_the_kubernetes_schema(version: str) -> None:
    for manifest in example():
        kubernetes_validate.validate(manifest, version, strict=True)


def test_misspelt_field_violates_the_schema() -> None:
    broken = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "x"}, "spec": {"selectors": {"a": "b"}}}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(broken, VERSIONS[0], strict=True)


@pytest.mark.parametrize("name", OWN_SERVICES)
def test_pod_runs_the_command_of_its_service(name: str) -> None:
    command = [word.replace("/data/", "/tmp/") for word in command_of(name)]
    assert container(name).get("command", command_of("web")) == command
    assert container(name)["image"] == SERVICES[name]["image"]
    assert set(PODS) == set(OWN_SERVICES)


def test_pods_get_documented_variables() -> None:
    """Pods get variables as values and secrets as file names."""
    data = manifests_of("ConfigMap")["website-scan"]["data"]
    assert set(data) == defaults.keys() - VARIABLES_NOT_FOR_OPERATORS - SECRETS
    assert all(isinstance(value, str) for value in data.values())
    for name in OWN_SERVICES:
        variable_names = {variable["name"] for variable in container(name)["env"]}
        assert container(name)["envFrom"] == [{"configMapRef": {"name": "website-scan"}}]
        assert variable_names <= {f"{secret}_FILE" for secret in SECRETS} | {"SECRET_KEY"}
    assert {variable["name"] for variable in container("web")["env"]} == {f"{name}_FILE" for name in SECRETS}


@pytest.mark.parametrize("name", OWN_SERVICES)
def test_secrets_are_files(name: str) -> None:
    env = {variable["name"]: variable["value"] for variable in container(name)["env"]}
    (secrets,) = [volume["secret"] for volume in PODS[name]["volumes"] if "secret" in volume]
    (mount,) = [volume["mountPath"] for volume in container(name)["volumeMounts"] if volume["name"] == "secrets"]
    assert {value for key, value in env.items() if key.endswith("_FILE")} == {
        f"{mount}/{item['path']}" for item in secrets["items"]
    }
    assert env.get("SECRET_KEY", "of-no-use").startswith("of-no-use")
    assert ("SECRET_KEY" in env) != ("SECRET_KEY_FILE" in env)


def test_browser_pod_has_no_keys() -> None:
    names = {variable["name"] for variable in container("browser")["env"]}
    assert not names & {f"{name}_FILE" for name in KEYS}
    profile = PODS["browser"]["securityContext"]["seccompProfile"]
    assert profile == {"type": "Localhost", "localhostProfile": "website-scan/seccomp.json"}
    assert {name for name, pod in PODS.items() if pod["securityContext"]["seccompProfile"] == profile} == {"browser"}


@pytest.mark.parametrize("name", OWN_SERVICES)
def test_pod_has_minimal_rights_and_resource_limits(name: str) -> None:
    pod, only = PODS[name], container(name)
    assert (pod["automountServiceAccountToken"], pod["securityContext"]["runAsNonRoot"]) == (False, True)
    uid = re.search(r"--uid (\d+)", (ROOT / "Dockerfile").read_text(encoding="utf-8"))
    assert uid
    assert pod["securityContext"]["runAsUser"] == int(uid[1])
    rights = only["securityContext"]
    assert (rights["allowPrivilegeEscalation"], rights["readOnlyRootFilesystem"]) == (False, True)
    assert rights["capabilities"] == {"drop": ["ALL"]}
    assert {*only["resources"]["requests"], *only["resources"]["limits"]} == {"cpu", "memory"}
    # Pods need no environment variables with other services' addresses.
    assert pod["enableServiceLinks"] is False


@pytest.mark.parametrize("name", OWN_SERVICES)
def test_pod_meets_the_restricted_standard(name: str) -> None:
    """Check the level "Restricted" of Pod Security Standards.

    The example's namespace demands it.
    """
    pod, only = PODS[name], container(name)
    assert not {"hostNetwork", "hostPID", "hostIPC", "hostUsers", "initContainers", "ephemeralContainers"} & pod.keys()
    assert all(len(volume) == 2 and {"secret", "emptyDir"} & volume.keys() for volume in pod["volumes"])
    assert not any("hostPort" in port for port in only.get("ports", ()))
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["runAsUser"] != 0
    assert pod["securityContext"]["seccompProfile"]["type"] in {"RuntimeDefault", "Localhost"}
    assert only["securityContext"].keys() == {"allowPrivilegeEscalation", "readOnlyRootFilesystem", "capabilities"}
    labels = manifests_of("Namespace")["website-scan"]["metadata"]["labels"]
    assert labels["pod-security.kubernetes.io/enforce"] == "restricted"


@pytest.mark.parametrize("name", sorted(set(OWN_SERVICES) - {"migrate"}))
def test_pods_have_probes(name: str) -> None:
    """A pod without a Service has a readiness probe, too.

    A rollout waits for it.
    """
    probes = {"startupProbe", "livenessProbe", "readinessProbe"}
    assert container(name).keys() & probes == probes - ({"readinessProbe"} if name == "scheduler" else set())
    if name in WORKERS:
        (_, probe) = SERVICES[name]["healthcheck"]["test"]
        command = ["sh", "-c", probe.replace("$$", "$")]
        assert all(container(name)[probe_name]["exec"]["command"] == command for probe_name in probes)
    startup = container(name)["startupProbe"]
    assert startup["periodSeconds"] * startup["failureThreshold"] >= 120


@pytest.mark.parametrize("name", ["web", *WORKERS])
def test_pods_are_spread_over_nodes_and_zones(name: str) -> None:
    spread = PODS[name]["topologySpreadConstraints"]
    assert [constraint["topologyKey"] for constraint in spread] == [
        "kubernetes.io/hostname",
        "topology.kubernetes.io/zone",
    ]
    labels = manifests_of("Deployment")[name]["spec"]["selector"]
    # A cluster with one node may run all pods on this node.
    assert all(
        (constraint["labelSelector"], constraint["whenUnsatisfiable"]) == (labels, "ScheduleAnyway")
        for constraint in spread
    )


def test_pods_have_enough_time_to_stop() -> None:
    for name in WORKERS:
        compose = int(SERVICES[name]["stop_grace_period"].removesuffix("s"))
        assert PODS[name]["terminationGracePeriodSeconds"] == compose
    command = command_of("web")
    graceful = int(command[command.index("--graceful-timeout") + 1])
    assert 0 < int(manifests_of("ConfigMap")["website-scan"]["data"]["DRAIN_S"]) <= graceful / 2
    assert PODS["web"]["terminationGracePeriodSeconds"] > graceful


def test_rollout_keeps_web_pods_available() -> None:
    assert manifests_of("Deployment")["web"]["spec"]["strategy"]["rollingUpdate"]["maxUnavailable"] == 0
    assert container("web")["readinessProbe"]["httpGet"]["path"] == "/readyz"
    assert container("web")["livenessProbe"]["httpGet"]["path"] == "/healthz"


def test_node_drain_evicts_one_pod_of_a_service() -> None:
    for name in ("web", *WORKERS):
        budget = manifests_of("PodDisruptionBudget")[name]["spec"]
        labels = manifests_of("Deployment")[name]["spec"]["selector"]
        assert (budget["maxUnavailable"], budget["selector"]) == (1, labels)
        assert manifests_of("Deployment")[name]["spec"]["replicas"] >= 2


def allowed_destinations(
    name: str, policies: dict[str, dict[str, Any]] | None = None
) -> list[tuple[dict[str, Any], set[int]]]:
    """Return where the network policies allow a pod to connect.

    Values are destinations and ports.
    """
    labels = {"app.kubernetes.io/name": "website-scan", "app.kubernetes.io/component": name}
    rules = []
    for policy in (policies or manifests_of("NetworkPolicy")).values():
        selector = policy["spec"]["podSelector"]
        expressions = selector.get("matchExpressions", ())
        is_selected = all(labels.get(key) == value for key, value in selector.get("matchLabels", {}).items())
        if is_selected and all(labels[expression["key"]] in expression["values"] for expression in expressions):
            rules += policy["spec"].get("egress", ())
    # A rule without destinations or ports would allow all of them.
    assert all(rule["to"] and rule["ports"] for rule in rules)
    return [(to, {port["port"] for port in rule["ports"]}) for rule in rules for to in rule["to"]]


def test_only_web_accepts_connections() -> None:
    policies = {name: policy["spec"] for name, policy in manifests_of("NetworkPolicy").items()}
    all_pods = {"matchLabels": {"app.kubernetes.io/name": "website-scan"}}
    assert policies["website-scan"] == {"podSelector": all_pods, "policyTypes": ["Ingress", "Egress"]}
    (web_policy,) = [name for name, policy in policies.items() if "ingress" in policy]
    assert policies[web_policy]["podSelector"]["matchLabels"]["app.kubernetes.io/component"] == "web"


@pytest.mark.parametrize("name", ["web", *WORKERS])
def test_pods_reach_the_addresses_of_the_network_guard(name: str) -> None:
    ports = {*settings.SCAN_ALLOWED_PORTS, 53}
    mail = [{25, 465, 587}] if name in {"web", "worker"} else []
    blocks = [(to["ipBlock"], numbers) for to, numbers in allowed_destinations(name) if "ipBlock" in to]
    public = {"0.0.0.0/0": [str(network) for network, _ in IPV4_SPECIAL_NETWORKS]}
    public |= {str(IPV6_GLOBAL_UNICAST): [str(network) for network, _ in IPV6_SPECIAL_NETWORKS]}
    for cidr, special in public.items():
        public_blocks = [(block, numbers) for block, numbers in blocks if block["cidr"] == cidr]
        assert all(block["except"] == special for block, _ in public_blocks)
        assert [numbers for _, numbers in public_blocks] == [ports, *mail]
    others = [(block["cidr"], numbers) for block, numbers in blocks if block["cidr"] not in public]
    assert others == [("169.254.20.10/32", {53})]  # Address of the name server on the pod's own node.


@pytest.mark.parametrize("name", OWN_SERVICES)
def test_pods_reach_only_three_cluster_servers(name: str) -> None:
    cluster_rules = [
        (to["podSelector"]["matchLabels"], numbers) for to, numbers in allowed_destinations(name) if "podSelector" in to
    ]
    assert cluster_rules == [
        ({"k8s-app": "kube-dns"}, {53}),
        ({"app.kubernetes.io/name": "postgresql"}, {5432}),
        ({"app.kubernetes.io/name": "redis"}, {6379}),
    ]


def test_browser_pod_cannot_reach_private_networks() -> None:
    addresses = ["169.254.169.254", "168.63.129.16", "192.0.0.192", "100.100.100.200", "10.96.0.1", "172.17.0.1"]
    addresses += ["192.168.1.1", "127.0.0.1", "fd00:ec2::254", "fe80::1", "fd00::1"]
    for to, _ in allowed_destinations("browser"):
        if "ipBlock" not in to:
            continue
        block = ip_network(to["ipBlock"]["cidr"])
        excepted = [ip_network(cidr) for cidr in to["ipBlock"].get("except", ())]
        for address in map(ip_network, addresses):
            if is_within(address, block):
                assert any(is_within(address, network) for network in excepted), address


def test_policies_allow_external_addresses() -> None:
    policies = {manifest["metadata"]["name"]: manifest for manifest in example() if manifest["kind"] == "NetworkPolicy"}
    (database, queue) = policies["website-scan-servers"]["spec"]["egress"]
    assert [list(rule["to"][0]) for rule in (database, queue)] == [["ipBlock"], ["ipBlock"]]
    assert not any(
        "podSelector" in to and ports & {5432, 6379} for to, ports in allowed_destinations("browser", policies)
    )


def test_autoscalers_use_a_documented_metric() -> None:
    metrics_document = (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8")
    alerts = (ROOT / "deploy" / "prometheus" / "alerts.yaml").read_text(encoding="utf-8")
    rules = yaml.safe_load((FOLDER / "autoscaling" / "prometheus-adapter.yaml").read_text(encoding="utf-8"))["rules"]
    (alert_threshold_s,) = re.findall(r"website_scan_queue_age_seconds > (\d+)", alerts)
    scalers = {name: scaler["spec"] for name, scaler in manifests_of("HorizontalPodAutoscaler").items()}
    assert scalers.keys() == {"worker", "browser"}
    for name, scaler in scalers.items():
        assert scaler["scaleTargetRef"]["name"] == f"website-scan-{name}"
        assert scaler["minReplicas"] == manifests_of("Deployment")[name]["spec"]["replicas"]
        (metric,) = [entry["external"] for entry in scaler["metrics"]]
        assert metric["metric"]["selector"]["matchLabels"]["queue"] in queues_in_command(command_of(name))
        assert int(metric["target"]["value"]) < int(alert_threshold_s) < int(str(defaults["SCAN_QUEUE_AGE_LIMIT"]))
        assert metric["metric"]["name"] == rules["external"][0]["seriesQuery"]
        assert f"| `{metric['metric']['name'].removeprefix('website_scan_')}` | `queue` |" in metrics_document
        built = next(manifest for manifest in example() if manifest["metadata"]["name"] == f"website-scan-{name}")
        assert "replicas" not in built["spec"]  # An apply would reset the number that the autoscaler has set.


def test_example_builds_an_installation() -> None:
    kinds = [manifest["kind"] for manifest in example()]
    assert sorted(kinds) == sorted(manifest["kind"] for manifest in MANIFESTS)
    assert {manifest["metadata"].get("namespace") for manifest in example() if manifest["kind"] != "Namespace"} == {
        "website-scan"
    }
    images = re.findall(r"'image': '([^']+)'", str(example()))
    assert {image.partition("/")[0] for image in images} == {"registry.example.com"}
    data = next(manifest["data"] for manifest in example() if manifest["kind"] == "ConfigMap")
    (ingress,) = [manifest["spec"] for manifest in example() if manifest["kind"] == "Ingress"]
    host = data["BASE_URL"].removeprefix("https://")
    assert ingress["tls"][0]["hosts"] == [ingress["rules"][0]["host"]] == [host]
    service = ingress["rules"][0]["http"]["paths"][0]["backend"]["service"]
    assert service["name"] == manifests_of("Service")["website-scan"]["metadata"]["name"]
    assert service["port"]["name"] in {
        port["name"] for port in manifests_of("Service")["website-scan"]["spec"]["ports"]
    }
