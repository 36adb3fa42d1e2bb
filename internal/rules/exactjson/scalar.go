package exactjson

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strconv"
	"time"

	"github.com/countersign/countersign"
)

const (
	wantedScalar = "a string, number, boolean or null"
	wantedTime   = countersign.WantedInstant
)

func readString(d *decoder, at int, v reflect.Value, r *rules) {
	if !d.is(at, countersign.KindString, r.wanted("a string")) {
		return
	}
	v.SetString(string(d.content(at)))
	r.checkText(d, v.String())
}

func readBool(d *decoder, at int, v reflect.Value, _ *rules) {
	if d.is(at, countersign.KindBoolean, "true or false") {
		v.SetBool(d.source(at)[0] == 't')
	}
}

// readInt takes every spelling of a whole number, and never goes through a
// float, which would round what lies beyond 2^53.
func readInt(d *decoder, at int, v reflect.Value, r *rules) {
	if !d.is(at, countersign.KindNumber, r.wanted("a whole number")) {
		return
	}
	text := string(d.source(at))
	i, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		n := countersign.ParseNumber(text)
		if !n.IsInteger() {
			d.problem("type", func() string { return "must be " + r.wanted("a whole number") + ", without a fraction" })
			return
		}
		// A whole number that fits is short, and then String has no exponent.
		i, err = strconv.ParseInt(n.String(), 10, 64)
	}
	if err != nil || v.OverflowInt(i) {
		bits := v.Type().Bits()
		d.problem("range", func() string { return "must be a whole number that fits " + strconv.Itoa(bits) + " bits" })
		return
	}
	v.SetInt(i)
	r.checkInt(d, i)
}

func readNumber(d *decoder, at int, v reflect.Value, _ *rules) {
	if d.is(at, countersign.KindNumber, "a number") {
		*v.Addr().Interface().(*json.Number) = json.Number(d.source(at))
	}
}

func readTime(d *decoder, at int, v reflect.Value, _ *rules) {
	if !d.is(at, countersign.KindString, wantedTime) {
		return
	}
	moment, err := countersign.ParseInstant(string(d.content(at)))
	if err != nil {
		d.problem("time", func() string { return "must be " + wantedTime })
		return
	}
	*v.Addr().Interface().(*time.Time) = moment
}

func readValue(d *decoder, at int, v reflect.Value, _ *rules) {
	*v.Addr().Interface().(*countersign.Value) = d.value(at)
}

func readScalar(d *decoder, at int, v reflect.Value, _ *rules) {
	switch d.kind(at) {
	case countersign.KindArray, countersign.KindObject:
		d.wrongType(at, wantedScalar)
	default:
		*v.Addr().Interface().(*countersign.Scalar) = countersign.Scalar{Value: d.value(at)}
	}
}

// compact drops the white space between the tokens of checked text and changes
// nothing else.
func compact(text []byte) []byte {
	var b bytes.Buffer
	b.Grow(len(text))
	_ = json.Compact(&b, text) // fails on invalid JSON only
	return b.Bytes()
}
