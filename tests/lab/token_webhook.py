"""Checks the tokens of `aws eks get-token` as EKS does: by making the signed call in them, and asking whose it is.

https://github.com/kubernetes-sigs/aws-iam-authenticator#what-does-this-do-exactly
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

import requests

from tests.lab.certificates import LOOPBACK

PREFIX = "k8s-aws-v1."
CLUSTER_HEADER = "x-k8s-aws-id"


@dataclass
class TokenWebhook:
    """A running webhook: the kubeconfig that the API server finds it by, and who logged in with which token."""

    kubeconfig: Path
    tokens: set[str] = field(default_factory=set)
    refused: list[str] = field(default_factory=list)


class RefusedError(Exception):
    """The token is not one of this cluster, or not signed for it."""


def caller(token: str, *, cluster: str, aws_url: str) -> str:
    """Return the ARN of whoever signed the token for this cluster."""
    if not token.startswith(PREFIX):
        raise RefusedError("it is no token of aws eks get-token")
    encoded = token.removeprefix(PREFIX)
    url = base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)).decode()
    query = parse_qs(urlsplit(url).query)
    if not url.startswith(aws_url) or query.get("Action") != ["GetCallerIdentity"]:
        raise RefusedError("it holds another call than sts:GetCallerIdentity")
    if CLUSTER_HEADER not in query["X-Amz-SignedHeaders"][0].split(";"):
        raise RefusedError("it is not signed for a cluster")
    session = requests.Session()
    session.trust_env = False
    answer = session.get(url, headers={CLUSTER_HEADER: cluster}, timeout=10)
    answer.raise_for_status()
    found = re.search(r"<Arn>([^<]+)</Arn>", answer.text)
    if found is None:
        raise RefusedError("STS names no caller")
    return found[1]


@contextmanager
def running(folder: Path, *, cluster: str, aws_url: str) -> Iterator[TokenWebhook]:
    """Serve the webhook; whoever has an AWS login is the cluster's creator, and may do everything."""
    folder.mkdir(parents=True, exist_ok=True)
    webhook = TokenWebhook(folder / "token-webhook.kubeconfig")

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            body = json.dumps({**review, "status": self.status(review["spec"]["token"])}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def status(self, token: str) -> dict[str, Any]:
            try:
                user = caller(token, cluster=cluster, aws_url=aws_url)
            except (RefusedError, requests.RequestException, ValueError, KeyError) as error:
                webhook.refused.append(str(error))
                return {"authenticated": False, "error": str(error)}
            webhook.tokens.add(token)
            return {"authenticated": True, "user": {"username": user, "groups": ["system:masters"]}}

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer((LOOPBACK, 0), Handler)
    url = f"http://{LOOPBACK}:{server.server_port}/"
    webhook.kubeconfig.write_text(
        json.dumps(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "clusters": [{"name": "webhook", "cluster": {"server": url}}],
                "users": [{"name": "api-server", "user": {}}],
                "contexts": [{"name": "webhook", "context": {"cluster": "webhook", "user": "api-server"}}],
                "current-context": "webhook",
            }
        ),
        "utf-8",
    )
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield webhook
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
