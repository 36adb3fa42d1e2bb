// Package setup makes a service as files say, and writes such files.
package setup

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/client"
	"github.com/countersign/countersign/internal/tools/apply"
	"github.com/countersign/countersign/internal/tools/cli/service"
	"github.com/countersign/countersign/internal/tools/cli/terminal"
	"github.com/countersign/countersign/internal/tools/cli/words"
)

// Apply is the command `apply`: it makes the service as files say.
type Apply struct {
	Paths  []string `arg:"" name:"path" help:"Files of records, or folders of them: .yaml, .yml and .json."`
	DryRun bool     `name:"dry-run" xor:"only" help:"Print the difference, and change nothing."`
	Check  bool     `xor:"only" help:"Print the difference, change nothing, and end with exit status 1 if there is any."`
	service.Asking
}

// Help explains what files do.
func (Apply) Help() string {
	return "A record has kind (" + strings.Join(apply.Kinds, ", ") + "), id and the fields of its PUT. All files are read, and what the token may not do is named, before anything is changed; it needs ADMIN and OPERATOR. Gates are tightened before others are loosened. Projects are health-checked and enabled unless a file says enabled: false; agents are admitted where it says admitted: true. A record with retired: true is retired, a group or webhook deleted; what no file names stays as it is.\n\nExit status 1: something could not be made, and is named at the end. 2: a file can't be used. 3: the token may not do it."
}

// applied is the answer as JSON.
type applied struct {
	Changes []*apply.Change `json:"changes" nullable:"false"`
	Failed  []apply.Failure `json:"failed,omitempty" nullable:"false"`
}

// Run reads, compares and makes.
func (a *Apply) Run(t *terminal.Terminal) error {
	records, problems := apply.Read(a.Paths)
	if len(problems) > 0 {
		return terminal.UnusableError{Lines: problems}
	}
	c, err := a.Client(t)
	if err != nil {
		return err
	}
	session, err := c.Session(t.Context)
	if err != nil {
		return err
	}
	if lacks := apply.Lacks(session, records); len(lacks) > 0 {
		return terminal.RefusedError{Reason: strings.Join(lacks, "; ")}
	}
	changes, err := apply.Differ(t.Context, c, records)
	if err != nil {
		return err
	}
	if a.DryRun || a.Check {
		err := a.Print(t, applied{Changes: changes}, func(w io.Writer) { printDifferences(w, changes, len(records)) })
		return terminal.VerdictOf(!a.Check || len(changes) == 0, err)
	}
	return a.make(t, c, changes, len(records))
}

func (a *Apply) make(t *terminal.Terminal, c *client.Client, changes []*apply.Change, records int) error {
	table := a.Format != "json"
	if table {
		printDifferences(t.Out, changes, records)
	}
	bar := terminal.NewBar(t, "applying")
	done := 0
	failed, err := apply.Make(t.Context, c, changes, func(*apply.Change) {
		done++
		bar.Set(int64(done), int64(len(changes)))
	})
	bar.Done()
	printed := a.Print(t, applied{changes, failed}, func(w io.Writer) { printFailed(w, len(changes), done, failed) })
	if err != nil {
		return err
	}
	return terminal.VerdictOf(len(failed) == 0, printed)
}

var signs = map[string]string{"create": "+", "change": "~", "retire": "-", "delete": "-"}

func printDifferences(w io.Writer, changes []*apply.Change, records int) {
	for _, c := range changes {
		line := fmt.Sprintf("%s %s %s: %s", signs[c.Action], c.Kind, c.ID, c.Action)
		if c.Weakens {
			line += ", loosens a gate"
		}
		fmt.Fprintln(w, words.Plain(line))
		for _, d := range c.Differences {
			fmt.Fprintln(w, "    "+words.Plain(d.String()))
		}
	}
	fmt.Fprintf(w, "%d of %d records differ\n", len(changes), records)
}

func printFailed(w io.Writer, changes, made int, failed []apply.Failure) {
	if changes > 0 {
		fmt.Fprintf(w, "made %d of %d\n", made, changes)
	}
	for _, f := range failed {
		what := "not made"
		if f.Code == changeProposed {
			what = "proposed"
		}
		fmt.Fprintln(w, words.Plain(fmt.Sprintf("%s: %s %s: %s", what, f.Kind, f.ID, f.Message)))
	}
}

// changeProposed is the answer to a change that several have to decide.
const changeProposed countersign.Code = "change_proposed"

// Export is the command `export`: it writes what the service has into files.
type Export struct {
	Dir string `arg:"" help:"A folder that is new or empty."`
	service.Connection
}

// Help explains what is written.
func (Export) Help() string {
	return "It writes <kind>s/<id>.yaml, a record each, as 'countersign apply' reads them. Retired records are left out. No secret is in them: the service has only the names of variables. It needs ADMIN."
}

// Run reads all records, and then writes them.
func (e *Export) Run(t *terminal.Terminal) error {
	if err := apply.Empty(e.Dir); err != nil {
		return terminal.Unusablef("%v", err)
	}
	c, err := e.Client(t)
	if err != nil {
		return err
	}
	session, err := c.Session(t.Context)
	if err != nil {
		return err
	}
	if !slices.Contains(session.Roles, countersign.RoleAdmin) {
		return terminal.RefusedError{Reason: session.Principal + " has not the role ADMIN, which export needs"}
	}
	files, err := apply.Export(t.Context, c)
	if err != nil {
		return err
	}
	if err := apply.Write(e.Dir, files); err != nil {
		return terminal.Unusablef("%v", err)
	}
	fmt.Fprintf(t.Out, "wrote %d records into %s\n", len(files), words.Plain(e.Dir))
	return nil
}
