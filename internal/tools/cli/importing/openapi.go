// Package importing has the commands that propose a project from the description of another system.
package importing

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"runtime/debug"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/importer"
	"github.com/countersign/countersign/internal/tools/cli/terminal"
	"github.com/countersign/countersign/internal/tools/cli/typed"
	"github.com/countersign/countersign/internal/tools/cli/words"
)

// Commands makes proposals from descriptions of other systems. It registers
// nothing and enables nothing.
type Commands struct {
	MCP     MCP     `cmd:"" name:"mcp" help:"Propose an adapter's FILE and a project for the tools of an MCP server." example:"import mcp --project default-files -- npx -y @modelcontextprotocol/server-filesystem /srv/shared"`
	OpenAPI OpenAPI `cmd:"" name:"openapi" help:"Propose a project from an OpenAPI 3.0 or 3.1 document, or one of Swagger 2.0." example:"import openapi https://shop.example.com/openapi.json --project default-shop"`
}

// OpenAPI is the command `import openapi`: it writes a proposed project to a file.
type OpenAPI struct {
	Source        string   `arg:"" name:"file|url" help:"The document, JSON or YAML: a file, which may refer to files below its folder; - for standard input; or an https URL."`
	Project       string   `required:"" placeholder:"ID" help:"Id of the project to be: the tenant's id, a hyphen and a name."`
	Name          string   `help:"The project's name. Default: the document's title."`
	BaseURL       string   `name:"base-url" placeholder:"URL" help:"Server to use instead of the document's first. Without a path the document's stays before each operation's."`
	Auth          []string `sep:"none" placeholder:"SCHEME" help:"How to authenticate, in place of what most operations ask for: a scheme of the document, or BEARER, BASIC, BASIC:USER, HMAC or API_KEY:HEADER for all of them; may be repeated."`
	Header        []string `sep:"none" placeholder:"NAME=VALUE" help:"Header that each call is sent with; not secret; may be repeated."`
	CredentialEnv []string `name:"credential-env" placeholder:"NAME" help:"Server environment variable with the credential; of several, one for each, in the order proposed. Default: made of the project's id."`
	Include       string   `placeholder:"REGEX" help:"Only operations whose \"METHOD /path\" or operationId matches."`
	Exclude       string   `placeholder:"REGEX" help:"No operations whose \"METHOD /path\" or operationId matches."`
	Tag           []string `sep:"none" placeholder:"TAG" help:"Only operations with this tag; may be repeated."`
	Policy        []string `sep:"none" placeholder:"TAG=POLICY" help:"Approval of the operations with this tag: ALWAYS (reads too), RISK_BASED or NONE; may be repeated. Nothing in the document lowers an approval."`
	PathText      bool     `name:"path-text" help:"Let inputs of the path have any text, percent-encoded whole, where the document shows that ids are not enough, such as e-mail addresses and file names."`
	RiskBased     bool     `name:"risk-based" help:"Ask for no approval where the document says that the receiver deduplicates (RISK_BASED), a DELETE excepted. Without it every side effect asks."`
	Adapter       bool     `help:"Propose it by way of 'countersign adapter', which authenticates to the API: writes adapter.yaml and <project>.json."`
	Out           string   `placeholder:"FILE" help:"Where to write the proposal. Default: <project>.json; with --adapter, a folder, by default this one."`
	Force         bool     `help:"Overwrite the file."`
	Verbose       bool     `short:"v" help:"Name each skipped operation and each part left out."`
	terminal.Output
}

// Help explains what an import does.
func (OpenAPI) Help() string {
	return "Nothing is registered: the file is the body of PUT /projects/{id}, disabled, for an administrator to review. Exit status 2: the document can't be used, or the proposal is larger than the service accepts."
}

// lean is how many percent of what is in use may be garbage: most of what a document takes is
// needed for a moment only.
const lean = 25

// Run makes the proposal, prints the report and writes the file.
func (a *OpenAPI) Run(t *terminal.Terminal) error {
	defer debug.SetGCPercent(debug.SetGCPercent(lean))
	options, err := a.options()
	if err != nil {
		return err
	}
	data, location, err := typed.ReadSource(t, a.Source, importer.MaxDocumentBytes)
	if err != nil {
		return err
	}
	options.Location = location
	proposal, err := a.propose(t, data, options)
	if proposal == nil {
		return err
	}
	if a.Adapter && err == nil {
		return a.byAdapter(t, proposal)
	}
	printed := a.print(t, proposal)
	if err := errors.Join(err, printed); err != nil {
		return err
	}
	return a.write(t, proposal)
}

// options validates the flags before any file is read.
func (a *OpenAPI) options() (importer.Options, error) {
	o := importer.Options{ProjectID: a.Project, Name: a.Name, BaseURL: a.BaseURL, CredentialEnv: a.CredentialEnv, RiskBased: a.RiskBased}
	o.Tags, o.Auth, o.PathText, o.Adapter = a.Tag, a.Auth, a.PathText, a.Adapter
	if err := a.pairs(&o); err != nil {
		return o, err
	}
	if err := validProject(a.Project); err != nil {
		return o, err
	}
	for _, pattern := range []struct {
		flag, text string
		into       **regexp.Regexp
	}{{"--include", a.Include, &o.Include}, {"--exclude", a.Exclude, &o.Exclude}} {
		if pattern.text == "" {
			continue
		}
		compiled, err := regexp.Compile(pattern.text)
		if err != nil {
			return o, terminal.Unusablef("%s: %v", pattern.flag, err)
		}
		*pattern.into = compiled
	}
	return o, nil
}

func (a *OpenAPI) propose(t *terminal.Terminal, data []byte, o importer.Options) (*importer.Proposal, error) {
	var proposal *importer.Proposal
	var failed error
	err := terminal.Working(t, "reading "+a.shown(), func() {
		var d *importer.Document
		if d, failed = importer.Read(data); failed == nil {
			close := a.below(d)
			defer close()
			proposal, failed = d.Propose(o)
		}
	})
	if err != nil {
		return nil, err
	}
	if failed != nil {
		failed = terminal.Unusablef("%s: %s", a.shown(), terminal.PlainError(failed))
	}
	return proposal, failed
}

// shown is the source's address without its query, which may contain a key.
func (a *OpenAPI) shown() string {
	u, err := url.Parse(a.Source)
	if !typed.IsURL(a.Source) || err != nil {
		return a.Source
	}
	return u.Scheme + "://" + u.Host + u.EscapedPath()
}

// write writes the proposal to the file. A proposal too large for a request is written
// only if --out names a file, so that a person can shorten it.
func (a *OpenAPI) write(t *terminal.Terminal, p *importer.Proposal) error {
	path := words.First(a.Out, a.Project+".json")
	var tooLarge error
	if p.TooLarge() {
		tooLarge = terminal.Unusablef("%d capabilities take %d bytes, and a request carries %d: about %d of them fit; choose with --include, --exclude or --tag", len(p.Proposed), p.Bytes, countersign.MaxBodyBytes, p.Fits)
		if a.Out == "" {
			return tooLarge
		}
	}
	text, err := countersign.Marshal(p.Project)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, text, "", "  "); err != nil {
		return err
	}
	b.WriteByte('\n')
	if err := typed.WriteNew(path, b.Bytes(), a.Force); err != nil {
		return err
	}
	fmt.Fprintln(t.Errs, "wrote", path)
	return tooLarge
}
