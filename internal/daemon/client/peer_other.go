//go:build unix && !linux && !darwin && !freebsd

package client

// PeerUID is ErrUnsupported where the kernel cannot be asked: without it there
// is no daemon.
func PeerUID(int) (int, error) { return -1, ErrUnsupported }
