package test

import (
	"bytes"
	encoding "encoding/json"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/countersign/countersign/test/harness"
)

// deskCapabilities are a support desk's, each with what it says to a model.
func deskCapabilities() []any {
	text := doc{"type": "string", "required": true, "description": "as the customer wrote it"}
	money := doc{"type": "number", "required": true, "minimum": number("0.01"), "maximum": 5000, "description": "in the order's currency"}
	order := doc{"type": "string", "required": true, "description": "the order's id", "pattern": "^A-[0-9]+$"}
	ok := doc{"field": "ok", "equals": true}
	return []any{
		harness.Capability("orders.read", "GET", "/orders/{orderId}", doc{"description": "One order with its state.", "inputSchema": doc{"orderId": order}}),
		harness.Capability("orders.search", "GET", "/orders", doc{"description": "Orders of a customer.", "inputSchema": doc{"email": text, "limit": doc{"type": "number", "required": false, "minimum": 1, "maximum": 50}, "open": harness.Input("boolean", false)}}),
		harness.Capability("refunds.create", "POST", "/refunds", doc{
			"description": "Pays an order back.", "title": "Refund {amount} for {orderId}", "expectation": ok,
			"inputSchema":   doc{"orderId": order, "amount": money, "currency": doc{"type": "string", "required": true, "enum": []any{"EUR", "USD"}}, "note": doc{"type": "string", "required": false, "maxLength": 200}},
			"approvalRules": []any{doc{"when": doc{"kind": "predicate", "variableId": "amount", "operator": "gt", "value": 1000}, "then": "DENY", "reason": "the desk pays back up to 1000"}},
		}),
		harness.Capability("notes.add", "POST", "/notes", doc{"description": "Keeps a note with an order.", "approval": "NONE", "expectation": ok, "inputSchema": doc{"orderId": order, "text": text, "tags": harness.Input("array", false)}}),
		harness.Capability("orders.cancel", "DELETE", "/orders/{orderId}", doc{"description": "Cancels an order that wasn't sent.", "expectation": ok, "inputSchema": doc{"orderId": order}}),
		harness.Capability("address.change", "PATCH", "/orders/{orderId}/address", doc{"description": "Changes where an order goes.", "approval": "NONE", "expectation": ok, "inputSchema": doc{"orderId": order, "address": doc{"type": "object", "required": true}}}),
		harness.Capability("vouchers.make", "POST", "/vouchers", doc{"description": "Makes a voucher.", "approval": "NONE", "inputSchema": doc{"percent": doc{"type": "number", "required": true, "minimum": 1, "maximum": 30}}}),
	}
}

// natural is a first call as a model makes it that has read the list of tools: which tool
// it takes by the words of its description, and what it gives.
type natural struct {
	does      string
	arguments doc
	answers   harness.Reply // of the shop, instead of {"ok":true}
	end       string        // the outcome, or REFUSED: and the code of a refusal
	sent      bool
	decided   string // "": nobody decides; by the approver: and this is then the end
	then      string
	rehearsal bool
}

