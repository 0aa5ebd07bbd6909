"""Roles and instance profiles: a name must be one that the stack creates and the controller may pass on."""

from __future__ import annotations

from collections.abc import Iterator

from nodeless.finding import Finding, Path


def is_created(path: Path, name: object, created: tuple[str, ...] | None, what: str) -> Iterator[Finding]:
    """Check one name; without a list of names, they are only known at apply."""
    if created is None or name in created:
        return
    names = f": {', '.join(created)}" if created else ", and it creates none"
    add = "list the role under nodes.roles" if what == "a node role" else "set nodes.instance_profile: true"
    fix = f"write {created[0]}, or {add}" if created else add
    yield Finding(path, name, f"must be {what} that this stack creates{names}", fix)
