package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/exactjson"
)

// read decodes a model file as the service decodes a body: the same document is
// taken, or refused with the same words.
func (f ModelFile) read(t *Terminal) (*countersign.AgentModel, error) {
	data, err := readFile(t, f.File, countersign.MaxBodyBytes)
	if err != nil {
		return nil, err
	}
	doc, path, err := decodeModel(data)
	if err != nil {
		return nil, Unusablef("%s%s: %s", f.File, lineOf(data), err)
	}
	if !countersign.ValidID(doc.ID) {
		return nil, Unusablef("%s: %sid: an id is 1 to 128 letters, digits, dots, underscores and hyphens, a letter or digit first", f.File, path)
	}
	return doc, nil
}

// decodeModel takes both forms; path leads to the document in its text.
func decodeModel(data []byte) (doc *countersign.AgentModel, path string, err error) {
	var form struct {
		Document json.RawMessage `json:"document"`
	}
	if json.Unmarshal(data, &form) == nil && form.Document != nil {
		var w countersign.ModelWrite
		err = exactjson.Decode(data, &w)
		return &w.Document, "document.", err
	}
	doc = &countersign.AgentModel{}
	return doc, "", exactjson.Decode(data, doc)
}

// lineOf is where a text stops being JSON, as editors show it; nothing for a
// text whose fault is another, for which the JSON path says where.
func lineOf(data []byte) string {
	var fault *json.SyntaxError
	if !errors.As(json.Unmarshal(data, new(any)), &fault) {
		return ""
	}
	before := data[:max(0, min(int(fault.Offset)-1, len(data)))]
	return fmt.Sprintf(":%d:%d", bytes.Count(before, []byte("\n"))+1, len(before)-bytes.LastIndexByte(before, '\n'))
}
