package lictor.managed.baseline

import rego.v2

import data.lictor.lib

# METADATA
# title: Taking the machine down
# description: Shutting down, restarting or changing the run level ends the work of everybody on the machine.
# custom:
#   programs: [reboot, shutdown, halt, poweroff, init, telinit, systemctl, loginctl, rtcwake, pm-suspend, pm-hibernate, kexec]
deny contains {"id": "power", "reason": $"{command.flat} would take the machine down"} if {
	some command in lib.commands
	_takes_down(lib.base_name(command.program), command.args)
}

_takes_down(program, args) if {
	program in {"reboot", "shutdown", "halt", "poweroff", "pm-suspend", "pm-hibernate", "kexec", "rtcwake"}
	every word in args {
		not word in {"--help", "-h:", "--version", "-c", "--show"}
	}
}

_takes_down(program, args) if {
	program in {"init", "telinit"}
	some word in args
	word in {"0", "1", "6", "s", "S", "u", "U", "q", "Q", "single", "emergency"}
}

_takes_down("systemctl", args) if {
	some word in args
	word in {
		"poweroff", "reboot", "halt", "kexec", "soft-reboot", "suspend", "hibernate", "hybrid-sleep", "suspend-then-hibernate",
		"rescue", "emergency", "exit", "sleep",
	}
	not "status" in args
	not "cat" in args
	not "show" in args
}

_takes_down("systemctl", args) if {
	some verb in args
	verb in {"start", "isolate", "restart"}
	some word in args
	regex.match(`^(poweroff|reboot|halt|kexec|rescue|emergency|suspend|hibernate|runlevel[016]|shutdown|exit|ctrl-alt-del)\.(target|service)$`, word)
}

_takes_down("loginctl", args) if {
	some word in args
	word in {"poweroff", "reboot", "halt", "suspend", "hibernate", "hybrid-sleep"}
}

_examples["power"] := {
	"bad": [
		"reboot",
		"/sbin/reboot -f",
		"shutdown -h now",
		"shutdown -r +1",
		"halt -p",
		"poweroff",
		"init 0",
		"init 6",
		"telinit 6",
		"systemctl poweroff",
		"systemctl --force reboot",
		"systemctl isolate reboot.target",
		"systemctl start poweroff.target",
		"loginctl reboot",
		{"command": "sudo reboot", "inner": [["reboot"]]},
		{"command": "env FOO=1 telinit 6", "inner": [["telinit", "6"]]},
	],
	"good": [
		"echo reboot",
		"grep shutdown /var/log/syslog",
		"systemctl status nginx",
		"systemctl restart nginx",
		"systemctl status reboot.target",
		"shutdown -c",
		"npm init 0",
		"git init",
		"terraform init",
		"cat reboot.md",
		"man shutdown",
	],
}
