package lictor.managed.example_team

import rego.v2

import data.lictor.lib

# METADATA
# title: No kubectl in production
# description: Production clusters are changed by the pipeline, never from a workstation.
# custom:
#   programs: [kubectl, helm, k9s, oc]
deny contains {"id": "no-production-kubectl", "reason": $"{command.program} on {word}: production is changed by the pipeline only"} if {
	some command in lib.commands
	lib.base_name(command.program) in {"kubectl", "helm", "k9s", "oc"}
	some word in command.args
	_production(word)
}

_production(word) if {
	some piece in split(replace(replace(replace(word, "=", "/"), "_", "-"), ".", "-"), "/")
	some name in split(piece, "-")
	name in {"prod", "production", "live"}
}

# METADATA
# title: No terraform destroy
# description: Infrastructure is torn down by two people with a ticket.
# custom:
#   programs: [terraform, tofu, terragrunt, pulumi, cdk]
deny contains {"id": "no-terraform-destroy", "reason": $"{command.program} would destroy infrastructure; open a ticket instead"} if {
	some command in lib.commands
	_destroys(command)
}

_destroys(command) if {
	lib.base_name(command.program) in {"terraform", "tofu", "terragrunt", "pulumi", "cdk"}
	some word in command.args
	word in {"destroy", "-destroy", "--destroy", "-destroy=true", "destroy-all"}
}

# METADATA
# title: No deleting in the cloud
# description: Buckets, databases and groups are deleted by their owners.
# custom:
#   programs: [aws, gcloud, gsutil, az, doctl]
deny contains {"id": "no-cloud-deletes", "reason": $"{command.program} {word}: cloud resources are deleted by their owners"} if {
	some command in lib.commands
	lib.base_name(command.program) in {"aws", "gcloud", "gsutil", "az", "doctl"}
	some word in command.args
	regex.match(`^(delete|remove|terminate|rb|purge)(-[a-z-]+)?$`, word)
}

# METADATA
# title: No production hosts
# description: Agents work against staging. Production has no test data.
# custom:
#   hosts: ["*.prod.example.com", prod.example.com]
deny contains {"id": "no-production-hosts", "reason": $"{host} is production; use staging.example.com"} if {
	some host in lib.hosts
	lib.host_in(host, {"prod.example.com", "*.prod.example.com"})
}

# METADATA
# title: What holds for every call
# description: A team policy document; it is merged with the machine's, and the stricter value wins.
policy := {
	"network": {"blockedHosts": ["pastebin.com", "*.ngrok.io", "transfer.sh"]},
	"denyPaths": ["/infra/production/**"],
}

_examples["no-production-kubectl"] := {
	"bad": [
		"kubectl --context prod delete pod web-0",
		"kubectl --context=eu-prod-1 get secrets",
		"kubectl -n production apply -f x.yaml",
		"helm upgrade web ./chart --kube-context live",
		"/usr/local/bin/kubectl --context prod get pods",
	],
	"good": ["kubectl --context staging get pods", "kubectl get products", "helm lint ./chart", "echo kubectl --context prod"],
}

_examples["no-terraform-destroy"] := {
	"bad": ["terraform destroy", "terraform -chdir=infra destroy -auto-approve", "terraform apply -destroy", "tofu destroy", "pulumi destroy -y"],
	"good": ["terraform plan", "terraform apply", "terraform fmt", "cat destroy.tf"],
}

_examples["no-cloud-deletes"] := {
	"bad": ["aws s3 rb s3://data --force", "aws rds delete-db-instance --db-instance-identifier x", "gcloud projects delete x", "az group delete -n x"],
	"good": ["aws s3 ls", "gcloud config list", "az account show"],
}

_examples["no-production-hosts"] := {
	"bad": [{"url": "https://api.prod.example.com/v1"}, "curl https://prod.example.com/health"],
	"good": [{"url": "https://staging.example.com/"}, "curl https://example.com/prod.example.com"],
}
