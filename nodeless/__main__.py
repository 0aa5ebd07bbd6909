"""`python -m nodeless`, the same as the `nodeless` command."""

from nodeless.cli.main import command

if __name__ == "__main__":
    command()
