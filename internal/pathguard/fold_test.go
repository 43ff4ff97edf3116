package pathguard

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestFoldName(t *testing.T) {
	assert.Equal(t, FoldName("Secret"), FoldName("sECRET"))
	assert.Equal(t, FoldName("straße"), FoldName("STRASSE"))
	assert.Equal(t, FoldName("\u212Aey"), FoldName("key"))
	assert.Equal(t, FoldName("caf\u00e9"), FoldName("cafe\u0301"))
	assert.Equal(t, ".git", FoldName(".g\u200cit"))
}
