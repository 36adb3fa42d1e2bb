package request

import (
	"net/url"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/countersign/countersign"
)

func textIn(pattern string) *countersign.Capability {
	return &countersign.Capability{Name: "c", Method: "GET", Path: "/files/{file}/raw", InputSchema: map[string]countersign.InputField{"file": {Type: "string", Required: true, PathText: true, Pattern: pattern}}}
}

// TestTextInAPathIsEncodedWhole: it stays one segment to whoever reads the path as it was sent.
func TestTextInAPathIsEncodedWhole(t *testing.T) {
	for text, want := range map[string]string{
		"feature/x": "feature%2Fx", "a b": "a%20b", "user@example.com": "user%40example.com", "-Lx_": "-Lx_", "ö": "%C3%B6", "sha256:ab": "sha256%3Aab", "...": "...", "a..b/.c": "a..b%2F.c", "+&=": "%2B%26%3D",
	} {
		r, err := Build(nil, shop, textIn(""), map[string]countersign.Value{"file": countersign.String(text)})
		if err != nil || r.URL != "https://api.example.com/files/"+want+"/raw" {
			t.Errorf("%q: %s, %v", text, r.URL, err)
		}
	}
}

// TestNoTextLeavesThePlaceOfItsInput: decoded as often as a receiver may, the path has the same
// segments before and after it, and none of them leads elsewhere.
func TestNoTextLeavesThePlaceOfItsInput(t *testing.T) {
	for _, text := range []string{"", "/", "a/", "/a", "a//b", ".", "..", "../x", "a/../b", "a/.", "./a", "a%2Fb", "%", `a\b`, "a;b", "a?b", "a#b", "a\x00", "a\nb", "a\x7fb", "a\u0085b"} {
		got := CheckInputs(nil, textIn(""), map[string]countersign.Value{"file": countersign.String(text)}, nil)
		if len(got) != 1 || got[0].Code != "not_an_id" || !strings.HasPrefix(got[0].Message, "goes to the path, so ") || text != "" && len(text) > 2 && strings.Contains(got[0].Message, text) {
			t.Errorf("%q: %v", text, got)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.RuneFrom([]rune("ab./%\\;?#: é\x00\u202e"))).Draw(t, "text")
		r, err := Build(nil, shop, textIn(""), map[string]countersign.Value{"file": countersign.String(text)})
		if err != nil {
			return
		}
		path := strings.TrimPrefix(r.URL, "https://api.example.com")
		for range 3 {
			if !strings.HasPrefix(path, "/files/") || !strings.HasSuffix(path, "/raw") || strings.Contains(path, "//") || strings.Contains(path+"/", "/../") || strings.Contains(path+"/", "/./") {
				t.Fatalf("%q becomes %q", text, path)
			}
			if decoded, err := url.PathUnescape(path); err == nil {
				path = decoded
			}
		}
	})
}

// TestAPatternBesidePathTextMatchesAllOfIt, however it is written.
func TestAPatternBesidePathTextMatchesAllOfIt(t *testing.T) {
	for _, test := range []struct {
		pattern, text string
		want          bool
	}{
		{"[a-z]+", "abc", true}, {"[a-z]+", "abc/1", false}, {"a|ab", "ab", true}, {"a|b", "ax", false}, {"^a", "ab", false}, {`\Qa.b`, "a.b", true}, {`\Qa.b`, "a.bc", false},
		{"(?m)^a$", "a", true}, {"(?m)^a$", "a/b", false}, {"(?i)ABC", "abc", true}, {"a?", "a", true},
	} {
		c := textIn(test.pattern)
		if problems := CheckCapability(nil, c); len(problems) > 0 {
			t.Errorf("%s: %v", test.pattern, problems)
		}
		got := CheckInputs(nil, c, map[string]countersign.Value{"file": countersign.String(test.text)}, nil)
		if (len(got) == 0) != test.want || len(got) > 0 && got[0].Message != "must match the pattern "+test.pattern {
			t.Errorf("%s on %q: %v", test.pattern, test.text, got)
		}
	}
	c := textIn("[a-z]+")
	plain := *c
	plain.Path, plain.InputSchema = "/files", map[string]countersign.InputField{"file": {Type: "string", Pattern: "[a-z]+"}}
	if got := CheckInputs(nil, &plain, map[string]countersign.Value{"file": countersign.String("abc/1")}, nil); len(got) != 0 {
		t.Errorf("elsewhere a pattern is unanchored: %v", got)
	}
}

// TestPathTextStandsOnlyWhereAPathIsFilled, and never for {resourceId}.
func TestPathTextStandsOnlyWhereAPathIsFilled(t *testing.T) {
	text := countersign.InputField{Type: "string", PathText: true}
	for _, test := range []struct {
		path, name, want string
	}{
		{"/a/{resourceId}", "resourceId", "inputSchema.resourceId.pathText: {resourceId} is an identifier always; name the placeholder otherwise"},
		{"/a", "file", "inputSchema.file.pathText: is for an input that fills the path, and the path has no {file}"},
		{"/a/{file}", "file", ""},
	} {
		c := countersign.Capability{Name: "c", Method: "POST", Path: test.path, InputSchema: map[string]countersign.InputField{test.name: text}}
		got := CheckCapability(nil, &c)
		if said := countersign.JoinProblems(got); said != test.want {
			t.Errorf("%s: %s", test.path, said)
		}
	}
}
