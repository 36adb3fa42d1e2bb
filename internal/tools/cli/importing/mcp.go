package importing

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/platform/secretfile"
	"github.com/countersign/countersign/internal/tools/adapter/mcpup"
	"github.com/countersign/countersign/internal/tools/adapter/propose"
	"github.com/countersign/countersign/internal/tools/cli/terminal"
	"github.com/countersign/countersign/internal/tools/cli/typed"
	"github.com/countersign/countersign/internal/tools/cli/words"
)

// MCP is the command `import mcp`: it writes an adapter's FILE and a project.
type MCP struct {
	Target        []string `arg:"" name:"ADDRESS|-- COMMAND" help:"The server: its http or https address, or after -- the command that starts it, with its arguments."`
	Project       string   `required:"" placeholder:"ID" help:"Id of the project to be: the tenant's id, a hyphen and a name."`
	Env           []string `sep:"none" placeholder:"NAME" help:"Environment variable that the command is given; may be repeated. It gets no other but PATH and an empty HOME."`
	CredentialEnv string   `name:"credential-env" placeholder:"NAME" help:"Environment variable of the adapter with the bearer token of an address."`
	Out           string   `placeholder:"DIR" default:"." help:"Where to write adapter.yaml and <project>.json."`
	Force         bool     `help:"Overwrite these files."`
	terminal.Output
}

// Help explains what an import does.
func (MCP) Help() string {
	return "The server is started or reached once, and asked for its tools; none is called. adapter.yaml has the digest of each tool: one whose description or schema changes later is refused until it is imported again. Every capability asks for approval, whatever the server says of itself; its descriptions are quoted as text of others."
}

// Run asks the server and writes the files.
func (c *MCP) Run(t *terminal.Terminal) error {
	if err := validProject(c.Project); err != nil {
		return err
	}
	server, err := propose.Server(c.Target, c.Env, c.CredentialEnv)
	if err != nil {
		return terminal.Unusablef("%v", err)
	}
	env := map[string]string{}
	for _, pair := range t.Environ {
		name, value, _ := strings.Cut(pair, "=")
		env[name] = value
	}
	secrets := secretfile.New(env, append(c.Env, c.CredentialEnv)...)
	heard := &heard{Handler: slog.DiscardHandler}
	tools, err := mcpup.Look(t.Context, &server, secrets.Look, slog.New(heard))
	if err != nil {
		return terminal.UnreachableError{Err: fmt.Errorf("the server's tools can't be had: %w%s", err, heard.quoted())}
	}
	both, err := propose.Tools(c.Project, server, tools)
	if err != nil {
		return noneProposed(both, len(tools), err)
	}
	if err := writeBoth(t, both, c.Out, c.Project, c.Force); err != nil {
		return err
	}
	return c.Print(t, both.Report, func(w io.Writer) { printBoth(w, both) })
}

// noneProposed names the reason of each tool.
func noneProposed(both *propose.Both, tools int, err error) error {
	lines := []string{fmt.Sprintf("none of the server's %d tools can be proposed: %s", tools, terminal.PlainError(err))}
	if both != nil {
		for _, s := range both.Report.Skipped {
			lines = append(lines, s.Path+": "+s.Message)
		}
	}
	return terminal.UnusableError{Lines: lines}
}

func validProject(id string) error {
	tenant, name, _ := strings.Cut(id, "-")
	if !countersign.ValidID(id) || !countersign.ValidTenantID(tenant) || name == "" {
		return terminal.Unusablef("--project: %q must be the tenant's id, a hyphen and a name, such as acme-shop", id)
	}
	return nil
}

// writeBoth writes the adapter's FILE and the project's.
func writeBoth(t *terminal.Terminal, both *propose.Both, dir, project string, force bool) error {
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // the files hold no secret
		return terminal.Unusablef("--out: %v", err)
	}
	for _, f := range []struct {
		name string
		text func() ([]byte, error)
	}{{"adapter.yaml", both.YAML}, {project + ".json", both.JSON}} {
		text, err := f.text()
		if err != nil {
			return err
		}
		path := filepath.Join(dir, f.name)
		if err := typed.WriteNew(path, text, force); err != nil {
			return err
		}
		fmt.Fprintln(t.Errs, "wrote", path)
	}
	return nil
}

// printBoth shows what was proposed and what is to be done next.
func printBoth(w io.Writer, both *propose.Both) {
	rows := make([][]string, 0, len(both.Project.Capabilities))
	for _, c := range both.Project.Capabilities {
		rows = append(rows, []string{c.Name, c.Path, c.Approval, fmt.Sprint(len(c.InputSchema)), c.Description})
	}
	terminal.Table(w, []string{"name", "path", "approval", "inputs", "description"}, rows)
	for _, s := range both.Report.Skipped {
		fmt.Fprintf(w, "left out: %s: %s\n", words.Plain(s.Path), words.Plain(s.Message))
	}
	for _, line := range both.Report.Proposed {
		if len(line.LeftOut) > 0 {
			fmt.Fprintf(w, "left out of %s: %s\n", words.Plain(line.Name), words.Plain(strings.Join(line.LeftOut, ", ")))
		}
	}
	secret := both.File.Upstreams[0].SecretEnv
	fmt.Fprintf(w, "\nLook at both files, then:\n- set %s to one secret of 32 bytes or more, for the service (on SVC_PLATFORM_SIGNING_ENV_ALLOWLIST) and for the adapter;\n- put http://%s on SVC_PLATFORM_CONNECTION_ORIGINS;\n- countersign adapter serve adapter.yaml, and register the project.\n", secret, both.File.Listen)
}
