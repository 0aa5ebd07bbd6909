"""The Terraform of a cluster as an engineer would have written it: files by concern, in HCL or in JSON."""