// naturals were written before anything was changed for them.
var naturals = []natural{
	{does: "One order", arguments: doc{"orderId": "A-1"}, end: "DONE", sent: true},
	{does: "One order", arguments: doc{"orderId": "A-2", "reason": "the customer asks where it is"}, end: "DONE", sent: true},
	{does: "One order", arguments: doc{"orderId": "A-404"}, answers: harness.Answering(404, `{"error":"no such order"}`), end: "REFUSED", sent: true},
	{does: "One order", arguments: doc{"orderId": "A-3"}, end: "REHEARSED", rehearsal: true},
	{does: "Orders of a customer", arguments: doc{"email": "ada@example.com"}, end: "DONE", sent: true},
	{does: "Orders of a customer", arguments: doc{"email": "ada+test@example.com", "limit": 10}, end: "DONE", sent: true},
	{does: "Orders of a customer", arguments: doc{"email": "bo@example.com", "limit": number("5.0"), "open": true}, end: "DONE", sent: true},
	{does: "Orders of a customer", arguments: doc{"email": "cy@example.com", "open": false, "task": "ticket 7"}, end: "DONE", sent: true},
	{does: "Pays an order back", arguments: doc{"orderId": "A-1", "amount": number("64.50"), "currency": "EUR"}, end: "WAITING_FOR_A_PERSON", decided: "APPROVED", then: "DONE", sent: true},
	{does: "Pays an order back", arguments: doc{"orderId": "A-2", "amount": 64, "currency": "USD", "note": "arrived broken", "reason": "the photo shows it"}, end: "WAITING_FOR_A_PERSON", decided: "APPROVED", then: "DONE", sent: true},
	{does: "Pays an order back", arguments: doc{"orderId": "A-3", "amount": number("0.01"), "currency": "EUR", "task": "ticket 8"}, end: "WAITING_FOR_A_PERSON", decided: "REJECTED", then: "REFUSED"},
	{does: "Pays an order back", arguments: doc{"orderId": "A-4", "amount": 1000, "currency": "EUR"}, end: "WAITING_FOR_A_PERSON"},
	{does: "Pays an order back", arguments: doc{"orderId": "A-5", "amount": number("1000.01"), "currency": "EUR"}, end: "REFUSED"},
	{does: "Pays an order back", arguments: doc{"orderId": "A-6", "amount": number("4.99"), "currency": "EUR", "note": "Grüße, 你好"}, end: "WAITING_FOR_A_PERSON", decided: "APPROVED", then: "NOT_AS_EXPECTED", sent: true, answers: harness.Answering(200, `{"ok":false}`)},
	{does: "Pays an order back", arguments: doc{"orderId": "A-7", "amount": number("19.99"), "currency": "EUR"}, end: "WAITING_FOR_A_PERSON", decided: "APPROVED", then: "UNKNOWN", sent: true, answers: harness.HangingUp()},
	{does: "Pays an order back", arguments: doc{"orderId": "A-8", "amount": number("19.99"), "currency": "EUR"}, end: "WAITING_FOR_A_PERSON", decided: "APPROVED", then: "REFUSED", sent: true, answers: harness.Answering(422, `{"error":"paid back already"}`)},
	{does: "Pays an order back", arguments: doc{"orderId": "A-9", "amount": number("64.50"), "currency": "EUR"}, end: "REHEARSED", rehearsal: true},
	{does: "Pays an order back", arguments: doc{"orderId": "A-9", "amount": 2000, "currency": "EUR", "reason": "may I?"}, end: "REHEARSED", rehearsal: true},
	{does: "Keeps a note", arguments: doc{"orderId": "A-1", "text": "called, nobody there"}, end: "DONE", sent: true},
	{does: "Keeps a note", arguments: doc{"orderId": "A-1", "text": "line one\nline \"two\"", "tags": []any{"phone", "urgent"}}, end: "DONE", sent: true},
	{does: "Keeps a note", arguments: doc{"orderId": "A-1", "text": "called again", "task": "ticket 9"}, answers: harness.Answering(500, `{}`), end: "UNKNOWN", sent: true},
	{does: "Keeps a note", arguments: doc{"orderId": "A-1", "text": "third call"}, answers: harness.Answering(200, `{"status":"ok"}`), end: "NOT_AS_EXPECTED", sent: true},
	{does: "Keeps a note", arguments: doc{"orderId": "A-1", "text": "fourth call"}, answers: harness.Answering(422, `{"error":"too many"}`), end: "REFUSED", sent: true},
	{does: "Keeps a note", arguments: doc{"orderId": "A-2", "text": "just a try"}, end: "REHEARSED", rehearsal: true},
	{does: "Cancels an order", arguments: doc{"orderId": "A-1"}, end: "WAITING_FOR_A_PERSON", decided: "APPROVED", then: "DONE", sent: true},
	{does: "Cancels an order", arguments: doc{"orderId": "A-2", "reason": "ordered twice"}, end: "WAITING_FOR_A_PERSON", decided: "REJECTED", then: "REFUSED"},
	{does: "Changes where", arguments: doc{"orderId": "A-1", "address": doc{"street": "Main St 1", "zip": "01234", "floor": number("2.0")}}, end: "DONE", sent: true},
	{does: "Changes where", arguments: doc{"orderId": "A-2", "address": doc{"street": "Main St 2"}, "task": "ticket 10", "reason": "they moved"}, end: "DONE", sent: true},
	{does: "Makes a voucher", arguments: doc{"percent": 10}, end: "REHEARSED", rehearsal: true},
	{does: "Makes a voucher", arguments: doc{"percent": number("12.5"), "task": "ticket 11"}, end: "REHEARSED", rehearsal: true},
}

