package shell

import "strings"

// optionSpecs knows the options of the programs that deny rules speak of most,
// by program, or program and subcommand.
var optionSpecs = map[string]*optionSpec{}

// optionTable has one line per program: its short options and what they mean,
// those that take an argument, and its long options.
var optionTable = []struct {
	names   string
	short   string
	arg     string
	long    string
	longArg string
	operand func(int, string) string
}{
	{names: "rm grm", short: "r=recursive R=recursive f=force i=interactive I=interactive-once d=dir v=verbose", long: "recursive force interactive dir verbose one-file-system no-preserve-root preserve-root"},
	{names: "rmdir", short: "p=parents v=verbose", long: "parents verbose ignore-fail-on-non-empty"},
	{names: "mv cp gmv gcp", short: "f=force i=interactive n=no-clobber r=recursive R=recursive a=archive p=preserve u=update v=verbose b=backup", arg: "tS", long: "force interactive no-clobber recursive archive preserve update verbose backup", longArg: "target-directory suffix"},
	{names: "ln", short: "f=force s=symbolic n=no-dereference v=verbose", arg: "tS", long: "force symbolic no-dereference verbose", longArg: "target-directory suffix"},
	{names: "chmod", short: "R=recursive v=verbose c=changes f=silent", long: "recursive verbose changes silent quiet=silent", longArg: "reference"},
	{names: "chown chgrp", short: "R=recursive v=verbose c=changes f=silent h=no-dereference", long: "recursive verbose changes silent quiet=silent no-dereference", longArg: "reference from"},
	{names: "shred", short: "f=force u=remove z=zero v=verbose", arg: "ns", long: "force remove zero verbose", longArg: "iterations size"},
	{names: "kill pkill killall", short: "f=full 9=kill", arg: "sut", long: "full signal", longArg: "signal user"},
	{names: "git push", short: "f=force d=delete u=set-upstream n=dry-run q=quiet v=verbose", arg: "o", long: "force delete set-upstream dry-run quiet verbose all mirror tags follow-tags no-verify prune force-with-lease=force force-if-includes atomic", longArg: "push-option receive-pack exec repo", operand: pushOperand},
	{names: "git reset", short: "q=quiet p=patch", long: "hard soft mixed merge keep quiet patch"},
	{names: "git clean", short: "f=force d=dirs x=ignored X=only-ignored n=dry-run q=quiet i=interactive", arg: "e", long: "force dry-run quiet interactive", longArg: "exclude"},
	{names: "git checkout", short: "f=force b=branch B=force-branch q=quiet t=track p=patch m=merge", long: "force quiet track patch merge orphan detach ours theirs", longArg: "conflict"},
	{names: "git switch", short: "f=force c=create C=force-create d=detach q=quiet", long: "force discard-changes=force create force-create detach quiet"},
	{names: "git branch", short: "D=force-delete d=delete f=force m=move M=force-move a=all r=remotes v=verbose", long: "delete force move all remotes verbose"},
	{names: "git commit", short: "a=all n=no-verify s=signoff q=quiet v=verbose p=patch", arg: "mFCct", long: "all no-verify amend signoff quiet verbose patch allow-empty", longArg: "message file author date"},
	{names: "git add", short: "A=all u=update f=force n=dry-run v=verbose p=patch i=interactive", long: "all update force dry-run verbose patch interactive"},
	{names: "git rebase", short: "i=interactive f=force-rebase", arg: "xs", long: "interactive abort continue skip root force-rebase autosquash", longArg: "exec onto strategy"},
	{names: "git stash", short: "u=include-untracked a=all", long: "include-untracked all"},
	{names: "git tag", short: "d=delete f=force a=annotate s=sign", arg: "mFu", long: "delete force annotate sign", longArg: "message file local-user"},
	{names: "git fetch git pull", short: "f=force p=prune a=append t=tags", long: "force prune all tags rebase"},
	{names: "npm publish", long: "dry-run force", longArg: "tag access registry"},
	{names: "npm install npm i", short: "g=global D=save-dev f=force", long: "global save-dev force", longArg: "prefix registry"},
	{names: "curl", short: "L=location k=insecure s=silent S=show-error f=fail X=request d=data T=upload-file o=output O=remote-name", arg: "XdTouHAbceFKmrwxyYzCDEhPQtU", long: "location insecure silent show-error fail remote-name", longArg: "request data output upload-file header user proxy"},
	{names: "wget", short: "q=quiet r=recursive c=continue", arg: "OoPaieU", long: "quiet recursive continue no-check-certificate", longArg: "output-document directory-prefix"},
	{names: "systemctl", short: "f=force", long: "force now user system no-block", longArg: "signal"},
	{names: "docker rm docker rmi", short: "f=force v=volumes", long: "force volumes"},
	{names: "docker run", short: "i=interactive t=tty d=detach", arg: "pvewuhm", long: "rm privileged interactive tty detach init", longArg: "name volume env publish network user workdir entrypoint"},
	{names: "docker system", short: "a=all f=force", long: "all force volumes"},
	{names: "kubectl delete", short: "A=all-namespaces", arg: "nfl", long: "all force all-namespaces now", longArg: "namespace filename selector grace-period"},
	{names: "terraform apply terraform destroy", long: "auto-approve"},
}

func init() {
	for _, t := range optionTable {
		spec := &optionSpec{arg: t.arg, longArg: t.longArg, operand: t.operand, short: map[byte]string{}, long: map[string]string{}}
		for f := range strings.FieldsSeq(t.short) {
			letter, name, _ := strings.Cut(f, "=")
			spec.short[letter[0]] = name
		}
		for f := range strings.FieldsSeq(t.long) {
			name, to, ok := strings.Cut(f, "=")
			if !ok {
				to = name
			}
			spec.long[name] = to
		}
		names := strings.Fields(t.names)
		for i := 0; i < len(names); i++ {
			name := names[i]
			switch name {
			case "git", "npm", "docker", "kubectl", "terraform":
				i++
				if optionSpecs[name] == nil {
					optionSpecs[name] = &optionSpec{subs: true, arg: globalArgs[name].arg, longArg: globalArgs[name].long}
				}
				name += " " + names[i]
			}
			optionSpecs[name] = spec
		}
	}
}

// globalArgs are the options before a subcommand that take an argument.
var globalArgs = map[string]optSpec{
	"git": gitGlobal, "docker": dockerGlobal, "kubectl": kubeGlobal, "npm": {long: "prefix loglevel"}, "terraform": {},
}

// pushOperand: `+ref` forces a push, `:ref` deletes.
func pushOperand(i int, s string) string {
	switch {
	case i == 0 || len(s) < 2:
	case s[0] == '+':
		return "force"
	case s[0] == ':':
		return "delete"
	}
	return ""
}
