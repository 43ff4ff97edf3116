package config

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Risk is everything by which a project loosens safety, sorted by key. It is
// computed in Rego (data.lictor.consent); the user's consent is for its hash.
type Risk []RiskItem

// RiskItem is one key that loosens safety.
type RiskItem struct {
	// Key is the settings key ("executor", "permissions.allow"), File the file
	// that it stands in, relative to the root (".lictor/settings.json").
	Key  string `json:"key"`
	File string `json:"file"`
	// Value is what the file says, as JSON.
	Value json.RawMessage `json:"value"`
}

// String returns the item as a person reads it: `executor: "host"`.
func (i RiskItem) String() string { return i.Key + ": " + compact(i.Value) }

const hashPrefix = "sha256:"

// Hash returns the hash that a consent pins ("sha256:…"), or "" if nothing is
// risky. Equal risks have equal hashes, whatever the spelling of their JSON.
func (r Risk) Hash() string {
	if len(r) == 0 {
		return ""
	}
	hash := sha256.New()
	for _, item := range r.sorted() {
		for _, field := range []string{item.File, item.Key, compact(item.Value)} {
			fmt.Fprintf(hash, "%d:%s\n", len(field), field)
		}
	}
	return hashPrefix + hex.EncodeToString(hash.Sum(nil))
}

// sorted returns a copy in the one order.
func (r Risk) sorted() Risk {
	out := slices.Clone(r)
	slices.SortFunc(out, func(a, b RiskItem) int {
		if c := strings.Compare(a.File, b.File); c != 0 {
			return c
		}
		return strings.Compare(a.Key, b.Key)
	})
	return out
}

// Changes names what differs from an accepted risk, one phrase a key, in order.
func (r Risk) Changes(accepted Risk) []string {
	type place struct{ file, key string }
	before, now := map[place]string{}, map[place]string{}
	var places []place
	collect := func(risk Risk, into map[place]string) {
		for _, item := range risk {
			at := place{item.File, item.Key}
			into[at] = compact(item.Value)
			if !slices.Contains(places, at) {
				places = append(places, at)
			}
		}
	}
	collect(accepted.sorted(), before)
	collect(r.sorted(), now)
	var out []string
	for _, at := range places {
		old, was := before[at]
		value, is := now[at]
		switch {
		case !was:
			out = append(out, fmt.Sprintf("%s (%s, new)", at.key, at.file))
		case !is:
			out = append(out, fmt.Sprintf("%s (%s, gone)", at.key, at.file))
		case old != value:
			out = append(out, fmt.Sprintf("%s (%s)", at.key, at.file))
		}
	}
	slices.Sort(out)
	return out
}

// compact writes JSON without blanks, with sorted keys; text that is no JSON
// stays as it is.
func compact(raw json.RawMessage) string {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return string(raw)
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return string(raw)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
