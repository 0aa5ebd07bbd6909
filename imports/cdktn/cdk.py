"""As ../cdk.py, from CDK Terrain."""

from cdktn import (
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

remember_type_hints("cdktn", "constructs")
