package netguard

import (
	"fmt"
	"sync"
	"time"
)

// Block is a request that the proxy refused.
type Block struct {
	// Host is the name as asked for, in normal form where it has one; Port may be 0.
	Host string `json:"host"`
	Port int    `json:"port,omitempty"`
	Via  Via    `json:"via"`
	// Reason and Hint are those of the Decision, or what the proxy found itself.
	Reason string `json:"reason"`
	Hint   string `json:"hint,omitempty"`
	// By and Rule are those of the Decision; By is "proxy" for what the proxy
	// refuses on its own (addresses, malformed requests, a wrong server name).
	By   string `json:"by"`
	Rule string `json:"rule,omitempty"`
	// First is the time of the first one, Count how many there were.
	First time.Time `json:"first"`
	Count int       `json:"count"`
}

// byProxy is the By of what the proxy refuses on its own.
const byProxy = "proxy"

// Target is "host:port", or the host alone.
func (b Block) Target() string {
	if b.Port == 0 {
		return b.Host
	}
	return fmt.Sprintf("%s:%d", b.Host, b.Port)
}

// String is the line of the report:
//
//	blocked: example.com:443 (not on the list); allow it with network(example.com)
func (b Block) String() string {
	s := "blocked: " + b.Target() + " (" + b.Reason + ")"
	if b.Hint != "" {
		s += "; " + b.Hint
	}
	return s
}

// blockKey tells blocks apart.
type blockKey struct {
	host, reason string
	port         int
}

// blockLog collects the blocks of a run, each once, in the order they came.
type blockLog struct {
	mu    sync.Mutex
	index map[blockKey]int
	list  []Block
	// more counts blocks that are different from all that are kept.
	more int
}

// add counts a block.
func (l *blockLog) add(b Block, keep int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := blockKey{b.Host, b.Reason, b.Port}
	if i, ok := l.index[key]; ok {
		l.list[i].Count++
		return
	}
	if len(l.list) >= keep {
		l.more++
		return
	}
	if l.index == nil {
		l.index = map[blockKey]int{}
	}
	l.index[key] = len(l.list)
	l.list = append(l.list, b)
}

// Blocks returns what was refused so far: each host, port and reason once, in
// order.
func (p *Proxy) Blocks() []Block {
	p.blocks.mu.Lock()
	defer p.blocks.mu.Unlock()
	return append([]Block(nil), p.blocks.list...)
}

// Report returns the blocks as lines for the person, and says how many are left
// out. It is nil if nothing was blocked.
func (p *Proxy) Report() []string {
	var out []string
	for _, b := range p.Blocks() {
		line := b.String()
		if b.Count > 1 {
			line += fmt.Sprintf(" (%d times)", b.Count)
		}
		out = append(out, line)
	}
	p.blocks.mu.Lock()
	defer p.blocks.mu.Unlock()
	if p.blocks.more > 0 {
		out = append(out, fmt.Sprintf("blocked: %d more requests", p.blocks.more))
	}
	return out
}
