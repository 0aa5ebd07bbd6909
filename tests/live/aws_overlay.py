"""What `init` and `doctor` ask of AWS and moto does not answer, and faults on request."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from http import HTTPStatus
from io import BytesIO
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from werkzeug.wrappers import Request, Response

from tests.terraform.eks_overlay import Call, EksOverlay, Record
from tests.terraform.recorder import SIGNED

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

# Paths that no AWS service has: here a test says what a cluster is like, what a quota is, and what fails.
CLUSTERS, QUOTAS, FAULTS = "/live/clusters/", "/live/quotas", "/live/faults"
# A generous account.
DEFAULT_QUOTA = 640.0


class LiveOverlay(EksOverlay):
    """The EKS overlay, with every detail of a cluster, with Service Quotas, and with calls that fail."""

    def __init__(self, behind: WSGIApplication) -> None:
        super().__init__(behind)
        self._details: dict[str, Record] = {}
        self._quotas: dict[str, float] = {}
        self._faults: dict[str, Record] = {}

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer a test, fail as a test has asked, or answer as AWS."""
        request = Request(environ)
        answer = self._told(request) or self._failed(request, environ) or self._quota(request)
        answer = answer or self._fargate_profile(request, environ)
        return answer(environ, start_response) if answer else super().__call__(environ, start_response)

    def _told(self, request: Request) -> Response | None:
        """Take what a test says."""
        if not request.path.startswith("/live/"):
            return None
        told = json.loads(request.get_data())
        if request.path == QUOTAS:
            self._quotas |= told
        elif request.path == FAULTS:
            self._faults = told
        else:
            self._details.setdefault(request.path.removeprefix(CLUSTERS), {}).update(told)
        return Response(status=HTTPStatus.NO_CONTENT)

    def _failed(self, request: Request, environ: WSGIEnvironment) -> Response | None:
        if not self._faults:
            return None
        signed = SIGNED.search(request.headers.get("Authorization", ""))
        service = signed["service"] if signed else ""
        body = request.get_data()
        environ["wsgi.input"] = BytesIO(body)
        operation = _operation(request, body)
        fault = self._faults.get(f"{service}:{operation}") or self._faults.get(f"{service}:*")
        return _refusal(service, fault) if fault else None

    def _quota(self, request: Request) -> Response | None:
        target = request.headers.get("X-Amz-Target", "")
        if not target.startswith("ServiceQuotas"):
            return None
        asked = json.loads(request.get_data())
        value = self._quotas.get(asked["QuotaCode"], DEFAULT_QUOTA)
        quota = {"QuotaCode": asked["QuotaCode"], "ServiceCode": asked["ServiceCode"], "Value": value}
        return Response(json.dumps({"Quota": quota}), mimetype="application/x-amz-json-1.1")

    def _fargate_profile(self, request: Request, environ: WSGIEnvironment) -> Response | None:
        """Lay a test's words over moto's, whose profiles are always active."""
        match = re.fullmatch(r"/clusters/([^/]+)/fargate-profiles/[^/]+", request.path)
        over = self._details.get(match[1], {}).get("fargateProfile") if match and request.method == "GET" else None
        if not over:
            return None
        answer = dict(Response.from_app(super().__call__, environ, buffered=True).json or {})
        answer.get("fargateProfile", {}).update(over)
        return Response(json.dumps(answer), mimetype="application/json")

    def _whole(self, call: Call, name: str, answer: Response) -> Record:
        whole = super()._whole(call, name, answer)
        details = {**self._details.get(name, {})}
        whole["cluster"]["resourcesVpcConfig"] |= details.pop("resourcesVpcConfig", {})
        whole["cluster"] |= details
        return whole


def _operation(request: Request, body: bytes) -> str:
    """Tell the operation: of the query protocol, of JSON, or of EKS, whose paths are told apart by their end."""
    if body.startswith(b"Action="):
        return dict(parse_qsl(body.decode()))["Action"]
    return request.headers.get("X-Amz-Target", "").rpartition(".")[2] or f"{request.method} {request.path}"


def _refusal(service: str, fault: Record) -> Response:
    """Write an error as the service does, or any other answer that a test gives."""
    if "body" in fault:
        return Response(fault["body"], mimetype="text/xml")
    code, message, status = fault["code"], fault.get("message", "no"), fault.get("status", 400)
    if service in {"iam", "sts"}:
        text = f"<ErrorResponse><Error><Code>{code}</Code><Message>{message}</Message></Error></ErrorResponse>"
        return Response(text, status, mimetype="text/xml")
    if service == "ec2":
        text = f"<Response><Errors><Error><Code>{code}</Code><Message>{message}</Message></Error></Errors></Response>"
        return Response(text, status, mimetype="text/xml")
    headers = {"x-amzn-ErrorType": code}
    return Response(json.dumps({"__type": code, "message": message}), status, headers, mimetype="application/json")
