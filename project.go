package countersign

import (
	"bytes"
	"encoding/json"
	"time"
)

// Adapters of a project (specification 2.6).
const (
	AdapterHTTPJSON  = "HTTP_JSON"
	AdapterLocalEcho = "LOCAL_ECHO"
)

// Outbound authentication types (specification 5.2).
const (
	AuthHMAC   = "HMAC"
	AuthBearer = "BEARER"
	AuthAPIKey = "API_KEY"
	AuthBasic  = "BASIC"
	AuthNone   = "NONE"
)

// Approval policies of a capability (specification 2.5).
const (
	ApprovalNone      = "NONE"
	ApprovalRiskBased = "RISK_BASED"
	ApprovalAlways    = "ALWAYS"
)

// Capability is one operation of a project's API (specification 2.5, contract 5).
type Capability struct {
	Name        string                `json:"name"`
	Title       string                `json:"title,omitempty" doc:"what a call does, in words, with {input} places; a dotted path leads deeper"`
	Description string                `json:"description,omitempty"`
	Method      string                `json:"method" enum:"GET,POST,PUT,PATCH,DELETE"`
	Path        string                `json:"path" doc:"absolute path on the registered origin; {name} placeholders are filled from the input"`
	SideEffect  *bool                 `json:"sideEffect,omitempty" doc:"default: every method but GET has one"`
	Approval    string                `json:"approval,omitempty" enum:"NONE,RISK_BASED,ALWAYS" doc:"default: ALWAYS for a side effect, NONE for a read"`
	Idempotent  bool                  `json:"idempotent,omitempty" doc:"true only when the receiver deduplicates durably"`
	TimeoutMs   int64                 `json:"timeoutMs,omitzero" minimum:"100" maximum:"60000" doc:"for the whole call; default 10000"`
	InputSchema map[string]InputField `json:"inputSchema,omitzero" nullable:"false" doc:"inputs not declared in it are rejected"`
	Request     *RequestMapping       `json:"request,omitempty"`
	OutputField string                `json:"outputField,omitempty" doc:"field of the response taken as the step's output"`
	Outputs     []string              `json:"outputs,omitempty" nullable:"false" maxItems:"200" minLength:"1" doc:"fields of the output, a dotted path for deeper ones: what forms offer where an input is bound to it; nothing is refused for them at a run"`
	Expectation *Expectation          `json:"expectation,omitempty" doc:"what the output of every step of it must be; a step's own is judged besides"`
	Probe       string                `json:"probe,omitempty" doc:"a GET capability of this project that shows, in recovery, what happened"`
	Sensitive   []string              `json:"sensitive,omitempty" nullable:"false" doc:"input and output fields masked for a VIEWER and in logs"`

	ApprovalRules []ApprovalRule `json:"approvalRules,omitempty" nullable:"false" maxItems:"50" doc:"what decides, by the inputs, before approval does"`
	Precondition  *Precondition  `json:"precondition,omitempty" since:"3" doc:"what is read before its approval is asked for and again before it is sent, and must be so"`
	Budgets       []Budget       `json:"budgets,omitempty" nullable:"false" doc:"how often LIVE steps may call it, and for how much, at most 20"`
}

// InputField declares one input of a capability.
type InputField struct {
	Type        string  `json:"type" enum:"string,number,boolean,object,array"`
	Required    bool    `json:"required"`
	Description string  `json:"description,omitempty" doc:"what it means, for people and models"`
	Enum        []Value `json:"enum,omitempty" nullable:"false" doc:"the values that it may have; numbers compare by exact value"`
	Minimum     Value   `json:"minimum,omitzero" null:"absent" doc:"of a number, exact"`
	Maximum     Value   `json:"maximum,omitzero" null:"absent" doc:"of a number, exact"`
	MaxLength   int64   `json:"maxLength,omitempty" minimum:"1" doc:"of a string, in code points"`
	Pattern     string  `json:"pattern,omitempty" maxLength:"500" doc:"of a string: an RE2 expression, unanchored; beside pathText it matches the whole value"`

	OrTypes  []string `json:"orTypes,omitempty" nullable:"false" since:"3" enum:"string,number,boolean,object,array" doc:"further types that a value may have"`
	PathText bool     `json:"pathText,omitempty" since:"3" doc:"true: the path takes any text for it, percent-encoded whole, and not an id alone"`
}

// RequestMapping says where inputs go. A half that is absent (nil) leaves the
// default: the query for GET, the body for the others.
type RequestMapping struct {
	Query []string `json:"query,omitzero" nullable:"false"`
	Body  []string `json:"body,omitzero" nullable:"false"`
}

// HasSideEffect applies the default of contract 5: every method but GET.
func (c *Capability) HasSideEffect() bool {
	if c.SideEffect != nil {
		return *c.SideEffect
	}
	return c.Method != "GET"
}

