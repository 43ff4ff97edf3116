package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// victim is a small log in memory whose one segment is mutated.
type victim struct {
	// chunk is the size of the pieces that are verified apart, 0 for the usual.
	chunk int64
	fs    *memFS
	dir   string
	path  string
	data  []byte
}

func newVictim(t testing.TB, checkpoint bool, skey string) *victim {
	t.Helper()
	v := &victim{fs: newMemFS()}
	opt := Options{Home: "/home/u", Root: "/src/p", FS: v.fs, Environ: []string{}, Checkpoint: checkpoint, SignKey: skey, Clock: testClock()}
	l, err := Open(opt)
	require.NoError(t, err)
	fill(t, l, 3)
	require.NoError(t, l.Close())
	v.dir = l.Dir()
	names, err := segmentNames(v.fs, v.dir)
	require.NoError(t, err)
	require.Len(t, names, 1)
	v.path = filepath.Join(v.dir, names[0])
	v.data = v.fs.live[v.path].data
	return v
}

// with verifies the log with other bytes in its segment.
func (v *victim) with(t testing.TB, data []byte, opt VerifyOptions) *Report {
	t.Helper()
	m := v.fs.copyOf()
	m.live[v.path].data = data
	return v.on(t, m, opt)
}

func (v *victim) on(t testing.TB, m *memFS, opt VerifyOptions) *Report {
	t.Helper()
	opt.FS, opt.Workers, opt.chunk = m, 1, v.chunk
	return verify(t, v.dir, opt)
}

// lineOf is the number of the line that holds byte i.
func lineOf(data []byte, i int) uint64 { return uint64(bytes.Count(data[:i], []byte("\n")) + 1) }

func lines(p []byte) [][]byte {
	return slices.DeleteFunc(bytes.SplitAfter(p, []byte("\n")), func(l []byte) bool { return len(l) == 0 })
}

func TestVerifySeesEveryBitFlip(t *testing.T) {
	for n, checkpoint := range []bool{false, true, false} {
		v := newVictim(t, checkpoint, "")
		v.chunk = []int64{0, 0, 700}[n] // a seam in or beside every line
		for i := range v.data {
			for bit := range 8 {
				data := slices.Clone(v.data)
				data[i] ^= 1 << bit
				r := v.with(t, data, VerifyOptions{})
				want := StatusTampered
				if i == len(data)-1 { // the last newline: an unfinished line
					want = StatusTorn
					if checkpoint {
						want = StatusTruncated
					}
				}
				if r.Status != want || r.Line != lineOf(v.data, i) || r.File != v.path {
					t.Fatalf("byte %d bit %d: %s, want %s in line %d", i, bit, r, want, lineOf(v.data, i))
				}
			}
		}
	}
}

func TestVerifySeesEveryCut(t *testing.T) {
	plain, checked := newVictim(t, false, ""), newVictim(t, true, "")
	checked.chunk = 500
	for n := range plain.data {
		r := plain.with(t, plain.data[:n], VerifyOptions{})
		line := lineOf(plain.data, n)
		if n > 0 && plain.data[n-1] == '\n' {
			require.Equal(t, StatusUnanchored, r.Status, "a cut between lines shows only with a checkpoint")
			continue
		}
		if r.Status != StatusTorn || r.Line != line {
			t.Fatalf("cut at %d: %s, want torn in line %d", n, r, line)
		}
	}
	for n := range checked.data {
		r := checked.with(t, checked.data[:n], VerifyOptions{})
		if r.Status != StatusTruncated || r.Line != lineOf(checked.data, n) {
			t.Fatalf("cut at %d: %s, want truncated in line %d", n, r, lineOf(checked.data, n))
		}
	}
}

