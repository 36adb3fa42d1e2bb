package terminal

import (
	"testing"
)

// TestACutLineIsAsWideAsTheTerminal: the width counts characters, not bytes.
func TestACutLineIsAsWideAsTheTerminal(t *testing.T) {
	for _, c := range []struct {
		line, want string
		width      int
	}{{"grün und gelb", "grün …", 6}, {"grün", "grün", 4}, {"grün", "grün", 0}, {"grün", "…", 1}} {
		if got := Cut(c.line, c.width); got != c.want {
			t.Errorf("%q cut to %d is %q", c.line, c.width, got)
		}
	}
}
