package access

import "testing"

// TestEachWriteSaysWhetherItWeakens fails for an operation that nobody has decided about.
func TestEachWriteSaysWhetherItWeakens(t *testing.T) {
	for op := range rules {
		if IsWrite(op) != (guards[op] != 0) {
			t.Errorf("%s: a write: %v; say in weakening.go whether it weakens", op, IsWrite(op))
		}
	}
	for op := range guards {
		if !IsWrite(op) {
			t.Errorf("%s is no write", op)
		}
	}
}
