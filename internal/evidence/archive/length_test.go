package archive

import (
	"bufio"
	"fmt"
	"strings"
	"testing"
)

// TestALineIsBounded: a file that never ends its line takes no more memory than the largest run.
func TestALineIsBounded(t *testing.T) {
	_, err := nextLine(bufio.NewReader(strings.NewReader("x")), make([]byte, maxLine))
	if want := fmt.Sprintf("it is longer than %d bytes", maxLine); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
