"""How Kubernetes writes the keys and values of labels, and with them those of taints, requirements and annotations."""

from __future__ import annotations

NAME = r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?"
LOWER_LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"

KEY = rf"(?:(?=[^/]{{1,253}}/){LOWER_LABEL}(?:\.{LOWER_LABEL})*/)?{NAME}"
VALUE = rf"(?:{NAME})?"
# The domain of an annotation's key may have upper-case letters too.
ANNOTATION_KEY = KEY.replace("a-z0-9", "A-Za-z0-9")

KEY_RULE = "a name of at most 63 letters, digits and any of ._-, perhaps after a domain and a slash"
VALUE_RULE = "at most 63 letters, digits and any of ._-; it must start and end with a letter or digit"
KEY_EXAMPLE, VALUE_EXAMPLE = "example.com/team", "platform"
