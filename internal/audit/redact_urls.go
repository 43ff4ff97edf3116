package audit

// authority looks at the authority of a URL that starts at s[j]: its userinfo.
func (sc *scanner) authority(j int) {
	s := sc.s
	at, colon := -1, -1
authority:
	for end := j; end < len(s) && !endsURL[s[end]]; end++ {
		switch s[end] {
		case '/', '?', '#':
			break authority
		case '@':
			at = end
		case ':':
			if colon < 0 {
				colon = end
			}
		}
	}
	if j > sc.urlEnd { // else it is a URL in a URL, and ends with it
		for sc.urlEnd = j; sc.urlEnd < len(s) && !endsURL[s[sc.urlEnd]]; sc.urlEnd++ {
		}
	}
	if at < 0 {
		return
	}
	from := j
	if colon >= 0 && colon < at {
		from = colon + 1
	} else if !randomLooking(s[j:at]) && at-j < 16 {
		return // a user's name
	}
	if !plainValue(s[from:at], strongName) {
		sc.add(from, at, kindURL)
	}
}

var endsURL = func() (t [256]bool) {
	for _, c := range " \t\r\n\"'`<>|\\" {
		t[c] = true
	}
	return t
}()

// queryPiece is the beginning of a query's value, enough to see what it is like.
func queryPiece(s []byte) []byte {
	n := 0
	for n < len(s) && n < maxPlain && !endsValue[s[n]] && (charClass[s[n]] != 0 || s[n] == '%') {
		n++
	}
	return s[:n]
}

// randomLooking reports whether a value has the look of a key: 20 or more
// characters with digits, small and large letters, not a mere hash.
func randomLooking(v []byte) bool {
	if len(v) < 20 {
		return false
	}
	var digit, lower, upper bool
	for _, c := range v {
		switch {
		case c >= '0' && c <= '9':
			digit = true
		case c >= 'a' && c <= 'z':
			lower = true
		case c >= 'A' && c <= 'Z':
			upper = true
		case charClass[c] == 0 && c != '%':
			return false
		}
	}
	return digit && lower && upper
}
