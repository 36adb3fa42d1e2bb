package main

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// TestSettingsPageIsUpToDate: the page lists every setting with the text of --help.
func TestSettingsPageIsUpToDate(t *testing.T) {
	const begin, end = "<!-- settings: written by go test ./cmd/countersign -run SettingsPage -update -->\n", "<!-- end of settings -->"
	path := filepath.Join("..", "..", "docs", "reference", "settings.md")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, opened := strings.Cut(string(b), begin)
	_, after, closed := strings.Cut(rest, end)
	if !opened || !closed {
		t.Fatalf("%s has no %q … %q", path, begin, end)
	}
	page := before + begin + settingsTable(t) + end + after
	if *update {
		if err := os.WriteFile(path, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if page != string(b) {
		t.Errorf("%s is stale: go test ./cmd/countersign -run SettingsPage -update", path)
	}
}

func settingsTable(t *testing.T) string {
	t.Helper()
	var commands struct{ settings }
	parser, err := kong.New(&commands)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("| Setting | Default, or form | Meaning |\n|---|---|---|\n")
	for _, f := range parser.Model.Flags {
		if f.Name != "help" {
			name := variableOf(t, f.Name)
			if flag := strings.ToLower(strings.ReplaceAll(name, "_", "-")); flag != f.Name {
				t.Errorf("the page says that %s is --%s, and it is --%s", name, flag, f.Name)
			}
			fmt.Fprintf(&b, "| `%s%s` | `%s` | %s |\n", prefix, name, strings.ReplaceAll(f.PlaceHolder, "|", `\|`), f.Help)
		}
	}
	return b.String()
}

// variableOf is the environment variable of a flag.
func variableOf(t *testing.T, flag string) string {
	t.Helper()
	const marked = "set by the flag"
	var commands struct{ settings }
	parser, err := kong.New(&commands)
	if err == nil {
		_, err = parser.Parse([]string{"--" + flag + "=" + marked})
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, v := range commands.byName() {
		if v == marked {
			return name
		}
	}
	t.Fatalf("--%s sets nothing that the environment sets", flag)
	return ""
}

func TestEverySettingIsAFlagAndAVariable(t *testing.T) {
	if flags, variables := reflect.TypeFor[settings]().NumField(), len(settings{}.byName()); flags != variables {
		t.Errorf("%d flags and %d variables", flags, variables)
	}
}
