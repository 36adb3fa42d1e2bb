package people

import (
	"fmt"
	"io"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/client"
	"github.com/countersign/countersign/internal/tools/cli/service"
	"github.com/countersign/countersign/internal/tools/cli/terminal"
	"github.com/countersign/countersign/internal/tools/cli/typed"
	"github.com/countersign/countersign/internal/tools/cli/words"
)

// Groups are the commands on groups of users, whom approval rules name (contract 11).
type Groups struct {
	List   service.List[countersign.Group] `cmd:"" help:"List the groups with their members." example:"groups list"`
	Put    GroupsPut                       `cmd:"" help:"Create or update a group (ADMIN)." example:"groups put finance --name Finance --member ann@example.com --member ben@example.com"`
	Delete service.Show[countersign.Group] `cmd:"" set:"whose=The group's" help:"Delete a group that no rule names (ADMIN)." example:"groups delete finance"`
}

// NewGroups returns the commands, with what each asks for and prints.
func NewGroups() (c Groups) {
	c.List, c.Delete = service.Lists((*client.Client).Groups, groupTable), service.Shows((*client.Client).DeleteGroup, func(w io.Writer, g *countersign.Group) { fmt.Fprintf(w, "deleted %s\n", g.ID) })
	return c
}

var groupTable = service.Columns[countersign.Group]{
	Heading: []string{"id", "name", "members", "claim", "revision"},
	Row: func(x countersign.Group) []string {
		return []string{x.ID, x.Name, words.First(strings.Join(x.Members, ", "), "none"), words.First(x.Claim, "none"), words.Number(x.Revision)}
	},
}

// GroupsPut is the command `groups put`.
type GroupsPut struct {
	ID       string   `arg:"" help:"The group's id."`
	Name     string   `xor:"content" required:"" help:"What the group is called."`
	File     string   `xor:"content" required:"" help:"GroupWrite as JSON instead of --name, --member and --claim; - is standard input." placeholder:"FILE"`
	Member   []string `help:"The e-mail address of a user. Repeat it for several; those who aren't named leave." placeholder:"EMAIL"`
	Claim    string   `help:"A claim of the identity provider that makes a member, such as groups=finance." placeholder:"NAME=VALUE"`
	Revision int64    `help:"Update this revision, which must be the current one; else create." placeholder:"N"`
	service.Asking
}

// group is what is to be saved, as the flags or the file say.
func (p *GroupsPut) group(t *terminal.Terminal) (w countersign.GroupWrite, err error) {
	if p.File == "" {
		return countersign.GroupWrite{Name: p.Name, Members: append([]string{}, p.Member...), Claim: p.Claim, ExpectedRevision: p.Revision}, nil
	}
	if len(p.Member) > 0 || p.Claim != "" {
		return w, terminal.Unusablef("--member and --claim are in the file, if it is given; name the members there")
	}
	err = typed.ReadDocument(t, p.File, &w)
	w.ExpectedRevision = service.Revision(p.Revision, w.ExpectedRevision)
	return w, err
}

// Run saves the group.
func (p *GroupsPut) Run(t *terminal.Terminal) error {
	w, err := p.group(t)
	if err != nil {
		return err
	}
	return service.ShowRecord(t, p.Asking, func(c *client.Client) (*countersign.Group, error) {
		saved, err := c.SaveGroup(t.Context, p.ID, w)
		return saved, service.WithRevision(err)
	}, func(out io.Writer, x *countersign.Group) {
		fmt.Fprintf(out, "saved %s, revision %d\n", x.ID, x.Revision)
	})
}
