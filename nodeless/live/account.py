"""An AWS account as one region shows it: one function asks, and every way in which AWS says no has its own message."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

import boto3
from botocore import exceptions as aws
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from botocore.parsers import ResponseParserError

from nodeless.finding import MISSING, Finding, SpecError

READING = ("describe_", "get_", "list_")
# Three tries of at most this many seconds: a proxy that swallows packets must not look like a hang.
CONNECT_SECONDS, READ_SECONDS, TRIES = 5, 20, 3
SESSION_NAME = "nodeless"
# IAM's name of a service, where it is not that of boto3.
IAM_PREFIXES = {"service-quotas": "servicequotas"}

DENIED = frozenset(
    {
        "AccessDenied",
        "AccessDeniedException",
        "AuthorizationError",
        "Client.UnauthorizedOperation",
        "UnauthorizedOperation",
    }
)
EXPIRED = frozenset({"ExpiredToken", "ExpiredTokenException", "RequestExpired"})
NO_LOGIN = frozenset(
    {
        "AuthFailure",
        "IncompleteSignature",
        "InvalidClientTokenId",
        "InvalidSignatureException",
        "MissingAuthenticationToken",
        "MissingAuthenticationTokenException",
        "OptInRequired",
        "SignatureDoesNotMatch",
        "UnrecognizedClientException",
    }
)
THROTTLED = frozenset(
    {
        "RequestLimitExceeded",
        "RequestThrottled",
        "RequestThrottledException",
        "ThrottledException",
        "Throttling",
        "ThrottlingException",
        "TooManyRequestsException",
    }
)
WITHOUT_LOGIN = (
    aws.NoCredentialsError,
    aws.PartialCredentialsError,
    aws.CredentialRetrievalError,
    aws.TokenRetrievalError,
    aws.SSOError,
    aws.InvalidConfigError,
    aws.InfiniteLoopConfigError,
)
CHECK_LOGIN = "check them with `aws sts get-caller-identity`"


class NotReadError(Exception):
    """Something could not be looked up; the text says why, and what would help."""


class NotReachedError(NotReadError):
    """A service did not answer at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """One account in one region, as some credentials see it."""

    session: Any
    region: str
    _clients: dict[str, Any] = field(default_factory=dict)
    _silent: dict[str, str] = field(default_factory=dict)
    """services that did not answer: each is waited for once"""

    def ask(
        self,
        service: str,
        operation: str,
        *,
        absent: Sequence[str] = (),
        **arguments: Any,  # noqa: ANN401 - whatever the operation takes
    ) -> dict[str, Any]:
        """Make one call that reads, and return all pages of its answer; an error that means "absent" gives {}."""
        assert operation.startswith(READING), operation  # noqa: S101 - nothing here may change an account
        if service in self._silent:
            raise NotReachedError(self._silent[service])
        client = self._client(service)
        name = client.meta.method_to_api_mapping[operation]
        try:
            if client.can_paginate(operation):
                return dict(client.get_paginator(operation).paginate(**arguments).build_full_result())
            return dict(getattr(client, operation)(**arguments))
        except ClientError as error:
            code = error.response.get("Error", {}).get("Code", "")
            if code in absent:
                return {}
            _refuse(f"{IAM_PREFIXES.get(service, service)}:{name}", code, error)
        except (BotoCoreError, ResponseParserError) as error:
            # The second is a page of a proxy instead of an answer.
            self._not_reached(service, error)

    def _client(self, service: str) -> Any:  # noqa: ANN401 - boto3 makes its clients at run time
        if service not in self._clients:
            config = Config(
                connect_timeout=CONNECT_SECONDS,
                read_timeout=READ_SECONDS,
                retries={"mode": "standard", "total_max_attempts": TRIES},
                user_agent_extra=SESSION_NAME,
            )
            try:
                self._clients[service] = self.session.client(service, region_name=self.region, config=config)
            except BotoCoreError as error:
                self._not_reached(service, error)
            except ValueError as error:
                # AWS_ENDPOINT_URL, for example.
                raise _refused("the AWS configuration", str(error), "addresses that exist", "correct it") from None
        return self._clients[service]

    def _not_reached(self, service: str, error: Exception) -> NoReturn:
        _stop_without_login(error)
        self._silent[service] = f"{service} in {self.region} could not be reached ({_words(error)})"
        raise NotReachedError(self._silent[service]) from None


