package projects

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/platform/semaphore"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/exactjson"
	"github.com/countersign/countersign/internal/rules/importer"
	"github.com/countersign/countersign/internal/server/console/form"
	"github.com/countersign/countersign/internal/server/console/text"
	"github.com/countersign/countersign/internal/server/console/web"
)

// A project made of an OpenAPI document: the file is uploaded, operations are chosen, and
// the project's form is filled in. Nothing is stored before the last step: the proposal
// travels in the form, so that it needs no place of its own and any replica goes on.

// proposal is what an OpenAPI document proposes.
type proposal struct {
	Project countersign.ProjectWrite `json:"project"`
	Notes   map[string]string        `json:"notes"` // by capability: what the document says besides
	Tags    map[string]string        `json:"tags"`  // by capability: the document's group
	Skipped []skippedOperation       `json:"skipped"`
	FillIn  []string                 `json:"fillIn"` // what the document doesn't say
}

// skippedOperation is an operation that no capability can be made of.
type skippedOperation struct {
	Method string `json:"method"`
	Path   string `json:"path"`
	Why    string `json:"why"`
}

// Bounds of an upload. A document is read into memory, one at a time, and in YAML takes
// some 50 bytes for each of its own.
const (
	maxDocument = 4 << 20
	maxUpload   = maxDocument + 64<<10
	maxCarried  = 100 << 10 // of a proposal in the form, packed
	maxUnpacked = 8 << 20
)

// importRows is how many operations are shown at once.
const importRows = 100

type importData struct {
	Step   int // 1 upload, 2 choose, 3 connect
	ID     string
	Prefix string
	Key    form.Field
	Head   []form.Field // of the upload
	File   string       // what is wrong with the file

	Proposal string // packed
	Import   proposal
	Groups   []importGroup
	Hidden   []string // chosen operations that aren't shown
	Policies [][2]string
	Chosen   int
	Matching int
	Find     string
	Kind     string // reads, changes or all
	Wrong    string // what is wrong with the choice

	Fields  []form.Field // of the project
	Problem *web.Problem
}

// importRow is an operation to choose.
type importRow struct {
	countersign.Capability
	Note   string
	Chosen bool
}

func importPage(v *web.Request) (*web.Page, error) {
	if err := v.May(access.WriteProject); err != nil {
		return nil, err
	}
	return importUpload(v, nil), nil
}

func importView(d importData) *web.Page {
	return &web.Page{Name: "project-import", Title: "Register from OpenAPI", Nav: "projects", Data: d, Crumbs: []web.Crumb{{Word: "Projects", Href: "/projects"}, {Word: "From OpenAPI"}}}
}

// importUpload is the first step.
func importUpload(v *web.Request, err error) *web.Page {
	s := form.Of(v, err, "")
	d := importData{Step: 1, Prefix: v.Actor.Tenant + "-"}
	d.Key = newProjectID(v, s)
	d.Head = []form.Field{
		s.Mono("server", "Server", "Such as https://test.example.com. Default: the document’s first server.", ""),
		s.Line("only", "Only operations with this text", "In the method, the path or the operationId. Default: all.", ""),
		s.Mono("auth", "Authentication", "A scheme of the document, or BEARER, BASIC:USER, HMAC or API_KEY:HEADER; several with spaces. Default: what most operations ask for.", ""),
		s.Document("headers", "Headers", "Sent with each call, one a line, such as X-Api-Version: 2026-01-01. They aren’t secret.", "", 3),
	}
	d.File = s.Take("file")
	d.Problem = s.Problem()
	return importView(d)
}

// newProjectID is the field of a new project's ID.
func newProjectID(v *web.Request, s *form.Form) form.Field {
	return form.Must(s.Mono("id", "ID", "Plans and runs refer to it, so it never changes. It starts with "+v.Actor.Tenant+"-.", ""))
}

// typedProjectID is the ID with the tenant's prefix.
func typedProjectID(v *web.Request) (string, error) {
	id := v.Form("id")
	if own := v.Actor.Tenant + "-"; id != "" && !strings.HasPrefix(id, own) {
		id = own + id
	}
	if id != "" && !countersign.ValidID(id) {
		return id, web.Invalid("id", "letters, digits, dots, underscores and hyphens, at most 128")
	}
	return id, v.Chosen("id")
}

