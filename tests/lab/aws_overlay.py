"""What the controller asks of AWS and moto does not answer: the cluster's real endpoint, and the images of EKS."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from http import HTTPStatus
from io import BytesIO
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote

from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.core.responses import ActionResult
from moto.ec2.models import EC2Backend, ec2_backends
from moto.ec2.models.fleets import Fleet, FleetsBackend
from moto.iam.models import iam_backends
from moto.iam.responses import IamResponse
from werkzeug.wrappers import Request, Response

from tests.terraform.eks_overlay import Call, EksOverlay, Record
from tests.terraform.recorder import SIGNED

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

# A path that no AWS service has: here the lab says where its API server is.
CLUSTERS = "/lab/clusters/"

# Public parameters of EKS end like this: the architecture, the variant, and which image of it.
STANDARD_IMAGE = "/standard/recommended/image_id"


class LabOverlay(EksOverlay):
    """The EKS overlay, with clusters that really have an API server and with images for their nodes."""

    def __init__(self, behind: WSGIApplication) -> None:
        super().__init__(self._target_or(behind))
        self._api_servers: dict[str, Record] = {}
        for owner, method in ((IamResponse, list_instance_profiles), (EC2Backend, create_fleet)):
            setattr(owner, method.__name__, method)

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer a request of the lab itself, or one of AWS's."""
        path: str = environ["PATH_INFO"]
        if signer := Request(environ).args.get("X-Amz-Credential"):
            # A call that is signed in its address; moto looks for the service in a header.
            environ["HTTP_AUTHORIZATION"] = f"AWS4-HMAC-SHA256 Credential={signer}, SignedHeaders=host, Signature=0"
        if not path.startswith(CLUSTERS):
            refusal = refused_login(environ)
            return refusal(environ, start_response) if refusal else super().__call__(environ, start_response)
        self._api_servers[path.removeprefix(CLUSTERS)] = json.loads(Request(environ).get_data())
        return Response(status=HTTPStatus.NO_CONTENT)(environ, start_response)

    def _whole(self, call: Call, name: str, answer: Response) -> Record:
        described = super()._whole(call, name, answer)
        described["cluster"] |= self._api_servers.get(name, {})
        return described

    @staticmethod
    def _target_or(behind: WSGIApplication) -> WSGIApplication:
        """Answer the calls of TARGETS, and pass on everything else."""

        def app(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
            signed = SIGNED.search(environ.get("HTTP_AUTHORIZATION", ""))
            if signed and signed["service"] == "arc-zonal-shift":
                arn = unquote(environ["PATH_INFO"]).removeprefix("/managedresources/")
                resource = json.dumps(get_managed_resource(arn))
                return Response(resource, mimetype="application/json")(environ, start_response)
            answer = TARGETS.get(environ.get("HTTP_X_AMZ_TARGET", ""))
            if answer is None or signed is None:
                return behind(environ, start_response)
            status, body = answer(signed["region"], json.loads(Request(environ).get_data()))
            return Response(json.dumps(body), status, mimetype="application/x-amz-json-1.1")(environ, start_response)

        return app


def refused_login(environ: WSGIEnvironment) -> Response | None:
    """Refuse a service account that the role does not trust, as STS does; moto lets everybody in."""
    body = Request(environ).get_data()
    environ["wsgi.input"] = BytesIO(body)  # it can be read once, and moto has to read it too
    asked = dict(parse_qsl(body.decode())) if body.startswith(b"Action=AssumeRoleWithWebIdentity&") else {}
    if not asked or trusts(asked["RoleArn"], asked["WebIdentityToken"]):
        return None
    error = "<Error><Code>AccessDenied</Code><Message>Not authorized to perform sts:AssumeRoleWithWebIdentity</Message>"
    return Response(f"<ErrorResponse>{error}</Error></ErrorResponse>", HTTPStatus.FORBIDDEN, mimetype="text/xml")


def trusts(role_arn: str, token: str) -> bool:
    """Tell whether a role's trust admits the issuer, the subject and the audience of a token."""
    payload = token.split(".")[1]
    claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    iam = iam_backends[DEFAULT_ACCOUNT_ID][role_arn.split(":")[1]]
    host = claims["iss"].removeprefix("https://")
    provider = iam.open_id_providers.get(f"{role_arn.rpartition(':role/')[0]}:oidc-provider/{host}")
    role = next((role for role in iam.roles.values() if role.arn == role_arn), None)
    if provider is None or role is None or not set(claims["aud"]) & set(provider.client_id_list):
        return False
    told = {f"{host}:sub": claims["sub"], f"{host}:aud": claims["aud"][0]}
    return any(
        statement["Action"] == "sts:AssumeRoleWithWebIdentity"
        and statement["Principal"] == {"Federated": provider.arn}
        and {key: told.get(key) for key in statement["Condition"]["StringEquals"]}
        == statement["Condition"]["StringEquals"]
        for statement in json.loads(role.assume_role_policy_document)["Statement"]
    )


def get_parameter(region: str, asked: Record) -> tuple[int, Record]:
    """Answer for the parameters that name the newest image of EKS; the account has one per architecture."""
    name = asked["Name"]
    image = newest_image(region, name)
    if image is None:
        return HTTPStatus.BAD_REQUEST, {"__type": "ParameterNotFound", "message": name}
    return HTTPStatus.OK, {"Parameter": {"Name": name, "Type": "String", "Value": image, "Version": 1}}


def get_products(_region: str, _asked: Record) -> tuple[int, Record]:
    """Name one price; for all other types the controller goes by the prices it was built with."""
    terms = {"OnDemand": {"term": {"priceDimensions": {"dimension": {"pricePerUnit": {"USD": "0.102"}}}}}}
    price = {"product": {"attributes": {"instanceType": "m5.large"}}, "terms": terms}
    return HTTPStatus.OK, {"FormatVersion": "aws_v1", "PriceList": [json.dumps(price)]}


def get_managed_resource(arn: str) -> Record:
    """Tell that no zone is shifted away from."""
    return {"arn": arn, "name": arn.rpartition("/")[2], "appliedWeights": {}, "zonalShifts": [], "autoshifts": []}


# What is answered by the name of the operation in a header.
TARGETS = {"AmazonSSM.GetParameter": get_parameter, "AWSPriceListService.GetProducts": get_products}


def list_instance_profiles(self: IamResponse) -> ActionResult:
    """List the instance profiles below a path: moto lists all, and the controller deletes those it does not know."""
    prefix = self._get_param("PathPrefix", "/")
    profiles = [each for each in self.backend.get_instance_profiles() if each.path.startswith(prefix)]
    return ActionResult({"InstanceProfiles": profiles})


def create_fleet(self: EC2Backend, **arguments: Any) -> Fleet:  # noqa: ANN401 - moto's own
    """Launch instances as their launch template says: moto leaves out the profile, the security groups, the request."""
    fleet: Fleet = FleetsBackend.create_fleet(self, **arguments)
    launched = [(each["instance"], each["launch_spec"]) for each in fleet.on_demand_instances]
    launched += [(request.instance, request.launch_spec) for request in fleet.spot_requests]
    for instance, spec in launched:
        template = self.get_launch_template(spec.launch_template_spec["LaunchTemplateId"])
        data = template.get_version(spec.launch_template_spec["Version"]).data
        self.associate_iam_instance_profile(instance.id, data["IamInstanceProfile"]["Name"])
        interfaces = data.get("NetworkInterfaces", ())
        groups = [*data.get("SecurityGroupIds", ()), *(group for each in interfaces for group in each["Groups"])]
        self.modify_instance_security_groups(instance.id, groups)
    for request in fleet.spot_requests:
        # By this the controller knows that it is a spot instance.
        vars(request.instance)["spot_instance_request_id"] = request.id
    return fleet


def newest_image(region: str, parameter: str) -> str | None:
    """Return an image of moto's with the architecture that the parameter names."""
    if not parameter.endswith(STANDARD_IMAGE):
        return None
    architecture = parameter.removesuffix(STANDARD_IMAGE).rpartition("/")[2]
    images = ec2_backends[DEFAULT_ACCOUNT_ID][region].amis.values()
    return next((each.id for each in images if (each.architecture, each.platform) == (architecture, None)), None)
