package receipt

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"github.com/countersign/countersign"
)

// maxDepth bounds the nesting of a section: a value of a request may be 64 levels deep
// and is itself some levels down.
const maxDepth = 128

// uncanonical says why a section is not canonical JSON, "" if it is. Only the signer
// can cause this.
func uncanonical(section []byte) string {
	switch {
	case !shallow(section):
		return "it is nested too deep, is no JSON, or has a key twice"
	case !json.Valid(section) || !bytes.Equal(countersign.RawValue(string(section)).Canonical(), section):
		return "it is not in canonical form"
	}
	return ""
}

// shallow reports JSON within the maximum depth and without duplicate keys, which are
// adjacent because keys are sorted.
func shallow(section []byte) bool {
	d := json.NewDecoder(bytes.NewReader(section))
	d.UseNumber()
	var levels []level
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return len(levels) == 0
		}
		if err != nil {
			return false
		}
		switch token {
		case json.Delim('}'), json.Delim(']'):
			levels = levels[:len(levels)-1]
			continue
		}
		if n := len(levels); n > 0 && !levels[n-1].take(token) {
			return false
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			levels = append(levels, level{object: token == json.Delim('{')})
			if len(levels) > maxDepth {
				return false
			}
		}
	}
}

// level is an object or array being read.
type level struct {
	object bool
	named  bool // a key was read, and its value is due
	some   bool
	key    string
}

// take processes a key or value, and reports whether a key differs from the previous
// one.
func (l *level) take(token json.Token) bool {
	if !l.object || l.named {
		l.named = false
		return true
	}
	key, _ := token.(string)
	again := l.some && key == l.key
	l.key, l.some, l.named = key, true, true
	return !again
}
