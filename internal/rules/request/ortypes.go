package request

import (
	"fmt"
	"slices"
	"strings"

	"github.com/countersign/countersign"
)

// orTypes checks the further types of an input. Whatever they are, its value goes where one
// of type could go: path and query take what fits them.
func (k *capabilityCheck) orTypes(name string, f countersign.InputField) {
	for i, t := range f.OrTypes {
		path := fmt.Sprintf("inputSchema.%s.orTypes[%d]", name, i)
		switch {
		case !slices.Contains(inputTypes, t):
			k.add(path, "wrong_type", "must be one of %s", strings.Join(inputTypes, ", "))
		case t == f.Type || slices.Contains(f.OrTypes[:i], t):
			k.add(path, "wrong_type", "%s is a type of the input already", t)
		}
	}
}

// all reports that each type of an input is one of some.
func all(f countersign.InputField, is func(kind string) bool) bool {
	return !slices.ContainsFunc(f.Types(), func(t string) bool { return !is(t) })
}

// Deeper says why a dotted path can't lead into an input, "" where it can, or isn't dotted. An
// input of several types has what is meant in one of them only, and what is said of it by its
// path would not be said of its other values.
func Deeper(c *countersign.Capability, path string) string {
	for i := range len(path) {
		if path[i] != '.' {
			continue
		}
		if f := c.InputSchema[path[:i]]; len(f.OrTypes) > 0 {
			return fmt.Sprintf("%s is %s, and a dotted path leads only into an input of one type", path[:i], strings.Join(f.Types(), " or "))
		}
	}
	return ""
}
