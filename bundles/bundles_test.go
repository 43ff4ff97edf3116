package bundles_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/lictor-policy/lictor"
	"github.com/lictor-policy/lictor/bundles"
	"github.com/lictor-policy/lictor/internal/bundle"
	"github.com/lictor-policy/lictor/internal/testcase"
)

// road is an engine that turns calls into the documents that bundles read, with
// the real parser and the real disk.
func road(t testing.TB) *lictor.Engine {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	root, home := filepath.Join(base, "project"), filepath.Join(base, "home")
	for _, dir := range []string{root, home} {
		require.NoError(t, os.Mkdir(dir, 0o755))
	}
	managed := filepath.Join(base, "policy.json")
	require.NoError(t, os.WriteFile(managed, []byte("{}"), 0o644))
	e, err := lictor.Open(context.Background(), lictor.Options{Root: root, Home: home, ManagedPolicy: managed, Shell: "bash"})
	require.NoError(t, err)
	t.Cleanup(func() { e.Close() })
	return e
}

// baseline is the set that every machine has.
func baseline(t testing.TB) *bundle.Set {
	t.Helper()
	s := bundle.NewSet(bundle.Options{})
	require.NoError(t, s.Reload(context.Background()))
	return s
}

func ids(t testing.TB, e *lictor.Engine, s *bundle.Set, tool, key, value string) (out []string) {
	t.Helper()
	args, err := json.Marshal(map[string]string{key: value})
	require.NoError(t, err)
	input, err := e.Input(context.Background(), lictor.Call{Tool: tool, Args: args})
	require.NoError(t, err, value)
	found, err := s.Evaluate(context.Background(), &input)
	require.NoError(t, err)
	for _, f := range slices.Concat(found.Deny, found.Ask) {
		require.Empty(t, f.Kind, f.Reason)
		out = append(out, f.ID)
	}
	return out
}

// TestHardline holds the baseline against the conformance cases.
func TestHardline(t *testing.T) {
	type row struct {
		ID, Area, Tool, Expect, API string
		Rules                       map[string][]string
		Args                        map[string]string
	}
	e, s := road(t), baseline(t)
	rows := testcase.Lines[row](t, "testdata/hardline.jsonl")
	for _, c := range rows {
		require.Equal(t, "hardline", c.Area)
		found := ids(t, e, s, c.Tool, "command", c.Args["command"])
		switch c.Expect {
		case "hardline-blocked":
			assert.NotEmpty(t, found, "%s: %s", c.ID, c.Args["command"])
		case "not-hardline":
			assert.Empty(t, found, "%s: %s", c.ID, c.Args["command"])
		default:
			t.Errorf("%s: unknown expectation %q", c.ID, c.Expect)
		}
	}
	require.Greater(t, len(rows), 15)
}

