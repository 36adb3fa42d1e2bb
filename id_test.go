package countersign_test

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/countersign/countersign"
)

func TestValidIDIsThePatternOfTheContract(t *testing.T) {
	agrees(t, regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}\z`), countersign.ValidID,
		"", "a", "0", ".a", "-a", "_a", "a.b-c_D9", "a/b", "a b", "a\n", "\n", "é", "a\x00", "..", strings.Repeat("a", 128), strings.Repeat("a", 129))
}

func TestValidTenantIDIsThePatternOfTheContract(t *testing.T) {
	agrees(t, regexp.MustCompile(`^[a-z][a-z0-9]{1,31}\z`), countersign.ValidTenantID,
		"", "a", "ab", "a1", "1a", "Ab", "aB", "a-b", "ab\n", strings.Repeat("a", 32), strings.Repeat("a", 33))
}

// agrees compares a hand-written check with its pattern, on examples and at
// random.
func agrees(t *testing.T, pattern *regexp.Regexp, valid func(string) bool, examples ...string) {
	t.Helper()
	for _, s := range examples {
		if valid(s) != pattern.MatchString(s) {
			t.Errorf("%q: %v", s, valid(s))
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(rapid.String(), rapid.StringMatching(`[A-Za-z0-9._\-]{0,40}`)).Draw(t, "id")
		if valid(s) != pattern.MatchString(s) {
			t.Fatalf("%q: %v", s, valid(s))
		}
	})
}

func TestProjectIDBeginsWithItsTenant(t *testing.T) {
	for id, want := range map[string]bool{
		"acme-shop": true, "acme-": false, "acme": false, "acmeshop": false, "acme2-shop": false, "Acme-shop": false, "acme-a/b": false, "acme--": true, "": false,
	} {
		if got := countersign.OwnsProjectID("acme", id); got != want {
			t.Errorf("%q: %v", id, got)
		}
	}
}
