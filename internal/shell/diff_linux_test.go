package shell

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lictor-policy/lictor/internal/model"
	"github.com/lictor-policy/lictor/internal/testcase"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// The differential test runs texts in real shells whose commands are stubs that
// log how they were called, and checks that everything that ran was listed, or
// that the analysis said that it could not list it.
//
//	LICTOR_DIFF_N      number of texts, shared by the shells (default 2000)
//	LICTOR_DIFF_SEED   seed of the generator (default 1)
//	LICTOR_DIFF_SHELL  only this shell

const boxEnv = "LICTOR_SHELL_TEST_BOX"

func TestMain(m *testing.M) {
	if dir := os.Getenv(boxEnv); dir != "" {
		if err := box(dir); err != nil {
			fmt.Fprintln(os.Stderr, "box:", err)
			os.Exit(3)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

type boxRequest struct {
	Shell []string
	Text  string
}

type boxReply struct {
	Ran  [][]string
	Late bool
}

// stubbed are the commands that log and do nothing else; real the programs that
// run others, so that what they run is logged.
var (
	stubbed = strings.Fields("rm ls a b c d e f g q sudo curl git wget gh npm node python3 docker kubectl make go mv cp chmod dd kill tar tee-stub ssh rsync vim man gcc cargo pytest jq head tail wc grep uniq file stat date uname touch mkdir ps systemctl reboot")
	real    = strings.Fields("env nice timeout nohup setsid stdbuf xargs find bash dash zsh sh sed awk cat tee sort sleep dirname basename mktemp tr cut seq")
)

// box runs inside its own user, mount, process and network namespaces: the whole
// root becomes read-only but for a throw-away folder.
func box(dir string) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("private mounts: %w", err)
	}
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=64m"); err != nil {
		return fmt.Errorf("tmpfs: %w", err)
	}
	bin, work, logs := dir+"/bin", dir+"/work", dir+"/log"
	for _, d := range []string{bin, work, logs} {
		if err := os.Mkdir(d, 0o755); err != nil {
			return err
		}
	}
	stub := "#!/bin/sh\nprintf '%s\\0' \"${0##*/}\" \"$@\" >>" + logs + "/$$\n"
	for _, name := range stubbed {
		if err := os.WriteFile(bin+"/"+name, []byte(stub), 0o755); err != nil {
			return err
		}
	}
	for _, name := range real {
		if at, err := exec.LookPath(name); err == nil {
			if err := os.Symlink(at, bin+"/"+name); err != nil {
				return err
			}
		}
	}
	if at, err := filepath.EvalSymlinks("/bin/rm"); err == nil {
		_ = unix.Mount(bin+"/rm", at, "", unix.MS_BIND, "")
	}
	_ = unix.Mount("proc", "/proc", "proc", 0, "") // process substitution needs it
	if err := unix.MountSetattr(unix.AT_FDCWD, "/", unix.AT_RECURSIVE, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}); err != nil {
		return fmt.Errorf("read-only root: %w", err)
	}
	for _, d := range []string{work, logs} {
		if err := unix.Mount("tmpfs", d, "tmpfs", 0, "size=16m"); err != nil {
			return fmt.Errorf("tmpfs: %w", err)
		}
	}
	for _, d := range []string{"/", "/tmp", "/etc", bin, dir, "/usr/bin"} {
		if err := os.WriteFile(d+"/lictor-box-probe", nil, 0o600); !errors.Is(err, unix.EROFS) {
			return fmt.Errorf("%s can be written (%v); the box is not tight", d, err)
		}
	}
	for res, n := range map[int]uint64{unix.RLIMIT_FSIZE: 1 << 20, unix.RLIMIT_CPU: 3600, unix.RLIMIT_CORE: 0} {
		if err := unix.Setrlimit(res, &unix.Rlimit{Cur: n, Max: n}); err != nil {
			return err
		}
	}
	return serve(bin, work, logs)
}

func serve(bin, work, logs string) error {
	in := bufio.NewReader(os.Stdin)
	out := json.NewEncoder(os.Stdout)
	for {
		line, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		var q boxRequest
		if err := json.Unmarshal(line, &q); err != nil {
			return err
		}
		if err := out.Encode(runBoxed(q, bin, work, logs)); err != nil {
			return err
		}
	}
}

