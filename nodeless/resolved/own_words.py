"""Texts without what is a cluster's own in them, so that the texts of two clusters can be compared."""

from __future__ import annotations

import re

from nodeless.resolved.installation import Installation

CLUSTER, STACK, ACCOUNT, REGION = "<cluster>", "<stack>", "<account>", "<region>"


def without_own_words(text: str, installation: Installation) -> str:
    """Put placeholders for the cluster's name, stack, account and region, where they are whole words."""
    words = _own_words(installation)
    if not any(word in text for word in words):
        return text
    any_word = "|".join(map(re.escape, sorted(words, key=len, reverse=True)))
    return re.sub(rf"(?<![A-Za-z0-9])(?:{any_word})(?![A-Za-z0-9])", lambda found: words[found[0]], text)


def with_own_words(text: str, installation: Installation) -> str:
    """Put the cluster's own words in place of the placeholders."""
    for word, placeholder in _own_words(installation).items():
        text = text.replace(placeholder, word)
    return text


def _own_words(installation: Installation) -> dict[str, str]:
    # A stack usually has the cluster's name, which comes last and so is the one that stays.
    words = {
        installation.region: REGION,
        installation.account: ACCOUNT,
        installation.stack: STACK,
        installation.name: CLUSTER,
    }
    return {word: placeholder for word, placeholder in words.items() if word}
