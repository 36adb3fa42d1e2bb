package field

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"
)

// kinds are the folders with cases, and what those of a folder are about.
var kinds = []string{"receivers", "documents", "clients", "reports"}

// fieldCase is one file: what is set up, what is done, and what must then hold.
type fieldCase struct {
	name string // folder and file, without the suffix

	About   string   `yaml:"about"`          // one sentence
	Demands []string `yaml:"demands"`        // the sections that say what must hold
	Seen    string   `yaml:"seen,omitempty"` // where the like was met
	Slow    bool     `yaml:"slow,omitempty"` // it waits for a timeout of the service, so it isn't in -short

	Settings     map[string]string         `yaml:"settings,omitempty"` // of a server of its own
	Project      map[string]any            `yaml:"project,omitempty"`  // fields besides those of every case's project
	Capabilities map[string]map[string]any `yaml:"capabilities,omitempty"`
	Model        bool                      `yaml:"model,omitempty"` // the harness's model of a refund, as refund, revision 1
	Agent        []string                  `yaml:"agent,omitempty"` // capabilities of an agent that is admitted

	Receiver []answer     `yaml:"receiver,omitempty"` // one for each request but health checks; the last one repeatedly
	Play     []step       `yaml:"play"`
	Received expectations `yaml:"received,omitempty"`
	Again    bool         `yaml:"again,omitempty"` // a key may arrive twice: somebody has confirmed that it was not executed
}

// answer is what the receiver does with a request.
type answer struct {
	Send  text   `yaml:"send,omitempty"` // bytes as they stand, each part written by itself
	Drips bool   `yaml:"drips,omitempty"`
	At    string `yaml:"at,omitempty"`   // "connection": before anything is read; "head": before the body is
	Then  string `yaml:"then,omitempty"` // close, reset, silence; else the connection stays open

	// A well-formed answer instead.
	Status  int               `yaml:"status,omitempty"`
	Headers map[string]string `yaml:"headers,omitempty"`
	Body    text              `yaml:"body,omitempty"`
}

// step is one thing that is done, and what must hold of its result.
type step struct {
	As string `yaml:"as,omitempty"` // operator (default), admin, approver, viewer, agent, realm, nobody

	Call    *call    `yaml:"call,omitempty"`    // one call of a capability; the result is its run, once it stands still
	Request *request `yaml:"request,omitempty"` // one HTTP request
	Wire    *wire    `yaml:"wire,omitempty"`    // bytes on a connection
	RPC     *rpc     `yaml:"rpc,omitempty"`     // one MCP message to the agent's door
	Import  *reading `yaml:"import,omitempty"`  // `countersign import openapi`
	Read    bool     `yaml:"read,omitempty"`    // the last run again, once it stands still
	Decide  string   `yaml:"decide,omitempty"`  // the last run's approval

	Keep   map[string]string `yaml:"keep,omitempty"` // name -> path of the result; <name> then stands for it
	Expect expectations      `yaml:"expect,omitempty"`
}

type call struct {
	Capability string         `yaml:"capability,omitempty"`
	Plan       string         `yaml:"plan,omitempty"` // start this plan instead
	Mode       string         `yaml:"mode,omitempty"` // LIVE by default
	Inputs     map[string]any `yaml:"inputs,omitempty"`
	Raw        string         `yaml:"raw,omitempty"` // the inputs as JSON text, for what YAML can't say
	Expect     map[string]any `yaml:"expectation,omitempty"`
	Key        string         `yaml:"key,omitempty"`
}

type request struct {
	Method  string            `yaml:"method,omitempty"`
	Path    string            `yaml:"path"`
	Headers map[string]string `yaml:"headers,omitempty"` // an empty value leaves a usual header out
	Body    text              `yaml:"body,omitempty"`
}

type wire struct {
	Send    text `yaml:"send"`
	Answers int  `yaml:"answers,omitempty"` // how many are read, 1 by default
}

type rpc struct {
	Door    string         `yaml:"door,omitempty"`    // "rehearsal"
	Version string         `yaml:"version,omitempty"` // header MCP-Protocol-Version
	Method  string         `yaml:"method"`
	Params  map[string]any `yaml:"params,omitempty"`
	Raw     string         `yaml:"raw,omitempty"` // the params as JSON text
	ID      any            `yaml:"id,omitempty"`
}

