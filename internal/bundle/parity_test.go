package bundle

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/lictor-policy/lictor/internal/eval"
	"github.com/lictor-policy/lictor/internal/model"
)

// answer is what all three ways must agree on.
type answer struct {
	Verdict struct {
		Decision, By, Kind, Step string
	}
	// Findings are "bundle/effect/id/reason".
	Findings []string
}

// repository is the top folder of the module.
func repository(t testing.TB) string {
	_, file, _, ok := runtime.Caller(0)
	require.True(t, ok)
	return filepath.Dir(filepath.Dir(filepath.Dir(file)))
}

// stockQuery asks a stock OPA, with rego/ and the bundles, for all of it.
const stockQuery = `{"verdict": object.filter(data.lictor.verdict, ["decision", "by", "kind", "step"]), "findings": data.lictor.findings.result}`

// TestParity gives the same documents to lictor, to `opa eval` and to a real OPA
// server, with both bundles that ship.
func TestParity(t *testing.T) {
	calls := parityCalls(t)
	require.Greater(t, len(calls), 100)
	set := SetOf(must(Baseline(context.Background()))(t), exampleTeam(t))
	engine, err := eval.New(context.Background())
	require.NoError(t, err)

	ours := make([]answer, len(calls))
	for i, call := range calls {
		found, err := set.Evaluate(context.Background(), call)
		require.NoError(t, err)
		outcome, err := engine.Outcome(call.Facts | found.Facts())
		require.NoError(t, err)
		a := &ours[i]
		a.Verdict.Decision, a.Verdict.By, a.Verdict.Kind, a.Verdict.Step = string(outcome.Decision), outcome.By, outcome.Kind, outcome.Step
		for _, f := range found.Deny {
			a.Findings = append(a.Findings, fmt.Sprintf("%s/deny/%s/%s", f.Bundle, f.ID, f.Reason))
		}
		for _, f := range found.Ask {
			a.Findings = append(a.Findings, fmt.Sprintf("%s/ask/%s/%s", f.Bundle, f.ID, f.Reason))
		}
	}

	root := repository(t)
	paths := []string{filepath.Join(root, "rego", "lictor"), filepath.Join(root, "bundles", "baseline"), filepath.Join(root, "bundles", "example-team")}

	t.Run("opa eval", func(t *testing.T) {
		// `with` makes OPA forget what it knows, so this is slow: every fifth.
		var some []*model.Input
		for i := 0; i < len(calls); i += 5 {
			some = append(some, calls[i])
		}
		documents, err := json.Marshal(map[string]any{"calls": some})
		require.NoError(t, err)
		args := []string{"eval", "--format", "raw", "--strict-builtin-errors", "--stdin-input", "--ignore", "*_test.rego"}
		for _, path := range paths {
			args = append(args, "-d", path)
		}
		// One process for all calls: `with` puts each in the place of the input.
		args = append(args, "[answer | some call in input.calls; answer := "+stockQuery+" with input as call]")
		command := exec.Command(opaBinary(t), args...)
		command.Stdin = bytes.NewReader(documents)
		out, err := command.Output()
		require.NoError(t, err, string(out))
		var list []json.RawMessage
		require.NoError(t, json.Unmarshal(out, &list))
		require.Len(t, list, len(some))
		for i := range some {
			assert.Equal(t, ours[5*i], stockAnswer(t, list[i]), describe(some[i]))
		}
		// And one call as a person would ask about it.
		for _, i := range []int{0, len(calls) / 2, len(calls) - 1} {
			one, err := json.Marshal(calls[i])
			require.NoError(t, err)
			args[len(args)-1] = stockQuery
			command := exec.Command(opaBinary(t), args...)
			command.Stdin = bytes.NewReader(one)
			out, err := command.Output()
			require.NoError(t, err)
			assert.Equal(t, ours[i], stockAnswer(t, out), describe(calls[i]))
		}
	})

	t.Run("opa run --server", func(t *testing.T) {
		address := startServer(t, paths)
		for i, call := range calls {
			document, err := json.Marshal(map[string]any{"input": call})
			require.NoError(t, err)
			raw := make(map[string]json.RawMessage)
			for key, path := range map[string]string{"verdict": "lictor/verdict", "findings": "lictor/findings/result"} {
				reply, err := http.Post("http://"+address+"/v1/data/"+path+"?strict-builtin-errors=true", "application/json", bytes.NewReader(document))
				require.NoError(t, err)
				var body struct{ Result json.RawMessage }
				err = json.NewDecoder(reply.Body).Decode(&body)
				reply.Body.Close()
				require.NoError(t, err)
				require.Equal(t, http.StatusOK, reply.StatusCode)
				require.NotNil(t, body.Result, describe(call))
				raw[key] = body.Result
			}
			text, err := json.Marshal(raw)
			require.NoError(t, err)
			assert.Equal(t, ours[i], stockAnswer(t, text), describe(call))
		}
	})
}

