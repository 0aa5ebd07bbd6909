"""Loads the bindings before a test of this folder imports jsii: the fast way is for a Python that has not loaded it."""

import nodeless.imports  # noqa: F401 - to load it is enough
