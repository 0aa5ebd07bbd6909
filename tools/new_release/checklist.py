"""Writes the differences down: what to edit and where, and after it what is different on purpose."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nodeless.karpenter.versions import Release
from tools.new_release import wanted
from tools.new_release.comparison import Difference

NEXT = "Then follow CONTRIBUTING.md, Add a Karpenter release."


def checklist(release: Release, known: Release, found: Sequence[Difference]) -> tuple[str, int]:
    """Return the text of the checklist and how many rows there are to edit."""
    reasons = {difference: wanted.reason(difference, release) for difference in found}
    work = [difference for difference in found if not reasons[difference]]
    title = f"Karpenter {release}: upstream's files against the tables"
    lines = [title if release == known else f"{title} for {known}"]
    for subject in dict.fromkeys(difference.subject for difference in work):
        lines += ["", subject]
        for difference in work:
            if difference.subject == subject:
                lines += _lines(difference)
    if len(work) < len(found):
        lines += ["", "Different on purpose"]
        lines += [f"- {_text(difference)}: {why}" for difference, why in reasons.items() if why]
    count = f"{len(work)} {'row' if len(work) == 1 else 'rows'} to edit. {NEXT}" if work else "Nothing to edit."
    return "\n".join((*lines, "", count)), len(work)


def _lines(difference: Difference) -> Iterator[str]:
    yield f"- [ ] {_text(difference)}"
    yield from (f"      {detail}" for detail in difference.details)
    yield f"      in {difference.place}"


def _text(difference: Difference) -> str:
    words = f"{difference.change} {difference.fact}".rstrip()
    return f"{difference.name}: {words}"
