//go:build darwin || freebsd

package client

import "golang.org/x/sys/unix"

// PeerUID is the user on the other side of a connected Unix socket, as the
// kernel says.
func PeerUID(fd int) (int, error) {
	cred, err := unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	if err != nil {
		return -1, err
	}
	return int(cred.Uid), nil
}
