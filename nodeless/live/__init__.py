"""What an AWS account really holds, read through boto3 and never changed: for `init`, `doctor` and `adopt`."""
