package approve

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lictor-policy/lictor/internal/model"
)

func bigChange(n int) []model.Change {
	var before, after strings.Builder
	for i := range n {
		fmt.Fprintf(&before, "line %d\n", i)
		if i%10 == 0 {
			fmt.Fprintf(&after, "changed line %d\n", i)
		} else {
			fmt.Fprintf(&after, "line %d\n", i)
		}
	}
	return []model.Change{{Path: "big", Old: text(before.String()), New: after.String()}}
}

func BenchmarkHunks5000(b *testing.B) {
	changes := bigChange(5000)
	for b.Loop() {
		Hunks(changes)
	}
}

func BenchmarkDocument5000(b *testing.B) {
	r := change(bigChange(5000)...)
	for b.Loop() {
		Render(Document(&r), 80, true)
	}
}
