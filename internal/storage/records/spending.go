package records

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/storage/store"
)

// A Spending is written with each step of its capability, so its encoding is spelled out: it
// gives what countersign.Marshal would of the same texts, in a fifth of the time.

// PutSpending writes a record if its stored version is expected, and gives its document.
func PutSpending(tx store.Tx, tenant, id string, s *Spending, expected int64) (doc []byte, version int64, err error) {
	doc = s.append(nil)
	return doc, expected + 1, tx.Put(store.Meta, tenant, store.Row{ID: id, Doc: doc}, expected)
}

// PutSpentPart writes entries that fill a part. There is none of that number.
func PutSpentPart(tx store.Tx, tenant, id string, entries []countersign.Value) error {
	doc := append(make([]byte, 0, sizeOf(entries)), '{')
	doc = append(appendEntries(doc, `"entries":[`, entries), '}')
	return tx.Put(store.Meta, tenant, store.Row{ID: id, Doc: doc}, 0)
}

// sizeOf is room for entries and some bytes more.
func sizeOf(entries []countersign.Value) int {
	size := 128
	for _, e := range entries {
		size += len(e.Raw()) + 1
	}
	return size
}

// appendEntries appends a member of a list that has entries, and nothing for none.
func appendEntries(b []byte, name string, entries []countersign.Value) []byte {
	for i, e := range entries {
		if i == 0 {
			b = append(b, name...)
		} else {
			b = append(b, ',')
		}
		b = append(b, e.Raw()...)
	}
	if len(entries) > 0 {
		b = append(b, ']')
	}
	return b
}

func (s *Spending) append(b []byte) []byte {
	b = slices.Grow(b, sizeOf(s.Open)+160*len(s.Tallies))
	b = appendInt(b, `{"next":`, s.Next)
	b = appendInt(b, `,"first":`, s.First)
	if !s.LastAt.IsZero() {
		b = appendTime(b, `,"lastAt":"`, s.LastAt)
	}
	b = s.Tallies.append(append(b, `,"tallies":`...))
	b = appendEntries(b, `,"open":[`, s.Open)
	for i, c := range s.Back {
		if i == 0 {
			b = append(b, `,"back":[`...)
		} else {
			b = append(b, ',')
		}
		b = append(appendTime(appendInt(b, `{"before":`, c.Before), `,"at":"`, c.At), '}')
	}
	if len(s.Back) > 0 {
		b = append(b, ']')
	}
	return append(b, '}')
}

func (all Tallies) append(b []byte) []byte {
	b = append(b, '{')
	for i, t := range all {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendInt(appendQuoted(b, t.Key), `:{"tail":`, t.Tail)
		if !t.At.IsZero() {
			b = appendTime(b, `,"at":"`, t.At)
		}
		b = appendInt(b, `,"count":`, t.Count)
		b = appendQuoted(append(b, `,"sum":`...), t.Sum)
		if t.Beyond != 0 {
			b = appendInt(b, `,"beyond":`, t.Beyond)
		}
		b = append(b, '}')
	}
	return append(b, '}')
}

// Encode writes an entry as it stands in a Spending.
func (s *Spent) Encode() countersign.Value {
	b := appendTime(make([]byte, 0, 160), `{"at":"`, s.At)
	b = appendQuoted(append(b, `,"step":`...), s.Step)
	var few [4]string
	for i, name := range sortedNames(s.Amounts, few[:0]) {
		if i == 0 {
			b = append(b, `,"amounts":{`...)
		} else {
			b = append(b, ',')
		}
		b = appendQuoted(append(appendQuoted(b, name), ':'), s.Amounts[name])
	}
	if len(s.Amounts) > 0 {
		b = append(b, '}')
	}
	if s.Void {
		b = append(b, `,"void":true`...)
	}
	if s.Digest != "" {
		b = appendQuoted(append(b, `,"digest":`...), s.Digest)
	}
	return countersign.RawValue(string(append(b, '}')))
}

func sortedNames(m map[string]string, names []string) []string {
	names = slices.AppendSeq(names, maps.Keys(m))
	slices.Sort(names)
	return names
}

// appendQuoted appends a text as JSON, which for most is the text between quotation marks.
func appendQuoted(b []byte, text string) []byte {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c >= 0x7f || c == '"' || c == '\\' {
			doc, _ := countersign.Marshal(text) // a text can always be written
			return append(b, doc...)
		}
	}
	return append(append(append(b, '"'), text...), '"')
}

func appendInt(b []byte, name string, n int64) []byte {
	return strconv.AppendInt(append(b, name...), n, 10)
}

// appendTime appends a name that ends with a quotation mark, the time and another mark.
func appendTime(b []byte, name string, t time.Time) []byte {
	return append(t.AppendFormat(append(b, name...), time.RFC3339Nano), '"')
}

// MarshalJSON implements json.Marshaler.
func (all Tallies) MarshalJSON() ([]byte, error) { return all.append(nil), nil }

// UnmarshalJSON implements json.Unmarshaler.
func (all *Tallies) UnmarshalJSON(doc []byte) error {
	var byKey map[string]Tally
	if err := store.Decode(doc, &byKey); err != nil {
		return err
	}
	*all = nil
	for key, t := range byKey {
		t.Key = key
		*all = append(*all, t)
	}
	slices.SortFunc(*all, func(a, b Tally) int { return strings.Compare(a.Key, b.Key) })
	return nil
}
