// Package propose makes a FILE for the adapter and the project that reaches it, of what an MCP
// server or an OpenAPI document says. Nothing of it is registered, and every side effect asks.
package propose

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/importer"
	"github.com/countersign/countersign/internal/rules/safetext"
	"github.com/countersign/countersign/internal/tools/adapter/file"
	"github.com/countersign/countersign/internal/tools/adapter/mcpup"
)

// Listen is where a proposed adapter listens.
const Listen = "127.0.0.1:8090"

// Both is what is proposed.
type Both struct {
	File    file.File
	Project countersign.ProjectWrite
	Report  importer.Report
}

// YAML is the FILE's text.
func (b *Both) YAML() ([]byte, error) {
	var out bytes.Buffer
	e := yaml.NewEncoder(&out)
	e.SetIndent(2)
	if err := e.Encode(&b.File); err != nil {
		return nil, err
	}
	return out.Bytes(), e.Close()
}

// JSON is the project's text, the body of PUT /projects/{id}.
func (b *Both) JSON() ([]byte, error) {
	text, err := countersign.Marshal(b.Project)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := json.Indent(&out, text, "", "  "); err != nil {
		return nil, err
	}
	return append(out.Bytes(), '\n'), nil
}

var notInName = regexp.MustCompile(`[^a-z0-9-]+`)

// nameOf is the upstream's name in the project's id, which is the tenant's, a hyphen and a name.
func nameOf(projectID string) string {
	_, name, _ := strings.Cut(strings.ToLower(projectID), "-")
	name = strings.Trim(notInName.ReplaceAllString(name, "-"), "-")
	if name == "" {
		name = "upstream"
	}
	return name[:min(len(name), 56)]
}

var notInEnv = regexp.MustCompile(`[^A-Z0-9]+`)

// secretOf is the variable of the secret between service and adapter, on both sides.
func secretOf(projectID string) string { return variableOf(projectID, "SECRET") }

func variableOf(projectID, what string) string {
	return notInEnv.ReplaceAllString(strings.ToUpper(projectID), "_") + "_" + what
}

// reached turns a project of an API into one of the adapter in front of it.
func reached(p *countersign.ProjectWrite, projectID string) {
	p.BaseURL, p.HealthPath, p.Headers = "http://"+Listen, "/health", nil
	p.Auth = countersign.OneAuth(countersign.Auth{Type: countersign.AuthHMAC, CredentialEnv: secretOf(projectID)})
}

// Tools proposes the tools of an MCP server. Its words are quoted, as text of others.
func Tools(projectID string, server file.MCP, tools []mcpup.Tool) (*Both, error) {
	name := nameOf(projectID)
	document, left := documentOf(name, tools)
	d, err := importer.Read(document)
	if err != nil {
		return nil, err
	}
	proposal, err := d.Propose(importer.Options{ProjectID: projectID, Name: "MCP server " + name})
	if proposal == nil {
		return nil, err
	}
	b := &Both{Project: proposal.Project, Report: proposal.Report}
	b.Report.Skipped = append(b.Report.Skipped, left...)
	if err != nil {
		return b, err
	}
	server.Tools = map[string]file.Tool{}
	byPath := map[string]*mcpup.Tool{}
	for i := range tools {
		byPath["/mcp/"+name+"/"+tools[i].Name] = &tools[i]
	}
	for i := range b.Project.Capabilities {
		c := &b.Project.Capabilities[i]
		tool := byPath[c.Path]
		server.Tools[tool.Name] = file.Tool{Digest: tool.Digest()}
		c.Expectation = &countersign.Expectation{Field: "isError", Equals: countersign.Bool(false)}
		c.Approval, c.TimeoutMs = countersign.ApprovalAlways, 60_000 // a hint of the server lowers nothing
		c.Description = quoted(tool.Description)
		for name, in := range c.InputSchema {
			in.Description = quoted(in.Description)
			c.InputSchema[name] = in
		}
	}
	reached(&b.Project, projectID)
	b.File = file.File{Listen: Listen, Store: "./adapter-store", Upstreams: []file.Upstream{{Name: name, SecretEnv: secretOf(projectID), MCP: &server}}}
	return b, nil
}

// quoted is text of others, on one line.
func quoted(text string) string {
	text = strings.Join(strings.Fields(safetext.Text(text[:min(len(text), 2000)])), " ")
	if text == "" {
		return ""
	}
	if runes := []rune(text); len(runes) > 300 {
		text = string(runes[:299]) + "…"
	}
	return "the server says: " + strconv.Quote(text)
}

