"""The classes of CDKTF and of constructs that this project uses. cdktn/cdk.py has the same from CDK Terrain."""

from cdktf import (
    App as App,
    AssetType as AssetType,
    Fn as Fn,
    ITerraformDependable as ITerraformDependable,
    LocalBackend as LocalBackend,
    S3Backend as S3Backend,
    TerraformAsset as TerraformAsset,
    TerraformElement as TerraformElement,
    TerraformLocal as TerraformLocal,
    TerraformOutput as TerraformOutput,
    TerraformResource as TerraformResource,
    TerraformResourceLifecycle as TerraformResourceLifecycle,
    TerraformStack as TerraformStack,
    Testing as Testing,
    Token as Token,
)
from constructs import Construct as Construct

from nodeless.imports.type_hints import remember_type_hints

remember_type_hints("cdktf", "constructs")
