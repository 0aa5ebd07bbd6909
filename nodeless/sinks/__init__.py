"""The places a user's text ends up in, one module each: how text is written there so that it arrives as it was meant.

YAML files are written by `stacks/files/yaml_text.py`, shell lines with `shlex.join`; decision 0014 has the whole table.
"""
