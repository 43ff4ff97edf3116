package approve

import (
	"path"
	"slices"
	"strings"

	"github.com/lictor-policy/lictor/internal/model"
	"github.com/lictor-policy/lictor/internal/pathguard"
)

// Danger is a reason to look twice at a question.
type Danger struct {
	// Class is one of the Danger constants.
	Class DangerClass
	// Text says it in a few words.
	Text string
	// High means that the question must look different and that yes needs two
	// keys.
	High bool
}

// DangerClass names a danger.
type DangerClass string

// The dangers, the gravest first.
const (
	DangerHidden      DangerClass = "hidden"
	DangerUnsandboxed DangerClass = "outside_sandbox"
	DangerPrivileged  DangerClass = "privileged"
	DangerSensitive   DangerClass = "sensitive"
	DangerDelete      DangerClass = "delete"
	DangerOutside     DangerClass = "outside_root"
	DangerOpaque      DangerClass = "opaque"
	DangerData        DangerClass = "data_in_url"
	DangerNetwork     DangerClass = "network"
	DangerUnconfined  DangerClass = "unconfined"
	DangerUnknown     DangerClass = "unknown_tool"
)

// dangers are the words for each class, in the order of their gravity.
var dangers = []Danger{
	{DangerHidden, "holds hidden or misleading characters", true},
	{DangerUnsandboxed, "leaves the sandbox", true},
	{DangerPrivileged, "runs with other rights (sudo)", true},
	{DangerSensitive, "touches a file that may hold secrets", true},
	{DangerDelete, "deletes or throws away data", true},
	{DangerOutside, "touches files outside the project", true},
	{DangerOpaque, "may run something that cannot be read from its text", true},
	{DangerData, "the address may carry data out", true},
	{DangerNetwork, "uses the network", false},
	{DangerUnconfined, "runs without a sandbox", false},
	{DangerUnknown, "what this tool does is not known", false},
}

// Dangers returns what is dangerous about a request, the gravest first, each
// class once. It reads the targets, the verdict and its hits; where a fact is
// not known it stays silent, so an empty list is no promise.
func Dangers(request *model.Request) []Danger {
	found := map[DangerClass]bool{}
	if len(Hidden(request)) > 0 {
		found[DangerHidden] = true
	}
	stepDangers(found, request.Verdict.By, request.Verdict.Step)
	for _, hit := range request.Verdict.Hits {
		stepDangers(found, hit.By, hit.Step)
	}
	for i := range request.Targets {
		t := &request.Targets[i]
		switch t.Kind {
		case model.KindCommand:
			if t.Command != nil {
				commandDangers(found, t, request.Isolation)
			}
		case model.KindPath:
			pathDangers(found, t.Access, &t.Path)
		case model.KindURL:
			found[DangerNetwork] = true
			if t.AlwaysAsk {
				found[DangerData] = true
			}
		case model.KindInput:
			found[DangerUnknown] = true
		}
	}
	for i := range request.Changes {
		if request.Changes[i].Delete {
			found[DangerDelete] = true
		}
	}
	var out []Danger
	for _, d := range dangers {
		if found[d.Class] {
			out = append(out, d)
		}
	}
	return out
}

// HighDanger reports whether one of the dangers is high.
func HighDanger(list []Danger) bool {
	return slices.ContainsFunc(list, func(d Danger) bool { return d.High })
}

func stepDangers(found map[DangerClass]bool, by, step string) {
	switch {
	case by == "outside":
		found[DangerOutside] = true
	case by == "sensitive", step == "1":
		found[DangerSensitive] = true
	}
}

func pathDangers(found map[DangerClass]bool, access model.Access, p *model.Path) {
	if p.Text == "" && p.Rel == "" {
		return
	}
	if access == model.AccessDelete {
		found[DangerDelete] = true
	}
	if p.Abs != "" && (!p.Inside || !p.RealInside) {
		found[DangerOutside] = true
	}
	if pathguard.Sensitive(p.Rel, true) || pathguard.Sensitive(p.RealRel, true) {
		found[DangerSensitive] = true
	}
}

