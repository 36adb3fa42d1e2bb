package importer

import (
	"fmt"
	"strings"
	"testing"

	"github.com/countersign/countersign"
)

// TestWhatASchemaSaysOfAnInputIsKept, and what an inputSchema can't state is left out.
func TestWhatASchemaSaysOfAnInputIsKept(t *testing.T) {
	for name, test := range map[string]struct{ version, schema, want string }{
		"bounds, digit for digit":    {"3.0.3", `{"type":"number","minimum":0.10,"maximum":9007199254740993}`, "number min=0.10 max=9007199254740993"},
		"exclusive in 3.0":           {"3.0.3", `{"type":"number","minimum":0,"exclusiveMinimum":true}`, "number min=0"},
		"exclusive in 3.1":           {"3.1.0", `{"type":"number","exclusiveMinimum":0,"exclusiveMaximum":1e2}`, "number min=0 max=1e2"},
		"length and pattern":         {"3.0.3", `{"type":"string","maxLength":3,"pattern":"^[A-Z]{3}$"}`, "string length=3 pattern=^[A-Z]{3}$"},
		"a pattern that is no RE2":   {"3.0.3", `{"type":"string","maxLength":3,"pattern":"(?=a)"}`, "string length=3"},
		"a pattern that is too long": {"3.0.3", `{"type":"string","pattern":"` + strings.Repeat("a", 501) + `"}`, "string"},
		"a pattern that blows up":    {"3.0.3", `{"type":"string","pattern":"((a{100}){100}){100}"}`, "string"},
		"enum":                       {"3.0.3", `{"type":"string","enum":["usd","eur"]}`, `string enum="usd","eur"`},
		"enum with null":             {"3.0.3", `{"type":"string","nullable":true,"enum":["usd",null]}`, `string enum="usd"`},
		"enum of numbers":            {"3.0.3", `{"type":"integer","enum":[1,2.0]}`, `number enum=1,2.0`},
		"enum of mixed kinds":        {"3.0.3", `{"type":"string","enum":["1",2]}`, "string"},
		"const":                      {"3.1.0", `{"const":"only"}`, `string enum="only"`},
		"bounds that contradict":     {"3.0.3", `{"type":"number","minimum":2,"maximum":1}`, "number"},
		"enum outside its bounds":    {"3.0.3", `{"type":"number","maximum":1,"enum":[2]}`, "number"},
		"a negative length":          {"3.0.3", `{"type":"string","maxLength":-1}`, "string"},
		"bounds of another type":     {"3.0.3", `{"type":"string","minimum":2}`, "string"},
		"bounds that are no numbers": {"3.0.3", `{"type":"number","minimum":"2","maximum":{}}`, "number"},
		"by reference":               {"3.0.3", `{"$ref":"#/components/schemas/Currency"}`, `string enum="usd" says=ISO 4217`},
		"its own words":              {"3.1.0", `{"$ref":"#/components/schemas/Currency","description":"paid in"}`, `string enum="usd" says=paid in`},
		"hidden characters":          {"3.0.3", `{"type":"string","description":"the\u202e note"}`, "string says=the note"},
	} {
		data := document(test.version, `"/a":{"post":{"requestBody":{"content":{"application/json":{"schema":{"type":"object","properties":{"x":`+test.schema+`}}}}},`+ok+`}}`,
			`"Currency":{"type":"string","description":"ISO 4217","enum":["usd"]}`)
		p := propose(t, []byte(data), Options{})
		registers(t, p)
		if got := saying(p.Project.Capabilities[0].InputSchema["x"]); got != test.want {
			t.Errorf("%s: %s, not %s", name, got, test.want)
		}
	}
}

func saying(f countersign.InputField) string {
	out := f.Type
	for i, v := range f.Enum {
		out += map[bool]string{true: " enum=", false: ","}[i == 0] + v.Raw()
	}
	if !f.Minimum.IsZero() {
		out += " min=" + f.Minimum.Raw()
	}
	if !f.Maximum.IsZero() {
		out += " max=" + f.Maximum.Raw()
	}
	if f.MaxLength != 0 {
		out += fmt.Sprint(" length=", f.MaxLength)
	}
	if f.Pattern != "" {
		out += " pattern=" + f.Pattern
	}
	if f.Description != "" {
		out += " says=" + f.Description
	}
	return out
}

// TestBoundsThatPartsDisagreeOnAreLeftOut: which of them holds can't be said.
func TestBoundsThatPartsDisagreeOnAreLeftOut(t *testing.T) {
	one := `{"type":"object","properties":{"x":{"type":"number","maximum":1,"description":"one"},"y":{"type":"string","maxLength":4}}}`
	two := `{"type":"object","properties":{"x":{"type":"number","maximum":2},"y":{"type":"string","maxLength":4,"description":"same"}}}`
	p := propose(t, []byte(document("3.0.3", `"/a":{"post":{"requestBody":{"content":{"application/json":{"schema":{"oneOf":[`+one+`,`+two+`]}}}},`+ok+`}}`, "")), Options{})
	of := p.Project.Capabilities[0].InputSchema
	if got := saying(of["x"]) + "; " + saying(of["y"]); got != "number says=one; string length=4 says=same" {
		t.Error(got)
	}
}

