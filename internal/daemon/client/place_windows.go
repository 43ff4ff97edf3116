package client

// CheckDir is ErrUnsupported: there is no daemon on Windows.
func CheckDir(string) error { return ErrUnsupported }

// MakeDir is ErrUnsupported: there is no daemon on Windows.
func MakeDir(string) error { return ErrUnsupported }
