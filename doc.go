// Package lictor decides, for every tool call that an AI coding agent wants to
// make, whether it is allowed, denied or must be asked about. The policy is
// Rego; this package gathers the facts that it decides on.
//
// # Deciding a call
//
// [Open] reads the project's settings, permission files and team policy and
// compiles the policy. [Engine.Check] then decides a [Call]:
//
//	engine, err := lictor.Open(ctx, lictor.Options{Root: "/home/me/project"})
//	if err != nil {
//		return err // nothing may run
//	}
//	defer engine.Close()
//	verdict, err := engine.Check(ctx, lictor.Call{
//		Tool: "bash",
//		Args: json.RawMessage(`{"command":"go test ./..."}`),
//	})
//
// A [Verdict] is always valid, also beside an error: whatever goes wrong, it
// says deny. Run the tool only if its decision is [Allow].
//
// # Asking
//
// A verdict may be [Ask]. [Engine.Decide] checks a call and, if need be, asks
// the [Approver] of the options; the answer "session" is remembered until the
// engine is closed. Without an approver, or with Options.Unattended, a question
// is a denial.
//
// # What is read
//
// The root is fixed when the engine is opened. Settings come from
// .lictor/settings.json below it, rules also from permission files in the
// project, the home folder and the machine's folder, the team policy from the
// machine's folder and the home folder, never from the project. Parts of a
// project that loosen safety apply only with the user's consent.
// [Engine.Notices] says what was left out. [Engine.Reload] reads everything
// again; if that fails the engine goes on with what it had.
//
// # Running and recording
//
// With Options.Execute, [Engine.Run] decides a command, asks, records, runs it in
// the sandbox and records what came of it. A program that runs its tools itself
// calls [Engine.Decide] and then [Engine.RecordRun]; the package examples show
// that as a middleware for an agent's loop, and an approver that asks an editor
// over the Agent Client Protocol.
//
// # Stability
//
// Until version 1.0 exported names may still change; CHANGELOG.md says when and
// what to write instead. So it does for the policy input, the audit events, the
// settings and the team policy, which the JSON Schemas in schemas/ describe. A
// verdict may become stricter in any release, looser only where CHANGELOG.md says
// so.
//
// # Concurrency
//
// An Engine is safe for concurrent use; a reload is one step for all callers.
package lictor
