package exactjson

import (
	"fmt"
	"reflect"

	"github.com/countersign/countersign"
)

// fillPointer reads what is pointed to. null is refused: a field that may be
// missing is left out.
func (b planner) fillPointer(p *plan, t reflect.Type) {
	elem := b.plan(t.Elem())
	p.wanted, p.ruled = elem.wanted, elem.ruled
	p.read = func(d *decoder, at int, v reflect.Value, r *rules) {
		target := reflect.New(t.Elem())
		elem.read(d, at, target.Elem(), r)
		v.Set(target)
	}
}

// firstElements is how many elements a slice has room for at first. More comes
// with what was read: an array of a million wrong elements must not cost the
// memory of a million right ones.
const firstElements = 16

func (b planner) fillSlice(p *plan, t reflect.Type) {
	elem := b.plan(t.Elem())
	p.wanted = "an array"
	p.read = func(d *decoder, at int, v reflect.Value, r *rules) {
		if !d.is(at, countersign.KindArray, p.wanted) {
			return
		}
		count := d.elements(at)
		end := d.next(at)
		if !r.checkItems(d, count) {
			return
		}
		v.Set(reflect.MakeSlice(t, 0, min(count, firstElements)))
		for i, child := 0, at+1; child < end; i, child = i+1, d.next(child) {
			d.path.enterIndex(i)
			elem.read(d, child, d.element(v), r)
			d.path.leave()
		}
	}
}

// elements counts those of an array.
func (d *decoder) elements(at int) int {
	n := 0
	for child := at + 1; child < d.next(at); child = d.next(child) {
		n++
	}
	return n
}

// element makes room in a slice for the element to be read next. Once anything
// is wrong, one place serves all that are still read, for their problems only.
func (d *decoder) element(slice reflect.Value) reflect.Value {
	n := slice.Len()
	if n > 0 && d.failed() {
		return slice.Index(n - 1)
	}
	if n == slice.Cap() {
		slice.Grow(1)
	}
	slice.SetLen(n + 1)
	return slice.Index(n)
}

func (b planner) fillMap(p *plan, t reflect.Type) {
	if t.Key().Kind() != reflect.String {
		panic(fmt.Sprintf("exact: can't decode into a %s: only string keys", t))
	}
	elem := b.plan(t.Elem())
	p.wanted = "an object"
	p.read = func(d *decoder, at int, v reflect.Value, _ *rules) {
		if !d.is(at, countersign.KindObject, p.wanted) {
			return
		}
		v.Set(reflect.MakeMap(t))
		item, key := reflect.New(t.Elem()).Elem(), reflect.New(t.Key()).Elem()
		for name := at + 1; name < d.next(at); name = d.next(name + 1) {
			text := d.content(name)
			d.path.enterKey(text)
			item.SetZero()
			elem.read(d, name+1, item, noRules)
			d.path.leave()
			if !d.failed() {
				key.SetString(string(text))
				v.SetMapIndex(key, item)
			}
		}
	}
}
