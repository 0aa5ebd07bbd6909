# The workspaces of every cluster in a clusters.yaml: docs/hcp-terraform.md.
#
#   nodeless explain --json > clusters.json

variable "repository" {
  description = "Repository that holds the output of nodeless, such as acme/infrastructure"
  type        = string
}

variable "output_folder" {
  description = "Output folder of nodeless synth, from the root of the repository"
  type        = string
}

locals {
  clusters = { for cluster in jsondecode(file("${path.module}/clusters.json")).clusters : cluster.stack => cluster }

  workspaces = {
    for stack, cluster in local.clusters : stack => merge(cluster.workspace, {
      name              = coalesce(cluster.workspace.name, "karpenter-${stack}")
      working_directory = "${var.output_folder}/${cluster.workspace.working_directory}"
      trigger_patterns  = [for pattern in cluster.workspace.trigger_patterns : "${var.output_folder}/${pattern}"]
    })
  }
}
