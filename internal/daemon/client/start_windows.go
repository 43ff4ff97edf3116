package client

// Start is ErrUnsupported: there is no daemon on Windows.
func Start(string, string) error { return ErrUnsupported }
