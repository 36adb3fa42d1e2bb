package exactjson

import (
	"bytes"
	"reflect"
	"strings"

	"github.com/countersign/countersign"
)

// object is how a struct is read.
type object struct {
	fields []field
	byName map[string]int
	known  string // the names, in words
}

// field is one member that a struct takes.
type field struct {
	name     string
	key      []byte // the name, as paths and keys have it
	index    []int
	required bool
	null     string // the tag of that name
	plan     *plan
	rules    *rules
}

// verbatimKeeper is a struct that also keeps the text that it was read from.
type verbatimKeeper interface{ KeepVerbatim(text countersign.Value) }

var verbatimType = reflect.TypeFor[verbatimKeeper]()

func (b planner) fillStruct(p *plan, t reflect.Type) {
	p.wanted = "an object" // first: a struct that points to itself asks for it
	o := b.object(t)
	p.read = func(d *decoder, at int, v reflect.Value, _ *rules) {
		if d.is(at, countersign.KindObject, p.wanted) {
			o.read(d, at, v)
		}
	}
	if !reflect.PointerTo(t).Implements(verbatimType) {
		return
	}
	read := p.read
	p.read = func(d *decoder, at int, v reflect.Value, r *rules) {
		if read(d, at, v, r); !d.failed() {
			v.Addr().Interface().(verbatimKeeper).KeepVerbatim(d.value(at))
		}
	}
}

func (o *object) read(d *decoder, at int, v reflect.Value) {
	var seen uint64 // the fields that need not be asked for any more
	for name := at + 1; name < d.next(at); name = d.next(name + 1) {
		key := d.content(name)
		d.path.enterKey(key)
		if i, ok := o.byName[string(key)]; ok {
			seen |= 1 << i
			o.fields[i].read(d, name+1, v)
		} else {
			seen |= o.stray(d, key)
		}
		d.path.leave()
	}
	o.missing(d, seen)
}

func (f *field) read(d *decoder, at int, v reflect.Value) {
	switch {
	case d.kind(at) != countersign.KindNull || f.plan.null && f.null == "":
		f.plan.read(d, at, v.FieldByIndex(f.index), f.rules)
	case f.required:
		d.wrongType(at, f.wanted())
	case f.null == nullIsRefused:
		d.problem("null", func() string {
			return "must be " + f.wanted() + ", not null; leave the field out for no limit"
		})
	}
}

// wanted says in words what the field must be.
func (f *field) wanted() string {
	if f.plan.ruled {
		return f.rules.wanted(f.plan.wanted)
	}
	return f.plan.wanted
}

// stray notes a key that no field has. One that was meant for a field, but for
// its letter case, answers for it: the field is not called missing as well.
func (o *object) stray(d *decoder, key []byte) (meant uint64) {
	for i, f := range o.fields {
		if bytes.EqualFold(key, f.key) {
			d.otherCase = true
			d.problem("other_case", func() string { return "must be spelt " + f.name + ": upper and lower case differ" })
			return 1 << i
		}
	}
	d.problem("unknown_field", func() string { return "unknown field; " + o.suggestion(key) })
	return 0
}

func (o *object) suggestion(key []byte) string {
	if len(o.fields) == 0 {
		return "there are no fields here"
	}
	if name := nearest(string(key), o.fields); name != "" {
		return "did you mean " + name + "? Known fields are " + o.known
	}
	return "known fields are " + o.known
}

func (o *object) missing(d *decoder, seen uint64) {
	for i, f := range o.fields {
		if f.required && seen&(1<<i) == 0 {
			d.path.enterKey(f.key)
			d.problem("required", func() string { return "is missing; it must be " + f.wanted() })
			d.path.leave()
		}
	}
}

func (o *object) names() string {
	names := make([]string, len(o.fields))
	for i, f := range o.fields {
		names[i] = f.name
	}
	return strings.Join(names, ", ")
}
