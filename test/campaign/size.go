package campaign

import (
	"flag"
	"fmt"
	"strconv"
	"testing"
)

// Size is a flag that says how much of a campaign runs. Its default depends on the tier: less with -short.
type Size struct {
	short, full int
	given       *int
}

// SizeFlag declares a size flag.
func SizeFlag(name string, short, full int, usage string) *Size {
	s := &Size{short: short, full: full}
	flag.Var(s, name, fmt.Sprintf("%s (default %d, with -short %d)", usage, full, short))
	return s
}

// N is the size. Call it after the flags were parsed.
func (s *Size) N() int {
	switch {
	case s.given != nil:
		return *s.given
	case testing.Short():
		return s.short
	default:
		return s.full
	}
}

// Set implements flag.Value.
func (s *Size) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return fmt.Errorf("%q is no size", text)
	}
	s.given = &n
	return nil
}

// String implements flag.Value: "" without the flag, whose usage names the defaults of both tiers.
func (s *Size) String() string {
	if s == nil || s.given == nil {
		return ""
	}
	return strconv.Itoa(*s.given)
}
