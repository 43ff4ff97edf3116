package netguard

import "testing"

func BenchmarkNormalizeHost(b *testing.B) {
	for _, host := range []string{"api.github.com", "API.GitHub.com", "bücher.example", "127.0.0.1"} {
		b.Run(host, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := NormalizeHost(host); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkParseURL(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		u, err := ParseURL("https://docs.example.com/guide/intro?lang=en")
		if err != nil || AlwaysAsk(u) {
			b.Fatal(err)
		}
	}
}

func BenchmarkMatch(b *testing.B) {
	p, err := ParsePattern("*.github.com", "bench")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if !p.Match("api.github.com") {
			b.Fatal("no match")
		}
	}
}