var usable = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,127}$`)

// documentOf describes the tools as an API document, of which the importer makes inputs.
func documentOf(upstream string, tools []mcpup.Tool) (document []byte, left []importer.Skipped) {
	type object = map[string]any
	paths, schemas := object{}, object{}
	for i := range tools {
		t := &tools[i]
		if !usable.MatchString(t.Name) {
			left = append(left, importer.Skipped{Method: "POST", Path: safetext.Text(t.Name[:min(len(t.Name), 80)]), Reason: importer.PathUnusable, Message: "a tool's name must be letters, digits, _, - and ."})
			continue
		}
		schema := t.InputSchema
		if schema.Kind() != countersign.KindObject {
			schema = countersign.RawValue(`{"type":"object"}`)
		}
		operation := object{"operationId": t.Name, "responses": object{"200": object{"description": "", "content": object{"application/json": object{"schema": object{
			"type": "object", "properties": object{"isError": object{"type": "boolean"}, "result": object{"type": "object"}}}}}}}}
		paths["/mcp/"+upstream+"/"+t.Name] = object{"post": operation}
		if fields, has := schema.Lookup("properties"); !has || isEmpty(fields) { // nothing to send
			continue
		}
		pointer := "tool" + strconv.Itoa(i)
		schemas[pointer] = json.RawMessage(local.ReplaceAllString(schema.Raw(), `$1"#/components/schemas/`+pointer+`$2`))
		operation["requestBody"] = object{"content": object{"application/json": object{"schema": object{"$ref": "#/components/schemas/" + pointer}}}}
	}
	document, err := json.Marshal(object{
		"openapi": "3.1.0", "info": object{"title": "MCP server"}, "servers": []object{{"url": "http://" + Listen}},
		"paths": paths, "components": object{"schemas": schemas},
	})
	if err != nil {
		panic(err) // texts and schemas that were read can always be written
	}
	return document, left
}

func isEmpty(v countersign.Value) bool {
	m, is := v.Object()
	return is && len(m) == 0
}

// local are references within a tool's own schema.
var local = regexp.MustCompile(`("\$ref"\s*:\s*)"#(/|")`)

// Operations proposes an API's operations by way of the adapter, of what the importer has
// proposed without one. Those whose bodies are forms, or JSON under another name, have an
// upstream of their own.
func Operations(projectID string, p *importer.Proposal) *Both {
	name := nameOf(projectID)
	b := &Both{Project: p.Project, Report: p.Report}
	b.File = file.File{Listen: Listen, Store: "./adapter-store"}
	b.Project.Capabilities = nil
	lines := map[string]importer.Proposed{}
	for _, line := range p.Proposed {
		lines[line.Name] = line
	}
	upstreams := map[string]*file.HTTP{}
	for _, c := range p.Project.Capabilities {
		at := name + suffixOf(lines[c.Name])
		h := upstreams[at]
		if h == nil {
			h = upstreamOf(projectID, p, lines[c.Name])
			upstreams[at] = h
		}
		o := file.Operation{Method: c.Method, Path: c.Path}
		for input, field := range c.InputSchema {
			o.PathText = o.PathText || field.PathText && strings.Contains(c.Path, "{"+input+"}")
		}
		h.Operations = append(h.Operations, o)
		c.Path = "/http/" + at + c.Path
		withoutKey(&c, h.Key)
		b.Project.Capabilities = append(b.Project.Capabilities, c)
	}
	for _, at := range slices.Sorted(maps.Keys(upstreams)) {
		b.File.Upstreams = append(b.File.Upstreams, file.Upstream{Name: at, SecretEnv: secretOf(projectID), HTTP: upstreams[at]})
	}
	b.Report.FillIn = append(slices.Clone(p.FillIn), places(p)...)
	reached(&b.Project, projectID)
	return b
}

// suffixOf tells upstreams of one API apart, by what they send.
func suffixOf(line importer.Proposed) string {
	if line.Form {
		return "-form"
	}
	kind, _, _ := strings.Cut(line.Sends, ";")
	_, kind, _ = strings.Cut(strings.TrimSuffix(kind, "+json"), "/")
	if kind = strings.Trim(notInName.ReplaceAllString(kind, "-"), "-"); kind == "" {
		return ""
	}
	return "-" + kind[:min(len(kind), 20)]
}