// ApprovalPolicy applies the default of contract 5.
func (c *Capability) ApprovalPolicy() string {
	switch {
	case c.Approval != "":
		return c.Approval
	case c.HasSideEffect():
		return ApprovalAlways
	default:
		return ApprovalNone
	}
}

// NeedsApproval is the gate's question where no approval rule holds, of a plan that is made
// now: ALWAYS asks for reads too, NONE never asks, RISK_BASED asks for a side effect unless
// it is declared idempotent and is not a DELETE. Beside approval rules RISK_BASED asks for
// every side effect: whoever wrote rules didn't mean what none of them names to go out.
func (c *Capability) NeedsApproval() bool { return c.NeedsApprovalBy(Gate) }

// NeedsApprovalBy is NeedsApproval of a plan that is judged by an earlier edition: Plan.Gate.
func (c *Capability) NeedsApprovalBy(gate int64) bool {
	switch c.ApprovalPolicy() {
	case ApprovalAlways:
		return true
	case ApprovalRiskBased:
		ruled := gate >= Gate && len(c.ApprovalRules) > 0
		return c.HasSideEffect() && (ruled || !c.Idempotent || c.Method == "DELETE")
	default:
		return false
	}
}

// Timeout is the time for the whole call.
func (c *Capability) Timeout() time.Duration {
	if c.TimeoutMs == 0 {
		return DefaultCapabilityTimeoutMs * time.Millisecond
	}
	return time.Duration(c.TimeoutMs) * time.Millisecond
}

// Auth is a project's outbound authentication (specification 5.2). It names a
// server environment variable and never holds a secret.
type Auth struct {
	Type          string `json:"type" enum:"HMAC,BEARER,API_KEY,BASIC,NONE"`
	CredentialEnv string `json:"credentialEnv,omitempty"`
	HeaderName    string `json:"headerName,omitempty" doc:"API_KEY only"`
	User          string `json:"user,omitempty" doc:"BASIC only; the variable holds the password"`
}

// MaxAuths is how many ways to authenticate a project may have at once.
const MaxAuths = 3

// Auths is the auth of a project: One, or Several for an API that wants more than one
// key. Exactly one of them is set, and it is written as it was read: an object, or an
// array.
type Auths struct {
	One     *Auth
	Several []Auth
}

// OneAuth authenticates in one way.
func OneAuth(a Auth) *Auths { return &Auths{One: &a} }

// List are all of them, nil for none.
func (a *Auths) List() []Auth {
	switch {
	case a == nil:
		return nil
	case a.One != nil:
		return []Auth{*a.One}
	default:
		return a.Several
	}
}

// Shape returns where to decode an array, or else an object.
func (a *Auths) Shape(array bool) any {
	if array {
		*a = Auths{}
		return &a.Several
	}
	*a = Auths{One: &Auth{}}
	return a.One
}

// MarshalJSON writes the member that is set.
func (a Auths) MarshalJSON() ([]byte, error) {
	if a.One == nil && a.Several != nil {
		return Marshal(a.Several)
	}
	return Marshal(a.One)
}

// UnmarshalJSON reads stored ones; what comes from outside is decoded by
// internal/rules/exactjson, which reports every problem with its path.
func (a *Auths) UnmarshalJSON(b []byte) error {
	return json.Unmarshal(b, a.Shape(bytes.HasPrefix(bytes.TrimSpace(b), []byte("["))))
}

// Headers are header values by name.
type Headers = map[string]string

// Project is a registered connection (specification 2.6).
type Project struct {
	ID               string        `json:"id"`
	Revision         int64         `json:"revision"`
	Name             string        `json:"name"`
	Adapter          string        `json:"adapter" enum:"HTTP_JSON,LOCAL_ECHO"`
	BaseURL          string        `json:"baseUrl,omitempty"`
	HealthPath       string        `json:"healthPath,omitempty"`
	Auth             *Auths        `json:"auth,omitempty"`
	AuthSecretEnv    string        `json:"authSecretEnv,omitempty"`
	Headers          Headers       `json:"headers,omitempty" nullable:"false" doc:"sent with each call; not secret"`
	Enabled          bool          `json:"enabled"`
	Retired          bool          `json:"retired,omitempty" doc:"true: hidden from lists unless asked for, and nothing new is made of it; restoring ends that"`
	SecretConfigured bool          `json:"secretConfigured" doc:"each credential variable exists and isn't empty now"`
	WeakSecret       bool          `json:"weakSecret,omitempty" doc:"true: a secret is shorter than 32 bytes (HMAC) or 16 (others) now; nothing is refused for it"`
	Capabilities     []Capability  `json:"capabilities" nullable:"false"`
	Health           *HealthCheck  `json:"health,omitempty" doc:"the latest check of the present revision"`
	Conformance      []Conformance `json:"conformance,omitempty" nullable:"false" doc:"the latest check of each capability's receiver at the present revision"`
	AnswerKeys       []string      `json:"answerKeys,omitempty" nullable:"false" since:"3" doc:"the Ed25519 public keys, one or two, by which the receiver signs its answers: an answer that none of them signed is uncertain"`
	Settlement       *Settlement   `json:"settlement,omitempty" since:"3" doc:"where the receiver says what became of a call whose answer was lost; needs answerKeys and HMAC"`
	CreatedAt        time.Time     `json:"createdAt"`
	UpdatedAt        time.Time     `json:"updatedAt"`
}

