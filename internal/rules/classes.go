package rules

import "github.com/lictor-policy/lictor/internal/model"

// shape says what the patterns of a permission-file class are matched against.
type shape uint8

const (
	shapeNone    shape = iota // nothing: only bare rules
	shapePath                 // the path of each target
	shapePair                 // source and destination of a copy or move
	shapeCommand              // the parts of a command
	shapeString               // the descriptor
	shapeURL                  // the normalised URL
	shapeHost                 // the host
)

// classShapes are the classes of permission files (SPEC section 1).
var classShapes = map[string]shape{
	"Bash": shapeCommand, "Tests": shapeCommand,
	"Read": shapePath, "Write": shapePath, "Edit": shapePath, "Mkdir": shapePath, "Delete": shapePath, "List": shapePath,
	"Copy": shapePair, "Move": shapePair,
	"Glob": shapeString, "Grep": shapeString, "Git": shapeString, "Github": shapeString, "Memory": shapeString,
	"Rollback": shapeString, "MCP": shapeString,
	"Fetch": shapeURL,
}

// accessClasses are the classes whose deny and ask rules speak of every path
// that is touched with an access, whoever touches it.
var accessClasses = map[model.Access][]string{
	model.AccessRead:   {"Read"},
	model.AccessWrite:  {"Write", "Edit", "Mkdir"},
	model.AccessDelete: {"Delete"},
	model.AccessList:   {"List"},
}

// writeClasses are the classes whose allow rules cover a write redirection.
var writeClasses = []string{"Write", "Edit"}

// programClasses are the pair classes whose plain deny and ask patterns speak of
// the operands of a program too.
var programClasses = map[string]string{
	"cp": "Copy", "install": "Copy", "rsync": "Copy", "scp": "Copy", "mv": "Move",
}

// KnownClass reports whether name is a class of permission files.
func KnownClass(name string) bool {
	_, ok := classShapes[name]
	return ok
}

// speaksForClass says that a deny or ask rule for one tool of the class holds
// for all of them: they do the same thing under other names. String classes
// hold many different actions, so there a tool's name means that tool.
func speaksForClass(s shape) bool {
	return s == shapePath || s == shapePair || s == shapeCommand
}