func empty(dir string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		_ = os.RemoveAll(dir + "/" + e.Name())
	}
}

func runBoxed(q boxRequest, bin, work, logs string) (reply boxReply) {
	empty(work)
	empty(logs)
	_ = os.WriteFile(work+"/f", []byte("x\n"), 0o644)
	cmd := exec.Command(q.Shell[0], append(q.Shell[1:], q.Text)...)
	cmd.Dir = work
	cmd.Env = []string{"PATH=" + bin, "HOME=" + work, "LC_ALL=C.UTF-8"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return reply
	}
	late := time.AfterFunc(2*time.Second, func() { reply.Late = true; _ = unix.Kill(-1, unix.SIGKILL) })
	_ = cmd.Wait()
	late.Stop()
	// Background commands become children of this process, the first of its
	// process namespace. Nothing else lives here, so -1 reaches only them.
	for end := time.Now().Add(150 * time.Millisecond); ; {
		pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil)
		if errors.Is(err, unix.ECHILD) {
			break
		}
		if pid == 0 {
			if time.Now().After(end) {
				_ = unix.Kill(-1, unix.SIGKILL)
				_, _ = unix.Wait4(-1, nil, 0, nil)
				continue
			}
			time.Sleep(500 * time.Microsecond)
		}
	}
	entries, _ := os.ReadDir(logs)
	for _, e := range entries {
		data, err := os.ReadFile(logs + "/" + e.Name())
		if err == nil && len(data) > 0 {
			reply.Ran = append(reply.Ran, strings.Split(strings.TrimSuffix(string(data), "\x00"), "\x00"))
		}
	}
	return reply
}

