"""Which Karpenter releases exist, and which Kubernetes minors each of them runs on."""

from __future__ import annotations

import functools
import re

from nodeless.karpenter.versions import Release, Window, before, between, since, the_one

# Newest patch of every minor; all patches below it exist too, less the ones that were never made.
LAST_PATCHES = (
    (0, 25, 0), (0, 26, 1), (0, 27, 8), (0, 28, 1), (0, 29, 2), (0, 30, 0), (0, 31, 5), (0, 32, 10), (0, 33, 12),
    (0, 34, 13), (0, 35, 12), (0, 36, 9), (0, 37, 8), (1, 0, 14), (1, 1, 10), (1, 2, 8), (1, 3, 8), (1, 4, 4),
    (1, 5, 8), (1, 6, 8), (1, 7, 6), (1, 8, 8), (1, 9, 2), (1, 10, 2), (1, 11, 3), (1, 12, 2), (1, 13, 1), (1, 14, 1),
)  # fmt: skip
NEVER_MADE = frozenset({Release(0, 27, 7), Release(0, 34, 4), Release(0, 35, 3)})

RELEASES = tuple(
    release
    for major, minor, last in LAST_PATCHES
    for patch in range(last + 1)
    if (release := Release(major, minor, patch)) not in NEVER_MADE
)
NEWEST = RELEASES[-1]
NEWEST_MINOR = f"{NEWEST.major}.{NEWEST.minor}"

# Upstream's compatibility matrix: the first and the last Kubernetes minor 1.x of each window.
KUBERNETES: tuple[tuple[Window, tuple[int, int]], ...] = (
    (before(0, 28), (21, 25)),
    (between((0, 28), (0, 31)), (23, 27)),
    (between((0, 31), (0, 34)), (23, 28)),
    (between((0, 34), (0, 37)), (23, 29)),
    (between((0, 37), (1, 0)), (23, 30)),
    (between((1, 0), (1, 0, 5)), (25, 30)),
    (between((1, 0, 5), (1, 2)), (25, 31)),
    (between((1, 2), (1, 5)), (25, 32)),
    (between((1, 5), (1, 6)), (26, 33)),
    (between((1, 6), (1, 9)), (26, 34)),
    (between((1, 9), (1, 13)), (26, 35)),
    (since(1, 13), (26, 36)),
)
# 0.28.0 fails on 1.26 and newer, whatever the matrix says; 0.28.1 repairs it.
KUBERNETES_EXCEPTIONS = {Release(0, 28, 0): (23, 25)}


OLDEST_KUBERNETES = min(first for _, (first, _) in KUBERNETES)
NEWEST_KUBERNETES = max(last for _, (_, last) in KUBERNETES)


class UnknownReleaseError(ValueError):
    """No release of this name is known; `advice` says what to write, `is_newer` whether it may exist all the same."""

    def __init__(self, text: str, advice: str, *, is_newer: bool = False) -> None:
        """Keep the advice apart from the text, so that a message can place both."""
        super().__init__(text)
        self.advice = advice
        self.is_newer = is_newer
        # A newer release may well exist, so nothing claims that it does not.
        self.expected = "a Karpenter release that this nodeless knows" if is_newer else "a Karpenter release"


def find(text: str) -> Release:
    """Turn `1.9.2`, `v1.9.2` or the alias `1.9` (its newest known patch) into a release.

    A patch of a known minor that is newer than the known ones passes: the minor's rows hold for it. `is_known` tells.
    """
    match = re.fullmatch(r"v?([0-9]{1,4})\.([0-9]{1,4})(?:\.([0-9]{1,4}))?", text)
    if match is None:
        raise UnknownReleaseError(text, f"write a release such as {NEWEST}, or a minor such as {NEWEST_MINOR}")
    minor = int(match[1]), int(match[2])
    patches = [release for release in RELEASES if release[:2] == minor]
    if not patches and minor > NEWEST[:2]:
        raise UnknownReleaseError(text, f"this nodeless knows releases up to {NEWEST}: upgrade it", is_newer=True)
    if not patches:
        raise UnknownReleaseError(text, f"known releases run from {RELEASES[0]} to {NEWEST}")
    if match[3] is None:
        return patches[-1]
    wanted = Release(*minor, int(match[3]))
    if wanted in NEVER_MADE:
        advice = f"{wanted} was never released; the newest known patch of that minor is {patches[-1]}"
        raise UnknownReleaseError(text, advice)
    return wanted


def find_or_parse(text: str) -> Release:
    """Find a release, or read the number of one whose minor is not known."""
    try:
        return find(text)
    except UnknownReleaseError:
        return Release.parse(text)


def is_known(release: Release) -> bool:
    """Tell whether the tables were written with this release in mind."""
    return release in RELEASES


def tables_for(release: Release) -> Release:
    """Return the release itself if it is known, else the newest known patch of its minor."""
    return release if is_known(release) else next(known for known in reversed(RELEASES) if known[:2] == release[:2])


@functools.cache
def kubernetes_range(release: Release) -> tuple[int, int]:
    """Return the first and the last Kubernetes minor the release supports."""
    return KUBERNETES_EXCEPTIONS.get(release) or the_one(release, KUBERNETES)


@functools.cache
def nearest_for(kubernetes_minor: int, release: Release) -> Release | None:
    """Find the release closest to the given one that runs on this Kubernetes minor, the newest patch of its minor."""
    newest_patches = [Release(*last) for last in LAST_PATCHES]
    fitting = [known for known in newest_patches if supports(known, kubernetes_minor)]
    if not fitting:
        return None
    newer = [known for known in fitting if known > release]
    return newer[0] if newer else fitting[-1]


def supports(release: Release, kubernetes_minor: int) -> bool:
    """Tell whether the release runs on this Kubernetes minor."""
    first, last = kubernetes_range(release)
    return first <= kubernetes_minor <= last
