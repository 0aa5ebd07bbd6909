"""What a run changes in the output folder, what stays, and everything that is in its way."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from nodeless.finding import Finding
from nodeless.output import manifest
from nodeless.output.inventory import Inventory, Origins, Stack
from nodeless.output.journal import Change
from nodeless.output.paths import INVENTORY, MANIFEST, STACK_JSON, SYNTH, Layout
from nodeless.output.present import File, Missing, Obstacle, digest_of, present
from nodeless.output.refusals import UnchangedError
from nodeless.output.states import States, states_of

FORCE = "overwrite it with --force"
# What a run does to a stack.
NEW, CHANGED, UNCHANGED = "new", "changed", "unchanged"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The changes in their order, the files they need beside those that were built, and what the user is told."""

    changes: tuple[Change, ...]
    contents: Mapping[str, bytes]
    orphans: tuple[str, ...]
    pruned: tuple[str, ...]
    edited: tuple[str, ...]
    states: Mapping[str, States]
    """of every stack that was to be pruned; those with resources in one are kept, as orphans"""
    layout: Layout = SYNTH

    def change_of(self, stack: str) -> str:
        """Say what a run does to a stack: it is new, changed or unchanged."""
        return self.changes_of([stack])[stack]

    def changes_of(self, stacks: Iterable[str]) -> dict[str, str]:
        """Say what a run does to each of some stacks, and look at every change once."""
        levels = self.layout.of_stack("", "").count("/")
        changed = {"/".join(change.path.split("/", levels)[:levels]) for change in self.changes}
        created = {change.path for change in self.changes if change.old is None}

        def change(stack: str) -> str:
            if self.layout.of_stack(stack, self.layout.main) in created:
                return NEW
            return CHANGED if self.layout.of_stack(stack, "").rstrip("/") in changed else UNCHANGED

        return {stack: change(stack) for stack in stacks}


