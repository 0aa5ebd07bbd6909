"""The releases with which permissions changed are those of the generations that were held beside upstream's."""

from __future__ import annotations

from nodeless.karpenter.generations import first_releases, permissions_since
from nodeless.karpenter.releases import RELEASES
from tests.karpenter.generations import GENERATIONS


def test_permissions_changed_with_the_first_release_of_each_generation() -> None:
    assert [str(release) for release in first_releases()] == [generation.first for generation in GENERATIONS]


def test_every_release_belongs_to_the_generation_before_it() -> None:
    of_generation = {release: generation.first for generation in GENERATIONS for release in generation.releases}

    assert {release: str(permissions_since(release)) for release in RELEASES} == of_generation
