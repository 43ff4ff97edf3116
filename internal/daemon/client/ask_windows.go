package client

import "time"

// Ask is ErrUnsupported: there is no daemon on Windows.
func Ask(string, *Request, time.Time) (*Response, error) { return nil, ErrUnsupported }

// Space is "": there are no views of the file system on Windows.
func Space() string { return "" }