type reading struct {
	Document text            `yaml:"document"`
	Name     string          `yaml:"name,omitempty"`  // of the file, openapi.yaml by default
	Files    map[string]text `yaml:"files,omitempty"` // beside it
	Flags    []string        `yaml:"flags,omitempty"`
	Register bool            `yaml:"register,omitempty"` // the proposal, at the case's receiver; the result has the answer
}

// text is a string, or a list of parts: a string, {of, times}, or {hex}.
type text []part

type part struct {
	Of    string `yaml:"of"`
	Times int    `yaml:"times"`
	Hex   string `yaml:"hex"`
}

func (t *text) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind != yaml.SequenceNode {
		n = &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{n}}
	}
	for _, item := range n.Content {
		var p part
		if item.Kind == yaml.ScalarNode {
			p = part{Of: item.Value, Times: 1}
		} else if err := item.Decode(&p); err != nil {
			return err
		}
		*t = append(*t, p)
	}
	return nil
}

// parts are the bytes of each part, with the names of a play filled in.
func (t text) parts(fill func(string) string) (out [][]byte) {
	for _, p := range t {
		if p.Hex != "" {
			raw, _ := hex.DecodeString(strings.ReplaceAll(p.Hex, " ", "")) // check has seen it
			out = append(out, raw)
			continue
		}
		out = append(out, bytes.Repeat([]byte(fill(p.Of)), p.Times))
	}
	return out
}

func (t text) all(fill func(string) string) []byte { return bytes.Join(t.parts(fill), nil) }

func (a *answer) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		return n.Decode(&a.Send)
	}
	type plain answer
	return decodeStrictly(n, (*plain)(a))
}

// decodeStrictly refuses fields that there aren't, which Node.Decode doesn't.
func decodeStrictly(n *yaml.Node, into any) error {
	raw, err := yaml.Marshal(n)
	if err != nil {
		return err
	}
	d := yaml.NewDecoder(bytes.NewReader(raw))
	d.KnownFields(true)
	return d.Decode(into)
}

// readCases reads every case of a kind, in the order of their names.
func readCases(kind string) (out []*fieldCase, err error) {
	files, err := filepath.Glob(filepath.Join(kind, "*.yaml"))
	if err != nil {
		return nil, err
	}
	for _, path := range files {
		raw, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		c := &fieldCase{name: strings.TrimSuffix(filepath.ToSlash(path), ".yaml")}
		d := yaml.NewDecoder(bytes.NewReader(raw))
		d.KnownFields(true)
		if err := d.Decode(c); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if err := c.check(); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		out = append(out, c)
	}
	return out, nil
}

// check finds what would make a case prove nothing, or another thing than its author means.
func (c *fieldCase) check() error {
	expected := len(c.Received)
	for i, s := range c.Play {
		expected += len(s.Expect)
		if n := s.things(); n != 1 {
			return fmt.Errorf("play[%d] does %d things, not one", i, n)
		}
	}
	for _, a := range c.Receiver {
		if a.Then != "" && a.Then != "close" && a.Then != "reset" && a.Then != "silence" || a.At != "" && a.At != "connection" && a.At != "head" {
			return fmt.Errorf("the receiver can't do %q at %q", a.Then, a.At)
		}
		if a.Then == "silence" && !c.Slow {
			return errors.New("a receiver that is silent makes a case slow")
		}
		for _, p := range append(a.Send, a.Body...) {
			if _, err := hex.DecodeString(strings.ReplaceAll(p.Hex, " ", "")); err != nil {
				return err
			}
		}
	}
	switch {
	case c.About == "":
		return errors.New("it doesn't say what it is about")
	case len(c.Demands) == 0:
		return errors.New("it doesn't say what demands it")
	case expected == 0:
		return errors.New("it expects nothing")
	}
	return nil
}

func (s step) things() (n int) {
	for _, does := range []bool{s.Call != nil, s.Request != nil, s.Wire != nil, s.RPC != nil, s.Import != nil, s.Read, s.Decide != ""} {
		if does {
			n++
		}
	}
	return n
}
