package eval

import (
	"slices"
	"sync"

	"github.com/open-policy-agent/opa/v1/ast"
)

// builtins is every builtin function that a module may call: pure, without
// network, clock or randomness, and bounded by the size of what it is given.
// New versions of OPA add functions, so this is a list of what is allowed and
// never one of what is forbidden. Left out on purpose: bits.* and numbers.range
// (unbounded work that no cancellation stops), http.send, net.lookup_ip_addr,
// opa.runtime, rand, time.now_ns, uuid, crypto, io.jwt, graph, graphql, units,
// json.match_schema (fetches), print and trace.
var builtins = []string{
	"abs", "all", "and", "any", "array.concat", "array.flatten", "array.reverse", "array.slice", "assign",
	"ceil", "concat", "contains", "count", "div", "endswith", "eq", "equal", "floor", "format_int",
	"glob.match", "glob.quote_meta", "gt", "gte", "indexof", "indexof_n",
	"internal.member_2", "internal.member_3", "internal.template_string", "internal.test_case",
	"intersection", "is_array", "is_boolean", "is_null", "is_number", "is_object", "is_set", "is_string",
	"json.filter", "json.remove", "lower", "lt", "lte", "max", "min", "minus", "mul", "neq",
	"net.cidr_contains", "net.cidr_is_valid", "object.filter", "object.get", "object.keys", "object.remove",
	"object.subset", "object.union", "object.union_n", "or", "plus", "product",
	"regex.is_valid", "regex.match", "rem", "replace", "rego.metadata.chain", "rego.metadata.rule", "round",
	"semver.compare", "semver.is_valid", "sort", "split", "sprintf", "startswith",
	"strings.any_prefix_match", "strings.any_suffix_match", "strings.count", "strings.replace_n", "strings.reverse",
	"substring", "sum", "to_number", "trim", "trim_left", "trim_prefix", "trim_right", "trim_space", "trim_suffix",
	"type_name", "union", "upper", "walk",
}

// capabilities is computed once: reading OPA's own list costs a millisecond.
var capabilities = sync.OnceValue(func() *ast.Capabilities {
	all := ast.CapabilitiesForThisVersion()
	allowed := &ast.Capabilities{
		Features:       all.Features,
		FutureKeywords: all.FutureKeywords,
		// An empty list, not a nil one: nil means every host, and a schema with a
		// remote reference would be fetched while compiling.
		AllowNet: []string{},
	}
	for _, builtin := range all.Builtins {
		if slices.Contains(builtins, builtin.Name) {
			allowed.Builtins = append(allowed.Builtins, builtin)
		}
	}
	return allowed
})

// Capabilities returns what a module may use: the language of this version of
// OPA, an allowlist of pure builtin functions, and no network. Managed bundles
// are compiled under it too. The value is shared; do not change it.
func Capabilities() *ast.Capabilities { return capabilities() }
