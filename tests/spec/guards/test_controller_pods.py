"""The controller's pods: a selector matches them, and their image can be pulled."""

from __future__ import annotations

from typing import Any

import pytest

from nodeless.resolved.charts import chart_values
from nodeless.resolved.permissions import place_of
from nodeless.spec.resolution import installation
from tests.refusals import problems

MIRROR = "oci://123456789012.dkr.ecr.eu-north-1.amazonaws.com/mirror/karpenter"
NAME = "app.kubernetes.io/name"
MIRROR_IT = (
    "set karpenter.repository to a mirror that has the charts and beside them the image controller, "
    "or set karpenter.image.repository"
)


def selecting(*selectors: dict[str, Any], **karpenter: Any) -> dict[str, Any]:  # noqa: ANN401 - keys of a cluster
    return {"fargate": {"selectors": list(selectors)}, "karpenter": karpenter}


def isolated(**keys: Any) -> dict[str, Any]:  # noqa: ANN401 - keys of karpenter
    return {"karpenter": {"isolated_vpc": True, **keys}}


def labelled(**values: Any) -> dict[str, Any]:  # noqa: ANN401 - values of the chart
    return {"karpenter": {"values": values}}


REFUSED: dict[str, tuple[dict[str, Any], str, str]] = {
    "a label of pods that is no value": (
        labelled(podLabels={"team": "not one!"}),
        "karpenter.values.podLabels.team",
        "write it like platform",
    ),
    "a label of pods that is no key": (
        labelled(additionalLabels={"my team": "one"}),
        "karpenter.values.additionalLabels.my team",
        "write it like example.com/team",
    ),
    "a label that is a number": (
        labelled(serviceMonitor={"additionalLabels": {"build": 7}}),
        "karpenter.values.serviceMonitor.additionalLabels.build",
        'write "7", with the quotes',
    ),
    "a selector of nodes that is no label": (
        labelled(nodeSelector={"team": "-"}),
        "karpenter.values.nodeSelector.team",
        "write it like platform",
    ),
    "selectors of other namespaces": (
        selecting({"namespace": "web"}, {"namespace": "jobs"}),
        "fargate.selectors",
        "add {namespace: karpenter}",
    ),
    "a selector for the default namespace with the controller elsewhere": (
        selecting({"namespace": "karpenter"}, namespace="system"),
        "fargate.selectors",
        "add {namespace: system}",
    ),
    "a label that the pods do not have": (
        selecting({"namespace": "karpenter", "labels": {"app": "karpenter"}}),
        "fargate.selectors",
        "add {namespace: karpenter}",
    ),
    "a label with another value": (
        selecting({"namespace": "karpenter", "labels": {NAME: "carpenter"}}),
        "fargate.selectors",
        "add {namespace: karpenter}",
    ),
    "only CoreDNS in kube-system": (
        {
            "fargate": {"selectors": [{"namespace": "web"}], "coredns": True},
            "karpenter": {"namespace": "kube-system"},
        },
        "fargate.selectors",
        f"add {{namespace: kube-system, labels: {{{NAME}: karpenter}}}}",
    ),
    "a chart with another name in kube-system": (
        {"karpenter": {"namespace": "kube-system", "values": {"nameOverride": "scaler"}}},
        "fargate.selectors",
        f"add {{namespace: kube-system, labels: {{{NAME}: scaler}}}}",
    ),
    "all of kube-system, with the controller there": (
        selecting({"namespace": "kube-system"}, namespace="kube-system"),
        "fargate.selectors[0]",
        f"add labels: {{{NAME}: karpenter}} to it, or use coredns: true for CoreDNS",
    ),
    "all of kube-system, beside the controller": (
        selecting({"namespace": "karpenter"}, {"namespace": "kube-system"}),
        "fargate.selectors[1]",
        f"add labels: {{{NAME}: karpenter}} to it, or use coredns: true for CoreDNS",
    ),
    "an isolated VPC without a mirror": (
        isolated(),
        "karpenter.isolated_vpc",
        MIRROR_IT,
    ),
    "an isolated VPC with the image of upstream's registry": (
        isolated(repository=MIRROR, image={"repository": "public.ecr.aws/karpenter/controller"}),
        "karpenter.isolated_vpc",
        MIRROR_IT,
    ),
    "an isolated VPC and a release with a job of its own": (
        isolated(repository=MIRROR, version="1.0.0"),
        "karpenter.version",
        "set karpenter.version to 1.0, or karpenter.values.postInstallHook.image.repository to a mirror",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_it_is_refused_with_the_fix(case: str) -> None:
    keys, where, fix = REFUSED[case]

    (finding,) = problems(**keys)
    assert (finding.where(), finding.fix) == (f"clusters[0].{where}", fix)


PASSES: dict[str, dict[str, Any]] = {
    "the namespace": selecting({"namespace": "web"}, {"namespace": "karpenter"}),
    "the label of the chart": selecting({"namespace": "karpenter", "labels": {NAME: "karpenter"}}),
    "both labels of the chart": selecting(
        {"namespace": "karpenter", "labels": {NAME: "karpenter", "app.kubernetes.io/instance": "karpenter"}}
    ),
    "a label of the user's own": selecting(
        {"namespace": "karpenter", "labels": {"team": "a"}}, values={"podLabels": {"team": "a"}}
    ),
    "labels of every form": labelled(
        podLabels={"a": "", "example.com/B_c.d-e": "x" * 63, "gone": None, f"{'x' * 63}.example.com/{'y' * 63}": "1.0"},
        podAnnotations={"any text": "is right here!"},
        nodeSelector={"kubernetes.io/os": "linux"},
    ),
    "kube-system with a label": selecting(
        {"namespace": "kube-system", "labels": {NAME: "karpenter"}}, namespace="kube-system"
    ),
    "no Fargate": {"fargate": False},
    "an isolated VPC with a mirror": isolated(repository=MIRROR),
    "an isolated VPC with an image": isolated(image={"repository": "mirror.example.com/karpenter/controller"}),
    "an isolated VPC with an image among the values": isolated(
        values={"controller": {"image": {"repository": "mirror.example.com/karpenter/controller"}}}
    ),
    "an isolated VPC where nothing is installed": {**isolated(), "delivery": "none"},
    "an isolated VPC with a mirror of the job's image": isolated(
        repository=MIRROR,
        version="1.0.0",
        values={"postInstallHook": {"image": {"repository": "mirror.example.com/kubectl"}}},
    ),
}


@pytest.mark.parametrize("case", PASSES)
def test_it_passes(case: str) -> None:
    assert problems(**PASSES[case]) == []


DIGEST = f"sha256:{'0' * 64}"

IMAGES: dict[str, tuple[dict[str, Any], object]] = {
    "upstream's": ({}, None),
    "a mirror of the charts alone": ({"repository": MIRROR}, None),
    # The chart's own tag and digest stay: a copy of all platforms has the same digest.
    "a mirror in an isolated VPC": (
        {"isolated_vpc": True, "repository": MIRROR},
        {"repository": f"{MIRROR.removeprefix('oci://')}/controller"},
    ),
    "a repository of its own": (
        {"isolated_vpc": True, "repository": MIRROR, "image": {"repository": "r.io/c"}},
        {"repository": "r.io/c"},
    ),
    "all of it": (
        {"image": {"repository": "r.io/c", "tag": "mine", "digest": DIGEST}},
        {"repository": "r.io/c", "tag": "mine", "digest": DIGEST},
    ),
    "no digest": ({"image": {"digest": "none"}}, {"digest": ""}),
    "one line in the oldest chart": ({"version": "0.25", "image": {"repository": "r.io/c"}}, "r.io/c:v0.25.0"),
    "one line with a digest in the oldest chart": (
        {"version": "0.25", "image": {"tag": "mine", "digest": DIGEST}},
        f"public.ecr.aws/karpenter/controller:mine@{DIGEST}",
    ),
    "a value of the user's own, which wins": (
        {"image": {"repository": "r.io/c"}, "values": {"controller": {"image": {"repository": "other.io/c"}}}},
        {"repository": "other.io/c"},
    ),
}


@pytest.mark.parametrize("case", IMAGES)
def test_the_image_is(case: str) -> None:
    keys, image = IMAGES[case]
    found = installation(name="demo", region="eu-north-1", karpenter=keys)

    values = chart_values(found, place_of(found, account="123456789012"), endpoint=None)
    assert values["controller"].get("image") == image
