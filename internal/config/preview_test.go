package config

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/lictor-policy/lictor/internal/model"
)

func TestWhatAProjectWritesCannotMoveTheCursor(t *testing.T) {
	p := project(t)
	place(t, p, "", `{"permissions": {"allow": ["bash(\u001b[2Jls\u202e\u200b)"]}}`)
	no := &asker{answer: model.AnswerDeny}
	got, err := Load(context.Background(), p, Options{Rego: engine(t), Ask: no.ask})
	require.NoError(t, err)
	for _, text := range []string{no.requests[0].Preview, got.Applied.Notices[0].Text} {
		assert.NotContains(t, text, "\x1b")
		assert.NotContains(t, text, "\u202e")
		assert.NotContains(t, text, "\u200b")
		assert.Contains(t, text, `\u202e`)
	}
}

func TestLongListsAreShownBriefly(t *testing.T) {
	p := project(t)
	var rules []string
	for i := range 1000 {
		rules = append(rules, fmt.Sprintf("bash(tool%d *)", i))
	}
	rules = append(rules, "bash("+strings.Repeat("x", 2000)+")")
	text, err := json.Marshal(map[string]any{"permissions": map[string]any{"allow": rules}})
	require.NoError(t, err)
	place(t, p, "", string(text))
	no := &asker{answer: model.AnswerDeny}
	got, err := Load(context.Background(), p, Options{Rego: engine(t), Ask: no.ask})
	require.NoError(t, err)
	preview := no.requests[0].Preview
	assert.Contains(t, preview, "permissions.allow: 1001 entries")
	assert.Contains(t, preview, "      \"bash(tool0 *)\"\n")
	assert.Contains(t, preview, "… and 801 more: read the file")
	assert.Less(t, len(preview), 20_000)
	assert.Less(t, len(got.Applied.Notices[0].Text), 1000)
	assert.Contains(t, got.Applied.Notices[0].Text, "more bytes)")
}
