package exactjson

// Check reports the first thing that makes data no acceptable JSON document, as
// a *countersign.Error with code invalid_json, and nil when there is none. The
// message names the JSON path, the byte offset (the first byte is 0) and what
// would be right.
//
// The document may be any JSON value with white space around it.
func Check(data []byte) error {
	s := scanner{data: data}
	if f := s.document(); f != nil {
		return f.refusal()
	}
	return nil
}
