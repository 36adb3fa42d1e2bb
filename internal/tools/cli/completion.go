package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/countersign/countersign/internal/tools/cli/terminal"
)

// Completion is the command `completion`: it prints a script for a shell. The script is made
// from the description of the command line, and calls neither this program nor a service.
type Completion struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Help explains how to install the script.
func (Completion) Help() string {
	return "bash: source <(countersign completion bash). zsh: the same with zsh, after compinit. fish: countersign completion fish | source. Put that line into the shell's own file of settings to have it always."
}

// Run prints the script.
func (c *Completion) Run(t *terminal.Terminal, app *kong.Kong) error {
	known := choices(app.Model.Node, "")
	switch c.Shell {
	case "fish":
		fishScript(t.Out, app.Model.Name, known)
	case "zsh":
		fmt.Fprintln(t.Out, "autoload -U +X bashcompinit && bashcompinit")
		bashScript(t.Out, app.Model.Name, known)
	default:
		bashScript(t.Out, app.Model.Name, known)
	}
	return nil
}

// choice is what may follow a command: its subcommands, its flags, and the values of flags
// that have an enumeration.
type choice struct {
	path     string // the command's words, each followed by a space
	commands []string
	flags    []string
	values   map[string][]string // by flag
	file     bool                // the command takes a file
}

// choices lists the choices of a command and of those below it.
func choices(n *kong.Node, path string) []choice {
	c := choice{path: path, values: map[string][]string{}}
	for _, level := range n.AllFlags(true) {
		for _, f := range level {
			c.flags = append(c.flags, "--"+f.Name)
			if values := enumOf(f.Value); len(values) > 0 {
				c.values["--"+f.Name] = values
				if f.Short != 0 {
					c.values["-"+string(f.Short)] = values
				}
			}
		}
	}
	for _, p := range n.Positional {
		c.commands = append(c.commands, enumOf(p)...)
		c.file = c.file || p.Name == "file"
	}
	below := []choice{}
	for _, child := range n.Children {
		if !child.Hidden {
			c.commands = append(c.commands, child.Name)
			below = append(below, choices(child, path+child.Name+" ")...)
		}
	}
	return append([]choice{c}, below...)
}

func enumOf(v *kong.Value) []string {
	if v.Enum == "" {
		return nil
	}
	return slices.DeleteFunc(v.EnumSlice(), func(s string) bool { return s == "" })
}

// bashScript writes the bash script. It reads the words before the cursor as long as they
// are commands.
func bashScript(w io.Writer, name string, known []choice) {
	fmt.Fprintf(w, `_%[1]s() {
  local cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}" path="" word words values=""
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$path$word " in
      %[2]s) path="$path$word " ;;
    esac
  done
  case "$path" in
`, name, strings.Join(quotedPaths(known), "|"))
	for _, c := range known {
		fmt.Fprintf(w, "    '%s') words='%s'", c.path, strings.Join(append(slices.Clone(c.commands), c.flags...), " "))
		if len(c.values) > 0 {
			fmt.Fprintf(w, "; case \"$prev\" in %s esac", bashValues(c))
		}
		fmt.Fprintln(w, " ;;")
	}
	fmt.Fprintf(w, `  esac
  COMPREPLY=($(compgen -W "${values:-$words}" -- "$cur"))
}
complete -o default -F _%[1]s %[1]s
`, name)
}

func quotedPaths(known []choice) []string {
	out := []string{}
	for _, c := range known {
		if c.path != "" {
			out = append(out, "'"+c.path+"'")
		}
	}
	return out
}

func bashValues(c choice) string {
	var b strings.Builder
	for _, flag := range c.names() {
		fmt.Fprintf(&b, "%s) values='%s' ;; ", flag, strings.Join(c.values[flag], " "))
	}
	return strings.TrimSuffix(b.String(), " ")
}

// names are the flags with enumerated values, sorted.
func (c choice) names() []string {
	out := []string{}
	for flag := range c.values {
		out = append(out, flag)
	}
	slices.Sort(out)
	return out
}

// fishScript writes the fish script. Each choice has the condition that its command is the
// one that was typed.
func fishScript(w io.Writer, name string, known []choice) {
	fmt.Fprintf(w, `function __%[1]s_path
  set -l path ""
  for word in (commandline -opc)[2..-1]
    if contains -- "$path$word " %[2]s
      set path "$path$word "
    end
  end
  echo -n $path
end
complete -c %[1]s -e
`, name, strings.Join(quotedPaths(known), " "))
	for _, c := range known {
		when := fmt.Sprintf("complete -c %s -n 'test (__%s_path) = \"%s\"'", name, name, c.path)
		if len(c.commands) > 0 {
			fmt.Fprintf(w, "%s -f -a '%s'\n", when, strings.Join(c.commands, " "))
		}
		for _, flag := range c.flags {
			line := fmt.Sprintf("%s -l %s", when, strings.TrimPrefix(flag, "--"))
			if values := c.values[flag]; len(values) > 0 {
				line += fmt.Sprintf(" -x -a '%s'", strings.Join(values, " "))
			}
			fmt.Fprintln(w, line)
		}
	}
}
