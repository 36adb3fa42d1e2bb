package projects

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/credential"
	"github.com/countersign/countersign/internal/rules/exactjson"
	"github.com/countersign/countersign/internal/rules/project"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/tools/cli/service"
	"github.com/countersign/countersign/internal/tools/cli/terminal"
	"github.com/countersign/countersign/internal/tools/cli/typed"
	"github.com/countersign/countersign/internal/tools/cli/words"
	"github.com/countersign/countersign/internal/tools/conformance"
)

// CheckReceiver is the command `check-receiver`: it calls a project's sandbox as the service
// would.
type CheckReceiver struct {
	Sandbox    string   `arg:"" help:"Origin of the sandbox, such as https://sandbox.example.com."`
	Capability string   `required:"" placeholder:"NAME" help:"The capability to try."`
	Project    string   `required:"" placeholder:"FILE" help:"The project's definition, as PUT /projects/{id} takes it or GET gives it."`
	Input      []string `sep:"none" placeholder:"JSON|@FILE" help:"An input that the sandbox accepts; default {}. Give it three times where an effect can happen only once: for the first call, for the one that hangs up, for the two at once."`
	OtherInput string   `placeholder:"JSON|@FILE" help:"An input that makes another payload; default: the first with one field of the body changed."`
	SecretEnv  []string `placeholder:"NAME" help:"Environment variable that holds the sandbox's secret; default: the one that the project names. Of several, one for each, in the project's order."`
	Confirmed  bool     `name:"yes-this-is-a-sandbox" help:"The check really causes effects there: say that they may happen. Not asked of a loopback address."`
	Record     string   `placeholder:"PROJECT-ID" help:"Record the verdicts at this project of the service, of which FILE must be the present revision's definition."`
	terminal.Output
	service.Connection `group:"Service that records"`
}

// Help explains more than the flags do.
func (CheckReceiver) Help() string {
	return "Sends some 15 calls as the service would, some of them wrong on purpose, and says which of a receiver's rules hold. Their idempotency keys begin with check-, so that what they did can be found. Exit status 1 says that a rule is broken; docs/how-to/check-a-receiver.md explains each."
}

// Run checks and prints the verdicts, and records them at the service if --record is given.
func (c *CheckReceiver) Run(t *terminal.Terminal) error {
	check, p, err := c.prepare(t)
	if err != nil {
		return err
	}
	record, err := c.recorder(t, p)
	if err != nil {
		return err
	}
	if check.Effects() {
		fmt.Fprintf(t.Errs, "%s is called at %s, and what it does really happens there: up to %d times if all is well, under keys that begin with %s\n",
			words.Plain(c.Capability), check.Target(), effects, check.RunID())
	}
	report, err := check.Play(t.Context)
	if unreachable := new(conformance.UnreachableError); errors.As(err, unreachable) {
		return terminal.UnreachableError{Err: *unreachable}
	}
	if err != nil {
		return err
	}
	if err := c.Print(t, report, func(w io.Writer) { printReport(w, report) }); err != nil {
		return err
	}
	if err := record(t.Context, report); err != nil {
		return err
	}
	if report.Broken() {
		return terminal.StatusError{Status: terminal.ExitFailed}
	}
	return nil
}

// effects is how many effects a check causes: the first call, the call whose connection is
// closed, and the two concurrent calls.
const effects = 3

// prepare reads all flags and files, and sends nothing.
func (c *CheckReceiver) prepare(t *terminal.Terminal) (*conformance.Check, countersign.Project, error) {
	p, err := c.definition()
	if err != nil {
		return nil, p, err
	}
	cfg := conformance.Config{
		Project: p, Capability: c.Capability, RunID: "check-" + strings.ToLower(rand.Text()[:12]), UserAgent: "countersign", Now: time.Now,
	}
	if cfg.Secrets, err = c.secrets(t, p.EffectiveAuths()); err != nil {
		return nil, p, err
	}
	if cfg.Inputs, cfg.Other, err = c.inputs(); err != nil {
		return nil, p, err
	}
	check, err := conformance.New(cfg)
	if err != nil {
		return nil, p, terminal.Unusablef("%v", err)
	}
	if check.Effects() && !c.Confirmed && !isHere(check.Target()) {
		return nil, p, terminal.Unusablef("the check really causes effects at %s; if that is a sandbox, say --yes-this-is-a-sandbox", check.Target())
	}
	return check, p, nil
}

// secrets are those of the sandbox.
func (c *CheckReceiver) secrets(t *terminal.Terminal, auths []countersign.Auth) (list []string, err error) {
	if n := len(c.SecretEnv); n > 0 && n != len(auths) {
		return nil, terminal.Unusablef("--secret-env: give it %d times, once for each way in which the project authenticates, not %d", len(auths), n)
	}
	for i, a := range auths {
		env := a.CredentialEnv
		if len(c.SecretEnv) > 0 {
			env = c.SecretEnv[i]
		}
		secret := t.Getenv(env)
		if secret == "" {
			return nil, terminal.Unusablef("%s: set it to the sandbox's secret, or name another variable with --secret-env", env)
		}
		list = append(list, secret)
	}
	return list, nil
}

