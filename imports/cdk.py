"""The framework, as far as this project uses it: CDKTF and constructs."""

from cdktf import (
    App as App,
    AssetType as AssetType,
    CloudBackend as CloudBackend,
    Fn as Fn,
    ITerraformDependable as ITerraformDependable,
    LocalBackend as LocalBackend,
    NamedCloudWorkspace as NamedCloudWorkspace,
    S3Backend as S3Backend,
    TaggedCloudWorkspaces as TaggedCloudWorkspaces,
    TerraformAsset as TerraformAsset,
    TerraformElement as TerraformElement,
    TerraformLocal as TerraformLocal,
    TerraformOutput as TerraformOutput,
    TerraformStack as TerraformStack,
    Testing as Testing,
    Token as Token,
)
from constructs import Construct as Construct, Node as Node

from nodeless.imports.type_hints import remember_type_hints

remember_type_hints("cdktf", "constructs")
