"""The differences from upstream that are meant, each with its reason: they are listed, and are no work."""

from __future__ import annotations

from dataclasses import dataclass

from nodeless.karpenter.versions import ALWAYS, Release, Window, before, between
from tools.new_release.comparison import Difference
from tools.new_release.facts import QUEUE


@dataclass(frozen=True, slots=True)
class Wanted:
    """A difference of some releases: what it is in, how its text begins (any text where empty), and its reason."""

    window: Window
    name: str
    fact: str
    reason: str


OWN_RULES = "only the stack's own rules may send (decision 0007)"
ZONAL_SHIFT = "the service refuses 1.12's own statement, so 1.13's serves both (decision 0007)"
IMAGE = "the chart names the image of its own release; nothing sets it"
LOOP = "a template reads all settings of AWS in a loop, also those that the values file does not have"
STILL_READ = "the values file no longer has it, but the templates still read it"
LATER_PATCHES = "required as in later patches: a pool without it names no class"

WANTED = (
    Wanted(ALWAYS, "queue policy: Allow sqs:SendMessage", "Sid ", OWN_RULES),
    Wanted(ALWAYS, "queue policy: Allow sqs:SendMessage", "condition ArnEquals aws:SourceArn", OWN_RULES),
    Wanted(before(0, 28), QUEUE, "SqsManagedSseEnabled", "the queue is encrypted for every release (decision 0007)"),
    Wanted(before(1, 0), "queue policy: Deny sqs:*", "", "plain HTTP is denied for every release (decision 0007)"),
    Wanted(between((1, 12), (1, 13)), "AllowZonalShiftStatusReadOnly", "", ZONAL_SHIFT),
    Wanted(before(0, 26), "controller.image", "default", IMAGE),
    Wanted(ALWAYS, "controller.image.tag", "default", IMAGE),
    Wanted(ALWAYS, "controller.image.digest", "default", IMAGE),
    Wanted(before(0, 32), "controller.logEncoding", "", "the values file has it, but no template reads it"),
    Wanted(between((0, 28), (0, 32)), "settings.aws.reservedENIs", "", LOOP),
    Wanted(between((0, 32), (0, 33)), "logEncoding", "", STILL_READ),
    Wanted(between((0, 32), (0, 33)), "controller.logLevel", "", STILL_READ),
    Wanted(between((0, 32), (0, 33)), "webhook.logLevel", "", STILL_READ),
    Wanted(between((0, 28), (0, 28, 1)), "Kubernetes", "to ", "0.28.0 fails on 1.26 and newer, against the matrix"),
    Wanted(before(0, 32), "apiVersion", "", "AWSNodeTemplate repeats its own apiVersion below spec; nobody writes it"),
    Wanted(before(0, 32), "kind", "", "AWSNodeTemplate repeats its own kind below spec; nobody writes it"),
    Wanted(
        between((0, 32), (1, 0)),
        "template.spec.resources.requests",
        "",
        "the scheduler fills it in for each NodeClaim; a pool does not choose it",
    ),
    Wanted(between((0, 32), (0, 32, 2)), "template", "required", LATER_PATCHES),
    Wanted(between((0, 32), (0, 32, 2)), "template.spec", "required", LATER_PATCHES),
    Wanted(between((0, 32), (0, 32, 2)), "role", "required", "a guard asks for a role or a profile, by release"),
    Wanted(between((1, 0), (1, 0, 4)), "disruption", "required", "the API server's own default fails its own check"),
)


def reason(difference: Difference, release: Release) -> str | None:
    """Say why a difference is wanted; None where it is not."""
    for row in WANTED:
        if release in row.window and row.name == difference.name and difference.fact.startswith(row.fact):
            return row.reason
    return None
