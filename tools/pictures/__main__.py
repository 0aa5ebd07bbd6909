"""`make pictures`: run every command of the documents, and draw what a terminal shows."""

from __future__ import annotations

import argparse

from tools.pictures.account import account
from tools.pictures.making import IMAGES, ROOT, picture, recording, surroundings
from tools.pictures.screens import SCREENS, WIDTHS


def main() -> None:
    """Write every picture, or those that are named."""
    options = argparse.ArgumentParser(prog="make pictures", description=__doc__)
    names = ["demo", *(screen.name for screen in SCREENS)]
    options.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(names)} (default: all of them)")
    wanted = options.parse_args().names or names
    if unknown := set(wanted) - set(names):
        options.error(f"no such picture: {', '.join(sorted(unknown))}")
    IMAGES.mkdir(exist_ok=True)
    with account() as found, surroundings(found) as variables:
        if "demo" in wanted:
            write("demo", recording(variables))
        for screen in SCREENS:
            if screen.name in wanted:
                for columns in WIDTHS:
                    write(f"{screen.name}-{columns}", picture(screen, columns, variables))


def write(name: str, svg: str) -> None:
    """Write one picture, and say so."""
    file = IMAGES / f"{name}.svg"
    file.write_text(svg, encoding="utf-8")
    print(file.relative_to(ROOT))


if __name__ == "__main__":
    main()
