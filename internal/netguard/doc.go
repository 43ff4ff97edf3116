// Package netguard owns what lictor knows about network hosts: their one normal
// form, URLs, host patterns, and which addresses are public.
//
// A host is compared in one form only ([NormalizeHost]): lower-case ASCII
// (IDNA), no brackets, no trailing dot, and for an IP literal in any notation
// that a resolver understands the canonical address. Whatever two programs
// could read in two ways (user names in URLs, backslashes, percent signs in
// host names, zone identifiers, numbers that overflow) is an error, never a
// guess.
//
// # The way out of a sandbox
//
// [Resolve] turns network.allow into a list of hosts: presets mean the hosts that
// the user's own tools are configured to use. [Policy] decides about a host in the
// order of SPEC section 9, [Proxy] serves the sandboxed commands by it, and [Env]
// is the environment that makes common programs use the proxy:
//
//	resolved, err := netguard.Resolve(ctx, settings.Network.Allow, user)
//	list, err := resolved.List()
//	policy := &netguard.Policy{Blocked: …, Denied: …, List: list, Ask: …}
//	proxy := &netguard.Proxy{Decide: policy.Decide}
//	go proxy.Serve(listener) // a listener inside the sandbox's network namespace
//	…                        // the command runs with WithEnv(env, url)
//	proxy.Close()
//	for _, line := range proxy.Report() { … }
package netguard
