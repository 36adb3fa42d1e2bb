package allocbudget

import (
	"fmt"
	"testing"
)

// said is a testing.TB that records failures and continues.
type said struct {
	testing.TB
	failures []string
}

func (s *said) Helper() {}

func (s *said) Errorf(format string, args ...any) {
	s.failures = append(s.failures, fmt.Sprintf(format, args...))
}

var sum uint64

// steps takes n steps that the compiler can't optimize away.
func steps(n int) {
	x := sum | 1
	for range n {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	sum = x
}

func TestWorkInProportionIsTold(t *testing.T) {
	for name, c := range map[string]struct {
		steps func(n int) int
		fails bool
	}{
		"constant":        {func(int) int { return 1 }, false},
		"in proportion":   {func(n int) int { return 20_000 * n }, false},
		"with the square": {func(n int) int { return 200 * n * n }, true},
	} {
		s := &said{TB: t}
		Proportional(s, 40, func(n int) func() { return func() { steps(c.steps(n)) } })
		if c.fails != (len(s.failures) == 1) {
			t.Errorf("%s: %q", name, s.failures)
		}
	}
}
