package search

import (
	"strings"

	"github.com/countersign/countersign"
)

// Says reports whether a text or a number of a record, as it is shown, has a text in lower case
// within it.
func Says(record any, text string) bool {
	doc, err := countersign.Marshal(record)
	if err != nil {
		return false
	}
	said := false
	within(countersign.RawValue(string(doc)), func(t string) bool {
		said = strings.Contains(strings.ToLower(t), text)
		return !said
	})
	return said
}

// within visits all texts and numbers of a value until visit returns false.
func within(v countersign.Value, visit func(text string) bool) bool {
	switch v.Kind() {
	case countersign.KindString:
		return visit(v.Text())
	case countersign.KindNumber:
		return visit(v.Raw())
	}
	if list, ok := v.Array(); ok {
		for _, item := range list {
			if !within(item, visit) {
				return false
			}
		}
		return true
	}
	m, _ := v.Object()
	for _, item := range m {
		if !within(item, visit) {
			return false
		}
	}
	return true
}