def opened(region: str, *, profile: str | None = None, roles: Sequence[Mapping[str, Any]] = ()) -> Account:
    """Log in as the user's other tools do, then assume the roles one after the other, as the AWS provider would."""
    try:
        session = boto3.Session(profile_name=profile, region_name=region)
        credentials = session.get_credentials()
    except BotoCoreError as error:
        _stop_without_login(error)
        raise _refused("the AWS configuration", _words(error), "one that boto3 can read", CHECK_LOGIN) from None
    if credentials is None:
        fix = "set AWS_PROFILE or the other variables of the AWS CLI, or name a profile with --profile"
        raise _refused("credentials", MISSING, "credentials of the account", fix)
    for role in roles:
        session = _assumed(session, region, role)
    return Account(session=session, region=region)


def caller_account(account: Account) -> tuple[str, str]:
    """Return the id and the partition of the account that the credentials belong to."""
    answer = required(account, "sts", "get_caller_identity")
    return str(answer["Account"]), str(answer["Arn"]).split(":")[1]


def required(account: Account, service: str, operation: str, **arguments: Any) -> dict[str, Any]:  # noqa: ANN401 - as above
    """Ask for something without which there is nothing to do: what cannot be read is refused."""
    try:
        return account.ask(service, operation, **arguments)
    except NotReachedError as error:
        fix = "check the region, the network and the proxy (HTTPS_PROXY, NO_PROXY, AWS_CA_BUNDLE)"
        raise _refused("AWS", str(error), "an answer", fix) from None
    except NotReadError as error:
        fix = "see docs/init-and-doctor.md for the policy that these credentials need"
        raise _refused("AWS", str(error), "permission to look it up", fix) from None


def _assumed(session: Any, region: str, role: Mapping[str, Any]) -> Any:  # noqa: ANN401 - boto3's own types
    arguments = {
        "RoleArn": role["role_arn"],
        "RoleSessionName": role.get("session_name") or SESSION_NAME,
        "ExternalId": role.get("external_id"),
        "SourceIdentity": role.get("source_identity"),
        "Tags": [{"Key": key, "Value": value} for key, value in (role.get("tags") or {}).items()],
        "TransitiveTagKeys": list(role.get("transitive_tag_keys") or ()),
    }
    try:
        sts = session.client("sts", region_name=region)
        given = sts.assume_role(**{name: value for name, value in arguments.items() if value})["Credentials"]
    except (BotoCoreError, ClientError, ResponseParserError) as error:
        fix = "let the role's trust policy name these credentials, or correct provider.assume_role"
        raise _refused(str(role["role_arn"]), _words(error), "a role that these credentials may assume", fix) from None
    return boto3.Session(given["AccessKeyId"], given["SecretAccessKey"], given["SessionToken"], region_name=region)


def _refuse(action: str, code: str, error: Exception) -> NoReturn:
    """Turn what AWS says into one of few messages."""
    if code in EXPIRED:
        raise _refused("credentials", code, "credentials that have not expired", "log in again") from None
    if code in NO_LOGIN:
        raise _refused("credentials", code, "credentials that AWS accepts", CHECK_LOGIN) from None
    if code in DENIED:
        raise NotReadError(f"needs {action}") from None
    if code in THROTTLED:
        raise NotReadError(f"AWS is busy and refused {action}: run it again") from None
    raise NotReadError(f"{action} failed ({_words(error)})") from None


def _stop_without_login(error: Exception) -> None:
    """Refuse to go on where no credentials can be had; every other error is one of the network."""
    if isinstance(error, aws.ProfileNotFound):
        fix = "name a profile of ~/.aws/config with --profile, AWS_PROFILE or provider.profile"
        raise _refused("profile", _words(error), "a profile that exists", fix) from None
    if isinstance(error, WITHOUT_LOGIN):
        raise _refused(
            "credentials", _words(error), "credentials of the account", f"log in, or {CHECK_LOGIN}"
        ) from None


def _words(error: Exception) -> str:
    return " ".join(str(error).split())


def _refused(subject: str, value: str, expected: str, fix: str) -> SpecError:
    return SpecError("AWS", [Finding((subject,), value, expected, fix)])
