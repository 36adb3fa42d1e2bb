package cli

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
)

// Groups are the headings of the help, in their order.
var Groups = []kong.Group{
	{Key: "Server", Title: "Server"},
	{Key: "Client", Title: "Client"},
	{Key: "Connection", Title: "Connection"},
}

// NameVerbs puts behind what a command with subcommands is for which these are, so that no help is forgotten when there is
// one more.
func NameVerbs(k *kong.Kong) error {
	for _, n := range k.Model.Children {
		var verbs []string
		for _, child := range n.Children {
			if child.Type == kong.CommandNode && !child.Hidden {
				verbs = append(verbs, child.Name)
			}
		}
		if len(verbs) > 0 {
			n.Help = strings.TrimSuffix(n.Help, ".") + ": " + strings.Join(verbs, ", ") + "."
		}
	}
	return nil
}

// Help prints a command's help with an example of its use.
func Help(options kong.HelpOptions, ctx *kong.Context) error {
	if n := ctx.Selected(); n != nil && n.ClosestGroup() != nil {
		n.ClosestGroup().Title = "Commands" // subcommands are a group of their own
	}
	if err := kong.DefaultHelpPrinter(options, ctx); err != nil {
		return err
	}
	if example := Example(ctx.Selected()); example != "" {
		fmt.Fprintf(ctx.Stdout, "\nExample:\n  %s %s\n", ctx.Model.Name, example)
	}
	return nil
}

// Example is a command's example without the program's name; "" where it has
// none.
func Example(n *kong.Node) string {
	if n == nil || n.Tag == nil {
		return ""
	}
	return n.Tag.Get("example")
}
