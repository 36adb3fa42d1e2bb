package countersign

import (
	"encoding/json"
	"strconv"
	"time"
)

// ModelSchemaVersion is the one schema version of AgentModel (specification 2.3).
const ModelSchemaVersion = "1.0.0"

// Kinds and types of a Variable.
const (
	VariableInput  = "input"
	VariableMemory = "memory"

	TypeNumber  = "number"
	TypeBoolean = "boolean"
	TypeText    = "text"
	TypeChoice  = "choice"
)

// Scalar is a ModelValue: a string, number, boolean or null (specification 2).
type Scalar struct{ Value }

// AgentModel is the document stored in a model: a state machine with its
// variables, actions and scenarios (specification 2.3). It is kept verbatim:
// what was read from JSON is written as the same JSON.
type AgentModel struct {
	SchemaVersion string       `json:"schemaVersion" enum:"1.0.0"`
	ID            string       `json:"id"`
	Name          string       `json:"name"`
	Description   string       `json:"description"`
	Revision      int64        `json:"revision" minimum:"1"`
	UpdatedAt     string       `json:"updatedAt"`
	Agent         ModelAgent   `json:"agent"`
	Scope         ModelScope   `json:"scope"`
	Variables     []Variable   `json:"variables" nullable:"false"`
	States        []ModelState `json:"states" nullable:"false"`
	Transitions   []Transition `json:"transitions" nullable:"false"`
	Actions       []Action     `json:"actions" nullable:"false"`
	Scenarios     []Scenario   `json:"scenarios" nullable:"false"`

	verbatim Value
}

// ModelAgent describes the agent that the model is of.
type ModelAgent struct {
	ID                 string `json:"id"`
	Name               string `json:"name"`
	Role               string `json:"role"`
	User               string `json:"user"`
	Goal               string `json:"goal"`
	CompletionCriteria string `json:"completionCriteria"`
}

// ModelScope says in words what the agent may do.
type ModelScope struct {
	AllowedActions string `json:"allowedActions"`
	Limits         string `json:"limits"`
	AskUserWhen    string `json:"askUserWhen"`
}

// Variable is an input or a memory cell of the model.
type Variable struct {
	ID           string   `json:"id"`
	Name         string   `json:"name"`
	Kind         string   `json:"kind" enum:"input,memory"`
	Type         string   `json:"type" enum:"number,boolean,text,choice"`
	DefaultValue Scalar   `json:"defaultValue"`
	Source       string   `json:"source"`
	Unit         string   `json:"unit,omitempty" nullable:"true"`
	Choices      []string `json:"choices,omitempty" nullable:"true"`
	Description  string   `json:"description,omitempty" nullable:"true"`
}

// ModelState is one state of the machine.
type ModelState struct {
	ID       string   `json:"id"`
	Name     string   `json:"name"`
	Meaning  string   `json:"meaning"`
	IsStart  bool     `json:"isStart"`
	IsFinal  bool     `json:"isFinal"`
	Position Position `json:"position"`
}

// Position is where an editor drew the state.
type Position struct {
	X json.Number `json:"x"`
	Y json.Number `json:"y"`
}

// Transition leads from one state to another while its condition holds.
type Transition struct {
	ID          string    `json:"id"`
	Name        string    `json:"name"`
	FromStateID string    `json:"fromStateId"`
	ToStateID   string    `json:"toStateId"`
	Priority    int64     `json:"priority" minimum:"0"`
	Condition   Condition `json:"condition"`
	ActionID    string    `json:"actionId,omitempty" nullable:"true"`
}

// Action is what taking a transition does in a simulation; a plan binds it to a
// capability.
type Action struct {
	ID              string         `json:"id"`
	Name            string         `json:"name"`
	Description     string         `json:"description"`
	Inputs          []string       `json:"inputs" nullable:"false"`
	SimulatedResult string         `json:"simulatedResult"`
	MemoryEffects   []MemoryEffect `json:"memoryEffects" nullable:"false"`
}

// MemoryEffect sets one memory variable.
type MemoryEffect struct {
	VariableID string `json:"variableId"`
	Value      Scalar `json:"value"`
}

// Scenario is a run of the model on paper, with what it must come to.
type Scenario struct {
	ID              string            `json:"id"`
	Name            string            `json:"name"`
	Description     string            `json:"description"`
	Inputs          map[string]Scalar `json:"inputs" nullable:"false"`
	InitialMemory   map[string]Scalar `json:"initialMemory" nullable:"false"`
	ExpectedStateID string            `json:"expectedStateId"`
	ExpectedPath    []string          `json:"expectedPath" nullable:"false"`
	ExpectedResult  string            `json:"expectedResult"`
}

