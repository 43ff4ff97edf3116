package eval

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/lictor-policy/lictor/internal/model"
)

// FuzzEvaluate: whatever the document is, there is an outcome that the facts in
// it explain, or a typed error; never a panic.
func FuzzEvaluate(f *testing.F) {
	for _, seed := range []string{
		`{"facts": {}}`, `{"facts": {"allowed": true}}`, `{"facts": {"denied": false}}`, `{"facts": []}`, `[]`, ``, `{"facts": {"plan": true, "command": true}, "targets": null}`,
	} {
		f.Add([]byte(seed))
	}
	e := engine(f)
	f.Fuzz(func(t *testing.T, document []byte) {
		outcome, err := e.Evaluate(context.Background(), json.RawMessage(document))
		if err != nil {
			if _, ok := errors.AsType[*Error](err); !ok {
				t.Fatalf("not an *Error: %v", err)
			}
			return
		}
		var input struct {
			Facts map[string]bool `json:"facts"`
		}
		if err := json.Unmarshal(document, &input); err != nil {
			t.Fatalf("evaluated, but not readable: %v", err)
		}
		var facts model.Facts
		for bit, name := range model.FactNames {
			if input.Facts[name] {
				facts |= 1 << bit
			}
		}
		if want := reference(facts); want.Step != outcome.Step || want.Decision != outcome.Decision || want.By != outcome.By {
			t.Fatalf("%s: got %+v, want %+v", document, outcome, want)
		}
	})
}
