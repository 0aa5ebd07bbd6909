"""The checks on where the state is kept: names and keys that Terraform, S3 or HCP Terraform would refuse at init."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from nodeless.finding import Finding
from nodeless.resolved.installation import Installation
from nodeless.spec.guards.guard import STACK_KEYS, guard
from nodeless.trees import places


@dataclass(frozen=True, slots=True)
class Rule:
    """How one key of a backend is written; the path may lead to the items of a list."""

    key: str
    pattern: str
    expected: str
    fix: str


# A key of S3 as Terraform takes it: no empty step, and so no slash at an end.
S3_PATH = r"[^/]+(/[^/]+)*"
S3_PATH_WORDS = "without a slash at its start or end, and without two in a row"
WORD = r"[A-Za-z0-9_-]"
WORD_WORDS = "letters, digits, hyphens and underscores"

WORKSPACES = (
    Rule("organization", rf"{WORD}+", f"the name of an organization: {WORD_WORDS}", "write its name"),
    Rule(
        "hostname",
        r"[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9.])?(:[0-9]{1,5})?",
        "a host name, without https:// and without a path",
        "write one such as app.terraform.io",
    ),
    Rule(
        "workspaces.name",
        rf"{WORD}{{1,90}}",
        f"a workspace name of at most 90 {WORD_WORDS}",
        "set backend.workspaces.name to one",
    ),
)
OBJECT = (
    Rule("prefix", r"(?!\.?/).+", "a prefix that does not start with a slash", "write one such as terraform"),
    Rule(
        "key", r"(?!/).*[^/]", "a key without a slash at its start or end", "write one such as karpenter/demo.tfstate"
    ),
)

RULES: dict[str, tuple[Rule, ...]] = {
    "local": (),
    "s3": (
        Rule("bucket", r"[A-Za-z0-9._-]{3,255}", "the name of a bucket, not its ARN or address", "write its name"),
        Rule(
            "key", rf"(?=.{{1,1024}}$){S3_PATH}", f"a key {S3_PATH_WORDS}", "write one such as karpenter/demo.tfstate"
        ),
        Rule("workspace_key_prefix", S3_PATH, f"a prefix {S3_PATH_WORDS}", "write one such as workspaces"),
        Rule(
            "kms_key_id",
            r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|mrk-[0-9a-f]{32}|alias/[A-Za-z0-9/_-]+"
            r"|arn:aws[a-z-]*:kms:[a-z0-9-]+:[0-9]{12}:(key|alias)/[A-Za-z0-9/_-]+",
            "the id, alias or ARN of a KMS key",
            "write one such as alias/state",
        ),
        Rule("dynamodb_table", r"[A-Za-z0-9._-]{3,255}", "the name of a table", "write its name"),
    ),
    "cloud": (
        *WORKSPACES,
        Rule(
            "workspaces.project",
            r"[A-Za-z0-9_ -]{3,40}",
            "a project name of 3 to 40 letters, digits, spaces, hyphens and underscores",
            "write its name",
        ),
    ),
    "remote": (
        *WORKSPACES,
        Rule(
            "workspaces.prefix",
            rf"{WORD}{{1,89}}",
            f"a prefix of at most 89 {WORD_WORDS}",
            "write one such as karpenter-",
        ),
    ),
    "oss": OBJECT,
    "cos": OBJECT,
}


@guard("backend", *STACK_KEYS)
def backend_is_accepted(installation: Installation) -> Iterator[Finding]:
    """Terraform accepts the backend, and so does the service behind it."""
    for rule in RULES.get(installation.backend["type"], ()):
        for path, value in places(installation.backend, rule.key):
            if not re.fullmatch(rule.pattern, value):
                yield Finding(("backend", *path), value, rule.expected, rule.fix)


GUARDS = (backend_is_accepted,)
