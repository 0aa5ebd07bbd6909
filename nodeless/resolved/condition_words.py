"""The conditions of an IAM statement in words: which resources it is limited to, and when it holds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from nodeless.karpenter.policy import Condition
from nodeless.resolved.arn_words import EVERYTHING, account, listed, things

RESOURCE_TAG = ("aws:ResourceTag/", "ec2:ResourceTag/", "iam:ResourceTag/")
REQUEST_TAG = ("aws:RequestTag/",)
# Tests of a tag that can be written as key=value; a pattern keeps its stars.
TAG_TESTS = frozenset({"StringEquals", "StringLike"})

SOURCE_ACCOUNT = "aws:SourceAccount"
# Conditions that are clearer as a clause of their own, by key and test.
CLAUSES = {
    ("arc-zonal-shift:ResourceIdentifier", "StringEquals"): "the shifts are those of {}",
    ("aws:RequestedRegion", "StringEquals"): "the request goes to {}",
    (SOURCE_ACCOUNT, "StringEquals"): "the call is made for {}",
    ("aws:SourceArn", "ArnEquals"): "the call is made for {}",
    ("aws:SourceArn", "ArnLike"): "the call is made for {}",
    ("aws:TagKeys", "ForAllValues:StringEquals"): "the request sets no other tags than {}",
    ("ec2:CreateAction", "StringEquals"): "the tags are set by the call that creates the resource ({})",
    ("iam:PassedToService", "StringEquals"): "the role is passed to {}",
    ("kms:EncryptionContext:aws:sqs:arn", "StringEquals"): "it is for messages of {}",
}
SWITCHES = {
    Condition("Bool", "aws:SecureTransport", ("false",)): "the request does not use TLS",
    Condition("Bool", "aws:SecureTransport", ("true",)): "the request uses TLS",
}

# What a key is about; a key that ends with a slash is the start of several.
SUBJECTS = {
    "aws:PrincipalTag/": "the caller's tag",
    "aws:RequestTag/": "the request's tag",
    "aws:ResourceTag/": "the resource's tag",
    "ec2:ResourceTag/": "the resource's tag",
    "iam:ResourceTag/": "the resource's tag",
}
# The keys of an OIDC token begin with its issuer.
TOKEN_SUBJECTS = {":sub": "the token's subject", ":aud": "the token's audience"}

# Each test between what a key is about and the values; in a test of several values one of them is enough, or for a
# negated one, none of them may match.
TESTS = {
    "ArnEquals": "is",
    "ArnLike": "is",
    "ArnNotEquals": "is not",
    "ArnNotLike": "is not",
    "BinaryEquals": "is",
    "Bool": "is",
    "DateEquals": "is",
    "DateGreaterThan": "is after",
    "DateGreaterThanEquals": "is not before",
    "DateLessThan": "is before",
    "DateLessThanEquals": "is not after",
    "DateNotEquals": "is not",
    "IpAddress": "is in",
    "NotIpAddress": "is not in",
    "NumericEquals": "is",
    "NumericGreaterThan": "is more than",
    "NumericGreaterThanEquals": "is at least",
    "NumericLessThan": "is less than",
    "NumericLessThanEquals": "is at most",
    "NumericNotEquals": "is not",
    "StringEquals": "is",
    "StringEqualsIgnoreCase": "is, in upper or lower case,",
    "StringLike": "is like",
    "StringNotEquals": "is not",
    "StringNotEqualsIgnoreCase": "is not, in upper or lower case,",
    "StringNotLike": "is not like",
}
ABSENT = {("true",): "is absent", ("false",): "is there"}
IF_EXISTS = "IfExists"
FOR_ALL, FOR_ANY = "ForAllValues:", "ForAnyValue:"


def limits(conditions: Iterable[Condition], *, several: bool) -> str:
    """Write which resources are meant by their tags: ` that are tagged a=b and have the tag c`."""
    pairs, keys = _tags(conditions, RESOURCE_TAG)
    are, have = ("are", "have") if several else ("is", "has")
    parts = [f"{are} tagged {listed(pairs)}"] if pairs else []
    parts += [f"{have} the {_tag(keys)} {listed(keys)}"] if keys else []
    return f" that {listed(parts)}" if parts else ""


def circumstances(conditions: Iterable[Condition]) -> Iterator[str]:
    """Write when the statement holds: one clause for all tags that a request must set, and one for each other."""
    conditions = tuple(conditions)
    pairs, keys = _tags(conditions, REQUEST_TAG)
    if pairs or keys:
        tags = [*pairs, *(f"{key} (any value)" for key in keys)]
        yield f"the request sets the {_tag(tags)} {listed(tags)}"
    for condition in conditions:
        if not _tag_key(condition, (*RESOURCE_TAG, *REQUEST_TAG)):
            yield SWITCHES.get(condition) or _clause(condition)


def _tags(conditions: Iterable[Condition], starts: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """Return the tags that must have a value, as key=value, and the keys of those that may have any."""
    pairs, keys = [], []
    for condition in conditions:
        key = _tag_key(condition, starts)
        if key and condition.test == "StringLike" and EVERYTHING in condition.values:
            keys.append(key)
        elif key:
            pairs.append(listed([f"{key}={value}" for value in condition.values], "or"))
    return pairs, keys


def _tag_key(condition: Condition, starts: tuple[str, ...]) -> str | None:
    if condition.test in TAG_TESTS and condition.variable.startswith(starts):
        return condition.variable.partition("/")[2]
    return None


def _tag(tags: Sequence[str]) -> str:
    return "tag" if len(tags) == 1 else "tags"


def _clause(condition: Condition) -> str:
    clause = CLAUSES.get((condition.variable, condition.test))
    if clause:
        return clause.format(_values(condition))
    test, subject = condition.test, _subject(condition.variable)
    for mark, words in ((FOR_ALL, "each value of "), (FOR_ANY, "at least one value of ")):
        if test.startswith(mark):
            test, subject = test.removeprefix(mark), f"{words}{subject}"
    if test == "Null" and condition.values in ABSENT:
        return f"{subject} {ABSENT[condition.values]}"
    base = test.removesuffix(IF_EXISTS)
    absent = " or is absent" if test.endswith(IF_EXISTS) else ""
    return f"{subject} {TESTS.get(base, base)} {_values(condition)}{absent}"


def _subject(variable: str) -> str:
    for end, words in TOKEN_SUBJECTS.items():
        if variable.endswith(end):
            return words
    for start, words in SUBJECTS.items():
        if variable.startswith(start):
            return f"{words} {variable.removeprefix(start)}"
    return variable


def _values(condition: Condition) -> str:
    if any(value.startswith("arn:") for value in condition.values):
        return things(condition.values, last="or")
    is_account = condition.variable == SOURCE_ACCOUNT
    return listed([account(value) if is_account else value for value in condition.values], "or")
