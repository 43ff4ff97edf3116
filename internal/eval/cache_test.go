package eval

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"
	"github.com/stretchr/testify/require"
)

// TestFlatCacheIsACache compares it with OPA's own over random operations, with
// frames that outgrow the list and references that lie below each other.
func TestFlatCacheIsACache(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	names := []string{"a", "b", "c", "d", "e", "f", "g"}
	reference := func() ast.Ref {
		ref := ast.Ref{ast.DefaultRootDocument}
		for range 1 + random.IntN(3) {
			ref = append(ref, ast.StringTerm(names[random.IntN(len(names))]))
		}
		return ref
	}
	keys := func(cache topdown.VirtualCache) map[string]bool {
		set := map[string]bool{}
		for _, key := range cache.Keys() {
			set[key.String()] = true
		}
		return set
	}
	cache := new(flatCache)
	outgrown := 0
	for round := range 50 {
		cache.reset()
		known := topdown.NewVirtualCache()
		depth := 0
		for range 600 {
			switch ref := reference(); random.IntN(20) {
			case 0:
				cache.Push()
				known.Push()
				depth++
			case 1:
				if depth > 0 {
					cache.Pop()
					known.Pop()
					depth--
				}
			case 2, 3, 4, 5, 6, 7, 8, 9:
				// The evaluator never changes its mind about a reference.
				if value, undefined := known.Get(ref); value != nil || undefined {
					continue
				}
				value := ast.StringTerm(ref.String())
				if random.IntN(4) == 0 {
					value = nil
				}
				given := ref.Copy()
				cache.Put(given, value)
				// It does go on to change the slice that it gave.
				given[len(given)-1] = ast.StringTerm("changed")
				known.Put(ref, value)
				if cache.last().more != nil {
					outgrown++
				}
			default:
				want, wantUndefined := known.Get(ref)
				got, gotUndefined := cache.Get(ref)
				require.Equal(t, fmt.Sprint(want, wantUndefined), fmt.Sprint(got, gotUndefined), "round %d: %s", round, ref)
			}
		}
		require.Equal(t, keys(known), keys(cache))
	}
	require.Greater(t, outgrown, 100)
}
