package audit

import (
	"context"
	"errors"
	"time"
)

// Stats counts a log. Decisions are verdicts, hook runs and connections; a
// call's intent and result are counted as executions.
type Stats struct {
	// Total is the number of decisions; Allowed, Denied and Asked what they were
	// (Asked: questions that no answer followed in the same event).
	Total   int `json:"total"`
	Allowed int `json:"allowed"`
	Denied  int `json:"denied"`
	Asked   int `json:"asked"`
	// PolicyBlocked counts deny_policy, CriticalCount events of critical risk.
	PolicyBlocked int `json:"policyBlocked"`
	CriticalCount int `json:"criticalCount"`
	// Executions counts calls that were begun, Failed those that ended with an
	// error or a status, Unfinished those without a result (a crash, or they run).
	Executions int `json:"executions"`
	Failed     int `json:"failed"`
	Unfinished int `json:"unfinished"`
	Hooks      int `json:"hooks"`
	Observed   int `json:"observed"`
	Shadowed   int `json:"shadowed"`
	// Lost is the number of events that could not be written, Conflicts and
	// Recovered those of the log's own trouble, Redactions what was removed.
	Lost       uint64 `json:"lost"`
	Conflicts  int    `json:"conflicts"`
	Recovered  int    `json:"recovered"`
	Redactions int    `json:"redactions"`
	// Damaged is the number of lines that could not be read.
	Damaged int `json:"damaged"`

	ByClass map[Class]int  `json:"byDecision"`
	ByRisk  map[Risk]int   `json:"byRisk"`
	ByTool  map[string]int `json:"byTool"`
	ByAgent map[string]int `json:"byAgent"`
	First   time.Time      `json:"first"`
	Last    time.Time      `json:"last"`
}

// otherKey collects what a map of Stats has no room for.
const (
	otherKey = "(other)"
	maxKeys  = 1000
	maxOpen  = 100_000 // intents that wait for a result
)

// CountStats counts the events of a log that a filter keeps. Damaged lines are
// counted too. The error is a *DirError or that of ctx.
func CountStats(ctx context.Context, dir string, f Filter) (*Stats, error) {
	s := &Stats{
		ByClass: make(map[Class]int), ByRisk: make(map[Risk]int),
		ByTool: make(map[string]int), ByAgent: make(map[string]int),
	}
	f.System = true
	open := make(map[Ref]bool)
	for e, err := range Show(ctx, dir, f) {
		var line *LineError
		switch {
		case errors.As(err, &line):
			s.Damaged++
		case err != nil:
			return nil, err
		default:
			s.count(e, open)
		}
	}
	s.Unfinished = len(open)
	return s, nil
}

func (s *Stats) count(e *Event, open map[Ref]bool) {
	if s.First.IsZero() || e.Time.Before(s.First) {
		s.First = e.Time
	}
	if e.Time.After(s.Last) {
		s.Last = e.Time
	}
	s.Redactions += len(e.Redactions) + e.MoreRedactions
	switch e.Type {
	case TypeVerdict, TypeHook, TypeNetwork:
		s.decision(e)
	case TypeIntent:
		s.Executions++
		if len(open) < maxOpen {
			open[Ref{e.Segment, e.Seq}] = true
		}
	case TypeResult:
		ref := Ref{e.IntentSegment, e.Intent}
		if ref.Segment == "" {
			ref.Segment = e.Segment
		}
		delete(open, ref)
		if e.Error != "" || (e.Exit != nil && *e.Exit != 0) {
			s.Failed++
		}
	case TypeGap:
		s.Lost += e.System.count()
	case TypeConflict:
		s.Conflicts++
	case TypeRecovered:
		s.Recovered++
	}
}

func (s *System) count() uint64 {
	if s == nil {
		return 0
	}
	return s.Count
}

func (s *Stats) decision(e *Event) {
	s.Total++
	switch {
	case e.Class.Denied():
		s.Denied++
	case e.Class.Allowed():
		s.Allowed++
	case e.Class == ClassAsk:
		s.Asked++
	}
	if e.Class == DenyPolicy {
		s.PolicyBlocked++
	}
	if e.Risk == RiskCritical {
		s.CriticalCount++
	}
	if e.Type == TypeHook {
		s.Hooks++
	}
	if e.Observed {
		s.Observed++
	}
	if e.Shadow != nil {
		s.Shadowed++
	}
	tally(s.ByClass, e.Class)
	tally(s.ByRisk, e.Risk)
	tally(s.ByTool, e.Tool)
	tally(s.ByAgent, e.Agent)
}

// tally counts a key, in a map of bounded size.
func tally[K ~string](m map[K]int, k K) {
	if k == "" {
		return
	}
	if _, ok := m[k]; !ok && len(m) >= maxKeys {
		k = otherKey
	}
	m[k]++
}
