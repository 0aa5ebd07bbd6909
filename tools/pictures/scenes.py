"""Commands with their output, as a still picture or as an animation that repeats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rich.text import Text

from tools.pictures.drawing import CELL, LINE, MARGIN, SCREEN, Drawing

PROMPT = "$ "
# Seconds. They are chosen, not measured: the same commands give the same file.
PER_LETTER, BEFORE_OUTPUT, TO_READ, TO_READ_A_LINE = 0.04, 0.5, 2.0, 0.15

VISIBLE, HIDDEN = "visibility:visible", "visibility:hidden"
COVERED, UNCOVERED = "transform:none", "transform:scaleX(0)"
WITHOUT_MOTION = (
    f".scene:not(:last-child){{{HIDDEN}}}",
    f".cover{{{UNCOVERED};transform-box:fill-box;transform-origin:right}}",
)
LESS_MOTION = "@media(prefers-reduced-motion:reduce){*{animation:none!important}}"


@dataclass(frozen=True)
class Scene:
    """A command as it is typed, and the lines that follow."""

    typed: str
    output: tuple[Text, ...]

    @property
    def lines(self) -> tuple[Text, ...]:
        """Return the command behind a prompt, and its output."""
        return (Text.assemble((PROMPT, "green"), (self.typed, "bold")), *self.output)

    @property
    def until_typed(self) -> float:
        """Return the seconds until the last letter is there."""
        return PER_LETTER * len(self.typed)

    @property
    def until_output(self) -> float:
        """Return the seconds until the output is there."""
        return self.until_typed + BEFORE_OUTPUT

    @property
    def seconds(self) -> float:
        """Return how long the scene is shown."""
        return self.until_output + TO_READ + TO_READ_A_LINE * len(self.output)


def still(scene: Scene, columns: int) -> str:
    """Draw one command and its output."""
    drawing = Drawing()
    body = drawing.lines(scene.lines)
    return drawing.svg(body, rows=len(scene.lines), columns=columns, label=f"The output of {scene.typed}")


def animation(scenes: Sequence[Scene], columns: int) -> str:
    """Draw commands one after the other: typed, then with their output; where nothing moves, the last one."""
    drawing, rules, groups = Drawing(), [*WITHOUT_MOTION], []
    whole, began = sum(scene.seconds for scene in scenes), 0.0
    for number, scene in enumerate(scenes):
        after = (0.0, scene.until_typed, scene.until_output, scene.seconds)
        start, typed, printed, end = (100 * (began + seconds) / whole for seconds in after)
        letters = len(scene.typed)
        moves = {
            f"scene{number}": {0: HIDDEN, start: VISIBLE, end: HIDDEN},
            f"output{number}": {0: HIDDEN, printed: VISIBLE, end: HIDDEN},
            f"typing{number}": {
                0: COVERED,
                start: f"{COVERED};animation-timing-function:steps({letters})",
                typed: UNCOVERED,
                100: UNCOVERED,
            },
        }
        rules += [_keyframes(name, steps, whole) for name, steps in moves.items()]
        command, *output = scene.lines
        groups.append(
            f'<g class="scene scene{number}">\n{drawing.lines([command])}'
            f'<rect class="cover typing{number}" x="{MARGIN + len(PROMPT) * CELL:.1f}" y="{MARGIN}"'
            f' width="{letters * CELL:.1f}" height="{LINE}" fill="{SCREEN}"/>\n'
            f'<g class="output{number}">\n{drawing.lines(output, first_row=1)}</g>\n</g>\n'
        )
        began += scene.seconds
    rows = max(len(scene.lines) for scene in scenes)
    label = f"A recording: {', '.join(scene.typed for scene in scenes)}"
    return drawing.svg("".join(groups), rows=rows, columns=columns, label=label, rules=[*rules, LESS_MOTION])


def _keyframes(name: str, steps: Mapping[float, str], seconds: float) -> str:
    """Write the rules that change what has a class at these percentages of the whole."""
    frames = "".join(f"{share:.3f}%{{{style}}}" for share, style in steps.items())
    return f"@keyframes {name}{{{frames}}}.{name}{{animation:{name} {seconds:.2f}s step-end infinite}}"
