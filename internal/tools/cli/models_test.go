package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func example(t *testing.T, change ...string) string {
	t.Helper()
	text, err := os.ReadFile("../../../docs/example/model.json")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "model.json")
	if err := os.WriteFile(path, []byte(strings.NewReplacer(change...).Replace(string(text))), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestModelCommandsEndAsTheirVerdictIs(t *testing.T) {
	t.Parallel()
	good, unmet := example(t), example(t, `"expectedStateId": "declined"`, `"expectedStateId": "told"`)
	broken := example(t, `"toStateId": "told"`, `"toStateId": "nowhere"`)
	overlapping, untested := example(t, `"priority": 3`, `"priority": 2`), example(t, `"request": "close-return"`, `"request": "refund"`)
	for name, test := range map[string]struct {
		args   []string
		status int
		says   string
	}{
		"valid":                {[]string{"validate", good}, ExitOK, "valid: 0 errors, 0 warnings"},
		"warnings":             {[]string{"validate", unmet}, ExitOK, "expectation_not_met"},
		"strict":               {[]string{"validate", unmet, "--strict"}, ExitFailed, "expectation_not_met"},
		"errors":               {[]string{"validate", broken}, ExitFailed, "unknown_state"},
		"passes":               {[]string{"simulate", good}, ExitOK, "4 of 4 scenarios pass"},
		"one does not":         {[]string{"simulate", unmet}, ExitFailed, "NOT PASSED"},
		"that one":             {[]string{"simulate", unmet, "--scenario", "too-late"}, ExitFailed, `mismatch`},
		"another":              {[]string{"simulate", unmet, "--scenario", "close-return"}, ExitOK, "1 of 1"},
		"with inputs":          {[]string{"simulate", good, "--scenario", "returned-in-time", "--input", "daysSinceDelivery=45"}, ExitFailed, "declined"},
		"inputs as JSON":       {[]string{"simulate", good, "--scenario", "returned-in-time", "--input", `{"daysSinceDelivery":45,"orderId":null}`}, ExitFailed, "orderId            null"},
		"text as digits":       {[]string{"simulate", good, "--scenario", "returned-in-time", "--input", "orderId=7"}, ExitOK, `"7"`},
		"trace":                {[]string{"simulate", good, "--scenario", "returned-in-time", "--trace"}, ExitOK, "asked > order-known"},
		"unknown scenario":     {[]string{"simulate", good, "--scenario", "none"}, ExitUnusable, "none"},
		"unknown input":        {[]string{"simulate", good, "--input", "none=1"}, ExitUnusable, "none"},
		"mistyped input":       {[]string{"simulate", good, "--input", "daysSinceDelivery=many"}, ExitUnusable, "daysSinceDelivery"},
		"malformed input":      {[]string{"simulate", good, "--input", "5"}, ExitUnusable, "NAME=VALUE"},
		"simulating errors":    {[]string{"simulate", broken}, ExitFailed, "model_invalid"},
		"explores":             {[]string{"explore", good}, ExitOK, "complete"},
		"explores strictly":    {[]string{"explore", good, "--strict"}, ExitFailed, "can get stuck in"},
		"explores a little":    {[]string{"explore", good, "--limit", "3"}, ExitOK, "NOT complete"},
		"explores overlaps":    {[]string{"explore", overlapping}, ExitOK, "overlapping_transitions"},
		"explores all taken":   {[]string{"explore", good}, ExitOK, "6 of 6 transitions"},
		"warns with a witness": {[]string{"validate", overlapping}, ExitOK, `with inputs {"`},
		"proposes scenarios":   {[]string{"explore", untested}, ExitOK, `"id": "covers-close"`},
		"explores too much":    {[]string{"explore", good, "--limit", "99999999"}, ExitUnusable, "--limit"},
		"exploring errors":     {[]string{"explore", broken}, ExitFailed, "model_invalid"},
		"no such file":         {[]string{"validate", "nowhere.json"}, ExitUnusable, "nowhere.json"},
		"no JSON":              {[]string{"validate", written(t, "{\n  \"id\": 'x'\n}")}, ExitUnusable, ":2:9: invalid_json"},
		"an id no path takes":  {[]string{"validate", example(t, `"id": "refund-agent"`, `"id": "refund agent"`)}, ExitUnusable, "document.id"},
		"larger than a body":   {[]string{"validate", written(t, strings.Repeat(" ", 1<<20+1))}, ExitUnusable, "1048576"},
	} {
		t.Run(name, func(t *testing.T) {
			r := command(t, append([]string{"models"}, test.args...)...)
			if r.status != test.status || !strings.Contains(r.out+r.errs, test.says) {
				t.Errorf("status %d, not %d; expected %q in\n%s%s", r.status, test.status, test.says, r.out, r.errs)
			}
		})
	}
}

func TestBareDocumentAndWrapperAreTheSameModel(t *testing.T) {
	t.Parallel()
	wrapped := example(t)
	text, err := os.ReadFile(wrapped)
	if err != nil {
		t.Fatal(err)
	}
	inner := strings.TrimSpace(string(text))
	inner = strings.TrimSpace(strings.TrimPrefix(inner, "{"))
	inner = strings.TrimSuffix(strings.TrimPrefix(inner, `"document":`), "}")
	for _, verb := range []string{"validate", "simulate", "explore"} {
		a, b := command(t, "models", verb, wrapped, "-o", "json"), command(t, "models", verb, written(t, inner), "-o", "json")
		if a.out != b.out || a.status != ExitOK || b.status != ExitOK {
			t.Errorf("%s differs: %d %s %d %s", verb, a.status, a.errs, b.status, b.errs)
		}
	}
}