// TestEachOfThirtyNaturalFirstCallsReachesTheRightEnd: the caller knows the list of tools
// and nothing else. The same call then finds its run, and nothing is sent twice.
func TestEachOfThirtyNaturalFirstCallsReachesTheRightEnd(t *testing.T) {
	t.Parallel()
	if len(naturals) != 30 {
		t.Fatalf("the table has %d calls", len(naturals))
	}
	w, id := deskWorld(t)
	token, _ := w.agentToken(t, id)
	live, rehearsal := w.enters(t, token, id), w.rehearses(t, token, id)
	for i, n := range naturals {
		a := live
		if n.rehearsal {
			a = rehearsal
		}
		tool, schema := a.chosen(n.does)
		if err := schema.Validate(plainValue(t, n.arguments)); err != nil {
			t.Errorf("%d: the tool's schema doesn't allow the call: %v", i+1, err)
		}
		method, path := deskCall(n)
		if n.answers != nil {
			w.shop.On(method, path, n.answers)
		}
		before := len(w.shop.Seen(method, path))
		got := a.runs(tool, n.arguments)
		if got.At("outcome").Text() != n.end {
			t.Errorf("%d: %s %v ended as %s", i+1, tool, n.arguments, got)
			continue
		}
		end := n.end
		if amount, is := n.arguments["amount"]; is && n.rehearsal {
			got.Has(t, "message", map[bool]string{true: "LIVE it would be denied", false: "once a person has approved it"}[amount == 2000])
		}
		if n.end == "WAITING_FOR_A_PERSON" {
			got.Is(t, "url", w.URL+"/console/approvals/"+got.At("waitingFor.approvalId").Text())
		}
		if n.decided != "" {
			end = n.then
			w.approver.Post("/approvals/"+got.At("waitingFor.approvalId").Text()+"/decision", doc{"decision": n.decided, "reason": "seen"}).OK(t)
			harness.Until(t, "the run to end", func() bool {
				return a.runs("run_status", doc{"runId": got.At("runId").Text()}).At("outcome").Text() == end
			})
		}
		reads, once := method == "GET", map[bool]int{true: 1}[n.sent]
		if reads && n.answers != nil {
			w.shop.On(method, path, n.answers)
		}
		again := a.runs(tool, n.arguments).Is(t, "replayed", !reads)
		if end == "DONE" && !reads {
			again.Has(t, "message", "This call sent nothing")
		}
		if again.At("outcome").Text() != end || (again.At("runId").Text() == got.At("runId").Text()) == reads {
			t.Errorf("%d: the repeat of %s ended as %s, not %s", i+1, tool, again, end)
		}
		if reads { // which nothing is gained by answering from before
			once *= 2
		}
		if sent := len(w.shop.Seen(method, path)) - before; sent != once {
			t.Errorf("%d: %s reached the shop %d times", i+1, tool, sent)
		}
	}
}

// TestAWrongFirstCallIsToldWhatWouldBeRight, so that the second one reaches its end.
func TestAWrongFirstCallIsToldWhatWouldBeRight(t *testing.T) {
	t.Parallel()
	w, id := deskWorld(t)
	token, _ := w.agentToken(t, id)
	a := w.enters(t, token, id)
	right := doc{"orderId": "A-1", "amount": number("64.50"), "currency": "EUR"}
	tool, _ := a.chosen("Pays an order back")
	for field, wrong := range map[string]struct {
		value any
		words []string
	}{
		"amount":   {"64.50", []string{"amount", "number", "string"}},
		"currency": {"eur", []string{"currency", "EUR", "USD"}},
		"orderId":  {"1", []string{"orderId", "^A-[0-9]+$"}},
		"note":     {5, []string{"note", "string", "number"}},
		"order_id": {"A-1", []string{"order_id"}},
	} {
		a.refuses(tool, harness.With(right, field, wrong.value), "invalid_request", wrong.words...)
	}
	a.refuses(tool, harness.With(right, "amount", 6000), "invalid_request", "amount", "at most 5000")
	a.refuses(tool, harness.Without(right, "currency"), "invalid_request", "currency", "required")
	if sent := len(w.shop.Seen("POST", "/refunds")); sent != 0 {
		t.Errorf("%d wrong calls were sent", sent)
	}
	waiting := a.runs(tool, right).Is(t, "outcome", "WAITING_FOR_A_PERSON")

	// What the approver would take instead is told, and is a call of its own.
	w.approver.Post("/approvals/"+waiting.At("waitingFor.approvalId").Text()+"/decision",
		doc{"decision": "REJECTED", "reason": "half of it", "suggestedInput": harness.With(right, "amount", number("32.25"))}).OK(t)
	var told json
	harness.Until(t, "the refusal", func() bool {
		told = a.runs("run_status", doc{"runId": waiting.At("runId").Text()})
		return told.At("outcome").Text() == "REFUSED"
	})
	if !strings.Contains(told.String(), "32.25") || !strings.Contains(told.String(), "half of it") {
		t.Errorf("the correction isn't told: %s", told)
	}
	corrected := a.runs(tool, harness.With(right, "amount", number("32.25"))).Is(t, "outcome", "WAITING_FOR_A_PERSON")
	if corrected.At("runId").Text() == waiting.At("runId").Text() {
		t.Error("the corrected call found the rejected run")
	}
}