// importProject moves on in the steps, or registers the project.
func importProject(v *web.Request, d documents) (string, error) {
	if err := v.May(access.WriteProject); err != nil {
		return "", err
	}
	if v.Form("proposal") == "" {
		in, err := uploaded(v, d)
		if err != nil {
			return "", web.Answered(importUpload(v, err), err)
		}
		packed, err := pack(in)
		if err != nil {
			return "", web.Answered(importUpload(v, err), err)
		}
		return "", importChoice(v, packed, in, nil)
	}
	in, err := unpack(v.Form("proposal"))
	if err != nil {
		return "", web.Answered(importUpload(v, err), err)
	}
	switch chosen := in.asked(v, in.only(v.R.PostForm["chosen"])); {
	case v.Form("do") == "connect" && len(chosen) == 0:
		return "", web.Incomplete(importChoice(v, v.Form("proposal"), in, web.Invalid("chosen", "choose at least one")))
	case v.Form("do") == "connect":
		return "", importConnection(v, in, nil)
	case v.Form("do") == "register":
		return registerImport(v, in, chosen)
	}
	return "", importChoice(v, v.Form("proposal"), in, nil)
}

// uploaded reads the file that was sent.
func uploaded(v *web.Request, d documents) (in proposal, err error) {
	id, wrong := typedProjectID(v)
	file, header, err := v.R.FormFile("file")
	if err != nil {
		return in, web.Together(wrong, web.Invalid("file", "choose an OpenAPI 3.0 or 3.1 document, in JSON or YAML"))
	}
	defer func() { _ = file.Close() }()
	if header.Size > maxDocument {
		return in, web.Together(wrong, web.Invalid("file", "a file here has at most %d bytes; `countersign import openapi` takes larger ones", maxDocument))
	}
	if wrong != nil {
		return in, wrong
	}
	data, err := io.ReadAll(io.LimitReader(file, maxDocument))
	if err != nil {
		return in, web.Invalid("file", "it could not be read")
	}
	o := importer.Options{ProjectID: id, BaseURL: v.Form("server"), Auth: strings.Fields(v.Form("auth"))}
	if o.Headers, err = headersTyped(v); err != nil {
		return in, err
	}
	if only := v.Form("only"); only != "" {
		o.Include = regexp.MustCompile("(?i)" + regexp.QuoteMeta(only))
	}
	return d.inTurn(v.R.Context(), v.Actor.Tenant, func() (proposal, error) { return propose(data, o) })
}

// documents are the turns at reading an uploaded document: one at a time, since each takes
// much memory.
type documents struct{ *semaphore.Semaphore }

// inTurn reads one document at a time. Tenants take turns, and who has hung up gives
// theirs away.
func (d documents) inTurn(ctx context.Context, tenant string, read func() (proposal, error)) (in proposal, err error) {
	if ended := d.Do(ctx, tenant, func() { in, err = read() }); ended != nil {
		return in, ended
	}
	return in, err
}

// propose makes of an uploaded document what the command `import openapi` makes of a file.
func propose(document []byte, o importer.Options) (in proposal, err error) {
	d, err := importer.Read(document)
	if err != nil {
		return in, unreadable(err)
	}
	p, err := d.Propose(o)
	if err != nil {
		return in, unreadable(err)
	}
	in = proposal{Project: p.Project, FillIn: p.FillIn, Notes: map[string]string{}, Tags: map[string]string{}, Skipped: []skippedOperation{}}
	for _, line := range p.Proposed {
		in.Notes[line.Name] = noteOf(line)
		in.Tags[line.Name] = line.Tag
	}
	for _, s := range p.Skipped {
		in.Skipped = append(in.Skipped, skippedOperation{s.Method, s.Path, inForm(s.Message)})
	}
	return in, nil
}

func unreadable(err error) error {
	field, text := "file", err.Error()
	for flag, of := range map[string]string{"--auth: ": "auth", "--header: ": "headers"} {
		if rest, is := strings.CutPrefix(text, flag); is {
			field, text = of, rest
		}
	}
	return web.Invalid(field, "%s", strings.ReplaceAll(inForm(text), "; ", ", "))
}

// inForm names the field of the form where the command has a flag.
func inForm(text string) string { return flagsInForm.Replace(text) }

var flagsInForm = strings.NewReplacer("--base-url", "Server", "--auth", "Authentication", "--header ", "Headers: ")

// noteOf is what a reviewer should know of a proposed capability.
func noteOf(p importer.Proposed) string {
	var notes []string
	if p.Because != "" {
		notes = append(notes, "the receiver deduplicates, by "+p.Because)
	}
	if p.OtherKey != "" {
		notes = append(notes, "it deduplicates by "+p.OtherKey+", which isn’t sent")
	}
	if len(p.LeftOut) > 0 {
		notes = append(notes, "left out: "+strings.Join(p.LeftOut, ", "))
	}
	return strings.Join(notes, "; ")
}

