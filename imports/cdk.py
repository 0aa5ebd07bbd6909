"""The classes of CDKTF and of constructs that this project uses."""

from cdktf import (
    App as App,
    AssetType as AssetType,
    CloudBackend as CloudBackend,
    DataResource as DataResource,
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
    TerraformResourceLifecycle as TerraformResourceLifecycle,
    TerraformStack as TerraformStack,
    Testing as Testing,
    Token as Token,
)
from constructs import Construct as Construct

from nodeless.imports.type_hints import remember_type_hints

remember_type_hints("cdktf", "constructs")
