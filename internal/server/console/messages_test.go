package console

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/server/console/models"
	"github.com/countersign/countersign/internal/server/console/text"
	"github.com/countersign/countersign/internal/server/console/web"
)

// TestAPageThatIsRefusedSaysWhatWouldBeRight reads what a visitor is shown. Pages write a
// message as a sentence.
func TestAPageThatIsRefusedSaysWhatWouldBeRight(t *testing.T) {
	w := openRunWorld(t)
	id := w.start(clerk, call("note", "note"))
	r := w.reaches(id, countersign.RunWaitingApproval)
	g := w.guest("all@example.com", countersign.RoleAdmin, countersign.RoleOperator, countersign.RoleApprover)
	opens := func(path string) func() (int, string) {
		return func() (int, string) { return g.open(path) }
	}
	submits := func(path, fields string) func() (int, string) {
		return func() (int, string) {
			form, err := url.ParseQuery(fields)
			w.must(err)
			return g.submit(path, form)
		}
	}
	sends := func(path, fields string, headers ...string) func() (int, string) {
		return func() (int, string) {
			form, err := url.ParseQuery(fields)
			w.must(err)
			return g.read(g.do(nowhere, http.MethodPost, path, form, headers...))
		}
	}
	stranger := func() (int, string) {
		out := *g
		out.cookie = &http.Cookie{Name: "other", Value: "x"}
		return out.submit("/settings/stop", url.Values{})
	}
	doc := models.EmptyModel()
	doc.States = []countersign.ModelState{{ID: "a", IsStart: true, IsFinal: true, Position: countersign.Position{X: "0", Y: "0"}}}
	doc.Transitions = []countersign.Transition{{ID: "t", FromStateID: "a", ToStateID: "a", Condition: countersign.Condition{Group: &countersign.ConditionGroup{Kind: "group", Combinator: countersign.CombinatorAnd, Conditions: []countersign.Condition{}}}}}
	document := url.QueryEscape(text.RawOf(doc))
	looping := doc
	looping.States = []countersign.ModelState{doc.States[0]}
	looping.States[0].IsFinal = false
	looping.Scenarios = []countersign.Scenario{{ID: "s", ExpectedPath: []string{}, Inputs: map[string]countersign.Scalar{}, InitialMemory: map[string]countersign.Scalar{}}}
	startless := looping
	startless.States = []countersign.ModelState{looping.States[0]}
	startless.States[0].IsStart = false
	fills := func(doc countersign.AgentModel) func() (int, string) {
		return submits("/models/+form", "do=fill&at=scenarios[0]&document="+url.QueryEscape(text.RawOf(doc)))
	}
	for _, test := range []struct {
		does   func() (int, string)
		status int
		want   string
	}{
		{opens("/nowhere"), 404, "there is no page at /console/nowhere"},
		{opens("/runs?reason=bored"), 400, `reason: no run ends with "bored"`},
		{opens("/runs?status=OLD"), 400, `status: there is no run status "OLD"`},
		{opens("/runs?plan=a+b"), 400, "plan: this is no id"},
		{opens("/runs?since=2h"), 400, `since: it is 1h, 24h or 7d, not "2h"`},
		{opens("/runs/" + id + "/again"), 409, "run " + id + " has not ended; cancel it first, or wait"},
		{opens("/recovery/" + id), 404, "nothing is uncertain in run " + id + ", and nothing was"},
		{submits("/plans/"+r.PlanID+"/runs", ""), 400, "the form has no key; open the plan's page again"},
		{sends("/settings/stop", "csrf=wrong"), 403, "this form belongs to another sign-in; open the page again"},
		{sends("/settings/stop", "", "Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site"), 403, "this form was sent from another site; open the page here and try again"},
		{submits("/models", "document="+strings.Repeat("x", 4<<20)), 413, "the form is larger than 1114112 bytes"},
		{stranger, 401, "you are not signed in"},
		{submits("/access/users/new", "email=new@example.com&reach=all&roles=KING"), 400, "roles: there is no role KING"},
		{submits("/access/webhooks/+new", "id=hook&url=https://a.example/&secretEnv=HOOK&reach=some"), 400, "choose at least one, or all projects above"},
		{submits("/access/webhooks/+new", "id=hook&url=https://a.example/&secretEnv=HOOK&reach=some"), 400, "choose at least one"},
		{submits("/access/webhooks/+new", "id=hook&url=https://a.example/&secretEnv=HOOK&events=run.completed"), 400, "choose one"},
		{submits("/models/+form", "do=save&model.id=new&model.name=&document="+document), 400, "it is needed"},
		{submits("/models/+form", "do=saveAnyway&model.id=m&model.name=M&document="+document), 400, "there is a model m already"},
		{submits("/models/+form", "do=save&at=states[0]&states[0].id=a&states[0].name=&states[0].position.x=left&states[0].position.y=0&document="+document), 400, "write a number"},
		{submits("/models/+form", "do=save&at=states[0]&states[0].id=a&states[0].name=&states[0].position.x=left&states[0].position.y=0&document="+document), 400, "1 field needs attention"},
		{submits("/models/+form", "do=check&at=transitions[0]&transitions[0].id=t&transitions[0].name=&transitions[0].priority=first&document="+document), 200, "write a whole number, 0 or more"},
		{fills(looping), 400, "this scenario goes round in a loop, so it comes to nothing"},
		{fills(startless), 409, "correct the model’s errors first; then it can be simulated"},
		{submits("/projects/+import", ""), 400, "choose an OpenAPI 3.0 or 3.1 document, in JSON or YAML"},
		{submits("/projects/default-shop/agent", "externalAgentId=a&name=A&role=r&goal=g&capabilities=gone&sourceRevision=one&do=save"), 400, "the project has no capability gone"},
		{submits("/projects/default-shop/agent", "externalAgentId=a&name=A&role=r&goal=g&capabilities=gone&sourceRevision=one&do=save"), 400, "a whole number, 0 or more"},
	} {
		status, text := test.does()
		if status != test.status || !strings.Contains(strings.ToLower(plainText(text)), strings.ToLower(test.want)) {
			t.Errorf("want %d %s\n  got %d %.1500s", test.status, test.want, status, plainText(text))
		}
	}
}

// TestAConsoleThatStopsSaysThatNothingWasChanged.
func TestAConsoleThatStopsSaysThatNothingWasChanged(t *testing.T) {
	w := openRunWorld(t)
	g := w.guest("all@example.com", countersign.RoleAdmin)
	w.console.Stop()
	if status, text := g.submit("/settings/stop", url.Values{}); status != 503 || text != "The service is stopping. Nothing was changed; try again when it is up.\n" {
		t.Errorf("%d %s", status, text)
	}
}

// TestAPublicAddressThatIsNoOriginEndsTheStart.
func TestAPublicAddressThatIsNoOriginEndsTheStart(t *testing.T) {
	const want = `the public address countersign.example.com: invalid origin "countersign.example.com": scheme is required`
	if _, err := New(web.Config{BaseURL: "countersign.example.com"}, nil); err == nil || err.Error() != want {
		t.Errorf("\n got %v\nwant %s", err, want)
	}
}
