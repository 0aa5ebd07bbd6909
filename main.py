"""The app that `python main.py` and the cdktf command run: `nodeless synth` under another name."""

from nodeless.cli.main import command

if __name__ == "__main__":
    command("synth")
