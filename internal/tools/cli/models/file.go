package models

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/exactjson"
	"github.com/countersign/countersign/internal/tools/cli/terminal"
	"github.com/countersign/countersign/internal/tools/cli/typed"
)

// read decodes a model file as the service decodes a request body: it accepts the same
// documents, and refuses others with the same error.
func (f ModelFile) read(t *terminal.Terminal) (*countersign.AgentModel, error) {
	data, err := typed.ReadFile(t, f.File, countersign.MaxBodyBytes)
	if err != nil {
		return nil, err
	}
	doc, path, err := decodeModel(data)
	if err != nil {
		return nil, terminal.Unusablef("%s%s: %s", f.File, positionOf(data), err)
	}
	if !countersign.ValidID(doc.ID) {
		return nil, terminal.Unusablef("%s: %sid: an id is 1 to 128 letters, digits, dots, underscores and hyphens, a letter or digit first", f.File, path)
	}
	return doc, nil
}

// decodeModel accepts the bare document, and the body of a PUT with the document in
// `document`. path is the JSON path of the document, a prefix for errors.
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

// positionOf is the line and column of a syntax error, such as ":12:5". It is "" for valid
// JSON, since errors in the content have a JSON path.
func positionOf(data []byte) string {
	var fault *json.SyntaxError
	if !errors.As(json.Unmarshal(data, new(any)), &fault) {
		return ""
	}
	before := data[:max(0, min(int(fault.Offset)-1, len(data)))]
	return fmt.Sprintf(":%d:%d", bytes.Count(before, []byte("\n"))+1, len(before)-bytes.LastIndexByte(before, '\n'))
}
