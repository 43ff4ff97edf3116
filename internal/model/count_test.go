package model

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestCount(t *testing.T) {
	assert.Equal(t, "0 rules", Count(0, "rule"))
	assert.Equal(t, "1 rule", Count(1, "rule"))
	assert.Equal(t, "12 events", Count(uint64(12), "event"))
}
