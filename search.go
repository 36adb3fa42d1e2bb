package countersign

import "time"

// SearchResult is the answer of GET /search: at most 20 records, runs that have the text as
// a whole value first, each kind's newest first.
type SearchResult struct {
	Items []SearchHit `json:"items" nullable:"false"`
}

// SearchHit is a record that has the text.
type SearchHit struct {
	Kind   string    `json:"kind" enum:"run,token"`
	ID     string    `json:"id"`
	Where  string    `json:"where" doc:"where in the record it stands, such as: input orderId of step refund"`
	Value  string    `json:"value,omitempty" doc:"the whole value there, where it is short"`
	Status string    `json:"status,omitempty" doc:"of the record"`
	Mode   string    `json:"mode,omitempty" doc:"of a run"`
	At     time.Time `json:"at" doc:"when the record was made"`
}