func TestVerifySeesMovedLines(t *testing.T) {
	for n, checkpoint := range []bool{false, true, false, true, false} {
		v := newVictim(t, checkpoint, "")
		v.chunk = []int64{0, 0, 100, 600, 1}[n]
		all := lines(v.data)
		bad := func(what string, line int, mutated ...[]byte) {
			t.Helper()
			r := v.with(t, bytes.Join(mutated, nil), VerifyOptions{})
			if r.Status != StatusTampered || r.Line != uint64(line) || r.File != v.path {
				t.Fatalf("%s: %s, want tampered in line %d", what, r, line)
			}
		}
		for i := range all {
			if i < len(all)-1 {
				bad("deleted", i+1, slices.Concat(all[:i], all[i+1:])...)
			}
			bad("duplicated", i+2, slices.Concat(all[:i+1], all[i:])...)
			for k := i + 1; k < len(all); k++ {
				swapped := slices.Clone(all)
				swapped[i], swapped[k] = swapped[k], swapped[i]
				bad("swapped", i+1, swapped...)
			}
			for what, line := range map[string]string{
				"CRLF":         strings.TrimSuffix(string(all[i]), "\n") + "\r\n",
				"BOM":          "\ufeff" + string(all[i]),
				"NUL":          string(all[i][:50]) + "\x00" + string(all[i][50:]),
				"a blank":      " " + string(all[i]),
				"blank at end": strings.TrimSuffix(string(all[i]), "\n") + " \n",
				"empty line":   "\n" + string(all[i]),
				"two hashes":   strings.Replace(string(all[i]), `,"hash":"`, `,"hash":"`+strings.Repeat("0", 64)+`","hash":"`, 1),
			} {
				mutated := slices.Clone(all)
				mutated[i] = []byte(line)
				bad(what, i+1, mutated...)
			}
		}
		bad("text behind the end", 6, append(slices.Clone(all), []byte("{}\n"))...)
		bad("another log", 1, []byte("{}\n"))
		if v.chunk > 0 {
			continue // a million seams in a line of megabytes show nothing more
		}
		huge := slices.Clone(all)
		huge[1] = append(bytes.Repeat([]byte("x"), 5*maxLine), '\n')
		bad("a huge line", 2, huge...)
		bad("an endless line", 6, append(slices.Clone(all), bytes.Repeat([]byte("x"), 5*maxLine))...)
	}
}

// reseal writes the chain anew from a line on, as somebody would who knows the
// format.
func reseal(all [][]byte, from int) []byte {
	prev := genesis[:]
	var out []byte
	for i, line := range all {
		if i >= from {
			body := slices.Clone(line[:len(line)-1-suffixLen])
			copy(body[len(body)-1-hexLen:], prev)
			sum := sha256.Sum256(body)
			line = append(body, hashMember...)
			line = hex.AppendEncode(line, sum[:])
			line = append(line, "\"}\n"...)
		}
		prev = lineHash(line)
		out = append(out, line...)
	}
	return out
}

func TestVerifySeesARewrittenLog(t *testing.T) {
	skey, vkey, err := GenerateKey("test-key")
	require.NoError(t, err)
	other, _, err := GenerateKey("test-key")
	require.NoError(t, err)
	v := newVictim(t, true, skey)
	r := v.on(t, v.fs.copyOf(), VerifyOptions{Keys: []string{vkey}})
	require.Equal(t, StatusOK, r.Status, "%s", r)
	require.True(t, r.Signed)

	all := lines(v.data)
	all[2] = bytes.Replace(all[2], []byte("git status 1"), []byte("rm -rf /   "), 1)
	forged := reseal(all, 2)
	r = v.with(t, forged, VerifyOptions{})
	assert.Equal(t, StatusTampered, r.Status)
	assert.Equal(t, uint64(5), r.Line, "the line that the checkpoint names")

	// A cut and re-sealed log, with a checkpoint that fits: only a key tells.
	m := v.fs.copyOf()
	cut := reseal(lines(v.data)[:3], 0)
	m.live[v.path].data = cut
	ck := filepath.Join(CheckpointDir(v.dir), filepath.Base(v.path)+checkpointSuffix)
	for name, key := range map[string]string{"unsigned": "", "foreign key": other} {
		l := openLog(t, Options{Dir: v.dir, FS: newMemFS(), Environ: []string{}, SignKey: key})
		tl, err := readTail(mustOpen(t, m, v.path), int64(len(cut)))
		require.NoError(t, err)
		c := Checkpoint{Log: logName(v.dir), Point: Point{File: filepath.Base(v.path), Count: tl.count, Head: string(tl.head[:]), Bytes: tl.end}}
		msg, err := c.message(l.signer)
		require.NoError(t, err)
		m.live[ck].data = msg
		r = v.on(t, m, VerifyOptions{Keys: []string{vkey}})
		assert.Equal(t, StatusTampered, r.Status, name)
		assert.Equal(t, ck, r.File, name)
		// Without the key the history still knows the longer log.
		r = v.on(t, m, VerifyOptions{})
		assert.Equal(t, StatusTruncated, r.Status, name)
	}
}

