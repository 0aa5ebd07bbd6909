"""Where the JSON schema of clusters.yaml is published, for editors."""

SCHEMA_ADDRESS = "https://raw.githubusercontent.com/nodeless/nodeless/main/docs/clusters.schema.json"
