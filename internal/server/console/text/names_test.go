package text

import (
	"strings"
	"testing"
)

// TestAPrincipalIsShownByItsName, and which kind it is, since a name may be that of a person.
func TestAPrincipalIsShownByItsName(t *testing.T) {
	for of, want := range map[[2]string]string{
		{"user:ada@example.com", "ada@example.com"}:          "ada@example.com",
		{"token:tok-3ocj3e5txcmmwcszxpf", "ada@example.com"}: `<span title="token:tok-3ocj3e5txcmmwcszxpf">ada@example.com <span class="dim">token</span></span>`,
		{"token:tok-3ocj3e5txcmmwcszxpf", ""}:                `token <span class="id nb short" title="tok-3ocj3e5txcmmwcszxpf"><span class="vh">tok-3ocj3e5txcmmw</span>cszxpf</span>`,
		{"system", ""}:                                       "system",
	} {
		if got := string(person(of[0], of[1])); got != want {
			t.Errorf("%v: %s", of, got)
		}
	}
	for name, never := range map[string]string{"<b>": "<b>", "\u202egnp": "\u202e"} {
		if got := string(person("token:t", name)); strings.Contains(got, never) {
			t.Errorf("%q: %s", name, got)
		}
	}
	if got := string(person("token:t", "\u0410-48213")); !strings.Contains(got, `class="doubt"`) {
		t.Errorf("a letter that passes for another isn't marked: %s", got)
	}
}
