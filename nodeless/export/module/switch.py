"""One configuration of two that differ in one switch: what only the first has is counted, what differs is a choice."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from nodeless.resolved.references import is_reference
from nodeless.sinks.hcl import quoted

Tree = dict[str, Any]
KeyPath = tuple[str, ...]

# What the rest of a map is called, where some of its keys depend on the switch.
REST: Mapping[KeyPath, str] = {
    ("locals", "gitops_metadata"): "gitops_metadata_without_queue",
    ("locals", "karpenter_values", "settings"): "karpenter_settings",
    ("resource", "terraform_data", "controller_policies", "input", "policies"): "controller_policies",
}


@dataclass(slots=True)
class Switch:
    """A variable that is true or false, and the two configurations that it chooses between."""

    variable: str
    on: Tree
    off: Tree
    _locals: Tree = field(default_factory=dict)

    def tree(self) -> Tree:
        """Return one configuration for both; policy documents are always there, because they cost nothing."""
        counted = self._counted()
        resources: Tree = {}
        for kind, blocks in self.on["resource"].items():
            for name, block in blocks.items():
                path = ("resource", kind, name)
                if f"{kind}.{name}" in counted:
                    written = {"count": f"${{{self.variable} ? 1 : 0}}", **_rewritten(block, counted, _first)}
                else:
                    other = self.off["resource"][kind][name]
                    written = {
                        key: value
                        if key == "depends_on"
                        else self._either(_rewritten(value, counted, _one), other.get(key), (*path, key))
                        for key, value in block.items()
                    }
                resources.setdefault(kind, {})[name] = written
        values = {
            name: self._either(value, self.off["locals"][name], ("locals", name))
            for name, value in self.on.get("locals", {}).items()
        }
        outputs = {
            name: _rewritten(output, counted, _one)
            if name in self.off["output"]
            else {
                **_rewritten(output, counted, _one),
                "description": f"{output['description']}; null if {self.variable} is false",
            }
            for name, output in self.on["output"].items()
        }
        return {**self.on, "locals": {**self._locals, **values}, "resource": resources, "output": outputs}

    def _counted(self) -> frozenset[str]:
        """Return the addresses of the resources that only one of the two has."""
        on, off = (
            {f"{kind}.{name}" for kind, blocks in tree["resource"].items() for name in blocks}
            for tree in (self.on, self.off)
        )
        return frozenset(on - off)

    def _either(self, on: Any, off: Any, path: KeyPath) -> Any:  # noqa: ANN401 - any JSON
        """Return what both have in common as it is, and an expression for what differs."""
        if on == off:
            return on
        if isinstance(on, Mapping) and isinstance(off, Mapping):
            both = {key: self._either(value, off[key], (*path, key)) for key, value in on.items() if key in off}
            only = {key: value for key, value in on.items() if key not in off}
            return self._with_some(both, only, path) if only else both
        if isinstance(on, list) and isinstance(off, list) and len(on) == len(off):
            return [
                self._either(one, other, (*path, str(index)))
                for index, (one, other) in enumerate(zip(on, off, strict=True))
            ]
        return f"${{{self.variable} ? {expression(on)} : {expression(off)}}}"

    def _with_some(self, both: Tree, only: Tree, path: KeyPath) -> str:
        """Keep the common keys in a local, and add the others if the switch is on."""
        name = REST.get(path, "_".join(path[1:]))
        self._locals[name] = both
        return f"${{merge(local.{name}, {{ for key, value in {expression(only)} : key => value if {self.variable} }})}}"


def expression(value: Any) -> str:  # noqa: ANN401 - any JSON
    """Write a value of Terraform JSON inside an expression; a text is one reference, or has none."""
    if isinstance(value, str):
        if value.startswith("${") and value.endswith("}") and value.count("${") == 1:
            return value[2:-1]
        if is_reference(value):
            message = f"not one whole reference: {value}"
            raise ValueError(message)
        return quoted(value)
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{quoted(key)} = {expression(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(expression, value)) + "]"
    return json.dumps(value)


def _first(match: re.Match[str]) -> str:
    """Refer to the only instance, from a block that is counted as well."""
    return f"{match[1]}[0].{match[2]}"


def _one(match: re.Match[str]) -> str:
    """Refer to the only instance, or to null if there is none."""
    return f"one({match[1]}[*].{match[2]})"


def _rewritten(value: Any, counted: frozenset[str], refer: Callable[[re.Match[str]], str]) -> Any:  # noqa: ANN401 - any JSON
    """Rewrite every reference to a resource that is counted; depends_on names it without an index."""
    if isinstance(value, Mapping):
        return {key: item if key == "depends_on" else _rewritten(item, counted, refer) for key, item in value.items()}
    if isinstance(value, list):
        return [_rewritten(item, counted, refer) for item in value]
    if isinstance(value, str) and "${" in value:
        names = "|".join(re.escape(address) for address in sorted(counted))
        return re.sub(rf"(?<![\w.])({names})\.(\w+)", refer, value)
    return value