// TestSeveralKeysAreProposedTogether: those that most operations ask for at once.
func TestSeveralKeysAreProposedTogether(t *testing.T) {
	const app, key, basic, bearer = `"app":{"type":"apiKey","in":"header","name":"X-App-Key"}`, `"key":{"type":"apiKey","in":"header","name":"X-Api-Key"}`,
		`"basic":{"type":"http","scheme":"basic"}`, `"bearer":{"type":"http","scheme":"bearer"}`
	for name, test := range map[string]struct{ schemes, one, two, want string }{
		"both at once":            {app + "," + key, `[{"app":[],"key":[]}]`, `[{"app":[],"key":[]}]`, "2: API_KEY X-App-Key ACME_API_X_APP_KEY, API_KEY X-Api-Key ACME_API_X_API_KEY"},
		"one of them elsewhere":   {app + "," + key, `[{"app":[],"key":[]}]`, `[{"key":[]}]`, "2: API_KEY X-App-Key ACME_API_X_APP_KEY, API_KEY X-Api-Key ACME_API_X_API_KEY"},
		"an alternative is fewer": {app + "," + bearer, `[{"app":[],"bearer":[]},{"bearer":[]}]`, `[{"bearer":[]}]`, "2: BEARER  ACME_API_TOKEN"},
		"with a password":         {app + "," + basic, `[{"app":[],"basic":[]}]`, `[]`, "2: API_KEY X-App-Key ACME_API_X_APP_KEY, BASIC  ACME_API_PASSWORD"},
		"that clash":              {basic + "," + bearer, `[{"basic":[],"bearer":[]}]`, `[{"bearer":[]}]`, "1: BEARER  ACME_API_TOKEN"},
		"basic alone":             {basic, `[{"basic":[]}]`, `[{"basic":[]}]`, "2: BASIC  ACME_API_PASSWORD"},
	} {
		d, err := Read([]byte(`{"openapi":"3.1.0","servers":[{"url":"https://a"}],"components":{"securitySchemes":{` + test.schemes + `}},"paths":{"/a":{"post":{"security":` + test.one + `,` + ok + `}},"/b":{"post":{"security":` + test.two + `,` + ok + `}}}}`))
		if err != nil {
			t.Fatal(err)
		}
		p, _ := d.Propose(Options{ProjectID: "acme-api"})
		var words []string
		for _, a := range p.Project.Auth.List() {
			words = append(words, a.Type+" "+a.HeaderName+" "+a.CredentialEnv)
		}
		fill := strings.Join(p.FillIn, "\n")
		if strings.Contains(fill, ".user: the user") != strings.Contains(test.want, "BASIC") {
			t.Errorf("%s: fill in %q", name, fill)
		}
		if got := fmt.Sprintf("%d: %s", len(p.Proposed), strings.Join(words, ", ")); got != test.want {
			t.Errorf("%s: %s, not %s", name, got, test.want)
		}
		registers(t, p)
	}
}

// TestRequiredHeadersOfOneValueAreTheProjects: the value that most operations want.
func TestRequiredHeadersOfOneValueAreTheProjects(t *testing.T) {
	header := func(name, schema string) string {
		return `"parameters":[{"in":"header","name":"` + name + `","required":true,"schema":` + schema + `}],`
	}
	for name, test := range map[string]struct{ one, two, want string }{
		"one value":        {header("X-Version", `{"enum":["2026-01"]}`), "", "map[X-Version:2026-01] 2"},
		"a default":        {header("X-Version", `{"type":"string","default":"v2"}`), header("X-Version", `{"enum":["v1","v2"],"default":"v2"}`), "map[X-Version:v2] 2"},
		"const":            {header("X-Version", `{"const":3}`), "", "map[X-Version:3] 2"},
		"by reference":     {header("X-Version", `{"$ref":"#/components/schemas/V"}`), "", "map[X-Version:2026-02] 2"},
		"two values":       {header("X-Version", `{"enum":["a"]}`), header("X-Version", `{"enum":["b"]}`), "map[X-Version:b] 1"},
		"no value":         {header("X-Version", `{"type":"string"}`), "", "map[] 1"},
		"any of two":       {header("X-Version", `{"enum":["a","b"]}`), "", "map[] 1"},
		"a reserved name":  {header("X-Forwarded-For", `{"enum":["a"]}`), "", "map[] 1"},
		"a value of lines": {header("X-Version", `{"enum":["a\nb"]}`), "", "map[] 1"},
		"not required":     {`"parameters":[{"in":"header","name":"X-Version","schema":{"enum":["a"]}}],`, "", "map[] 2"},
	} {
		p := propose(t, []byte(`{"openapi":"3.1.0","servers":[{"url":"https://a"}],"components":{"schemas":{"V":{"enum":["2026-02"]}}},"paths":{"/a":{"get":{`+test.one+ok+`}},"/b":{"get":{`+test.two+ok+`}}}}`), Options{})
		registers(t, p)
		if got := fmt.Sprint(p.Project.Headers, " ", len(p.Proposed)); got != test.want {
			t.Errorf("%s: %s, not %s; skipped %v", name, got, test.want, p.Skipped)
		}
	}
}

// TestTheBoundsOfAYAMLDocumentKeepTheirDigits.
func TestTheBoundsOfAYAMLDocumentKeepTheirDigits(t *testing.T) {
	p := propose(t, []byte("openapi: 3.1.0\nservers: [{url: https://a}]\npaths:\n  /a:\n    get:\n      parameters:\n        - {in: query, name: n, schema: {type: number, minimum: 3.10, maximum: 0x10}}\n      responses: {200: {content: {application/json: {}}}}\n"), Options{})
	if got := saying(p.Project.Capabilities[0].InputSchema["n"]); got != "number min=3.10" {
		t.Error(got)
	}
}
