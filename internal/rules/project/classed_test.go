package project

import (
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/countersign/countersign"
)

// TestEachFieldIsClassedAsWeakeningOrNot: whoever adds a field to a project or a capability
// says in the tables whether an edit of it weakens a gate.
func TestEachFieldIsClassedAsWeakeningOrNot(t *testing.T) {
	compare := func(of reflect.Type, classed []string) {
		for _, f := range reflect.VisibleFields(of) {
			if !f.Anonymous && !slices.Contains(classed, f.Name) {
				t.Errorf("%s.%s: does an edit of it weaken a gate? Say so in weakens.go", of.Name(), f.Name)
			}
		}
		for _, name := range classed {
			if _, is := of.FieldByName(name); !is {
				t.Errorf("%s has no field %s any more", of.Name(), name)
			}
		}
	}
	compare(reflect.TypeFor[countersign.Project](), slices.Sorted(maps.Keys(projectFields)))
	compare(reflect.TypeFor[countersign.Capability](), slices.Sorted(maps.Keys(capabilityFields)))
}
