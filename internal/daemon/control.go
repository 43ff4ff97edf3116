package daemon

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/lictor-policy/lictor/internal/config"
	"github.com/lictor-policy/lictor/internal/daemon/client"
)

// controlTime is how long a daemon may take to answer about itself.
const controlTime = 3 * time.Second

// Health is what a daemon says about itself.
type Health struct {
	OK      bool   `json:"ok"`
	PID     int    `json:"pid"`
	Home    string `json:"home"`
	Engines int    `json:"engines"`
	// Uptime and Idle are seconds.
	Uptime int64 `json:"uptime_seconds"`
	Idle   int64 `json:"idle_seconds"`
}

// AskHealth asks the user's daemon how it is. home may be empty. The errors are
// those of client.Ask: client.ErrNoDaemon if there is none.
func AskHealth(home string) (*Health, error) {
	text, err := control(home, client.KindHealth)
	if err != nil {
		return nil, err
	}
	h := &Health{}
	if err := json.Unmarshal(text, h); err != nil {
		return nil, fmt.Errorf("the daemon's health cannot be read: %w", err)
	}
	return h, nil
}

// AskMetrics returns the daemon's metrics in the text format of Prometheus; the
// errors are those of client.Ask.
func AskMetrics(home string) ([]byte, error) { return control(home, client.KindMetrics) }

// Stop asks the user's daemon to end and waits until it does not listen any more.
// It is no error if there is none.
func Stop(home string) error {
	_, err := control(home, client.KindStop)
	for end := time.Now().Add(2 * controlTime); err == nil; time.Sleep(5 * time.Millisecond) {
		if _, err = control(home, client.KindHealth); err == nil && time.Now().After(end) {
			return errors.New("the daemon does not end")
		}
	}
	if errors.Is(err, client.ErrNoDaemon) || errors.Is(err, client.ErrTimeout) {
		return nil
	}
	var unsafe *client.UnsafeError
	if errors.As(err, &unsafe) || errors.Is(err, client.ErrUnsupported) {
		return err
	}
	return nil // it ended in the middle of an answer
}

func control(home string, kind client.Kind) ([]byte, error) {
	if home == "" {
		var err error
		if home, err = config.HomeFolder(); err != nil {
			return nil, err
		}
	}
	r, err := client.Ask(filepath.Clean(home), &client.Request{Kind: kind}, time.Now().Add(controlTime))
	if err != nil {
		return nil, err
	}
	if r.Status != client.StatusText {
		return nil, client.ErrFrame
	}
	return r.Stdout, nil
}
