package exactjson

import (
	"fmt"
	"reflect"

	"github.com/countersign/countersign"
)

// Decode checks data and reads it into the value that into points to. Text that
// [Check] refuses is invalid_json. A document that doesn't fit is
// invalid_request, with every problem in the one message, in document order (the
// missing fields of an object after its present ones); a key that differs from a
// known field by letter case alone makes it invalid_json. On any error the value
// is left as it was; otherwise it is replaced as a whole, never merged into.
//
// The Go type says what fits:
//
//   - A struct takes an object with the fields that its json tags name and no
//     others. A field whose tag has neither omitempty nor omitzero is required.
//     Embedded structs count as part of the one around them.
//   - null fits [countersign.Value] and [countersign.Scalar], and is kept as an
//     explicit null, unless the field's tag null says "absent". For any other
//     optional field it means that the field is left out (contract 12.1), unless the
//     tag says "refused". It fits no element of an array and no member of a map.
//   - Integers take a number of exactly that value (1, 1.0 and 1e0 are the
//     same), json.Number takes any number digit for digit, time.Time an RFC 3339
//     string; bool, strings, slices, pointers and maps with string keys take
//     what their name says.
//   - A union (a type whose pointer has Variant(kind string) any) takes the
//     variant that its member kind names.
//   - A type whose pointer has Shape(array bool) any takes an object or an array of
//     such objects.
//   - A type whose pointer has KeepVerbatim(countersign.Value) is handed the
//     text that it was read from. This text, and that of every Value, is as it
//     was sent, number for number and key for key, but without the white space
//     between tokens: so it is the same before and after it was stored.
//
// The tags enum, minimum, maximum, minLength, maxLength (in characters) and
// pattern hold for a field and for the elements of a slice, minItems and maxItems
// for a slice. A type or tag that Decode can't keep is a mistake in the program
// and panics, whatever the document.
func Decode(data []byte, into any) error {
	target := reflect.ValueOf(into)
	if target.Kind() != reflect.Pointer || target.IsNil() {
		panic(fmt.Sprintf("exact: Decode needs a pointer to decode into, not %T", into))
	}
	p := planOf(target.Type().Elem())
	t, f := record(data)
	if f != nil {
		return f.refusal()
	}
	fresh := reflect.New(target.Type().Elem()).Elem()
	d := decoder{tape: t}
	p.read(&d, 0, fresh, noRules)
	if d.failed() {
		return d.refusal()
	}
	target.Elem().Set(fresh)
	return nil
}

// Conforms says of a value that was made in Go what [Decode] would say of its JSON: a body that
// a form has made keeps the same rules as one that was sent.
func Conforms[T any](v T) error {
	text, err := countersign.Marshal(v)
	if err != nil {
		return err
	}
	return Decode(text, new(T))
}

// decoder walks a tape and collects what doesn't fit. Every value that it fills
// is addressable: a field, an element, or a fresh one.
type decoder struct {
	*tape
	path      path
	problems  []countersign.Problem
	unnamed   int // problems beyond the ones that are named
	otherCase bool
}

// maxNamed is how many problems are named; the others are counted.
const maxNamed = 100

// failed reports that nothing of what is decoded will be kept.
func (d *decoder) failed() bool { return len(d.problems) > 0 }

func (d *decoder) refusal() error {
	code := countersign.CodeInvalidRequest
	if d.otherCase {
		code = countersign.CodeInvalidJSON
	}
	e := countersign.Refusal(code, d.problems...)
	if d.unnamed > 0 {
		e.Message += fmt.Sprintf("; and %d more", d.unnamed)
	}
	return e
}

// problem notes what is wrong where the decoder stands. Its words are made only
// when it will be named: a document may hold a million problems.
func (d *decoder) problem(code string, words func() string) {
	if len(d.problems) == maxNamed {
		d.unnamed++
		return
	}
	d.problems = append(d.problems, countersign.Problem{Path: d.path.String(), Code: code, Message: words()})
}

// is reports whether a value is of a kind, and else notes the problem.
func (d *decoder) is(at int, kind countersign.Kind, wanted string) bool {
	if d.kind(at) == kind {
		return true
	}
	d.wrongType(at, wanted)
	return false
}

func (d *decoder) wrongType(at int, wanted string) {
	d.problem("type", func() string { return "must be " + wanted + ", not " + kindWords[d.kind(at)] })
}

// kindWords names what a document holds.
var kindWords = [...]string{
	countersign.KindAbsent:  "nothing",
	countersign.KindNull:    "null",
	countersign.KindBoolean: "a boolean",
	countersign.KindNumber:  "a number",
	countersign.KindString:  "a string",
	countersign.KindArray:   "an array",
	countersign.KindObject:  "an object",
}

// value is the text of a value as a Value.
func (d *decoder) value(at int) countersign.Value {
	source := d.source(at)
	switch d.kind(at) {
	case countersign.KindArray, countersign.KindObject:
		source = compact(source)
	}
	return countersign.RawValue(string(source))
}
