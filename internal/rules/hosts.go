package rules

import (
	"errors"

	"github.com/lictor-policy/lictor/internal/netguard"
)

// hostIndex finds host rules: exact names, and `*.example.com` for the names
// below example.com (not example.com itself), by the name without the star.
type hostIndex struct {
	exact, below map[string][]int32
}

var errLoneStar = errors.New("a lone * matches no host: name the hosts, or leave the pattern out")

// add puts an item at a host pattern; errors are those of the pattern.
func (x *hostIndex) add(pattern, where string, item int32) error {
	p, err := netguard.ParsePattern(pattern, where)
	if err != nil {
		return err
	}
	if p.Never() {
		return errLoneStar
	}
	if x.exact == nil {
		x.exact, x.below = map[string][]int32{}, map[string][]int32{}
	}
	if host := p.Exact(); host != "" {
		x.exact[host] = append(x.exact[host], item)
	} else {
		host := p.Suffix()[1:]
		x.below[host] = append(x.below[host], item)
	}
	return nil
}
