package mcp

import (
	"regexp"
	"testing"
)

// TestAPatternIsGivenOnlyWhereBothReadItAlike: those of the second list are read otherwise by
// ECMA-262 (with the flag u, as JSON Schema wants it), or not at all.
func TestAPatternIsGivenOnlyWhereBothReadItAlike(t *testing.T) {
	for pattern, want := range map[string]bool{
		``: true, `^A-[0-9]+$`: true, `^(?:EUR|USD)$`: true, `^[A-Z]{2}\d{2}[A-Z0-9]{4,30}$`: true, `^[a-z][a-z0-9_-]*$`: true,
		`^\d{4}-\d{2}-\d{2}$`: true, `^\+?[1-9]\d{1,14}$`: true, `^[^@]+@[^@]+$`: true, `a|b|`: true, `^\w+(-\w+)*?$`: true, `^[\w-]+$`: true,
		`\bx\B`: true, `^[äöü]+$`: true, `^a\.b\/c$`: true, `^[\-x]$`: true, `()`: true, `^a{3,}$`: true, `[-a]`: true,

		`(?i)^a-[0-9]+$`: false, `\A[[:alpha:]]-\d+\z`: false, `^.+$`: false, `\s+`: false, `\pL`: false, `\p{Greek}`: false, `(?P<n>a)`: false, `(?<n>a)`: false,
		`(?s:.)`: false, `\Qa.b\E`: false, `a{,3}`: false, `{`: false, `]`: false, `a}`: false, `[]a]`: false, `[^]a]`: false, `[[a]]`: false,
		`^*`: false, `$+`: false, `\b+`: false, `(*a)`: false, `\-`: false, `\x41`: false, `\a`: false, `\C`: false, `[\d-x]`: false, `[x-\d]`: false, `[a&&b]`: false, `[a--b]`: false,
		`a**`: false, `\`: false, `[a`: false, `(a`: false, `a)`: false, `\_`: false, `[\s]`: false, `[\S]`: false, `\u0041`: false, `\z`: false,
	} {
		if got := readAlike(pattern); got != want {
			t.Errorf("%q: %v", pattern, got)
		}
		if want {
			regexp.MustCompile(pattern)
		}
	}
}
