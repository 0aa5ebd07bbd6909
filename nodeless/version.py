"""The version of nodeless. It is in pyproject.toml too; a checkout that is not installed has only this one."""

VERSION = "0.1.0"
