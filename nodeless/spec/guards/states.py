"""Where a stack keeps its state, so that two can be compared: defaults filled in, and each place in one spelling."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping
from posixpath import join, normpath, split
from typing import Any, NamedTuple

from nodeless.finding import Path
from nodeless.resolved.backends import HCP_TERRAFORM, state_key, unique_state, workspace_tags as tags_of
from nodeless.resolved.installation import Installation
from nodeless.resolved.workspaces import HCP_BACKENDS

Backend = Mapping[str, Any]


class WorkspaceTags(NamedTuple):
    """The tags that select workspaces in an organization, and in one project of it if that is named."""

    organization: tuple[str, str]
    project: str | None
    tags: frozenset[tuple[str, ...]]


def occupied(installation: Installation) -> tuple[Hashable, ...]:
    """Return every place that Terraform writes for the state of a stack; none where tags select the workspaces."""
    backend = installation.backend
    if backend["type"] == "local":
        # A relative path starts at the stack's own folder, or wherever somebody moves the stack to.
        path = re.sub("^/+", "/", backend["path"])
        spelled = (normpath(path), normpath(join("stacks", installation.stack, path)))
        return tuple(("local", folded(file)) for state in spelled for file in _files_of_a_state(state))
    if backend["type"] == "s3":
        key = backend["key"]
        return tuple(("s3", backend["bucket"], name) for name in (key, f"{key}.tflock"))
    if backend["type"] in HCP_BACKENDS:
        where = backend["workspaces"]
        # The name of a workspace is unique in its organization, whatever its project and the backend that leads to it.
        chosen = [folded(where[key]) for key in ("name", "prefix") if where.get(key)]
        return tuple(("workspace", organization(backend), name) for name in chosen)
    return (unique_state(backend),)


def _files_of_a_state(path: str) -> tuple[str, ...]:
    """Return the state and what the local backend writes beside it."""
    folder, file = split(path)
    return tuple(join(folder, name) for name in (file, f"{file}.backup", f".{file}.lock.info"))


def workspace_tags(backend: Backend) -> WorkspaceTags | None:
    """Return the tags that select the workspaces of a stack, if tags do."""
    where = backend.get("workspaces") or {}
    if not where.get("tags"):
        return None
    tags = frozenset(tuple(map(folded, tag)) for tag in tags_of(where["tags"]))
    return WorkspaceTags(organization(backend), where.get("project"), tags)


def overlap(one: WorkspaceTags, other: WorkspaceTags) -> bool:
    """Tell whether the workspaces made for one stack are selected for the other too."""
    apart = one.project and other.project and one.project != other.project
    nested = one.tags <= selected_by(other) or other.tags <= selected_by(one)
    return one.organization == other.organization and nested and not apart


def selected_by(tags: WorkspaceTags) -> frozenset[tuple[str, ...]]:
    """Return the tags that select a workspace with these; a key alone is also that of a tag with a value."""
    return tags.tags | {tag[:1] for tag in tags.tags}


def organization(backend: Backend) -> tuple[str, str]:
    """Return the host and the organization."""
    host = folded(backend.get("hostname") or HCP_TERRAFORM).removesuffix(".")
    return host, folded(backend["organization"])


def folded(name: str) -> str:
    """Write a name so that two are equal where some file system or service takes them for the same."""
    return name.casefold()


def key_in_file(backend: Backend) -> tuple[Path, object]:
    """Return the key that decides where the state is, and its value."""
    path, value = state_key(backend)
    return ("backend", *path), value
