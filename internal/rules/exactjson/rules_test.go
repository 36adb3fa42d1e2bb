package exactjson

import (
	"testing"

	"github.com/countersign/countersign"
)

// ruled has a field for each tag.
type ruled struct {
	Word    string   `json:"word,omitempty" minLength:"2" maxLength:"3"`
	Full    string   `json:"full,omitempty" minLength:"1"`
	ID      string   `json:"id,omitempty" pattern:"^[a-z]+$"`
	Version string   `json:"version,omitempty" enum:"1.0"`
	Low     int64    `json:"low,omitempty" minimum:"1"`
	High    int64    `json:"high,omitempty" maximum:"9"`
	Both    int64    `json:"both,omitempty" minimum:"1" maximum:"9"`
	Roles   []string `json:"roles,omitempty" enum:"A,B" minItems:"1" maxItems:"3"`
	Marks   []int64  `json:"marks,omitempty" minimum:"1" minItems:"2"`
	Maybe   *string  `json:"maybe,omitempty" enum:"A,B"`
}

func TestTagsAreKept(t *testing.T) {
	for text, want := range map[string]string{
		`{"word":"é"}`:                "word: must have at least 2 characters, not 1",
		`{"word":"éééé"}`:             "word: must have at most 3 characters, not 4",
		`{"full":""}`:                 "full: must not be empty",
		`{"id":"A"}`:                  "id: must match ^[a-z]+$",
		`{"version":"1.1"}`:           `version: must be "1.0"`,
		`{"low":0}`:                   "low: must be a whole number of at least 1, not 0",
		`{"high":10}`:                 "high: must be a whole number of at most 9, not 10",
		`{"both":-1}`:                 "both: must be a whole number from 1 to 9, not -1",
		`{"roles":[]}`:                "roles: must not be empty",
		`{"roles":["A","A","B","B"]}`: "roles: must have at most 3 elements, not 4",
		`{"roles":["A","C"]}`:         "roles[1]: must be one of A, B",
		`{"marks":[1]}`:               "marks: must have at least 2 elements, not 1",
		`{"marks":[1,0]}`:             "marks[1]: must be a whole number of at least 1, not 0",
		`{"maybe":"C"}`:               "maybe: must be one of A, B",
	} {
		misfit[ruled](t, text, invalidRequest, want)
	}
}

func TestWhatKeepsTheTagsIsAccepted(t *testing.T) {
	decoded[ruled](t, `{"word":"éé","full":"x","id":"a","version":"1.0","low":1,"high":9,"both":5,"roles":["A","B","A"],"marks":[7,7],"maybe":"B"}`)
}

func TestElementsOfATooLongArrayAreNotLookedAt(t *testing.T) {
	misfit[ruled](t, `{"roles":[1,2,3,4]}`, invalidRequest, "roles: must have at most 3 elements, not 4")
}

func TestTimeoutOfACapabilityIsBounded(t *testing.T) {
	misfit[countersign.Capability](t, `{"name":"n","method":"GET","path":"/","timeoutMs":60001}`, invalidRequest,
		"timeoutMs: must be a whole number from 100 to 60000, not 60001")
}
