package toolcall

import (
	"slices"

	"github.com/lictor-policy/lictor/internal/model"
)

// classAccess are the classes of permission files (SPEC section 1) in the order
// in which people read them, and what their tools do with paths.
var classAccess = []struct {
	name   string
	access []model.Access
}{
	{"Bash", nil},
	{"Read", []model.Access{model.AccessRead}},
	{"Write", []model.Access{model.AccessWrite}},
	{"Edit", []model.Access{model.AccessWrite}},
	{"Mkdir", []model.Access{model.AccessWrite}},
	{"Copy", []model.Access{model.AccessRead, model.AccessWrite}},
	{"Move", []model.Access{model.AccessRead, model.AccessWrite}},
	{"Delete", []model.Access{model.AccessDelete}},
	{"List", []model.Access{model.AccessList}},
	{"Glob", []model.Access{model.AccessList}},
	{"Grep", []model.Access{model.AccessRead}},
	{"Fetch", nil},
	{"Git", nil},
	{"Github", nil},
	{"Memory", nil},
	{"Tests", nil},
	{"Rollback", nil},
	{classMCP, nil},
}

// classMCP is the class of every MCP tool.
const classMCP = "MCP"

// Classes returns the names of all classes of permission files, in SPEC's order.
func (t *Table) Classes() []string {
	names := make([]string, len(classAccess))
	for i := range classAccess {
		names[i] = classAccess[i].name
	}
	return names
}

// AccessOf returns what the tools of a class do with the paths that they name:
// for Copy and Move the source's access first. It is nil for classes whose
// targets are no paths, and for unknown names. apply_diff, a tool of class Edit,
// also deletes; its targets say so one by one.
func (t *Table) AccessOf(class string) []model.Access {
	for i := range classAccess {
		if classAccess[i].name == class {
			return slices.Clone(classAccess[i].access)
		}
	}
	return nil
}

func isClass(name string) bool {
	return slices.ContainsFunc(classAccess, func(c struct {
		name   string
		access []model.Access
	},
	) bool {
		return c.name == name
	})
}
