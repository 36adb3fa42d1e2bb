package cli

import (
	"reflect"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/tools/cli/approvals"
	"github.com/countersign/countersign/internal/tools/cli/runs"
)

// TestTheHelpOfACommandNamesItsVerbs: also one that was added, and none twice.
func TestTheHelpOfACommandNamesItsVerbs(t *testing.T) {
	var c struct {
		Things struct {
			List  struct{} `cmd:"" help:"List them."`
			Added struct{} `cmd:"" help:"Was added."`
		} `cmd:"" help:"Things of a tenant."`
		Version struct{} `cmd:"" help:"Print the version."`
	}
	parser, err := kong.New(&c, kong.PostBuild(NameVerbs))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"Things of a tenant: list, added.", "Print the version."} {
		if got := parser.Model.Children[i].Help; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestTheFlagsOfStatusesOfferEachStatus, and none: then all are listed.
func TestTheFlagsOfStatusesOfferEachStatus(t *testing.T) {
	for command, want := range map[reflect.Type]string{
		reflect.TypeFor[runs.List]():      "," + joinedStatuses(countersign.RunStatuses),
		reflect.TypeFor[approvals.List](): "," + joinedStatuses(countersign.ApprovalStatuses),
	} {
		if field, has := command.FieldByName("Status"); !has || field.Tag.Get("enum") != want {
			t.Errorf("%s --status takes %q, want %q", command, field.Tag.Get("enum"), want)
		}
	}
}

func joinedStatuses[T ~string](statuses []T) string {
	texts := make([]string, len(statuses))
	for i, s := range statuses {
		texts[i] = string(s)
	}
	return strings.Join(texts, ",")
}
