package countersign

import (
	"bytes"
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Marshal encodes v as encoding/json does without HTML escapes, byte for byte: a Value
// keeps its text. It is several times as fast, since each type's encoder is made once
// and neither a Value nor a time is encoded apart, parsed and copied; the records that
// every step of a run writes are encoded by it.
func Marshal(v any) ([]byte, error) {
	scratch := scratches.Get().(*[]byte)
	b, err := appendAny((*scratch)[:0], reflect.ValueOf(v))
	out := append(make([]byte, 0, len(b)), b...)
	if cap(b) <= maxScratch {
		*scratch = b
		scratches.Put(scratch)
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

var scratches = sync.Pool{New: func() any { return new([]byte) }}

// maxScratch bounds the memory that is kept for the next call.
const maxScratch = 64 << 10

// encoder appends a value of one type.
type encoder func(b []byte, v reflect.Value) ([]byte, error)

// encoders holds the encoder of every type met so far.
var encoders sync.Map // reflect.Type → encoder

func encoderOf(t reflect.Type) encoder {
	if e, ok := encoders.Load(t); ok {
		return e.(encoder)
	}
	// A type that holds itself finds this one while its own is made.
	var made encoder
	ready := sync.OnceFunc(func() { made = makeEncoder(t) })
	e, ok := encoders.LoadOrStore(t, encoder(func(b []byte, v reflect.Value) ([]byte, error) {
		ready()
		return made(b, v)
	}))
	if ok {
		return e.(encoder)
	}
	ready()
	encoders.Store(t, made)
	return made
}

var (
	valueType         = reflect.TypeFor[Value]()
	digestType        = reflect.TypeFor[StepDigest]()
	numberType        = reflect.TypeFor[json.Number]()
	marshalerType     = reflect.TypeFor[json.Marshaler]()
	textMarshalerType = reflect.TypeFor[encoding.TextMarshaler]()
	timeType          = reflect.TypeFor[time.Time]()
	stepRunType       = reflect.TypeFor[StepRun]()
	auditRecordType   = reflect.TypeFor[AuditRecord]()
	valuesType        = reflect.TypeFor[map[string]Value]()
)

func makeEncoder(t reflect.Type) encoder {
	switch to := reflect.PointerTo(t); {
	case t.Kind() == reflect.Interface:
		return func(b []byte, v reflect.Value) ([]byte, error) { return appendAny(b, v.Elem()) }
	case t.Kind() == reflect.Pointer:
		return pointerEncoder(t)
	case t == valueType:
		return func(b []byte, v reflect.Value) ([]byte, error) { return Value{v.Field(0).String()}.appendJSON(b), nil }
	case t == digestType:
		return func(b []byte, v reflect.Value) ([]byte, error) { return StepDigest(v.String()).appendJSON(b), nil }
	case t == timeType:
		return func(b []byte, v reflect.Value) ([]byte, error) { return appendTime(b, timeOf(v)) }
	case t == valuesType: // each step has one
		return func(b []byte, v reflect.Value) ([]byte, error) {
			return appendValues(b, v.Interface().(map[string]Value)), nil
		}
	case t == stepRunType:
		return recordEncoder(appendStepRun)
	case t == auditRecordType:
		return recordEncoder(appendAuditRecord)
	case t.Implements(marshalerType):
		return appendMarshaler
	case to.Implements(marshalerType) || to.Implements(textMarshalerType) || t == numberType:
		return marshalGeneral
	}
	switch t.Kind() {
	case reflect.String:
		return func(b []byte, v reflect.Value) ([]byte, error) { return appendText(b, v.String()), nil }
	case reflect.Bool:
		return func(b []byte, v reflect.Value) ([]byte, error) { return strconv.AppendBool(b, v.Bool()), nil }
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return func(b []byte, v reflect.Value) ([]byte, error) { return strconv.AppendInt(b, v.Int(), 10), nil }
	case reflect.Slice:
		return sliceEncoder(t)
	case reflect.Map:
		return mapEncoder(t)
	case reflect.Struct:
		return structEncoder(t)
	default:
		return marshalGeneral
	}
}

// marshalGeneral encodes by encoding/json what none of these encoders is for.
func marshalGeneral(b []byte, v reflect.Value) ([]byte, error) {
	out := bytes.NewBuffer(b)
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	err := e.Encode(at[any](v))
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), err
}

// at gives v as an I: by its address where it has one, which copies nothing.
func at[I any](v reflect.Value) I {
	if v.CanAddr() {
		v = v.Addr()
	}
	return v.Interface().(I)
}

func appendAny(b []byte, v reflect.Value) ([]byte, error) {
	if !v.IsValid() {
		return append(b, Null.raw...), nil
	}
	return encoderOf(v.Type())(b, v)
}

func timeOf(v reflect.Value) time.Time {
	if v.CanAddr() {
		return *v.Addr().Interface().(*time.Time)
	}
	return v.Interface().(time.Time)
}

func appendMarshaler(b []byte, v reflect.Value) ([]byte, error) {
	doc, err := at[json.Marshaler](v).MarshalJSON()
	if err != nil {
		return b, err
	}
	out := bytes.NewBuffer(b)
	err = json.Compact(out, doc)
	return out.Bytes(), err
}

func pointerEncoder(t reflect.Type) encoder {
	of := encoderOf(t.Elem())
	return func(b []byte, v reflect.Value) ([]byte, error) {
		if v.IsNil() {
			return append(b, Null.raw...), nil
		}
		return of(b, v.Elem())
	}
}

func sliceEncoder(t reflect.Type) encoder {
	if t.Elem().Kind() == reflect.Uint8 {
		return marshalGeneral
	}
	of := encoderOf(t.Elem())
	return func(b []byte, v reflect.Value) (_ []byte, err error) {
		if v.IsNil() {
			return append(b, Null.raw...), nil
		}
		b = append(b, '[')
		for i := range v.Len() {
			if i > 0 {
				b = append(b, ',')
			}
			if b, err = of(b, v.Index(i)); err != nil {
				return b, err
			}
		}
		return append(b, ']'), nil
	}
}

func mapEncoder(t reflect.Type) encoder {
	if t.Key().Kind() != reflect.String {
		return marshalGeneral
	}
	of := encoderOf(t.Elem())
	return func(b []byte, v reflect.Value) (_ []byte, err error) {
		if v.IsNil() {
			return append(b, Null.raw...), nil
		}
		keys := v.MapKeys()
		slices.SortFunc(keys, func(k, l reflect.Value) int { return strings.Compare(k.String(), l.String()) })
		b = append(b, '{')
		for i, k := range keys {
			if i > 0 {
				b = append(b, ',')
			}
			if b, err = of(append(appendText(b, k.String()), ':'), v.MapIndex(k)); err != nil {
				return b, err
			}
		}
		return append(b, '}'), nil
	}
}
