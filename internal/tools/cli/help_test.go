package cli

import (
	"testing"

	"github.com/alecthomas/kong"
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
