# Another stack that uses the outputs of a stack of nodeless: docs/remote-state.md.

terraform {
  required_version = ">= 1.5"

  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 5.100.0, < 7.0.0"
    }
  }
}

variable "karpenter_state" {
  description = "Where the state of the stack is: the type of its backend, and the keys that lead to it"
  type        = any
}

variable "region" {
  description = "Region of the cluster"
  type        = string
}

provider "aws" {
  region = var.region
}

data "terraform_remote_state" "karpenter" {
  backend = var.karpenter_state.backend
  config  = var.karpenter_state.config
}

locals {
  karpenter = data.terraform_remote_state.karpenter.outputs

  # A stack with `interruption: false` has no queue, and so no output about it.
  queues = toset(compact([try(local.karpenter.queue_name, null)]))
}

# Karpenter launches instances whose volumes are encrypted with this key, so its role has to be in the key's policy.
data "aws_iam_policy_document" "volumes" {
  statement {
    sid       = "Administration"
    actions   = ["kms:*"]
    resources = ["*"]

    principals {
      type        = "AWS"
      identifiers = [replace(local.karpenter.controller_role_arn, "/:role/.*/", ":root")]
    }
  }

  statement {
    sid       = "Volumes"
    actions   = ["kms:Decrypt", "kms:DescribeKey", "kms:GenerateDataKeyWithoutPlaintext", "kms:ReEncrypt*"]
    resources = ["*"]

    principals {
      type        = "AWS"
      identifiers = [local.karpenter.controller_role_arn]
    }
  }

  statement {
    sid       = "Attachments"
    actions   = ["kms:CreateGrant"]
    resources = ["*"]

    principals {
      type        = "AWS"
      identifiers = [local.karpenter.controller_role_arn]
    }

    condition {
      test     = "Bool"
      variable = "kms:GrantIsForAWSResource"
      values   = ["true"]
    }
  }
}

resource "aws_kms_key" "volumes" {
  description         = "Volumes of the nodes that Karpenter launches"
  enable_key_rotation = true
  policy              = data.aws_iam_policy_document.volumes.json
}

# Karpenter reads the queue all the time: a message that stays there means that it does not.
resource "aws_cloudwatch_metric_alarm" "unread" {
  for_each = local.queues

  alarm_name          = "${each.value}-unread"
  alarm_description   = "Karpenter does not read its interruption queue"
  namespace           = "AWS/SQS"
  metric_name         = "ApproximateAgeOfOldestMessage"
  dimensions          = { QueueName = each.value }
  statistic           = "Maximum"
  period              = 60
  evaluation_periods  = 3
  comparison_operator = "GreaterThanThreshold"
  threshold           = 120
  treat_missing_data  = "notBreaching"
}

output "volumes_key_arn" {
  description = "For kmsKeyID in the block device mappings of an EC2NodeClass"
  value       = aws_kms_key.volumes.arn
}
