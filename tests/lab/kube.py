"""A small client of the Kubernetes API: objects in, objects out, and an error with the server's own words."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from http import HTTPStatus
from pathlib import Path
from typing import Any, TypeVar

import urllib3

from tests.lab.certificates import KeyPair

Object = dict[str, Any]
T = TypeVar("T")

MERGE = "application/merge-patch+json"
TIMEOUT = 30


class KubeError(AssertionError):
    """The API server said no."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(f"{status}: {message}")
        self.status = status


class Kube:
    """The API server, as one of its users sees it."""

    def __init__(
        self, url: str, authority: Path, *, certificate: KeyPair | None = None, token: str | None = None
    ) -> None:
        self.url = url
        self._pool = urllib3.PoolManager(
            ca_certs=str(authority),
            cert_file=str(certificate.certificate) if certificate else None,
            key_file=str(certificate.key) if certificate else None,
            timeout=TIMEOUT,
        )
        self._login = [("Authorization", f"Bearer {token}")] if token else []

    def impersonating(self, user: str, groups: Sequence[str]) -> Kube:
        """Return a client that the server takes for another user; the present one must be allowed to do that."""
        other = copy(self)
        headers = (("Impersonate-User", user), *(("Impersonate-Group", group) for group in groups))
        other._login = [*self._login, *headers]  # noqa: SLF001 - a copy of this object
        return other

    def get(self, path: str) -> Object:
        """Return one object, or a list object."""
        return self._call("GET", path)

    def find(self, path: str) -> Object | None:
        """Return one object, or nothing if it does not exist."""
        try:
            return self.get(path)
        except KubeError as error:
            if error.status != HTTPStatus.NOT_FOUND:
                raise
            return None

    def items(self, path: str) -> list[Object]:
        """Return the items of a list; a kind that the server does not know has none."""
        found = self.find(path)
        return list(found["items"]) if found else []

    def create(self, path: str, body: Mapping[str, Any]) -> Object:
        """Create an object in a collection, or call a subresource."""
        return self._call("POST", path, body)

    def patch(self, path: str, body: Mapping[str, Any]) -> Object:
        """Merge into an object."""
        return self._call("PATCH", path, body, MERGE)

    def delete(self, path: str, *, grace: int | None = None) -> None:
        """Delete an object; it need not exist."""
        try:
            self._call("DELETE", path, {} if grace is None else {"gracePeriodSeconds": grace})
        except KubeError as error:
            if error.status != HTTPStatus.NOT_FOUND:
                raise

    def ready(self) -> bool:
        """Tell whether the server answers and is ready."""
        try:
            return bool(self._pool.request("GET", f"{self.url}/readyz", retries=False).status == HTTPStatus.OK)
        except urllib3.exceptions.HTTPError:
            return False

    def _call(
        self, method: str, path: str, body: Mapping[str, Any] | None = None, kind: str = "application/json"
    ) -> Object:
        answer = self._pool.request(
            method,
            f"{self.url}{path}",
            body=None if body is None else json.dumps(body),
            headers=urllib3.HTTPHeaderDict([("Content-Type", kind), *self._login]),
        )
        if answer.status >= HTTPStatus.BAD_REQUEST:
            try:
                message = str(answer.json()["message"])
            except (ValueError, KeyError):
                message = answer.data.decode(errors="replace")
            raise KubeError(answer.status, f"{method} {path}: {message}")
        return dict(answer.json())


def eventually(look: Callable[[], T], what: str, *, seconds: float = 60, every: float = 0.3) -> T:
    """Return the first true answer; if there is none in time, say what was waited for."""
    end = time.monotonic() + seconds
    while True:
        if found := look():
            return found
        if time.monotonic() > end:
            raise AssertionError(f"after {seconds:.0f} s still not so: {what}")
        time.sleep(every)