func commandDangers(found map[DangerClass]bool, t *model.Target, isolation model.Isolation) {
	if t.OutsideSandbox {
		found[DangerUnsandboxed] = true
	} else if isolation != model.IsolationOS {
		found[DangerUnconfined] = true
	}
	if t.Opaque {
		found[DangerOpaque] = true
	}
	if len(t.Hosts) > 0 {
		found[DangerNetwork] = true
	}
	for i := range t.Redirections {
		pathDangers(found, t.Redirections[i].Access, &t.Redirections[i].Path)
	}
	for i := range t.Mentions {
		pathDangers(found, t.Mentions[i].Access, &t.Mentions[i].Path)
	}
	for _, text := range t.Naive {
		if words := strings.Fields(text); len(words) > 0 {
			programDangers(found, words[0], words[1:])
		}
	}
	for i := range t.Parts {
		p := &t.Parts[i]
		programDangers(found, p.Program, p.Args)
		for j := range p.Inner {
			programDangers(found, p.Inner[j].Program, p.Inner[j].Args)
			if word, _, _ := strings.Cut(p.Inner[j].Via, " "); privileged[word] {
				found[DangerPrivileged] = true
			}
		}
	}
}

var (
	privileged = set("sudo", "doas", "su", "pkexec", "runas", "run0")
	deleters   = set("rm", "rmdir", "unlink", "shred", "truncate", "wipefs", "mkfs", "dd", "srm", "trash", "del", "rd")
	networkers = set("curl", "wget", "ssh", "scp", "sftp", "rsync", "nc", "ncat", "socat", "telnet", "ftp",
		"aria2c", "http", "gh", "glab", "aws", "gcloud", "az", "kubectl", "helm", "terraform", "twine")
	// networkVerbs are the verbs with which a program talks to another machine.
	networkVerbs = map[string]map[string]bool{
		"git":     set("push", "pull", "fetch", "clone", "ls-remote"),
		"npm":     set("install", "i", "ci", "publish", "update", "audit", "exec", "add"),
		"pnpm":    set("install", "i", "add", "publish", "update", "dlx"),
		"yarn":    set("install", "add", "publish", "upgrade", "dlx"),
		"pip":     set("install", "download"),
		"pip3":    set("install", "download"),
		"uv":      set("sync", "add", "pip", "publish"),
		"poetry":  set("install", "add", "publish", "update"),
		"cargo":   set("install", "publish", "add", "update"),
		"go":      set("get", "install"),
		"docker":  set("pull", "push", "login", "build"),
		"podman":  set("pull", "push", "login", "build"),
		"apt":     set("install", "update", "upgrade"),
		"apt-get": set("install", "update", "upgrade"),
		"brew":    set("install", "update", "upgrade"),
	}
	// losingVerbs are the verbs with which a program throws work away.
	losingVerbs = map[string]map[string]bool{
		"git":     set("clean", "filter-branch"),
		"docker":  set("rm", "rmi", "prune"),
		"kubectl": set("delete", "drain"),
		"gh":      set("delete"),
		"npm":     set("unpublish"),
	}
)

func programDangers(found map[DangerClass]bool, program string, args []string) {
	name := strings.TrimSuffix(strings.ToLower(path.Base(strings.ReplaceAll(program, `\`, "/"))), ".exe")
	verb := firstVerb(args)
	base, _, _ := strings.Cut(name, ".")
	switch {
	case privileged[name]:
		found[DangerPrivileged] = true
	case deleters[name], deleters[base], losingVerbs[name][verb]:
		found[DangerDelete] = true
	case name == "find" && slices.Contains(args, "-delete"),
		name == "git" && throwsAway(verb, args):
		found[DangerDelete] = true
	}
	if networkers[name] || networkVerbs[name][verb] {
		found[DangerNetwork] = true
	}
}

// throwsAway reports whether a git call loses work that nothing brings back.
func throwsAway(verb string, args []string) bool {
	has := func(options ...string) bool {
		return slices.ContainsFunc(args, func(a string) bool { return slices.Contains(options, a) })
	}
	switch verb {
	case "reset":
		return has("--hard")
	case "push":
		return has("--force", "-f", "--delete", "-d", "--mirror") ||
			slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "--force-with-lease") })
	case "branch":
		return has("-D", "-d", "--delete")
	case "stash":
		return has("drop", "clear")
	case "checkout", "restore":
		return has(".", "--", "-f", "--force")
	}
	return false
}

func firstVerb(args []string) string {
	skip := false
	for _, arg := range args {
		switch {
		case skip:
			skip = false
		case arg == "-C" || arg == "-c":
			skip = true
		case !strings.HasPrefix(arg, "-"):
			return arg
		}
	}
	return ""
}

func set(words ...string) map[string]bool {
	out := make(map[string]bool, len(words))
	for _, w := range words {
		out[w] = true
	}
	return out
}