// TestWhileStoppedAFirstCallSaysSo, and the same call reaches its end afterwards.
func TestWhileStoppedAFirstCallSaysSo(t *testing.T) {
	t.Parallel()
	w, id := deskWorld(t)
	token, _ := w.agentToken(t, id)
	a := w.enters(t, token, id)
	w.Admin.Post("/stop", doc{"reason": "something is wrong"}).OK(t)
	tool, _ := a.chosen("Keeps a note")
	note := doc{"orderId": "A-1", "text": "hello"}
	run := a.runs(tool, note).Is(t, "outcome", "HELD").Is(t, "url", nil).At("runId").Text()
	w.Admin.Post("/go", doc{"reason": "it is mended"}).OK(t)
	harness.Until(t, "the run to end", func() bool { return a.runs(tool, note).Is(t, "runId", run).At("outcome").Text() == "DONE" })
	w.shop.Await(t, "POST", "/notes", 1)
}

// deskWorld has an agent that may do all that a support desk does.
func deskWorld(t *testing.T) (*world, string) {
	t.Helper()
	w := newWorld(t)
	w.register(t, shop, harness.With(harness.With(harness.Project(w.shop.Origin()), "capabilities", deskCapabilities()), "expectedRevision", 1))
	names := []any{}
	for _, c := range deskCapabilities() {
		names = append(names, c.(doc)["name"])
	}
	item := harness.With(agentItem("desk", "", ""), "capabilities", names)
	return w, w.admitted(t, item)[0]
}

// deskCall is what a call comes to at the shop.
func deskCall(n natural) (method, path string) {
	order, _ := n.arguments["orderId"].(string)
	switch {
	case strings.HasPrefix(n.does, "One"):
		return "GET", "/orders/" + order
	case strings.HasPrefix(n.does, "Orders"):
		return "GET", "/orders"
	case strings.HasPrefix(n.does, "Pays"):
		return "POST", "/refunds"
	case strings.HasPrefix(n.does, "Keeps"):
		return "POST", "/notes"
	case strings.HasPrefix(n.does, "Cancels"):
		return "DELETE", "/orders/" + order
	case strings.HasPrefix(n.does, "Changes"):
		return "PATCH", "/orders/" + order + "/address"
	default:
		return "POST", "/vouchers"
	}
}

// chosen is the one tool whose description says what a caller wants.
func (a agentByMCP) chosen(does string) (name string, schema *jsonschema.Schema) {
	a.t.Helper()
	for tool, listed := range a.tools() {
		if !strings.Contains(listed.At("description").Text(), does) {
			continue
		}
		if name != "" {
			a.t.Fatalf("%q is what %s and %s do", does, name, tool)
		}
		name = tool
		document, err := jsonschema.UnmarshalJSON(strings.NewReader(listed.At("inputSchema").String()))
		c := jsonschema.NewCompiler()
		if err == nil {
			err = c.AddResource("tool.json", document)
		}
		if err == nil {
			schema, err = c.Compile("tool.json")
		}
		if err != nil {
			a.t.Fatalf("%s: %v", tool, err)
		}
	}
	if name == "" {
		a.t.Fatalf("no tool says that it does %q", does)
	}
	return name, schema
}

// plainValue is a value as a validator of JSON schemas takes it.
func plainValue(t *testing.T, v doc) any {
	t.Helper()
	text, err := encoding.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return value
}