func mustOpen(t testing.TB, fsys FS, path string) File {
	f, err := fsys.OpenRead(path)
	require.NoError(t, err)
	return f
}

// An older log put back together with its older checkpoint.
func TestVerifySeesARollback(t *testing.T) {
	m := newMemFS()
	opt := Options{Home: "/home/u", Root: "/src/p", FS: m, Environ: []string{}, Checkpoint: true, Clock: testClock()}
	l, err := Open(opt)
	require.NoError(t, err)
	fill(t, l, 3)
	old := m.copyOf()
	oldHead, err := Head(l.Dir(), m)
	require.NoError(t, err)
	fill(t, l, 150) // into the history
	newHead, err := Head(l.Dir(), m)
	require.NoError(t, err)
	require.Equal(t, StatusOK, verify(t, l.Dir(), VerifyOptions{FS: m, Anchors: append(oldHead, newHead...)}).Status)

	rolled := m.copyOf()
	for p, n := range old.live {
		if filepath.Base(p) != historyName {
			rolled.live[p] = n
		}
	}
	r := verify(t, l.Dir(), VerifyOptions{FS: rolled})
	assert.Equal(t, StatusTruncated, r.Status)
	assert.Contains(t, r.Why, "history")
	assert.Equal(t, uint64(5), r.Line)

	// With the history as well, only an anchor kept elsewhere tells.
	assert.Equal(t, StatusOK, verify(t, l.Dir(), VerifyOptions{FS: old}).Status)
	text := newHead[0].String()
	anchors, err := ParseAnchors(strings.NewReader("# from CI\n\n" + text + "\n"))
	require.NoError(t, err)
	r = verify(t, l.Dir(), VerifyOptions{FS: old, Anchors: anchors})
	assert.Equal(t, StatusTruncated, r.Status)
	assert.Contains(t, r.Why, "an anchor")
	_, err = ParseAnchors(strings.NewReader("nonsense"))
	assert.ErrorContains(t, err, "line 1")
}

func TestVerifySeesASplice(t *testing.T) {
	a, b := newVictim(t, false, ""), newVictim(t, false, "")
	la, lb := lines(a.data), lines(b.data)
	r := a.with(t, bytes.Join(slices.Concat(la[:2], lb[2:]), nil), VerifyOptions{})
	assert.Equal(t, StatusTampered, r.Status)
	assert.Equal(t, uint64(3), r.Line)

	// A whole segment of another log, or under another name.
	m := a.fs.copyOf()
	other := newMemFS()
	l, err := Open(Options{Home: "/home/u", Root: "/other", FS: other, Environ: []string{}, Clock: testClock()})
	require.NoError(t, err)
	fill(t, l, 1)
	for p, n := range other.live {
		if isSegment(filepath.Base(p)) {
			m.live[filepath.Join(a.dir, filepath.Base(p))] = n
		}
	}
	r = a.on(t, m, VerifyOptions{})
	assert.Equal(t, StatusTampered, r.Status)
	assert.Contains(t, r.Why, "another log")

	m = a.fs.copyOf()
	renamed := filepath.Join(a.dir, "2"+filepath.Base(a.path)[1:len(filepath.Base(a.path))-7]+"x.jsonl")
	m.live[renamed] = m.live[a.path]
	delete(m.live, a.path)
	r = a.on(t, m, VerifyOptions{})
	assert.Equal(t, StatusTampered, r.Status)
	assert.Contains(t, r.Why, "names another file")
	assert.Equal(t, uint64(1), r.Line)

	// A copied folder verifies if asked to.
	m = newMemFS()
	for p, n := range a.fs.live {
		m.live[strings.Replace(p, a.dir, "/evidence/case-1", 1)] = n
	}
	assert.Equal(t, StatusTampered, verify(t, "/evidence/case-1", VerifyOptions{FS: m}).Status)
	assert.Equal(t, StatusUnanchored, verify(t, "/evidence/case-1", VerifyOptions{FS: m, AnyName: true}).Status)
}

