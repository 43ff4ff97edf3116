package sandbox

import (
	"sync"
	"time"
)

// cacheNode is what a search found in one folder: folders to go on with,
// protected names, git folders.
type cacheNode struct {
	stamp             dirStamp
	down, found, gits []string
	bare              bool
}

// dirStamp identifies one state of a folder's list of names.
type dirStamp struct {
	dev, ino     uint64
	mtime, ctime int64
}

// settled is how old a change must be before a folder's times can be trusted: two
// changes within the clock's tick leave the same time.
const settled = 2 * time.Second

// scanCache remembers folders between the commands of one process, so that the
// search of a large tree is one stat per folder. It is bounded; when it is full it
// starts anew.
var scanCache = struct {
	sync.Mutex
	dirs map[string]*cacheNode
}{dirs: map[string]*cacheNode{}}

const maxCached = 200_000

func cached(dir string) (*cacheNode, bool) {
	scanCache.Lock()
	n, ok := scanCache.dirs[dir]
	scanCache.Unlock()
	if !ok {
		return nil, false
	}
	st, ok := stampOf(dir)
	if !ok || st != n.stamp {
		return nil, false
	}
	return n, true
}

// remember keeps n if the folder has not changed for a while.
func remember(dir string, n *cacheNode) {
	st, ok := stampOf(dir)
	if !ok || time.Since(time.Unix(0, max(st.mtime, st.ctime))) < settled {
		return
	}
	n.stamp = st
	scanCache.Lock()
	if len(scanCache.dirs) >= maxCached {
		clear(scanCache.dirs)
	}
	scanCache.dirs[dir] = n
	scanCache.Unlock()
}
