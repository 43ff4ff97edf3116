package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
)

const (
	dirMode      os.FileMode = 0o700
	fileMode     os.FileMode = 0o600
	finishedMode os.FileMode = 0o400

	segmentSuffix    = ".jsonl"
	checkpointSuffix = ".checkpoint"
	lockName         = "lock"
	secretName       = "redaction.key"
	historyName      = "history"
	checkpointsDir   = "checkpoints"
	sharedMark       = "-shared-"
)

// BaseDir is the folder that holds the logs of all roots: <home>/.lictor/audit.
// The sandbox hides it from commands.
func BaseDir(home string) string { return filepath.Join(home, ".lictor", "audit") }

// Dir is the folder of a root's log: <home>/.lictor/audit/<name>-<hash>, where
// name is the root's last element with unusual characters replaced and hash is
// taken from the whole path, so that two roots never share a folder.
func Dir(home, root string) string {
	root = filepath.Clean(root)
	sum := sha256.Sum256([]byte(root))
	return filepath.Join(BaseDir(home), plainName(filepath.Base(root))+"-"+hex.EncodeToString(sum[:8]))
}

// CheckpointDir is the folder of the checkpoints of the log in dir. It lies
// beside the log's folder, not in it, so that removing the log leaves a trace.
func CheckpointDir(dir string) string {
	dir = filepath.Clean(dir)
	return filepath.Join(filepath.Dir(dir), checkpointsDir, filepath.Base(dir))
}

// plainName keeps letters, digits, '.', '_' and '-' and cuts at 40 bytes.
func plainName(s string) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '_', r == '-':
			return r
		}
		return '_'
	}, s)
	name = strings.TrimLeft(name, ".")
	if len(name) > 40 {
		name = name[:40]
	}
	if name == "" {
		name = "root"
	}
	return name
}

// isSegment reports whether a file name is that of a segment.
func isSegment(name string) bool {
	return strings.HasSuffix(name, segmentSuffix) && !strings.HasPrefix(name, ".")
}