func must[T any](value T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		require.NoError(t, err)
		return value
	}
}

func describe(call *model.Input) string {
	if len(call.Targets) > 0 && call.Targets[0].Command != nil {
		return call.Targets[0].Source
	}
	text, _ := json.Marshal(call)
	return string(text)
}

// stockAnswer reads the answer of a stock OPA.
func stockAnswer(t *testing.T, text []byte) (a answer) {
	t.Helper()
	var document struct {
		Verdict  struct{ Decision, By, Kind, Step string }
		Findings struct {
			Deny, Ask []struct{ Bundle, ID, Reason string }
			Invalid   []json.RawMessage
		}
	}
	require.NoError(t, json.Unmarshal(text, &document), string(text))
	require.Empty(t, document.Findings.Invalid)
	a.Verdict = document.Verdict
	for _, f := range document.Findings.Deny {
		a.Findings = append(a.Findings, fmt.Sprintf("%s/deny/%s/%s", f.Bundle, f.ID, f.Reason))
	}
	for _, f := range document.Findings.Ask {
		a.Findings = append(a.Findings, fmt.Sprintf("%s/ask/%s/%s", f.Bundle, f.ID, f.Reason))
	}
	return a
}

// parityCalls are the examples of both bundles, and all under several facts.
func parityCalls(t *testing.T) (calls []*model.Input) {
	facts := []model.Facts{
		model.FactCommand, model.FactCommand | model.FactConfined, model.FactPlan, model.FactAllowed, model.FactReadOnly, model.FactUnattended,
		model.FactAsked | model.FactAllowed, model.FactDenied, 0, model.FactPolicy, model.FactSession, model.FactSensitive,
	}
	for _, b := range []*Bundle{must(Baseline(context.Background()))(t), exampleTeam(t)} {
		for i := range b.examples {
			input, err := b.examples[i].input(context.Background())
			require.NoError(t, err)
			input.Facts = facts[len(calls)%len(facts)]
			calls = append(calls, input)
		}
	}
	return calls
}

// startServer starts a real OPA server on a free port of the loopback interface
// and stops it when the test ends.
func startServer(t *testing.T, paths []string) (address string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address = listener.Addr().String()
	require.NoError(t, listener.Close())
	command := exec.Command(opaBinary(t), append([]string{"run", "--server", "--addr", address, "--disable-telemetry", "--log-level", "error", "--ignore", "*_test.rego"}, paths...)...)
	output, err := command.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	var log strings.Builder
	go func() {
		for lines := bufio.NewScanner(output); lines.Scan(); {
			log.WriteString(lines.Text())
		}
	}()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if reply, err := http.Get("http://" + address + "/health"); err == nil {
			reply.Body.Close()
			if reply.StatusCode == http.StatusOK {
				return address
			}
		}
	}
	t.Fatal("the server did not start")
	return ""
}

// TestDocumentIsTheJSON holds the document that is written by hand against the
// JSON of the same input, with every field set and with none.
func TestDocumentIsTheJSON(t *testing.T) {
	full := model.Input{}
	fill(reflect.ValueOf(&full).Elem())
	empty := model.Input{}
	half := *command("git status", "git", "status")
	half.Targets = append(half.Targets, model.Target{Kind: model.KindPath}, model.Target{Command: &model.Command{}})
	for _, input := range []*model.Input{&full, &empty, &half} {
		text, err := json.Marshal(input)
		require.NoError(t, err)
		want, err := ast.ValueFromReader(bytes.NewReader(text))
		require.NoError(t, err)
		got, err := document(input)
		require.NoError(t, err)
		assert.Equal(t, want.String(), got.String())
		assert.Zero(t, want.Compare(got))
	}
	long := *command("x", "x")
	long.Targets[0].Source = strings.Repeat("x", eval.InputLimit+1)
	_, err := document(&long)
	require.ErrorContains(t, err, "more than")
	bad := *command("x", "x")
	bad.Args = json.RawMessage(`{"a"`)
	_, err = document(&bad)
	require.ErrorContains(t, err, "args")
}

// fill sets every field to something.
func fill(v reflect.Value) {
	switch {
	case v.Type() == reflect.TypeFor[json.RawMessage]():
		v.SetBytes([]byte(`{"a": [1, 2.5, "x", null, true], "b": 12345678901234567890}`))
	case v.Type() == reflect.TypeFor[model.Facts]():
		v.SetUint(uint64(model.FactMask))
	case v.Kind() == reflect.String:
		v.SetString("text")
	case v.Kind() == reflect.Bool:
		v.SetBool(true)
	case v.Kind() == reflect.Int:
		v.SetInt(443)
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case v.Kind() == reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0))
		fill(v.Index(1))
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i))
		}
	}
}
