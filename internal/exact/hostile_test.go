package exact

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign"
)

type hostileText struct{ name, text string }

// hostile are texts of a mebibyte, each made to cost more than its length.
var hostile = sync.OnceValue(func() []hostileText {
	return []hostileText{
		{"one object with many keys", objectOf(100_000, func(i int) string { return fmt.Sprintf(`"%d":0`, i) })},
		{"many keys with escapes", objectOf(80_000, func(i int) string { return fmt.Sprintf(`"\u0061%d":0`, i) })},
		{"objects with the same nine keys", arrayOf(`{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1}`)},
		{"objects with eight keys", arrayOf(`{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1}`)},
		{"long keys that differ at the end", longKeys()},
		{"empty objects", arrayOf(`{}`)},
		{"empty arrays", arrayOf(`[]`)},
		{"digits", arrayOf(`1`)},
		{"nulls", arrayOf(`null`)},
		{"one long number", strings.Repeat("9", mebibyte)},
		{"one long exponent", "1e" + strings.Repeat("0", mebibyte-3) + "1"},
		{"one long string", `"` + strings.Repeat("x", mebibyte-2) + `"`},
		{"escapes", `"` + strings.Repeat(`\u0000`, mebibyte/6) + `"`},
		{"surrogate pairs", `"` + strings.Repeat(`\ud834\udd1e`, mebibyte/12) + `"`},
		{"multi-byte characters", `"` + strings.Repeat("𝄞", mebibyte/4) + `"`},
		{"white space", strings.Repeat(" ", mebibyte-1) + "1"},
		{"deepest nesting, over and over", arrayOf(strings.Repeat("[", 63) + strings.Repeat("]", 63))},
		{"mass at the bottom", strings.Repeat(`{"a":`, 63) + arrayOf(`0`)[:mebibyte-512] + "]" + strings.Repeat("}", 63)},
		{"unclosed arrays", strings.Repeat("[", mebibyte)},
		{"wrong elements of a plan", `{"steps":` + arrayOf(`{}`) + `}`},
		{"unknown fields of a plan", objectOf(80_000, func(i int) string { return fmt.Sprintf(`"name%d":0`, i) })},
		{"wrong transitions of a model", `{"document":{"transitions":` + arrayOf(`{}`) + `}}`},
		{"wrong conditions", `{"document":{"transitions":[{"condition":{"conditions":` + arrayOf(`{"kind":"x"}`) + `,"kind":"group"}}]}}`},
		{"kinds at the end of nested groups", kindLast()},
	}
})

const mebibyte = countersign.MaxBodyBytes

// arrayOf repeats an element to a mebibyte, less what tests put around it.
func arrayOf(element string) string {
	n := (mebibyte - 512) / (len(element) + 1)
	return "[" + strings.Repeat(element+",", n-1) + element + "]"
}

func objectOf(n int, member func(i int) string) string {
	members := make([]string, n)
	for i := range members {
		members[i] = member(i)
	}
	return "{" + strings.Join(members, ",") + "}"
}

func longKeys() string {
	return objectOf(1000, func(i int) string { return fmt.Sprintf(`"%s%d":0`, strings.Repeat("k", 1000), i) })
}

// kindLast nests groups whose kind stands behind their conditions, as in a
// document with sorted keys, to the depth that a model can have.
func kindLast() string {
	const levels = 28
	leaf := `{"kind":"predicate","operator":"eq","value":1,"variableId":"v"}`
	return `{"document":{"transitions":[{"condition":` +
		strings.Repeat(`{"combinator":"AND","conditions":[`, levels) +
		strings.TrimSuffix(arrayOf(leaf)[1:], "]") +
		strings.Repeat(`],"kind":"group"}`, levels) + `}]}}`
}

// slowest is far above what any hostile text takes (a few hundredths of a
// second), and far below what a mistake that squares the cost would take.
const slowest = 10 * time.Second

func TestHostileTextIsJudgedInTime(t *testing.T) {
	for _, h := range hostile() {
		t.Run(h.name, func(t *testing.T) {
			begin := time.Now()
			_ = Check([]byte(h.text))
			_ = Decode([]byte(h.text), &countersign.ModelWrite{})
			_ = Decode([]byte(h.text), &countersign.PlanWrite{})
			if took := time.Since(begin); took > slowest {
				t.Errorf("took %v", took)
			}
		})
	}
}

func BenchmarkCheckHostile(b *testing.B) {
	for _, h := range hostile() {
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
	for _, h := range hostile() {
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
	data := []byte(arrayOf(`{}`))
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