// Every bit of a checkpoint, and of the history, counts.
func TestVerifySeesADamagedCheckpoint(t *testing.T) {
	skey, vkey, err := GenerateKey("test-key")
	require.NoError(t, err)
	for _, key := range []string{"", skey} {
		v := newVictim(t, true, key)
		ck := filepath.Join(CheckpointDir(v.dir), filepath.Base(v.path)+checkpointSuffix)
		history := filepath.Join(CheckpointDir(v.dir), historyName)
		var opt VerifyOptions
		if key != "" {
			opt.Keys = []string{vkey}
		}
		for _, path := range []string{ck, history} {
			data := v.fs.live[path].data
			for i := range data {
				m := v.fs.copyOf()
				m.live[path].data = slices.Clone(data)
				m.live[path].data[i] ^= 1 << (i % 8)
				if r := v.on(t, m, opt); r.OK() && i < len(data)-1 {
					t.Fatalf("%s byte %d of %d (%q): %s", filepath.Base(path), i, len(data), data[i], r)
				}
			}
		}
	}
}

func TestVerifySeesAMissingSegment(t *testing.T) {
	opt := testOptions(t)
	for range 3 {
		l := openLog(t, opt)
		fill(t, l, 2)
		require.NoError(t, l.Close())
	}
	dir := Dir(opt.Home, opt.Root)
	requireGood(t, dir)
	first := segments(t, dir)[0]
	require.NoError(t, OSFS.Remove(first))
	r := verify(t, dir, VerifyOptions{})
	assert.Equal(t, StatusMissing, r.Status, "the next segment links to it")
	assert.Equal(t, first, r.File)
	assert.Equal(t, 6, r.ExitCode(false))
}

func TestExitCodesDiffer(t *testing.T) {
	seen := map[int]Status{}
	for s := range severity {
		r := Report{Status: s}
		if code := r.ExitCode(true); s != StatusOK {
			assert.NotZero(t, code)
			assert.Empty(t, seen[code], "%s", s)
			seen[code] = s
		}
	}
	assert.Zero(t, (&Report{Status: StatusUnanchored}).ExitCode(false))
}

// A line without an end must not be read into memory whole.
func TestVerifyIsBounded(t *testing.T) {
	v := newVictim(t, false, "")
	m := v.fs.copyOf()
	m.live[v.path].data = append(slices.Clone(v.data), bytes.Repeat([]byte("x"), 64<<20)...)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := v.on(t, m, VerifyOptions{})
	runtime.ReadMemStats(&after)
	assert.Equal(t, StatusTampered, r.Status)
	assert.Equal(t, uint64(6), r.Line)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(40<<20))
}

func TestStrictVerifyRefusesOddMembers(t *testing.T) {
	v := newVictim(t, false, "")
	for what, edit := range map[string][2]string{
		"unknown":   {`"tool":"bash"`, `"tool":"bash","extra":1`},
		"duplicate": {`"tool":"bash"`, `"tool":"bash","tool":"dash"`},
		"type":      {`"tool":"bash"`, `"tool":7`},
	} {
		all := lines(v.data)
		all[1] = bytes.Replace(all[1], []byte(edit[0]), []byte(edit[1]), 1)
		data := reseal(all, 1)
		assert.True(t, v.with(t, data, VerifyOptions{}).OK(), "the chain holds")
		r := v.with(t, data, VerifyOptions{Strict: true})
		assert.Equal(t, StatusTampered, r.Status, what)
		assert.Equal(t, uint64(2), r.Line, what)
	}
}
