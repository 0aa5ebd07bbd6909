"""What differs between two trees of Terraform JSON, and what Terraform would do about it. It needs no Node."""