// places are what the adapter's FILE leaves to be filled in.
func places(p *importer.Proposal) (words []string) {
	if n := len(p.Project.Auth.List()); n > 1 {
		words = append(words, fmt.Sprintf("auth: the API takes %d credentials at once, and an upstream of the adapter sends one; without --adapter the project sends them all", n))
	}
	if p.OAuth != nil && p.OAuth.TokenURL == "" {
		words = append(words, "auth.tokenUrl: the token endpoint's address, which the document has on another origin than the API's, or not at all")
	}
	if p.OAuth != nil {
		words = append(words, "auth.scopes: what the tokens may do, where the token endpoint asks for it")
	}
	return words
}

// upstreamOf is the API, with the key by which it deduplicates where the document has one.
func upstreamOf(projectID string, p *importer.Proposal, line importer.Proposed) *file.HTTP {
	h := &file.HTTP{BaseURL: p.Project.BaseURL, Headers: map[string]string{}}
	for name, value := range p.Project.Headers {
		if strings.EqualFold(name, "Accept") {
			h.Accept = value
		} else {
			h.Headers[name] = value
		}
	}
	if line.Sends != "" {
		h.Headers["Content-Type"] = line.Sends
	}
	if line.Form {
		h.Encode = "form"
	}
	if list := p.Project.Auth.List(); len(list) > 0 {
		h.Auth = authOf(list[0], projectID, p.OAuth)
	}
	h.Key = keyOf(p.Proposed)
	return h
}

// keyOf is the API's own key, where all that it does is deduplicated by one: a header is sent
// with each call, a field with each body.
func keyOf(lines []importer.Proposed) *file.Key {
	keys := map[string]bool{}
	for _, line := range lines {
		switch {
		case !line.SideEffect:
		case line.OtherKey != "":
			keys[line.OtherKey] = true
		case line.Idempotent:
			keys[inHeader+"Idempotency-Key"] = true
		default:
			keys[""] = true
		}
	}
	header, field := "", ""
	for key := range keys {
		if name, is := strings.CutPrefix(key, inHeader); is && header == "" {
			header = name
		} else if name, is := strings.CutPrefix(key, inBody); is && len(keys) == 1 {
			field = name
		} else if key != "" {
			return nil // several: a person decides
		}
	}
	if header == "" && field == "" {
		return nil
	}
	return &file.Key{Header: header, Field: field}
}

// How the importer names a key of an API.
const (
	inHeader = "the header "
	inBody   = "the body's field "
)

// withoutKey leaves out an input that the adapter sends.
func withoutKey(c *countersign.Capability, key *file.Key) {
	if key == nil || key.Field == "" || c.Request == nil {
		return
	}
	c.InputSchema, c.Request = maps.Clone(c.InputSchema), &countersign.RequestMapping{Query: c.Request.Query, Body: slices.DeleteFunc(slices.Clone(c.Request.Body), func(name string) bool { return name == key.Field })}
	delete(c.InputSchema, key.Field)
}

func authOf(a countersign.Auth, projectID string, oauth *importer.OAuth) *file.Auth {
	switch a.Type {
	case countersign.AuthBearer:
		if oauth == nil {
			return &file.Auth{Type: "bearer", CredentialEnv: a.CredentialEnv}
		}
		made := &file.Auth{Type: "oauth2", TokenURL: oauth.TokenURL, ClientIDEnv: variableOf(projectID, "CLIENT_ID"), ClientSecretEnv: variableOf(projectID, "CLIENT_SECRET")}
		if oauth.Refresh {
			made.RefreshTokenEnv = variableOf(projectID, "REFRESH_TOKEN")
		}
		return made
	case countersign.AuthAPIKey:
		return &file.Auth{Type: "header", Name: a.HeaderName, CredentialEnv: a.CredentialEnv}
	case countersign.AuthBasic:
		return &file.Auth{Type: "basic", User: a.User, CredentialEnv: a.CredentialEnv}
	}
	return nil
}

// Server is an MCP server that is named by an address, or by a command.
func Server(target, env []string, credentialEnv string) (file.MCP, error) {
	if len(target) == 1 {
		if u, err := url.Parse(target[0]); err == nil && (u.Scheme == "http" || u.Scheme == "https") {
			s := file.MCP{URL: target[0]}
			if credentialEnv != "" {
				s.Auth = &file.Auth{Type: "bearer", CredentialEnv: credentialEnv}
			}
			if len(env) > 0 {
				return s, fmt.Errorf("--env is for a command")
			}
			return s, nil
		}
	}
	if credentialEnv != "" {
		return file.MCP{}, fmt.Errorf("--credential-env is for an address; a command gets what --env names")
	}
	return file.MCP{Command: target, Env: env}, nil
}