// KeepVerbatim remembers the JSON that the model was decoded from.
func (m *AgentModel) KeepVerbatim(v Value) { m.verbatim = v }

// plainModel and plainTransition have the fields of AgentModel and Transition and
// none of their methods.
type (
	plainModel      AgentModel
	plainTransition Transition
)

// storedTransition reads a transition of a stored document. It has no UnmarshalJSON of
// its own, so that a document with many of them is read in one pass.
type storedTransition struct {
	plainTransition
	Priority wholeNumber `json:"priority"`
}

func (s *storedTransition) transition() Transition {
	t := Transition(s.plainTransition)
	t.Priority = int64(s.Priority)
	return t
}

// wholeNumber reads every spelling of an integer: a document that is kept verbatim
// may say 1.0 or 1e0, which encoding/json refuses for an int64.
type wholeNumber int64

// UnmarshalJSON reads a number by its exact value.
func (w *wholeNumber) UnmarshalJSON(b []byte) error {
	if n, err := strconv.ParseInt(string(b), 10, 64); err == nil {
		*w = wholeNumber(n)
		return nil
	}
	return json.Unmarshal([]byte(ParseNumber(string(b)).String()), (*int64)(w))
}

// MarshalJSON writes the document as it was read.
func (m AgentModel) MarshalJSON() ([]byte, error) {
	if !m.verbatim.IsZero() {
		return m.verbatim.MarshalJSON()
	}
	return Marshal(plainModel(m))
}

// UnmarshalJSON reads a stored document and remembers its text.
func (m *AgentModel) UnmarshalJSON(b []byte) error {
	read := struct {
		*plainModel
		Revision    wholeNumber        `json:"revision"`
		Transitions []storedTransition `json:"transitions"`
	}{plainModel: (*plainModel)(m)}
	if err := json.Unmarshal(b, &read); err != nil {
		return err
	}
	m.Revision = int64(read.Revision)
	m.Transitions = nil
	if read.Transitions != nil {
		m.Transitions = make([]Transition, len(read.Transitions))
	}
	for i := range read.Transitions {
		m.Transitions[i] = read.Transitions[i].transition()
	}
	m.KeepVerbatim(RawValue(string(b)))
	return nil
}

// UnmarshalJSON reads a transition of a stored document.
func (t *Transition) UnmarshalJSON(b []byte) error {
	read := storedTransition{plainTransition: plainTransition(*t)}
	if err := json.Unmarshal(b, &read); err != nil {
		return err
	}
	*t = read.transition()
	return nil
}

// Model is the stored record of an agent model (specification 2.4).
type Model struct {
	ID            string     `json:"id"`
	Revision      int64      `json:"revision" doc:"the server's: 1 on create, one more on each update and suspension"`
	Name          string     `json:"name"`
	SchemaVersion string     `json:"schemaVersion"`
	Suspended     bool       `json:"suspended"`
	Retired       bool       `json:"retired,omitempty" doc:"true: hidden from lists unless asked for, and nothing new is made of it; restoring ends that"`
	CreatedAt     time.Time  `json:"createdAt"`
	UpdatedAt     time.Time  `json:"updatedAt"`
	Document      AgentModel `json:"document"`
}

// ModelWrite is the body of PUT /models/{id}. The fields after
// ExpectedRevision are the server's: accepted, so that a client may send back
// what it read, and ignored.
type ModelWrite struct {
	Document         AgentModel `json:"document"`
	ExpectedRevision int64      `json:"expectedRevision,omitempty" minimum:"0" doc:"absent or 0 creates; else the current revision"`

	ID            Value `json:"id,omitzero" doc:"ignored"`
	Revision      Value `json:"revision,omitzero" doc:"ignored"`
	Name          Value `json:"name,omitzero" doc:"ignored: the document's name counts"`
	SchemaVersion Value `json:"schemaVersion,omitzero" doc:"ignored: the document's counts"`
	Suspended     Value `json:"suspended,omitzero" doc:"ignored"`
	Retired       Value `json:"retired,omitzero" doc:"ignored"`
	CreatedAt     Value `json:"createdAt,omitzero" doc:"ignored"`
	UpdatedAt     Value `json:"updatedAt,omitzero" doc:"ignored"`
}

// Validation is the answer of POST /models/{id}/validate.
type Validation struct {
	Valid    bool      `json:"valid"`
	Errors   []Problem `json:"errors" nullable:"false"`
	Warnings []Problem `json:"warnings" nullable:"false"`
}
