"""The `nodeless` command."""
