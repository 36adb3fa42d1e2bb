// Package file is the adapter's FILE: where it listens, what it keeps, and the upstreams that it
// stands in front of (contract 12.4). No secret stands in it, only names of variables.
package file

import (
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/countersign/countersign"
)

// File is a FILE.
type File struct {
	Listen      string     `yaml:"listen"`
	TLS         *TLS       `yaml:"tls,omitempty"`
	Store       string     `yaml:"store"`
	KeepAnswers Period     `yaml:"keepAnswers,omitempty"`
	OpenAPI     string     `yaml:"openapi,omitempty"`
	Upstreams   []Upstream `yaml:"upstreams"`
}

// TLS are the adapter's own certificate and its key.
type TLS struct {
	CertFile string `yaml:"certFile"`
	KeyFile  string `yaml:"keyFile"`
}

// Upstream is what the adapter calls: an MCP server or an HTTP API.
type Upstream struct {
	Name         string `yaml:"name"`
	SecretEnv    string `yaml:"secretEnv"`
	AnswerKeyEnv string `yaml:"answerKeyEnv,omitempty"`
	MCP          *MCP   `yaml:"mcp,omitempty"`
	HTTP         *HTTP  `yaml:"http,omitempty"`
}

// MCP is a server that is started as a command, or reached at an address.
type MCP struct {
	Command []string          `yaml:"command,omitempty,flow"`
	Env     []string          `yaml:"env,omitempty,flow"`
	User    string            `yaml:"user,omitempty"`
	URL     string            `yaml:"url,omitempty"`
	Headers map[string]string `yaml:"headers,omitempty"`
	Auth    *Auth             `yaml:"auth,omitempty"`
	Tools   map[string]Tool   `yaml:"tools"`
}

// Tool is one that is offered, as it was when somebody looked at it.
type Tool struct {
	Digest  string `yaml:"digest"`
	Refusal bool   `yaml:"refusal,omitempty"`
}

// HTTP is an API.
type HTTP struct {
	BaseURL    string            `yaml:"baseUrl"`
	Operations []Operation       `yaml:"operations"`
	Auth       *Auth             `yaml:"auth,omitempty"`
	Encode     string            `yaml:"encode,omitempty"`
	Headers    map[string]string `yaml:"headers,omitempty"`
	Accept     string            `yaml:"accept,omitempty"`
	Key        *Key              `yaml:"key,omitempty"`
	Job        *Job              `yaml:"job,omitempty"`
	CAFile     string            `yaml:"caFile,omitempty"`
}

// Operation is a method and a path, whose {places} each stand for a segment or a part of one.
type Operation struct {
	Method   string `yaml:"method"`
	Path     string `yaml:"path"`
	PathText bool   `yaml:"pathText,omitempty"`
}

// Auth is how the adapter says to an upstream who it is.
type Auth struct {
	Type            string   `yaml:"type"`
	Scheme          string   `yaml:"scheme,omitempty"`
	Name            string   `yaml:"name,omitempty"`
	User            string   `yaml:"user,omitempty"`
	CredentialEnv   string   `yaml:"credentialEnv,omitempty"`
	TokenURL        string   `yaml:"tokenUrl,omitempty"`
	ClientIDEnv     string   `yaml:"clientIdEnv,omitempty"`
	ClientSecretEnv string   `yaml:"clientSecretEnv,omitempty"`
	RefreshTokenEnv string   `yaml:"refreshTokenEnv,omitempty"`
	Scopes          []string `yaml:"scopes,omitempty,flow"`
	CertFile        string   `yaml:"certFile,omitempty"`
	KeyFile         string   `yaml:"keyFile,omitempty"`
}

// Key is where an upstream looks for its own idempotency key.
type Key struct {
	Header string `yaml:"header,omitempty"`
	Field  string `yaml:"field,omitempty"`
}

// Job says how what an upstream only accepted is followed to its end.
type Job struct {
	StatusPath string      `yaml:"statusPath"`
	Every      Period      `yaml:"every"`
	Until      []Condition `yaml:"until"`
	Done       *Condition  `yaml:"done"`
	Output     string      `yaml:"output,omitempty"`
	Timeout    Period      `yaml:"timeout,omitempty"`
}

// Condition holds where a field of a status equals a value, as an expectation does.
type Condition struct {
	Field  string `yaml:"field"`
	Equals *Value `yaml:"equals"`
}

// Value is any value of JSON, digit for digit.
type Value struct{ countersign.Value }

// UnmarshalYAML reads a value as its text stands.
func (v *Value) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode && (n.ShortTag() == "!!int" || n.ShortTag() == "!!float") {
		if number := countersign.RawValue(n.Value); number.Kind() == countersign.KindNumber {
			v.Value = number
			return nil
		}
	}
	var any any
	if err := n.Decode(&any); err != nil {
		return err
	}
	var err error
	v.Value, err = countersign.ValueOf(any)
	return err
}

// Period is a time that passes: a Go duration such as 2s, or days such as 90d.
type Period time.Duration

// UnmarshalYAML reads 2s, 50s, 2160h or 90d.
func (p *Period) UnmarshalYAML(n *yaml.Node) error {
	text := n.Value
	d, err := time.ParseDuration(text)
	if days, isDays := strings.CutSuffix(text, "d"); err != nil && isDays {
		var count int
		if count, err = strconv.Atoi(days); err == nil && count < 36500 {
			d = time.Duration(count) * 24 * time.Hour
		}
	}
	if err != nil || d <= 0 || n.Kind != yaml.ScalarNode {
		return &yaml.TypeError{Errors: []string{"line " + strconv.Itoa(n.Line) + ": " + strconv.QuoteToASCII(text) + " must be a time such as 2s, 10m or 90d, more than none"}}
	}
	*p = Period(d)
	return nil
}

// Or is the period, or another one where none is given.
func (p Period) Or(otherwise time.Duration) time.Duration {
	if p == 0 {
		return otherwise
	}
	return time.Duration(p)
}