// ProjectWrite is the body of PUT /projects/{id}. The server's fields are
// accepted and ignored.
type ProjectWrite struct {
	Name             string       `json:"name" minLength:"1"`
	Adapter          string       `json:"adapter" enum:"HTTP_JSON,LOCAL_ECHO"`
	Capabilities     []Capability `json:"capabilities" nullable:"false"`
	BaseURL          string       `json:"baseUrl,omitempty" doc:"HTTP(S) origin on the server's list"`
	HealthPath       string       `json:"healthPath,omitempty" doc:"GET path of the health check; default /"`
	Auth             *Auths       `json:"auth,omitempty" doc:"an object, or an array of up to three for an API that wants several keys, of which one at most is HMAC"`
	AuthSecretEnv    string       `json:"authSecretEnv,omitempty" doc:"legacy HMAC: name of a server environment variable"`
	Headers          Headers      `json:"headers,omitempty" nullable:"false" doc:"fixed headers that each call is sent with, by name; not secret, and none that API_KEY may not name, but Accept with a JSON media type"`
	AnswerKeys       []string     `json:"answerKeys,omitempty" nullable:"false" since:"3" maxItems:"2" doc:"Ed25519 public keys by which the receiver signs its answers: ed25519: and 64 hex digits"`
	Settlement       *Settlement  `json:"settlement,omitempty" since:"3" doc:"where the receiver says what became of a call whose answer was lost; needs answerKeys and HMAC"`
	Enabled          *bool        `json:"enabled,omitempty"`
	ExpectedRevision int64        `json:"expectedRevision,omitempty" minimum:"0" doc:"absent or 0 creates; else the current revision"`

	ID               Value `json:"id,omitzero" doc:"ignored"`
	Revision         Value `json:"revision,omitzero" doc:"ignored"`
	Retired          Value `json:"retired,omitzero" doc:"ignored"`
	SecretConfigured Value `json:"secretConfigured,omitzero" doc:"ignored"`
	WeakSecret       Value `json:"weakSecret,omitzero" doc:"ignored"`
	Health           Value `json:"health,omitzero" doc:"ignored"`
	Conformance      Value `json:"conformance,omitzero" doc:"ignored"`
	CreatedAt        Value `json:"createdAt,omitzero" doc:"ignored"`
	UpdatedAt        Value `json:"updatedAt,omitzero" doc:"ignored"`
}

// EffectiveAuths are the ways in which each call authenticates: those of auth, or the
// legacy authSecretEnv as HMAC. There is none for NONE.
func (p *Project) EffectiveAuths() []Auth {
	switch {
	case p.Auth == nil && p.AuthSecretEnv != "":
		return []Auth{{Type: AuthHMAC, CredentialEnv: p.AuthSecretEnv}}
	case p.Auth != nil && p.Auth.One != nil && p.Auth.One.Type == AuthNone:
		return nil
	default:
		return p.Auth.List()
	}
}

// Capability finds a capability by name, nil when the project has none so named.
func (p *Project) Capability(name string) *Capability {
	for i := range p.Capabilities {
		if p.Capabilities[i].Name == name {
			return &p.Capabilities[i]
		}
	}
	return nil
}

// HealthCheck is the answer of POST /projects/{id}/health-check. It confirms
// connectivity and nothing else (specification 4, rule 8).
type HealthCheck struct {
	ProjectID  string    `json:"projectId"`
	Revision   int64     `json:"revision"`
	Healthy    bool      `json:"healthy"`
	StatusCode int       `json:"statusCode" doc:"0 when no answer came"`
	LatencyMs  int64     `json:"latencyMs"`
	CheckedAt  time.Time `json:"checkedAt"`
	Error      string    `json:"error,omitempty"`
}

// Toggle is the body of POST /projects/{id}/enable and /disable.
type Toggle struct {
	ExpectedRevision int64  `json:"expectedRevision" minimum:"1"`
	Reason           string `json:"reason,omitempty"`
}

// Reason is the body of suspending, resuming, retiring, restoring and cancelling.
type Reason struct {
	Reason string `json:"reason" doc:"never blank"`
}