// pack makes a text of a proposal that fits into a form.
func pack(in proposal) (string, error) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write([]byte(text.RawOf(in)))
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		return "", err
	}
	text := base64.StdEncoding.EncodeToString(b.Bytes())
	if len(text) > maxCarried {
		return "", web.Invalid("only", "the document proposes %d capabilities, which are too many for a form; choose some by a text, or use `countersign import openapi`", len(in.Project.Capabilities))
	}
	return text, nil
}

// unpack reads it again. It comes from the browser, so all of it is checked when the
// project is stored.
func unpack(text string) (in proposal, err error) {
	lost := web.Invalid("file", "what was uploaded is lost; choose the file again")
	if len(text) > maxCarried {
		return in, lost
	}
	z, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(text)))
	if err != nil {
		return in, lost
	}
	data, err := io.ReadAll(io.LimitReader(z, maxUnpacked))
	if err != nil || exactjson.Decode(data, &in) != nil || len(in.Project.Auth.List()) > countersign.MaxAuths {
		return proposal{}, lost
	}
	return in, nil
}

// only are the capabilities with these names. A probe that isn't among them is left out.
func (p proposal) only(names []string) []countersign.Capability {
	on := map[string]bool{}
	for _, name := range names {
		on[name] = true
	}
	out := []countersign.Capability{}
	for _, c := range p.Project.Capabilities {
		if !on[c.Name] {
			continue
		}
		if !on[c.Probe] {
			c.Probe = ""
		}
		out = append(out, c)
	}
	return out
}

// importChoice is the second step. Nothing is chosen at first.
func importChoice(v *web.Request, packed string, in proposal, err error) *web.Page {
	s := form.Of(v, err, "")
	d := importData{Step: 2, ID: v.Form("id"), Proposal: packed, Import: in, Find: v.Form("find"), Kind: v.Form("kind"), Wrong: s.Take("chosen")}
	on, shown := v.R.PostForm["chosen"], 0
	for i := range in.Project.Capabilities {
		c := &in.Project.Capabilities[i]
		row := importRow{Capability: *c, Note: in.Notes[c.Name], Chosen: slices.Contains(on, c.Name)}
		matches := form.Mentions(c, d.Find) && (d.Kind == "" || d.Kind == "changes" == c.HasSideEffect())
		if ticks, all := ticking(v, in.Tags[c.Name]); ticks && matches {
			row.Chosen = all
		}
		if row.Chosen {
			d.Chosen++
		}
		if matches {
			d.Matching++
		}
		visible := matches && shown < importRows
		if visible {
			shown++
		} else if row.Chosen {
			d.Hidden = append(d.Hidden, c.Name)
		}
		d.group(v, in.Tags[c.Name], row, matches, visible)
	}
	d.Problem = s.Problem()
	return importView(d)
}

// Kinds are the filter's choices.
func (d importData) Kinds() []form.Choice {
	return []form.Choice{
		{Value: "", Word: "all", Chosen: d.Kind == ""}, {Value: "reads", Word: "that read", Chosen: d.Kind == "reads"}, {Value: "changes", Word: "that change something", Chosen: d.Kind == "changes"},
	}
}

// importConnection is the third step: the project's form, filled in.
func importConnection(v *web.Request, in proposal, err error) *web.Page {
	s := form.Of(v, err, "")
	s.Stored = v.Form("do") == "connect" && !v.R.PostForm.Has("adapter")
	d := importData{Step: 3, Proposal: v.Form("proposal"), Import: in, Hidden: v.R.PostForm["chosen"], Policies: policiesIn(v), Prefix: v.Actor.Tenant + "-"}
	d.Chosen = len(in.only(d.Hidden))
	d.Key = newProjectID(v, s)
	d.Key.Value = v.Form("id")
	w := in.Project
	d.Fields = connectionFields(s, countersign.Project{Name: w.Name, Adapter: w.Adapter, BaseURL: w.BaseURL, HealthPath: w.HealthPath, Auth: w.Auth, Headers: w.Headers})
	d.Problem = s.Problem()
	return importView(d)
}

func registerImport(v *web.Request, in proposal, chosen []countersign.Capability) (string, error) {
	again := func(err error) (string, error) { return "", web.Answered(importConnection(v, in, err), err) }
	id, err := typedProjectID(v)
	w := countersign.ProjectWrite{Auth: in.Project.Auth, Capabilities: chosen}
	if err = web.Together(err, connectionTyped(v, &w)); err != nil {
		return again(err)
	}
	if size := len(text.RawOf(w)); size > countersign.MaxBodyBytes {
		return again(web.Invalid("id", "the chosen capabilities take %d bytes, and a project has at most %d; choose fewer", size, countersign.MaxBodyBytes))
	}
	_, err = v.Control.PutProject(v.R.Context(), v.Actor, id, w)
	err = web.Taken(err, "project", id)
	if err != nil {
		return again(err)
	}
	return "/projects/" + id, nil
}
