package client

import (
	"encoding/json"
	"strings"

	"github.com/countersign/countersign"
)

// Lists and event streams replace a value over 16 KiB by {"$omitted": {"bytes", "sha256"}}. A
// [countersign.Value] shows that; a field of another type, such as a name, can't hold it and
// gets its zero value. A read by id has all values.

// decode reads an answer into v, a *T. Where that fails, it reads the answer again without the
// omitted values that T has no room for.
func decode[T any](doc []byte, v *T) error {
	err := json.Unmarshal(doc, v)
	if err == nil || !strings.Contains(string(doc), omittedStart) {
		return err
	}
	rest, changed := withoutOmitted(doc, func(member []byte) bool { return json.Unmarshal(member, new(T)) == nil })
	if !changed {
		return err
	}
	*v = *new(T)
	return json.Unmarshal(rest, v)
}

const omittedStart = `{"$omitted":`

// recordLists are the fields whose records have their values replaced one by one.
var recordLists = map[string]bool{"items": true, "steps": true, "capabilities": true}

// withoutOmitted removes the members of an object that are omitted values and that don't fit,
// and does the same in its lists of records. fits reports whether a document with that member
// alone can be read.
func withoutOmitted(doc []byte, fits func(doc []byte) bool) (rest []byte, changed bool) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(doc, &fields) != nil {
		return doc, false
	}
	for name, v := range fields {
		switch {
		case isOmitted(v):
			if !fits(object(name, v)) {
				delete(fields, name)
				changed = true
			}
		case recordLists[name] && strings.Contains(string(v), omittedStart):
			records, some := listWithoutOmitted(v, func(record []byte) bool { return fits(object(name, array(record))) })
			fields[name], changed = records, changed || some
		}
	}
	if !changed {
		return doc, false
	}
	rest, err := countersign.Marshal(fields)
	return rest, err == nil
}

func listWithoutOmitted(doc []byte, fits func(record []byte) bool) (rest []byte, changed bool) {
	var records []json.RawMessage
	if json.Unmarshal(doc, &records) != nil {
		return doc, false
	}
	for i, r := range records {
		record, some := withoutOmitted(r, fits)
		records[i], changed = record, changed || some
	}
	rest, err := countersign.Marshal(records)
	return rest, changed && err == nil
}

func isOmitted(v []byte) bool { return strings.HasPrefix(string(v), omittedStart) }

func object(name string, v []byte) []byte {
	doc, err := countersign.Marshal(map[string]json.RawMessage{name: v})
	if err != nil {
		return nil
	}
	return doc
}

func array(v []byte) []byte { return append(append([]byte{'['}, v...), ']') }
