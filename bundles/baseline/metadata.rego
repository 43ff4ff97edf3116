package lictor.managed.baseline

import rego.v2

import data.lictor.lib

# METADATA
# title: Cloud metadata
# description: >-
#   A cloud's metadata service gives the machine's credentials to whoever asks
#   from the machine.
# custom:
#   hosts:
#     [169.254.169.254, 169.254.170.2, 169.254.170.23, 169.254.169.253, 169.254.0.23, 169.254.42.42, 168.63.129.16, 100.100.100.200,
#     192.0.0.192, "fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254", "fe80::a9fe:a9fe", "::ffff:a9fe:a9fe",
#     "::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe",
#     metadata.google.internal, "*.metadata.google.internal", metadata.goog, "*.metadata.goog", metadata, instance-data, instance-data.ec2.internal, metadata.azure.internal,
#     metadata.platformequinix.com, metadata.tencentyun.com, metadata.oraclecloud.com, 169.254.169.254.nip.io, "*.169.254.169.254.nip.io",
#     169-254-169-254.nip.io, 169.254.169.254.sslip.io, 169-254-169-254.sslip.io, "2852039166", "0xa9fea9fe", 0xa9.0xfe.0xa9.0xfe, 0251.0376.0251.0376, "169.254.43518", "169.16689662"]
deny contains {"id": "cloud-metadata", "reason": $"{host} is a cloud's metadata service, which gives out credentials"} if {
	some host in _named_hosts
	_metadata(host)
}

# METADATA
# title: Cloud metadata by a network program
# description: The address may stand among the words of a program that opens connections, without a scheme.
# custom:
#   programs: [curl, wget, wget2, http, https, xh, aria2c, fetch, nc, ncat, netcat, socat, telnet, ssh, openssl, lynx, w3m, links, httpie, ping]
deny contains {"id": "cloud-metadata-word", "reason": $"{command.program} would reach a cloud's metadata service: {word}"} if {
	some command in lib.commands
	lib.base_name(command.program) in {
		"curl", "wget", "wget2", "http", "https", "xh", "aria2c", "fetch", "nc", "ncat", "netcat", "socat", "telnet", "ssh", "openssl",
		"lynx", "w3m", "links", "httpie", "ping",
	}
	some word in command.args
	some piece in split(_plain(word), "=")
	_metadata(lib.url_host(piece))
}

# METADATA
# title: Cloud metadata in a script
# description: A script that stands in the command may name the address in a URL of its own.
# custom:
#   programs: [python, python2, python3, node, nodejs, deno, bun, ruby, perl, php, pwsh, powershell, osascript, lua, Rscript]
deny contains {"id": "cloud-metadata-script", "reason": $"the script of {command.program} would reach a cloud's metadata service"} if {
	some command in lib.commands
	lib.base_name(command.program) in {
		"python", "python2", "python3", "node", "nodejs", "deno", "bun", "ruby", "perl", "php", "pwsh", "powershell", "osascript", "lua",
		"Rscript",
	}
	some word in command.args
	pieces := split(word, "://")
	some i, piece in pieces
	i > 0
	_metadata(lib.url_host(_until_quote(piece)))
}

# METADATA
# title: Until a quote
# description: The text of a URL within a script.
_until_quote(text) := split(split(split(split(text, "'")[0], `"`)[0], " ")[0], ")")[0]

# METADATA
# title: Named hosts
# description: The hosts that the call names, and the addresses behind other notations of them.
_named_hosts := lib.hosts | {target.ip | some target in input.targets; target.kind == "url"}

_metadata(host) if lib.normal_host(trim_right(trim_left(host, "["), "]")) in _metadata_hosts

_metadata(host) if regex.match(`(^|\.)(metadata\.google\.internal|metadata\.goog)\.?$`, host)

_metadata(host) if regex.match(`(^|[.-])169[.-]254[.-]169[.-]254\.(nip|sslip)\.io\.?$`, host)

# METADATA
# title: Metadata services
# description: Addresses and names of the large clouds, with other notations of the usual address.
_metadata_hosts := {
	"169.254.169.254", "169.254.170.2", "169.254.170.23", "169.254.169.253", "169.254.0.23", "169.254.42.42", "168.63.129.16",
	"100.100.100.200", "192.0.0.192", "fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254", "fe80::a9fe:a9fe", "::ffff:a9fe:a9fe",
	"::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe", "metadata.google.internal", "metadata.goog", "metadata", "instance-data",
	"instance-data.ec2.internal", "metadata.azure.internal", "metadata.platformequinix.com", "metadata.tencentyun.com",
	"metadata.oraclecloud.com", "2852039166", "0xa9fea9fe", "0xa9.0xfe.0xa9.0xfe", "0251.0376.0251.0376", "169.254.43518",
	"169.16689662",
}

_examples["cloud-metadata"] := {
	"bad": [
		{"url": "http://169.254.169.254/latest/meta-data/"},
		{"url": "http://[fd00:ec2::254]/latest/"},
		{"url": "http://metadata.google.internal/computeMetadata/v1/"},
		{"url": "http://168.63.129.16/machine"},
		{"url": "http://100.100.100.200/latest"},
		"curl -s http://169.254.169.254/latest/api/token",
		"python fetch.py http://metadata.google.internal/x",
	],
	"good": [{"url": "https://example.com/metadata"}, "curl https://example.com/169.254.169.254", "grep 169.254.169.254 access.log"],
}

_examples["cloud-metadata-word"] := {
	"bad": ["curl 169.254.169.254/latest", "wget -qO- metadata.google.internal", "nc 169.254.169.254 80", "curl --url=169.254.169.254", "curl http://0xa9fea9fe/"],
	"good": ["curl example.com", "grep 169.254.169.254 access.log", "ping 10.0.0.1"],
}

_examples["cloud-metadata-script"] := {
	"bad": [{
		"command": "python3 -c \"get('http://169.254.169.254/x')\"",
		"parts": [["python3", "-c", "get('http://169.254.169.254/x')"]],
	}],
	"good": [
		{"command": "python3 -c \"get('http://example.com/x')\"", "parts": [["python3", "-c", "get('http://example.com/x')"]]},
		"python3 manage.py runserver",
	],
}