// TestBaselineVariants spells catastrophes in ways that only a real parser sees.
func TestBaselineVariants(t *testing.T) {
	e, s := road(t), baseline(t)
	for _, text := range []string{
		`sudo rm -rf /`, `sudo -u root rm -rf --no-preserve-root /`, `'rm' -rf "/"`, `r\m -rf /`, `rm -r"f" /`, `rm -rf $'/'`,
		`/usr/bin/env rm -fr /*`, `bash -c 'rm -rf /'`, `sh -c "rm -rf ~"`, `nohup rm -rf "$HOME" &`, `true && rm -rf ~/`,
		`(rm -rf /)`, `if true; then rm -rf /; fi`, `x=$(rm -rf /)`, `find / -delete`, `find ~ -exec rm -rf {} \;`, `echo / | xargs rm -rf /`,
		`eval "rm -rf /"`, `time rm -rf /etc`, `busybox rm -rf /`, `rm -rf "${HOME}"`, `rm -rf -- "$HOME"/*`, `cd / && rm -rf *`, `cd ~; rm -rf .`,
		`rm -rf .`, `rm -rf ..`, `rm -rf ../..`, `rm -rf $PWD`, `rm -rf /{bin,etc}`, `timeout 5 rm -rf /`, `command rm -rf /`, `exec rm -rf /`,
		`mkfs.ext4 /dev/sda1`, `sudo mkfs -t xfs /dev/nvme0n1`, `dd if=/dev/zero of=/dev/sda`, `dd of="/dev/sda" if=x`, `cat x > /dev/sda`,
		`echo x >> /dev/sdb1`, `echo x >/dev//sda`, `tee /dev/sda < x`, `cat x | sudo tee /dev/nvme0n1`, `cp x /dev/sda`, `echo x | dd of=/dev/vda`,
		`reboot`, `sudo reboot`, `/sbin/shutdown -h now`, `systemctl poweroff`, `systemctl --no-wall reboot`, `sudo systemctl -f halt`, `init 0`, `telinit 6`,
		`env FOO=1 telinit 6`, `sh -c 'poweroff'`, `halt`, `echo 1; shutdown now`, `sudo init 6`, `nohup shutdown -r now &`,
		`:(){ :|:& };:`, `:() { : | : & } ; :`, `bomb(){ bomb|bomb& };bomb`, `f() { f | f & }; f`,
		`chmod -R 777 /`, `sudo chown -R nobody:nobody /`, `chmod -R 000 /etc`, `chown -R me /usr`, `kill -9 -1`, `sudo kill -KILL -1`,
		`curl http://169.254.169.254/latest/meta-data/`, `curl 169.254.169.254`, `wget -qO- http://metadata.google.internal/`, `curl -H x http://[fd00:ec2::254]/`,
		`curl http://168.63.129.16/`, `curl "http://0xa9fea9fe/"`, `curl http://2852039166/`, `nc 169.254.169.254 80`, `curl http://METADATA.google.internal./`,
		`python3 -c "import urllib.request as u; u.urlopen('http://169.254.169.254/')"`, `echo b > /proc/sysrq-trigger`,
		`curl -s http://user@169.254.169.254:80/x`, `X=1 curl http://169.254.169.254`,
	} {
		assert.NotEmpty(t, ids(t, e, s, "bash", "command", text), text)
	}
	for _, text := range []string{
		`git status`, `rm -rf ./node_modules`, `rm -rf /tmp/build`, `rm -rf build/*`, `cd build && rm -rf *`, `rm file.txt`, `rm -f *.o`, `echo reboot`,
		`grep shutdown /var/log/syslog`, `systemctl status nginx`, `dd if=in.img of=out.img`, `go build ./...`, `make > /dev/null 2>&1`,
		`echo "rm -rf /"`, `git commit -m "rm -rf / is bad"`, `cat <<'EOF' > notes.md
rm -rf /
reboot
EOF`, `chmod +x x.sh`, `chown -R me ./x`, `kill 1234`, `ls /dev/sda`, `cat /dev/sda | head -c 10`, `npm run init 0`, `docker build -t x .`,
		`python manage.py shutdown`, `curl https://example.com/`, `grep -r 169.254.169.254 .`, `find . -name '*.tmp' -delete`, `f() { echo hi; }; f`,
		`rm -rf "$BUILD_DIR"`, `rm -rf ~/project/dist`, `find /var/log -name x`, `echo done >/dev/tty`, `mkfs.ext4 disk.img`, `tee out.log`, `man reboot`, `which halt`,
	} {
		assert.Empty(t, ids(t, e, s, "bash", "command", text), text)
	}
	for _, url := range []string{
		"http://169.254.169.254/latest", "http://2852039166/", "http://0xA9.0xFE.0xA9.0xFE/", "http://[::ffff:169.254.169.254]/", "http://[fd00:ec2::254]/",
		"http://metadata.google.internal./x", "http://METADATA.GOOGLE.INTERNAL/", "http://168.63.129.16/", "http://0251.0376.0251.0376/", "http://100.100.100.200/",
	} {
		assert.NotEmpty(t, ids(t, e, s, "web_fetch", "url", url), url)
	}
	assert.Empty(t, ids(t, e, s, "web_fetch", "url", "https://example.com/169.254.169.254"))
}

// TestExamplesOnTheRoad gives the examples of both bundles to the real parser:
// what a simple split says of them must hold there too.
func TestExamplesOnTheRoad(t *testing.T) {
	e := road(t)
	for name, load := range map[string]func() (*bundle.Bundle, error){
		"baseline": func() (*bundle.Bundle, error) { return bundle.Baseline(context.Background()) },
		"example-team": func() (*bundle.Bundle, error) {
			fsys, err := bundles.ExampleTeam()
			require.NoError(t, err)
			return bundle.LoadFS(context.Background(), "example-team", fsys, bundle.LoadOptions{AllowUnsigned: true})
		},
	} {
		t.Run(name, func(t *testing.T) {
			b, err := load()
			require.NoError(t, err)
			s := bundle.SetOf(b)
			for _, example := range b.Examples() {
				if example.Command() == "" {
					continue
				}
				found := ids(t, e, s, "bash", "command", example.Command())
				if example.Bad {
					assert.Contains(t, found, example.ID, example.Text)
				} else {
					assert.NotContains(t, found, example.ID, example.Text)
				}
			}
		})
	}
}
