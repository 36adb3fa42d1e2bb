package exactjson

import (
	"encoding/json"
	"fmt"
	"reflect"
	"sync"
	"time"

	"github.com/countersign/countersign"
)

// plan is how one Go type is read; it is made once a type.
type plan struct {
	wanted string // what the type takes, in words: "a string"
	null   bool   // an explicit null fits
	ruled  bool   // a field's rules are about this value, not about elements in it
	read   func(d *decoder, at int, v reflect.Value, r *rules)
}

// plans holds the plan of every type met so far.
var plans sync.Map // reflect.Type → *plan

// planOf finds or makes the plan of a type.
func planOf(t reflect.Type) *plan {
	if p, ok := plans.Load(t); ok {
		return p.(*plan)
	}
	b := planner{}
	p := b.plan(t)
	for made, p := range b {
		plans.LoadOrStore(made, p)
	}
	return p
}

// planner holds the plans in the making: a type that holds itself finds its own,
// unfinished one, which is finished before anything is read by it.
type planner map[reflect.Type]*plan

func (b planner) plan(t reflect.Type) *plan {
	if p, ok := b[t]; ok {
		return p
	}
	p := &plan{}
	b[t] = p
	b.fill(p, t)
	return p
}

// special are the types that are read by what they mean, not by how they are
// made.
var special = map[reflect.Type]plan{
	reflect.TypeFor[countersign.Value]():  {wanted: "any JSON value", null: true, read: readValue},
	reflect.TypeFor[countersign.Scalar](): {wanted: wantedScalar, null: true, read: readScalar},
	reflect.TypeFor[json.Number]():        {wanted: "a number", read: readNumber},
	reflect.TypeFor[time.Time]():          {wanted: wantedTime, read: readTime},
}

func (b planner) fill(p *plan, t reflect.Type) {
	if s, ok := special[t]; ok {
		*p = s
		return
	}
	if reflect.PointerTo(t).Implements(unionType) {
		b.fillUnion(p, t)
		return
	}
	if reflect.PointerTo(t).Implements(shapedType) {
		fillShaped(p)
		return
	}
	switch t.Kind() {
	case reflect.String:
		*p = plan{wanted: "a string", ruled: true, read: readString}
	case reflect.Bool:
		*p = plan{wanted: "true or false", read: readBool}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		*p = plan{wanted: "a whole number", ruled: true, read: readInt}
	case reflect.Pointer:
		b.fillPointer(p, t)
	case reflect.Slice:
		b.fillSlice(p, t)
	case reflect.Map:
		b.fillMap(p, t)
	case reflect.Struct:
		b.fillStruct(p, t)
	default:
		panic(fmt.Sprintf("exact: can't decode into a %s", t))
	}
}
