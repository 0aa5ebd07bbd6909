"""Upstream's charts, as the lab's registry serves them, are those that upstream publishes."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from nodeless.karpenter.chart import CONTROLLER_CHART, CRD_CHART, chart_version
from nodeless.karpenter.versions import Release
from tests.lab import charts, registry
from tests.lab.certificates import Authority
from tests.lab.registry import Registry
from tests.terraform.tools import Unavailable
from tools.lab.store import CACHE_VARIABLE, NotBuilt

pytestmark = pytest.mark.skipif(
    charts.HELM is None, reason="there is no helm: make install brings it where a wheel exists"
)

PINNED = [Release.parse(line.split()[1]) for line in charts.SUMS.read_text("utf-8").splitlines()]
# The CRDs that a release's CRD chart has in upstream's checkout.
ALPHA = {"awsnodetemplates.karpenter.k8s.aws", "provisioners.karpenter.sh"}
SINCE_BETA = {"ec2nodeclasses.karpenter.k8s.aws", "nodeclaims.karpenter.sh", "nodepools.karpenter.sh"}
DEFINITIONS = {
    "0.25.0": ALPHA,
    "0.29.2": ALPHA | {"machines.karpenter.sh"},
    "0.32.10": ALPHA | {"machines.karpenter.sh"} | SINCE_BETA,
    "0.36.2": SINCE_BETA,
    "1.0.8": SINCE_BETA,
    "1.14.1": SINCE_BETA | {"nodeoverlays.karpenter.sh", "capacitybuffers.autoscaling.x-k8s.io"},
}


def packages(release: Release) -> tuple[Path, ...]:
    try:
        return charts.packages(release)
    except Unavailable as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Registry]:
    folder = tmp_path_factory.mktemp("registry")
    authority = Authority(folder / "pki")
    try:
        with registry.running(folder, pair=authority.server("registry"), authority=authority.certificate) as running:
            yield running
    except NotBuilt as reason:
        pytest.skip(str(reason))


@pytest.mark.parametrize("release", PINNED, ids=str)
def test_a_pushed_chart_is_pulled_under_the_version_that_upstream_gives_it(release: Release, served: Registry) -> None:
    for chart, package in zip((CONTROLLER_CHART, CRD_CHART), packages(release), strict=True):
        served.push(package)
        shown = served.show(chart, chart_version(release))
        assert f"\nname: {chart}\n" in shown
        assert f"\nversion: {chart_version(release)}\n" in shown
        assert f"\nappVersion: {release}\n" in shown


@pytest.mark.parametrize(("release", "names"), DEFINITIONS.items())
def test_both_charts_have_the_definitions_that_upstream_links_to(release: str, names: set[str], tmp_path: Path) -> None:
    controller, crds = packages(Release.parse(release))
    rendered = charts.helm("template", "crds", crds, home=tmp_path)
    with tarfile.open(controller) as package:
        inside = {Path(name).stem for name in package.getnames() if name.startswith("karpenter/crds/")}

    # Go's templates in the CRDs of some releases are no YAML until they are rendered.
    definitions = [document for document in YAML(typ="safe").load_all(rendered) if document]
    assert {definition["metadata"]["name"] for definition in definitions} == names
    # The files are called <group>_<plural>.
    assert {".".join(reversed(stem.split("_"))) for stem in inside} == names


@pytest.mark.parametrize("release", DEFINITIONS)
def test_the_controller_is_that_of_the_release(release: str, tmp_path: Path) -> None:
    controller, _ = packages(Release.parse(release))
    settings = ("settings.clusterName=demo", "settings.aws.clusterName=demo", "settings.aws.clusterEndpoint=https://x")
    rendered = charts.helm(
        *("template", "karpenter", controller, "--kube-version", "1.29"),
        *(word for setting in settings for word in ("--set", setting)),
        home=tmp_path,
    )

    tag = chart_version(Release.parse(release))
    assert f"image: public.ecr.aws/karpenter/controller:{tag}\n" in rendered


def test_a_release_without_a_checksum_is_not_downloaded() -> None:
    with pytest.raises(Unavailable, match=r"charts\.sum has no checksum of Karpenter 1\.9\.0"):
        charts.packages(Release(1, 9, 0))


def test_files_that_are_not_those_of_the_checksum_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sums = tmp_path / "charts.sum"
    sums.write_text(f"github.com/aws/karpenter-provider-aws v1.14.1 h1:{'A' * 43}=\n", "utf-8")
    monkeypatch.setattr(charts, "SUMS", sums)
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "store"))

    with pytest.raises(AssertionError, match="has the checksum h1:WGtIQTQc"):
        packages(Release(1, 14, 1))
    assert list((tmp_path / "store" / "charts").iterdir()) == []
