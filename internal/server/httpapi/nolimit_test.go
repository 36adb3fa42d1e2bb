package httpapi

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/control"
)

// unlimited are the fields whose absence means without a limit (contract 12.1): null would
// be understood as that by nobody who sees what is asked for.
var unlimited = []string{"projectIds", "agentIds", "modes", "reads", "groups"}

func TestAFieldWhoseAbsenceIsNoLimitRefusesNull(t *testing.T) {
	t.Parallel()
	seen := map[reflect.Type]bool{}
	var look func(t reflect.Type, found func(at reflect.Type, f reflect.StructField, name string))
	look = func(t reflect.Type, found func(reflect.Type, reflect.StructField, string)) {
		switch t.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Array:
			look(t.Elem(), found)
		case reflect.Struct:
			if seen[t] {
				return
			}
			seen[t] = true
			for f := range t.Fields() {
				name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
				if strings.HasPrefix(options, "omit") && slices.Contains(unlimited, name) && f.Type.Kind() == reflect.Slice {
					found(t, f, name)
				}
				look(f.Type, found)
			}
		}
	}
	count := 0
	for _, r := range (&API{control: &control.Service{}}).routes() {
		if r.body == nil {
			continue
		}
		look(r.body, func(at reflect.Type, f reflect.StructField, name string) {
			count++
			if f.Tag.Get("null") != "refused" {
				t.Errorf(`%s.%s: its absence means without a limit, so that it needs the tag null:"refused"`, at, f.Name)
			}
		})
	}
	if count < 6 {
		t.Errorf("only %d such fields were found", count)
	}
}
