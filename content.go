package countersign

import (
	"fmt"
	"reflect"
)

// CopyContent copies what two records have in common: each member that both have, of the same name and type. So a
// record takes from a request what its sender may set, and a request is made of a stored record, without a list of members
// that one would be missing from. What the server sets has another type in requests (it is ignored there), and is left
// alone, as is what only one of them has. It shares maps and slices.
func CopyContent(into, from any) {
	target, source := reflect.ValueOf(into).Elem(), reflect.ValueOf(from)
	if source.Kind() == reflect.Pointer {
		source = source.Elem()
	}
	if target.Kind() != reflect.Struct || source.Kind() != reflect.Struct {
		panic(fmt.Sprintf("countersign: CopyContent of %T into %T: both must be records", from, into))
	}
	for i := range target.NumField() {
		field := target.Type().Field(i)
		has, is := source.Type().FieldByName(field.Name)
		if is && len(has.Index) == 1 && has.Type == field.Type {
			target.Field(i).Set(source.Field(has.Index[0]))
		}
	}
}
