package precondition

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/cost"
	"github.com/countersign/countersign/internal/rules/request"
)

// shop has a refund with that precondition, and reads for it.
func shop(p countersign.Precondition, reads ...countersign.Capability) *countersign.Project {
	input := map[string]countersign.InputField{"resourceId": {Type: "string", Required: true}}
	return &countersign.Project{ID: "acme-shop", Capabilities: append([]countersign.Capability{
		{Name: "refund", Method: "POST", Path: "/refunds", InputSchema: input, Precondition: &p},
		{Name: "order", Method: "GET", Path: "/orders/{resourceId}", InputSchema: input, OutputField: "order"},
	}, reads...)}
}

func is(field, operator string, value countersign.Value) *countersign.Condition {
	return &countersign.Condition{Predicate: &countersign.Predicate{Kind: "predicate", VariableID: field, Operator: operator, Value: countersign.Scalar{Value: value}}}
}

// TestOnlyAReadThatAsksNobodyIsAPrecondition: a GET of the same project without approvalRules and
// without a precondition of its own, not ALWAYS, whose required inputs are taken by name; 1 to 10 fields.
func TestOnlyAReadThatAsksNobodyIsAPrecondition(t *testing.T) {
	get := func(more func(*countersign.Capability)) countersign.Capability {
		c := countersign.Capability{Name: "read", Method: "GET", Path: "/read"}
		more(&c)
		return c
	}
	effect := true
	var eleven []string
	for n := range 11 {
		eleven = append(eleven, fmt.Sprint("f", n))
	}
	read := countersign.Precondition{Capability: "read", Fields: []string{"a"}}
	for name, c := range map[string]struct {
		p    *countersign.Project
		says string
	}{
		"right":               {shop(countersign.Precondition{Capability: "order", Fields: []string{"a"}}), ""},
		"ten fields":          {shop(countersign.Precondition{Capability: "order", Fields: eleven[1:]}), ""},
		"eleven fields":       {shop(countersign.Precondition{Capability: "order", Fields: eleven}), "must name 1 to 10 fields"},
		"no field":            {shop(countersign.Precondition{Capability: "order"}), "must name 1 to 10 fields"},
		"a blank field":       {shop(countersign.Precondition{Capability: "order", Fields: []string{" \t"}}), "it can't be blank"},
		"a long field":        {shop(countersign.Precondition{Capability: "order", Fields: []string{strings.Repeat("x", 501)}}), "longer than 500 bytes"},
		"a field twice":       {shop(countersign.Precondition{Capability: "order", Fields: []string{"a", "a"}}), "a is named already"},
		"of another project":  {shop(read), "read is no GET capability of this project that only reads"},
		"a POST":              {shop(read, get(func(c *countersign.Capability) { c.Method = "POST" })), "is no GET capability"},
		"a GET that acts":     {shop(read, get(func(c *countersign.Capability) { c.SideEffect = &effect })), "is no GET capability"},
		"with rules":          {shop(read, get(func(c *countersign.Capability) { c.ApprovalRules = []countersign.ApprovalRule{{}} })), "read has approvalRules; nobody is asked about"},
		"that has one itself": {shop(read, get(func(c *countersign.Capability) { c.Precondition = &read })), "read has a precondition of its own"},
		"that asks":           {shop(read, get(func(c *countersign.Capability) { c.Approval = countersign.ApprovalAlways })), "read asks for approval ALWAYS"},
		"NONE":                {shop(read, get(func(c *countersign.Capability) { c.Approval = countersign.ApprovalNone })), ""},
		"RISK_BASED":          {shop(read, get(func(c *countersign.Capability) { c.Approval = countersign.ApprovalRiskBased })), ""},
		"an input that isn't one of the call's": {shop(read, get(func(c *countersign.Capability) {
			c.InputSchema = map[string]countersign.InputField{"other": {Type: "string", Required: true}}
		})), "read needs the input other, which refund doesn't declare"},
		"an input that isn't required": {shop(read, get(func(c *countersign.Capability) {
			c.InputSchema = map[string]countersign.InputField{"other": {Type: "string"}}
		})), ""},
		"when over another field": {shop(countersign.Precondition{Capability: "order", Fields: []string{"a"}, When: is("b", "eq", countersign.String("x"))}), `"b" is none of the fields that are read`},
		"when over a field":       {shop(countersign.Precondition{Capability: "order", Fields: []string{"a.b"}, When: is("a.b", "gte", countersign.Int(5))}), ""},
	} {
		found := Check(cost.New(nil, cost.Most, 0), c.p)
		found = slices.DeleteFunc(found, func(p countersign.Problem) bool { return strings.HasPrefix(p.Path, "capabilities[2]") })
		if c.says == "" != (len(found) == 0) || c.says != "" && !strings.Contains(found[0].Message, c.says) {
			t.Errorf("%s: %v", name, found)
		}
		if len(found) > 0 && !strings.HasPrefix(found[0].Path, "capabilities[0].precondition.") {
			t.Errorf("%s: at %s", name, found[0].Path)
		}
	}
}

