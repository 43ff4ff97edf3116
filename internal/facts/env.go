package facts

import (
	"github.com/lictor-policy/lictor/internal/pathguard"
	"github.com/lictor-policy/lictor/internal/rules"
	"github.com/lictor-policy/lictor/internal/toolcall"
)

// Env is the world that rules are compiled in: the guard's root and home, and
// the table's names, classes and kinds.
func Env(guard *pathguard.Guard, table *toolcall.Table) rules.Env {
	return rules.Env{
		Root: guard.Root(), RealRoot: guard.RealRoot(), Home: guard.Home(), Fold: guard.Fold(),
		Canonical: table.Canonical, ClassOf: table.Class, KindOf: table.KindOf, Tools: table.Canonicals(),
		Inside: func(dir string) bool {
			p, err := guard.Resolve(dir, "")
			return err == nil && p.Inside && p.RealInside
		},
	}
}
