package countersign

import "slices"

// Types are all types that a value of the input may have, the first one being Type.
func (f InputField) Types() []string {
	if len(f.OrTypes) == 0 {
		return []string{f.Type}
	}
	return append([]string{f.Type}, f.OrTypes...)
}

// Takes reports that a value may have the type.
func (f InputField) Takes(kind string) bool {
	return f.Type == kind || slices.Contains(f.OrTypes, kind)
}

// IsNumber reports an input of which each value is a number.
func (f InputField) IsNumber() bool { return f.Type == "number" && len(f.OrTypes) == 0 }
