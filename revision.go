package lictor

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"strconv"

	"github.com/lictor-policy/lictor/internal/config"
)

// revision names everything that a verdict depends on besides the call: the
// Rego modules, the rules that apply, the team policy and the effective
// settings. Two engines with the same revision decide alike.
func revision(policy string, c *config.Config) string {
	h := sha256.New()
	field(h, policy)
	for i := range c.Applied.Rules {
		r := &c.Applied.Rules[i]
		field(h, string(r.Effect), string(r.Syntax), r.Text, r.Source)
	}
	if c.Policy != nil {
		field(h, string(c.Policy.Document))
	}
	field(h, c.OutsideRoot, strconv.FormatBool(c.AskFirst), strconv.FormatBool(c.Strict), string(c.Shell()), string(c.Applied.Settings.Tools))
	return hex.EncodeToString(h.Sum(nil))[:16]
}

// field writes texts so that no two lists of them look alike.
func field(h hash.Hash, texts ...string) {
	for _, t := range texts {
		h.Write([]byte(strconv.Itoa(len(t))))
		h.Write([]byte{':'})
		h.Write([]byte(t))
	}
}
