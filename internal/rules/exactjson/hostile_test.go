package exactjson

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/testing/allocbudget"
)

type hostileText struct{ name, text string }

// hostile are texts of n bytes, each made to cost more than its length.
func hostile(n int) []hostileText {
	return []hostileText{
		{"one object with many keys", objectOf(n/11, func(i int) string { return fmt.Sprintf(`"%d":0`, i) })},
		{"many keys with escapes", objectOf(n/14, func(i int) string { return fmt.Sprintf(`"\u0061%d":0`, i) })},
		{"objects with the same nine keys", arrayOf(n, `{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1}`)},
		{"objects with eight keys", arrayOf(n, `{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1}`)},
		{"long keys that differ at the end", objectOf(n/1000, func(i int) string { return fmt.Sprintf(`"%s%d":0`, strings.Repeat("k", 1000), i) })},
		{"empty objects", arrayOf(n, `{}`)},
		{"empty arrays", arrayOf(n, `[]`)},
		{"digits", arrayOf(n, `1`)},
		{"nulls", arrayOf(n, `null`)},
		{"one long number", strings.Repeat("9", n)},
		{"one long exponent", "1e" + strings.Repeat("0", n-3) + "1"},
		{"one long string", `"` + strings.Repeat("x", n-2) + `"`},
		{"escapes", `"` + strings.Repeat(`\u0000`, n/6) + `"`},
		{"surrogate pairs", `"` + strings.Repeat(`\ud834\udd1e`, n/12) + `"`},
		{"multi-byte characters", `"` + strings.Repeat("𝄞", n/4) + `"`},
		{"white space", strings.Repeat(" ", n-1) + "1"},
		{"deepest nesting, over and over", arrayOf(n, strings.Repeat("[", 63)+strings.Repeat("]", 63))},
		{"mass at the bottom", strings.Repeat(`{"a":`, 63) + arrayOf(n, `0`) + strings.Repeat("}", 63)},
		{"unclosed arrays", strings.Repeat("[", n)},
		{"wrong elements of a plan", `{"steps":` + arrayOf(n, `{}`) + `}`},
		{"unknown fields of a plan", objectOf(n/14, func(i int) string { return fmt.Sprintf(`"name%d":0`, i) })},
		{"wrong transitions of a model", `{"document":{"transitions":` + arrayOf(n, `{}`) + `}}`},
		{"wrong conditions", `{"document":{"transitions":[{"condition":{"conditions":` + arrayOf(n, `{"kind":"x"}`) + `,"kind":"group"}}]}}`},
		{"kinds at the end of nested groups", kindLast(n)},
	}
}

// mebibyte is the longest text that is accepted.
const mebibyte = countersign.MaxBodyBytes

// arrayOf repeats an element to n bytes, less what tests put around it.
func arrayOf(n int, element string) string {
	count := max(1, (n-512)/(len(element)+1))
	return "[" + strings.Repeat(element+",", count-1) + element + "]"
}

func objectOf(n int, member func(i int) string) string {
	members := make([]string, n)
	for i := range members {
		members[i] = member(i)
	}
	return "{" + strings.Join(members, ",") + "}"
}

// kindLast nests groups whose kind stands behind their conditions, as in a
// document with sorted keys, to the depth that a model can have.
func kindLast(n int) string {
	const levels = 28
	leaf := `{"kind":"predicate","operator":"eq","value":1,"variableId":"v"}`
	return `{"document":{"transitions":[{"condition":` +
		strings.Repeat(`{"combinator":"AND","conditions":[`, levels) +
		strings.TrimSuffix(arrayOf(n, leaf)[1:], "]") +
		strings.Repeat(`],"kind":"group"}`, levels) + `}]}}`
}

// TestHostileTextCostsWhatItsLengthCosts: four times the text costs four times the
// work, and no text costs much more than the plainest one of its length.
func TestHostileTextCostsWhatItsLengthCosts(t *testing.T) {
	n := mebibyte / 4
	if testing.Short() {
		n = mebibyte / 64
	}
	plain := judging(arrayOf(n, `1`))
	for i, h := range hostile(n) {
		t.Run(h.name, func(t *testing.T) {
			allocbudget.Proportional(t, n, func(n int) func() { return judging(hostile(n)[i].text) })
			allocbudget.AtMost(t, dearest, judging(h.text), plain)
		})
	}
}

// dearest is how many times the work for the plainest text a hostile one of its length
// may cost: it is once. What reads each level of a nest anew costs as many times as
// there are levels.
const dearest = 4

func judging(text string) func() {
	data := []byte(text)
	return func() {
		_ = Check(data)
		_ = Decode(data, &countersign.ModelWrite{})
		_ = Decode(data, &countersign.PlanWrite{})
	}
}

func BenchmarkCheckHostile(b *testing.B) {
	for _, h := range hostile(mebibyte) {
		b.Run(h.name, func(b *testing.B) {
			data := []byte(h.text)
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				_ = Check(data)
			}
		})
	}
}

func BenchmarkDecodeHostile(b *testing.B) {
	for _, h := range hostile(mebibyte) {
		b.Run(h.name, func(b *testing.B) {
			data := []byte(h.text)
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				_ = Decode(data, &countersign.ModelWrite{})
				_ = Decode(data, &countersign.PlanWrite{})
			}
		})
	}
}

func TestWrongElementsDoNotCostWhatRightOnesWould(t *testing.T) {
	data := []byte(arrayOf(mebibyte, `{}`))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if Decode(data, &[]countersign.Transition{}) == nil {
		t.Fatal("accepted")
	}
	runtime.ReadMemStats(&after)
	// The tape takes some 22 bytes a byte while it grows; a Transition an
	// element, or a Problem a missing field, would take hundreds.
	if used := after.TotalAlloc - before.TotalAlloc; used > 40*uint64(len(data)) {
		t.Errorf("%d bytes of text took %d bytes of memory", len(data), used)
	}
}