// nowhere is the base URL while the definition is validated without a sandbox.
const nowhere = "https://sandbox.invalid"

// definition is the project of the file with the sandbox as its base URL, validated by the
// rules of registration.
func (c *CheckReceiver) definition() (p countersign.Project, err error) {
	text, err := os.ReadFile(c.Project)
	if err != nil {
		return p, terminal.Unusablef("--project: %v", err)
	}
	var w countersign.ProjectWrite
	if err := exactjson.Decode(text, &w); err != nil {
		return p, terminal.Unusablef("--project %s: %v", c.Project, err)
	}
	w.BaseURL = nowhere
	var names []string
	for _, a := range (&countersign.Project{Auth: w.Auth, AuthSecretEnv: w.AuthSecretEnv}).EffectiveAuths() {
		names = append(names, a.CredentialEnv)
	}
	p, err = project.Validate(nil, "", w, project.Allowed{Origins: []string{nowhere}, Credentials: credential.Plain(nil, names)})
	if err != nil {
		return p, terminal.Unusablef("--project %s: %v", c.Project, err)
	}
	p.BaseURL = c.Sandbox
	return p, nil
}

func (c *CheckReceiver) inputs() (list []map[string]countersign.Value, other map[string]countersign.Value, err error) {
	given := c.Input
	if len(given) == 0 {
		given = []string{"{}"}
	}
	for _, text := range given {
		input, err := typed.ObjectOf("--input", text)
		if err != nil {
			return nil, nil, err
		}
		list = append(list, input)
	}
	if c.OtherInput != "" {
		other, err = typed.ObjectOf("--other-input", c.OtherInput)
	}
	return list, other, err
}

func isHere(origin string) bool {
	u, err := url.Parse(origin)
	return err == nil && request.IsLoopback(u.Hostname())
}

func printReport(w io.Writer, r *conformance.Report) {
	rows := make([][]string, len(r.Rules))
	for i, rule := range r.Rules {
		rows[i] = []string{rule.Name, rule.Verdict, rule.Seen}
	}
	terminal.Table(w, []string{"rule", "verdict", "seen"}, rows)
	fmt.Fprintln(w)
	for _, rule := range r.Rules {
		if rule.Verdict == countersign.VerdictBroken {
			fmt.Fprintf(w, "%s asks: %s\n", rule.Name, rule.Sentence)
		}
	}
	fmt.Fprintf(w, "%s at %s: %s; its keys were %s.*\n", words.Plain(r.Capability), r.Target, conclusion(r), r.RunID)
}

// conclusion summarizes the verdicts.
func conclusion(r *conformance.Report) string {
	switch {
	case r.Proven:
		return "PROVEN to deduplicate while it runs; restart it between two calls to see that its keys outlive it"
	case r.SideEffect:
		return "not proven to deduplicate"
	case r.Broken():
		return "a read, and a rule is broken"
	default:
		return "a read, and no rule is broken"
	}
}

// recorder checks with the service, before anything is sent to the sandbox, that the verdicts
// can be recorded: the file must define the current revision.
func (c *CheckReceiver) recorder(t *terminal.Terminal, p countersign.Project) (func(context.Context, *conformance.Report) error, error) {
	if c.Record == "" {
		return func(context.Context, *conformance.Report) error { return nil }, nil
	}
	service, err := c.Client(t)
	if err != nil {
		return nil, err
	}
	stored, err := service.Project(t.Context, c.Record)
	if err != nil {
		return nil, err
	}
	if err := sameDefinition(p, *stored, c.Capability); err != nil {
		return nil, err
	}
	return func(ctx context.Context, r *conformance.Report) error {
		_, err := service.RecordConformance(ctx, c.Record, countersign.ConformanceWrite{
			ExpectedRevision: stored.Revision, Capability: r.Capability, Target: r.Target, Rules: r.Verdicts(),
		})
		if err == nil {
			fmt.Fprintf(t.Errs, "recorded at %s, revision %d\n", c.Record, stored.Revision)
		}
		return err
	}, nil
}

// sameDefinition refuses to record a check if the capability, its probe or the
// authentication in the file differ from the stored ones.
func sameDefinition(tried, stored countersign.Project, name string) error {
	a, err := countersign.CanonicalDigest(relevant(tried, name))
	if err != nil {
		return err
	}
	b, err := countersign.CanonicalDigest(relevant(stored, name))
	if err == nil && a != b {
		err = terminal.Unusablef("--record: revision %d of %s defines %s or its authentication in another way than the file; read the project again", stored.Revision, stored.ID, name)
	}
	return err
}

// relevant is the part of a project on which a check of the capability depends.
func relevant(p countersign.Project, name string) any {
	auths := slices.Clone(p.EffectiveAuths())
	for i := range auths {
		auths[i].CredentialEnv = "" // the sandbox has its own secrets
	}
	return []any{p.Capability(name), auths, p.Headers}
}