@dataclass(frozen=True, slots=True, kw_only=True)
class Planner:
    """One run: the folder, what is recorded of it, what was built, and what the user allows."""

    out: Path
    recorded: Inventory
    origins: Origins
    built: Mapping[str, Mapping[str, str]]
    built_manifest: bytes | None
    force: bool
    prune: bool
    layout: Layout = SYNTH

    def plan(self) -> Plan:
        """Plan the run, or raise UnchangedError with everything that is in its way."""
        of_stack = self.layout.of_stack
        unexpected = [
            of_stack(name, file)
            for name, files in self.built.items()
            for file in files
            if not self.layout.in_stack(file)
        ]
        if unexpected:
            raise ValueError(f"{self.layout.verb} built files that no inventory takes: {unexpected}")
        findings = [*self._collisions()]
        written = [
            change
            for name, files in self.built.items()
            for file, digest in files.items()
            if (change := self._written(of_stack(name, file), digest, self._digest(name, file), findings))
        ]
        left = self._left()
        states = {name: states_of(self.out / self.layout.folder_of(name)) for name in left} if self.prune else {}
        stays = self._stays([name for name in left if not self.prune or states[name].resources])
        gone, edited = self._gone(stays)
        origin = self.origins.stacks
        stacks = {name: Stack(origin[name], dict(files)) for name, files in self.built.items()} | stays
        contents = self._lists(stays, stacks, {change.path for change in gone}, findings)
        last = [
            change
            for path, content in contents.items()
            if (change := self._written(path, digest_of(content), digest_now(self.out, path), findings))
        ]
        if findings:
            raise UnchangedError(str(self.out), dict.fromkeys(findings))
        return Plan(
            changes=(*written, *gone, *last),
            contents=contents,
            orphans=tuple(name for name in left if name in stays),
            pruned=tuple(name for name in left if name not in stays),
            edited=tuple(edited),
            states=states,
            layout=self.layout,
        )

    def _lists(
        self, stays: Iterable[str], stacks: Mapping[str, Stack], gone: set[str], findings: list[Finding]
    ) -> dict[str, bytes]:
        """Make the new manifest, if there is one, and the new inventory."""
        if self.built_manifest is None:
            return {INVENTORY: Inventory(stacks).to_bytes()}
        listed = [name for name in stays if isinstance(present(self.out, self.layout.of_stack(name, STACK_JSON)), File)]
        text = self._manifest(self.built_manifest, listed, stacks, gone, findings)
        return {MANIFEST: text, INVENTORY: Inventory(stacks, digest_of(text)).to_bytes()}

    def _left(self) -> list[str]:
        """Return the stacks that came from these files, are no longer in them, and still have files."""
        return [
            name
            for name, stack in sorted(self.recorded.stacks.items())
            if stack.config in self.origins.configs and name not in self.built and name not in self.origins.stacks
            if any(not isinstance(present(self.out, self.layout.of_stack(name, file)), Missing) for file in stack.files)
        ]

    def _stays(self, orphans: Sequence[str]) -> dict[str, Stack]:
        """Return the recorded stacks that this run leaves alone: of other files, not chosen, and these.

        One that is not chosen is recorded under the file that it is in now.
        """
        now = self.origins.stacks
        return {
            name: replace(stack, config=now.get(name, stack.config)) if stack.config in self.origins.configs else stack
            for name, stack in self.recorded.stacks.items()
            if name not in self.built
            if stack.config not in self.origins.configs or name in now or name in orphans
        }

    def _gone(self, stays: Mapping[str, Stack]) -> tuple[list[Change], list[str]]:
        """Return the removals of files that are no longer written, and the paths of those that somebody edited."""
        removals, edited = [], []
        for name, stack in sorted(self.recorded.stacks.items()):
            if name in stays:
                continue
            for file, digest in sorted(stack.files.items()):
                path = self.layout.of_stack(name, file)
                if file in self.built.get(name, {}):
                    continue
                now = present(self.out, path)
                if now == File(digest):
                    removals.append(Change(path, digest, None))
                elif not isinstance(now, Missing):
                    edited.append(path)
        return removals, edited

    def _collisions(self) -> Iterable[Finding]:
        for name in self.built:
            stack = self.recorded.stacks.get(name)
            if stack and stack.config not in self.origins.configs and not self.force:
                fix = f"rename the cluster, {self.layout.elsewhere}, or take the stack over with --force"
                value, expected = f"a stack of {stack.config}", f"no stack, or one of {self.origins.stacks[name]}"
                yield Finding((self.layout.folder_of(name),), value, expected, fix)

    def _digest(self, name: str, file: str) -> str | None:
        stack = self.recorded.stacks.get(name)
        return stack.files.get(file) if stack else None

    def _written(self, path: str, new: str, recorded: str | None, findings: list[Finding]) -> Change | None:
        """Return the change that gives a file its new content, if it needs one; what is in the way is a finding."""
        now = present(self.out, path)
        if isinstance(now, Missing):
            return Change(path, None, new)
        if isinstance(now, Obstacle):
            findings.append(Finding((now.path,), now.kind, f"{now.expected}, or nothing", "move it away"))
            return None
        if now.digest == new:
            return None
        if now.digest != recorded and not self.force:
            findings.append(_edited(path) if recorded else _foreign(path, self.layout))
        return Change(path, now.digest, new)

    def _manifest(
        self, built: bytes, kept: Iterable[str], ours: Iterable[str], gone: set[str], findings: list[Finding]
    ) -> bytes:
        """Make the new manifest, with the stacks that stay and those of other apps."""
        now = present(self.out, MANIFEST)
        try:
            listed = manifest.stacks_in((self.out / MANIFEST).read_bytes()) if isinstance(now, File) else {}
        except ValueError as error:
            listed, wrong = {}, [str(error)]
        else:
            wrong = [name for name, row in listed.items() if not manifest.leads_home(name, row)]
        if not self.force:
            findings += [_not_a_manifest(what) for what in wrong]
        own = set(ours)
        expected = {name: manifest.entry(name) for name in own} | manifest.stacks_in(built)
        is_changed = isinstance(now, File) and now.digest != self.recorded.manifest and not self.force
        if is_changed and any(expected.get(name, row) != row for name, row in listed.items()):
            findings.append(_edited(MANIFEST))
        others = {name: row for name, row in listed.items() if name not in own and name not in wrong}
        there = {
            name: row
            for name, row in others.items()
            if row["synthesizedStackPath"] not in gone and manifest.is_there(self.out, row)
        }
        return manifest.merged(built, kept, there)


def digest_now(out: Path, path: str) -> str | None:
    """Return the digest of a file as it is, so that it counts as ours."""
    now = present(out, path)
    return now.digest if isinstance(now, File) else None


def _edited(path: str) -> Finding:
    fix = f"keep your change in the configuration or in a file of your own, or {FORCE}"
    return Finding((path,), "changed since nodeless wrote it", "the file as nodeless wrote it", fix)


def _foreign(path: str, layout: Layout) -> Finding:
    fix = f"move it away, {layout.elsewhere}, or {FORCE}"
    return Finding((path,), "a file that nodeless did not write", "no file, or one that nodeless wrote", fix)


def _not_a_manifest(what: str) -> Finding:
    expected = "a manifest of CDKTF, in which each stack is in its own folder below stacks/"
    return Finding((MANIFEST,), what, expected, f"correct it, remove it, or {FORCE}")