// TestFieldsAreReadAsThoseOfAnExpectation: from the output that outputField selects, an exact name
// before a dotted path, and nothing is known where one of them isn't there.
func TestFieldsAreReadAsThoseOfAnExpectation(t *testing.T) {
	answer := func(status int, body string) request.Outcome {
		return request.Outcome{Certainty: request.Returned, Response: &countersign.Response{StatusCode: status}, Body: countersign.RawValue(body)}
	}
	p := shop(countersign.Precondition{Capability: "order", Fields: []string{"state", "total.eur"}, When: is("total.eur", "lte", countersign.RawValue("59.0"))})
	pre, read := Of(p, &p.Capabilities[0])
	for name, c := range map[string]struct {
		o       request.Outcome
		holds   bool
		total   string // "": nothing was found
		problem string
	}{
		"a dotted path":         {answer(200, `{"order":{"state":"s","total":{"eur":5.90e1}}}`), true, "5.90e1", ""},
		"an exact name first":   {answer(200, `{"order":{"state":null,"total":{"eur":5},"total.eur":60}}`), false, "60", ""},
		"an array's element":    {answer(200, `{"order":{"state":[1],"total":{"eur":"5"}}}`), false, `"5"`, "nobody can say"},
		"null isn't known":      {answer(200, `{"order":{"state":1,"total":{"eur":null}}}`), false, "null", "nobody can say"},
		"no such field":         {answer(200, `{"order":{"state":1,"total":{}}}`), false, "", "the output has no field total.eur"},
		"no output":             {answer(200, `{"state":1,"total":{"eur":1}}`), false, "", "the answer has no field order"},
		"201 is as good":        {answer(201, `{"order":{"state":1,"total":{"eur":1}}}`), true, "1", ""},
		"404":                   {answer(404, `{"order":{"state":1,"total":{"eur":1}}}`), false, "", "the read was answered 404"},
		"16 KiB":                {answer(200, `{"order":{"total":{"eur":1},"state":"`+strings.Repeat("x", 16<<10-3)+`"}}`), true, "1", ""},
		"more than 16 KiB":      {answer(200, `{"order":{"total":{"eur":1},"state":"`+strings.Repeat("x", 16<<10-2)+`"}}`), false, "", "more than 16384 bytes"},
		"no usable answer":      {request.Outcome{Certainty: request.Unknown, Cause: "timeout"}, false, "", "timeout"},
		"nothing left this":     {request.Outcome{Certainty: request.NotSent, Cause: "connection refused"}, false, "", "the read was not sent: connection refused"},
		"an answer is no quote": {request.Outcome{Certainty: request.Unknown, Cause: countersign.AnswerUnreadable + "secret"}, false, "", countersign.AnswerUnreadable + "…"},
	} {
		f := Read(cost.New(nil, cost.Most, 0), pre, read, c.o)
		if f.Holds != c.holds || f.Values["total.eur"].Raw() != c.total || !strings.Contains(f.Problem, c.problem) || c.problem == "" != (f.Problem == "") {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

// TestValuesDifferAsWholeJSON, by exact numbers, and in the order of the fields.
func TestValuesDifferAsWholeJSON(t *testing.T) {
	values := func(text string) map[string]countersign.Value {
		v, _ := countersign.RawValue(text).Object()
		return v
	}
	then := values(`{"a":1.50,"b":{"x":[1,null],"y":"é"},"c":9007199254740993}`)
	if d := Differences([]string{"a", "b", "c"}, then, values(`{"a":15e-1,"b":{"y":"\u00e9","x":[1.0,null]},"c":9007199254740993.0}`)); d != nil {
		t.Errorf("equal values differ: %v", d)
	}
	d := Differences([]string{"c", "b", "a"}, then, values(`{"a":"1.50","b":{"x":[null,1],"y":"é"},"c":9007199254740992}`))
	if len(d) != 3 || d[0].Field != "c" || d[1].Field != "b" || d[2].Field != "a" || d[2].Then.Raw() != "1.50" || d[2].Now.Raw() != `"1.50"` {
		t.Errorf("%v", d)
	}
	if back := Before(d, values(`{"a":"1.50","b":{},"c":1}`)); Differences([]string{"a", "b", "c"}, back, then) != nil {
		t.Errorf("before the changes: %v", back)
	}
}
