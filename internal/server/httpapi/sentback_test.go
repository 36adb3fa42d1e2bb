package httpapi

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/control"
)

// TestARecordMayBeSentBackAsItWasRead: each member of what a PUT answers is one that its body
// takes, if only to ignore it (contract 2).
func TestARecordMayBeSentBackAsItWasRead(t *testing.T) {
	t.Parallel()
	for _, r := range (&API{control: &control.Service{}}).routes() {
		if r.method != "PUT" || r.body == nil || r.answer == nil {
			continue
		}
		if !strings.HasSuffix(r.path, "}") && strings.Contains(r.path, "}/") {
			continue // a part of a record, such as /projects/{id}/answer-keys: the record isn't sent back there
		}
		takes := members(r.body)
		for _, name := range members(r.answer) {
			if !slices.Contains(takes, name) {
				t.Errorf("%s %s answers %s and doesn't take it", r.method, r.path, name)
			}
		}
	}
}

func members(t reflect.Type) (names []string) {
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct:
			names = append(names, members(f.Type)...)
		case f.IsExported() && name != "-":
			names = append(names, name)
		}
	}
	return names
}
