terraform {
  required_version = ">= 1.5"

  required_providers {
    tfe = {
      source  = "hashicorp/tfe"
      version = ">= 0.65"
    }
  }
}

variable "github_app_installation_id" {
  description = "HCP Terraform's connection to the repository"
  type        = string
}

variable "roles" {
  description = "For each stack, the ARNs of the roles that its runs assume: one to plan, one to apply"
  type        = map(object({ plan = string, apply = string }))
}

variable "agent_pool_id" {
  description = "Agents with a network path to private API servers; without it, HCP Terraform's own runners"
  type        = string
  default     = null
}

variable "after" {
  description = "For each stack, the id of the workspace that creates its cluster: its applies start a run here"
  type        = map(string)
  default     = {}
}

locals {
  variables = merge([
    for stack, roles in var.roles : {
      "${stack}/TFC_AWS_PROVIDER_AUTH"  = { stack = stack, key = "TFC_AWS_PROVIDER_AUTH", value = "true" }
      "${stack}/TFC_AWS_PLAN_ROLE_ARN"  = { stack = stack, key = "TFC_AWS_PLAN_ROLE_ARN", value = roles.plan }
      "${stack}/TFC_AWS_APPLY_ROLE_ARN" = { stack = stack, key = "TFC_AWS_APPLY_ROLE_ARN", value = roles.apply }
    }
  ]...)
}

data "tfe_project" "of" {
  for_each = { for stack, workspace in local.workspaces : stack => workspace if workspace.project != null }

  organization = each.value.organization
  name         = each.value.project
}

resource "tfe_workspace" "cluster" {
  for_each = local.workspaces

  organization      = each.value.organization
  name              = each.value.name
  project_id        = try(data.tfe_project.of[each.key].id, null)
  tags              = each.value.tags
  terraform_version = each.value.terraform_version
  working_directory = each.value.working_directory
  trigger_patterns  = each.value.trigger_patterns

  vcs_repo {
    identifier                 = var.repository
    github_app_installation_id = var.github_app_installation_id
  }
}

resource "tfe_workspace_settings" "cluster" {
  for_each = tfe_workspace.cluster

  workspace_id   = each.value.id
  execution_mode = var.agent_pool_id == null ? "remote" : "agent"
  agent_pool_id  = var.agent_pool_id
}

resource "tfe_variable" "credentials" {
  for_each = local.variables

  workspace_id = tfe_workspace.cluster[each.value.stack].id
  category     = "env"
  key          = each.value.key
  value        = each.value.value
}

resource "tfe_run_trigger" "cluster" {
  for_each = var.after

  workspace_id  = tfe_workspace.cluster[each.key].id
  sourceable_id = each.value
}
