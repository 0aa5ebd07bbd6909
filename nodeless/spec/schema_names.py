"""What the JSON schema of clusters.yaml is called, and the line by which an editor finds it."""

# A name and no address: no editor should load a schema from somewhere else.
SCHEMA_ID = "urn:nodeless:clusters"
# Beside clusters.yaml: the schema of the nodeless that wrote it.
SCHEMA_FILE = "clusters.schema.json"


def editor_line(schema: str = SCHEMA_FILE) -> str:
    """Return the comment with which yaml-language-server finds the schema, seen from the folder of the YAML file."""
    return f"# yaml-language-server: $schema={schema}"