// startBox starts the helper; it skips the test, loudly, where the kernel does
// not allow namespaces.
func startBox(t *testing.T) func(boxRequest) boxReply {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), boxEnv+"="+t.TempDir())
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWNET | unix.CLONE_NEWPID | unix.CLONE_NEWIPC,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
		Pdeathsig:   syscall.SIGKILL,
	}
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	if err := cmd.Start(); err != nil {
		t.Skipf("DIFFERENTIAL TEST SKIPPED: no user namespaces here: %v", err)
	}
	t.Cleanup(func() {
		_ = stdin.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	out := json.NewDecoder(stdout)
	in := json.NewEncoder(stdin)
	ask := func(q boxRequest) boxReply {
		if err := in.Encode(q); err != nil {
			t.Fatalf("box: %v %s", err, stderr.String())
		}
		var r boxReply
		if err := out.Decode(&r); err != nil {
			t.Fatalf("box: %v %s", err, stderr.String())
		}
		return r
	}
	if err := in.Encode(boxRequest{Shell: []string{"/bin/sh", "-c"}, Text: "rm probe; /bin/rm probe2"}); err == nil {
		var r boxReply
		if err := out.Decode(&r); err != nil {
			t.Skipf("DIFFERENTIAL TEST SKIPPED: no tight box here: %s", stderr.String())
		}
		require.Len(t, r.Ran, 2, "the stubs must log")
	}
	return ask
}

var diffShells = []struct {
	name  string
	argv  []string
	shell model.Shell
	share int // of ten
}{
	{"bash", []string{"--norc", "--noprofile", "-c"}, model.ShellBash, 5},
	{"zsh", []string{"-f", "-c"}, model.ShellZsh, 3},
	{"dash", []string{"-c"}, model.ShellPOSIX, 2},
}

func diffCount() int {
	if n, err := strconv.Atoi(os.Getenv("LICTOR_DIFF_N")); err == nil {
		return n
	}
	if testing.Short() {
		return 300
	}
	return 2000
}

func TestDifferential(t *testing.T) {
	seed := uint64(1)
	if n, err := strconv.ParseUint(os.Getenv("LICTOR_DIFF_SEED"), 10, 64); err == nil {
		seed = n
	}
	var corpus []string
	for _, name := range []string{"testdata/corpus.jsonl", "testdata/holes.jsonl"} {
		for _, r := range testcase.Lines[corpusRow](t, name) {
			if !strings.Contains(r.Command, "\x00") {
				corpus = append(corpus, r.Command)
			}
		}
	}
	for _, sh := range diffShells {
		t.Run(sh.name, func(t *testing.T) {
			only := os.Getenv("LICTOR_DIFF_SHELL")
			if only != "" && only != sh.name {
				t.Skip("not asked for")
			}
			at, err := exec.LookPath(sh.name)
			if err != nil {
				t.Skipf("DIFFERENTIAL TEST SKIPPED: %s is not installed", sh.name)
			}
			n := diffCount() * sh.share / 10
			if only != "" {
				n = diffCount()
			}
			d := differential{ask: startBox(t), argv: append([]string{at}, sh.argv...), shell: sh.shell}
			for _, text := range corpus {
				d.try(t, text)
			}
			g := newGenerator(seed, corpus)
			for range n {
				d.try(t, numbered(g.text()))
			}
			t.Logf("%s: seed %d, %d texts, %d opaque, %d ran something, %d ran rm, %d killed, %d deny misses in opaque texts",
				sh.name, seed, d.texts, d.opaque, d.ran, d.rm, d.late, d.misses)
			assert.Greater(t, d.ran, d.texts/10, "too few texts ran anything: is the box all right?")
		})
	}
}

// numbered gives every "rm q" of a text an argument of its own, so that one that
// is listed does not hide one that is not.
func numbered(text string) string {
	var b strings.Builder
	for n := 1; ; n++ {
		i := strings.Index(text, "rm q")
		if i < 0 {
			return b.String() + text
		}
		b.WriteString(text[:i+4])
		b.WriteString(strconv.Itoa(n))
		text = text[i+4:]
	}
}

type differential struct {
	ask                                       func(boxRequest) boxReply
	argv                                      []string
	shell                                     model.Shell
	texts, opaque, ran, rm, late, misses, bad int
}

func (d *differential) try(t *testing.T, text string) {
	if len(text) > 8192 || strings.IndexByte(text, 0) >= 0 {
		return
	}
	d.texts++
	c := Analyze(text, d.shell)
	if c.Opaque {
		d.opaque++
	}
	r := d.ask(boxRequest{Shell: d.argv, Text: text})
	if r.Late {
		d.late++
	}
	if len(r.Ran) > 0 {
		d.ran++
	}
	for _, argv := range r.Ran {
		if argv[0] == "rm" {
			d.rm++
		}
		if c.Opaque {
			if argv[0] == "rm" && !runs(c, "rm") {
				d.misses++
				if os.Getenv("LICTOR_DIFF_MISSES") != "" {
					t.Logf("miss: %q %q reasons %v naive %q", text, argv, c.Reasons, c.Naive)
				}
			}
			continue
		}
		if !listed(c, argv) {
			d.bad++
			if d.bad < 30 {
				t.Errorf("HOLE in %s: %q ran %q; parts %q", d.argv[0], text, argv, canonicals(c))
			}
		}
	}
}

// listed reports whether a command that ran is a part, or seen through one.
func listed(c *model.Command, argv []string) bool {
	flat := strings.Join(argv, " ")
	script := func(program string, args []string) bool { // a shell looks for its script on PATH
		p := lookup(baseName(program))
		return p != nil && (p.do == doShell || p.do == doSource) && slices.Contains(args, argv[0])
	}
	loose := func(program, form string) bool {
		if baseName(program) != argv[0] {
			return false
		}
		// What is expanded at run time can be anything.
		return strings.ContainsAny(form, "$`*?[~{<>") || strings.Contains(form, " =") // =q is a path in zsh
	}
	for i := range c.Parts {
		p := &c.Parts[i]
		if len(argv) > 1 && strings.HasPrefix(p.Program, "/") && p.Program == argv[1] {
			return true // a real program outside of PATH that has an interpreter
		}
		base := p.Flat
		if p.Program != "" {
			base = argv[0] + strings.TrimPrefix(p.Flat, p.Program)
		}
		if baseName(p.Program) == argv[0] && base == flat || loose(p.Program, p.Canonical) || script(p.Program, p.Args) {
			return true
		}
		for k := range p.Inner {
			s := &p.Inner[k]
			if s.Flat == flat || baseName(s.Program) == argv[0] && strings.HasPrefix(flat, s.Flat) || loose(s.Program, s.Canonical) || script(s.Program, s.Args) {
				return true
			}
		}
	}
	return false
}
