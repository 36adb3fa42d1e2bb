package folded_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"github.com/countersign/countersign/internal/rules/folded"
)

// TestTheTableIsThatOfAllVerifiers: testdata/folds.txt has the letters that fold to another
// one, as the verifiers of receipts in TypeScript and Python have them. A release of Go with
// a later Unicode must not change what a receipt of before means: fold by this table then.
func TestTheTableIsThatOfAllVerifiers(t *testing.T) {
	type span struct{ first, last, step, to rune }
	var spans []span
	for r := rune(0); r <= unicode.MaxRune; r++ {
		to := folded.Rune(r) - r
		if to == 0 {
			continue
		}
		if n := len(spans); n > 0 && spans[n-1].to == to {
			if l := &spans[n-1]; l.first == l.last && r-l.last <= 2 || r-l.last == l.step {
				l.step, l.last = r-l.last, r
				continue
			}
		}
		spans = append(spans, span{r, r, 1, to})
	}
	var b strings.Builder
	b.WriteString("# Simple case folding of Unicode " + unicode.Version + ": first, last, step and what is added to each of them.\n")
	for _, s := range spans {
		fmt.Fprintf(&b, "%d %d %d %d\n", s.first, s.last, s.step, s.to)
	}
	kept, err := os.ReadFile(filepath.Join("testdata", "folds.txt"))
	if err != nil || string(kept) != b.String() {
		t.Errorf("%v; the table is\n%s", err, b.String())
	}
}

func TestNamesFoldAsEqualFoldComparesThem(t *testing.T) {
	letters := []rune("kKKsSſßẞiIİıσςΣaAäÄ.0_𐐀𐐨ᏰǅǆǄ日")
	rapid.Check(t, func(t *rapid.T) {
		draw := func(label string) string {
			return string(rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(letters), rapid.Rune()), 0, 3).Draw(t, label))
		}
		a, b := draw("a"), draw("b")
		if (folded.Name(a) == folded.Name(b)) != strings.EqualFold(a, b) {
			t.Fatalf("%q and %q", a, b)
		}
	})
}
