package test

import (
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/countersign/countersign/internal/testing/slacktest"
	"github.com/countersign/countersign/test/harness"
)

// slackChannel is where the approvals of tenant default are told.
const slackChannel = "C0APPROVALS"

func slackSettings(s *slacktest.Workspace) []harness.Setting {
	return []harness.Setting{
		harness.Set("SLACK_URL", s.URL()), harness.Set("SLACK_APP_TOKEN", slacktest.AppToken), harness.Set("SLACK_BOT_TOKEN", slacktest.BotToken),
		harness.Set("SLACK_CHANNELS", "default="+slackChannel),
	}
}

// chatWorld is a world whose approvals are told in a Slack workspace.
type chatWorld struct {
	*world
	slack *slacktest.Workspace
}

func newChatWorld(t *testing.T, approvals int, settings ...harness.Setting) *chatWorld {
	t.Helper()
	s := slacktest.Open(t)
	w := &chatWorld{ownWorld(t, append(slackSettings(s), settings...)...), s}
	w.Keep(slacktest.AppToken)
	w.Keep(slacktest.BotToken)
	w.register(t, ruled, payRules(w.shop.Origin(), "NONE", several(approvals)))
	w.shop.On("POST", "/pay", harness.Answering(200, `{}`))
	return w
}

// member makes an approver with a Slack account of the same address, and confirms it.
func (w *chatWorld) member(t *testing.T, id, email string) *harness.Browser {
	t.Helper()
	b := w.person(t, email, "APPROVER")
	w.slack.Join(slacktest.Member{ID: id, Email: email, Name: "Member " + id})
	return b
}

func (w *chatWorld) confirm(t *testing.T, b *harness.Browser, id string) {
	t.Helper()
	_, token, _ := strings.Cut(string(w.csrf(t, b)), ": ")
	form := url.Values{"csrf": {token}, "service": {"slack"}, "workspace": {slacktest.Team}, "account": {id}}
	if p := b.Submit("/settings/chat/confirm", form); p.Status != 200 || !strings.Contains(p.Text, id) {
		t.Fatalf("%s could not be confirmed: %d %s", id, p.Status, p.Text)
	}
}

// message waits for the only message.
func (w *chatWorld) message(t *testing.T) slacktest.Message {
	t.Helper()
	w.slack.Until("a message", func() bool { return len(w.slack.Messages(slackChannel)) > 0 })
	all := w.slack.Messages(slackChannel)
	if len(all) != 1 {
		t.Fatalf("%d messages", len(all))
	}
	return all[0]
}

// known makes a member who is confirmed already: the first press asks for that.
func (w *chatWorld) known(t *testing.T, id, email string, m slacktest.Message) {
	t.Helper()
	b := w.member(t, id, email)
	if says := w.slack.Press(id, m, "approve").Says(); !strings.Contains(says, "has not confirmed this account") {
		t.Fatalf("who is not confirmed sees %q", says)
	}
	w.confirm(t, b, id)
}

// submit submits a modal, again while the service had no turn for it in time.
func (w *chatWorld) submit(m *slacktest.Modal, reason string) string {
	return w.slack.Told(m, w.submitTimes(m, reason, 1)[0])
}

// submitTimes submits a modal so often, of which the first is the first that had its turn.
func (w *chatWorld) submitTimes(m *slacktest.Modal, reason string, times int) []map[string]any {
	for {
		first := w.slack.Send(w.slack.Submitted(m, reason), 1)
		if told := w.slack.Told(m, first[0]); strings.Contains(told, "before its turn came") || strings.Contains(told, "Try again") {
			continue
		}
		if times == 1 {
			return first
		}
		return append(first, w.slack.Send(w.slack.Submitted(m, reason), times-1)...)
	}
}

func (w *chatWorld) answers(t *testing.T, result string) int {
	t.Helper()
	return w.Admin.Figures(t).At("countersign_chat_answers_total." + result).Int()
}

func has(t *testing.T, what, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%s: %q is missing in\n%s", what, part, text)
		}
	}
}

// TestAnApprovalIsDecidedInSlack: from the message to the run's end, with two presses and a
// typed reason once the account is confirmed.
func TestAnApprovalIsDecidedInSlack(t *testing.T) {
	t.Parallel()
	w := newChatWorld(t, 1)
	run := w.run(t, pay("p", "249.00", doc{"country": "<!channel> \u202e*DE*"}))
	m := w.message(t)
	a := w.approval(t, run)
	id := a.At("id").Text()
	has(t, "the message", m.Says(), "pay", "249.00", `<!channel> \u202e*DE*`, a.At("requestDigest").Text(), "Waits for a decision until")
	if !m.Open() {
		t.Fatal("it has no buttons")
	}
	w.known(t, "U1", "ann@example.com", m)
	question := w.slack.Press("U1", m, "approve")
	has(t, "the question", question.Says(), `"amount": 249.00`, "POST "+w.shop.Origin()+"/pay", a.At("requestDigest").Text())
	if told := w.submit(question, "  "); !strings.Contains(told, "reason") {
		t.Errorf("a blank reason: %q", told)
	}
	w.viewer.Get("/approvals/"+id).OK(t).Is(t, "status", "PENDING")
	if told := w.submit(question, "as agreed"); !strings.Contains(told, "Approved. Recorded as the decision of ann@example.com") {
		t.Errorf("told %q", told)
	}
	w.reaches(t, run, "COMPLETED")
	w.viewer.Get("/approvals/"+id).OK(t).Is(t, "decidedBy", "user:ann@example.com").Is(t, "decisionReason", "as agreed").Is(t, "decisions.0.via", "slack")
	w.Admin.Get("/audit?action=approvals.decide").OK(t).Is(t, "total", 1).Is(t, "items.0.via", "slack").Is(t, "items.0.actor", "user:ann@example.com").Is(t, "items.0.reason", "as agreed")
	w.Admin.Get("/audit?action=users.confirm_chat").OK(t).Is(t, "total", 1).Is(t, "items.0.actor", "user:ann@example.com")
	w.slack.Until("the end in the message", func() bool { return !w.message(t).Open() })
	has(t, "the message", w.message(t).Says(), "Approved by ann@example.com", "as agreed")
	has(t, "an old button", w.slack.Press("U1", m, "reject").Says(), "Nothing was changed", "APPROVED already")
	has(t, "an old modal", w.submit(question, "again"), "Nothing was changed")
	if n := len(w.shop.Seen("POST", "/pay")); n != 1 {
		t.Errorf("%d requests were sent", n)
	}
}

func TestASubmissionThatComesTwiceDecidesOnceAndIsCounted(t *testing.T) {
	t.Parallel()
	w := newChatWorld(t, 2)
	run := w.run(t, pay("p", "5", nil))
	m := w.message(t)
	w.known(t, "U1", "ann@example.com", m)
	w.known(t, "U2", "ben@example.com", m)
	question := w.slack.Press("U1", m, "approve")
	answers := w.submitTimes(question, "fine", 3)
	has(t, "the first", w.slack.Told(question, answers[0]), "recorded", "Others must approve too")
	for _, again := range answers[1:] {
		has(t, "a repeat", w.slack.Told(question, again), "Nothing was changed", "you have decided")
	}
	a := w.approval(t, run)
	a.Is(t, "status", "PENDING").Is(t, "decisions.1", harness.Absent)
	if n := w.answers(t, "already"); n != 2 {
		t.Errorf("%d repeats are counted", n)
	}
	w.slack.Until("the first decision in the message", func() bool { return strings.Contains(w.message(t).Says(), "Approved by ann@example.com") })
	has(t, "the second person", w.submit(w.slack.Press("U2", w.message(t), "approve"), "too"), "Approved. Recorded")
	w.reaches(t, run, "COMPLETED")
}

// TestOnlyUsersOfTheTenantDecideInSlack by the same rules as in the console.
func TestOnlyUsersOfTheTenantDecideInSlack(t *testing.T) {
	t.Parallel()
	w := newChatWorld(t, 1)
	w.run(t, pay("p", "5", nil))
	m := w.message(t)
	w.known(t, "U1", "ann@example.com", m)
	question := w.slack.Press("U1", m, "approve")

	w.slack.Join(slacktest.Member{ID: "U2", Email: "nobody@example.com"})
	has(t, "no user", w.slack.Press("U2", m, "approve").Says(), "no user's of tenant default")
	w.slack.Join(slacktest.Member{ID: "U3", Email: "ann@example.com", Guest: true})
	has(t, "a guest", w.slack.Press("U3", m, "approve").Says(), "guests of the workspace")
	w.slack.Join(slacktest.Member{ID: "U4", Email: "ann@example.com", Unconfirmed: true})
	has(t, "an unconfirmed address", w.slack.Press("U4", m, "approve").Says(), "not confirmed")
	w.slack.Join(slacktest.Member{ID: "U5", Email: "ann@example.com"})
	has(t, "another account of the same address", w.slack.Press("U5", m, "approve").Says(), "has not confirmed this account")
	w.slack.Join(slacktest.Member{ID: "U6", Email: "ann@example.com", Team: "T0OTHER"})
	has(t, "of another workspace", w.slack.Press("U6", m, "approve").Says(), "only members of the workspace")

	foreign := w.slack.Submitted(question, "fine")
	foreign["api_app_id"] = "A0OTHER"
	w.slack.Send(foreign, 1)
	borrowed := *question
	borrowed.User = "U5"
	has(t, "who sends another's modal", w.submit(&borrowed, "fine"), "has not confirmed this account")
	w.slack.Join(slacktest.Member{ID: "U1", Email: "ann@example.com", Deleted: true})
	has(t, "who was deactivated meanwhile", w.submit(question, "fine"), "no active member")
	w.slack.Join(slacktest.Member{ID: "U1", Email: "ann@example.com"})
	w.Admin.Put("/users/ann@example.com", doc{"roles": []string{"VIEWER"}}).OK(t)
	has(t, "who lost the role meanwhile", w.submit(question, "fine"), "Nothing was changed", "APPROVER")
	w.Admin.Get("/approvals").OK(t).Is(t, "items.0.status", "PENDING").Is(t, "items.0.decisions", harness.Absent)
	for result, n := range map[string]int{"foreign": 2, "decided": 0, "not_allowed": 2} {
		if got := w.answers(t, result); got != n {
			t.Errorf("%s: %d are counted, want %d", result, got, n)
		}
	}
}

func TestWhoAskedDoesNotDecideInSlack(t *testing.T) {
	t.Parallel()
	w := newChatWorld(t, 1)
	b := w.person(t, "ann@example.com", "APPROVER", "OPERATOR")
	w.slack.Join(slacktest.Member{ID: "U1", Email: "ann@example.com"})
	plan := w.ready(t, planOf(pay("p", "5", nil)))
	w.As("").Post("/runs", doc{"planId": plan}, key(), b.Cookie(), w.csrf(t, b)).OK(t)
	m := w.message(t)
	w.slack.Press("U1", m, "approve")
	w.confirm(t, b, "U1")
	has(t, "the requester", w.slack.Press("U1", m, "approve").Says(), "someone else must decide")
}

// TestAKillBetweenCommitAndMessageLosesNone: the process ends while Slack is being asked,
// before or after Slack took the message. One that may be there twice says so, and one
// decision ends both.
func TestAKillBetweenCommitAndMessageLosesNone(t *testing.T) {
	t.Parallel()
	harness.OnlyDirectory(t) // the claim of a process on a database ends with its time
	for _, arrives := range []bool{false, true} {
		w := newChatWorld(t, 1)
		asked, killed := make(chan bool, 1), make(chan bool)
		once := sync.OnceFunc(func() { asked <- true })
		w.slack.Before("chat.postMessage", func() *slacktest.Answer {
			if arrives {
				return &slacktest.Answer{Lost: true}
			}
			once()
			<-killed
			return &slacktest.Answer{Error: "internal_error"}
		})
		run := w.run(t, pay("p", "5", nil))
		if arrives {
			w.slack.Until("a message", func() bool { return len(w.slack.Messages(slackChannel)) == 1 })
		} else {
			<-asked
		}
		w.Kill()
		close(killed)
		before := slices.Clone(w.slack.Messages(slackChannel))
		w.slack.Before("chat.postMessage", nil)
		w.Restart()
		w.slack.Until("another message", func() bool { return len(w.slack.Messages(slackChannel)) == len(before)+1 })
		all := w.slack.Messages(slackChannel)
		has(t, "the last message", all[len(all)-1].Says(), "Sent again after an interruption")
		w.known(t, "U1", "ann@example.com", all[0])
		has(t, "the answer", w.submit(w.slack.Press("U1", all[0], "approve"), "fine"), "Approved. Recorded")
		w.reaches(t, run, "COMPLETED")
		w.slack.Until("the end in all messages", func() bool {
			return !slices.ContainsFunc(w.slack.Messages(slackChannel), slacktest.Message.Open)
		})
		if got := len(w.slack.Messages(slackChannel)); got != len(all) {
			t.Errorf("%d messages, were %d", got, len(all))
		}
	}
}

// TestAKillBetweenMessageAndAnswerAsksAndDecidesOnce: the process ends when the message is out
// and a person has opened the question, and again when the answer has come, in any state of
// being handled. Who answers through it all is told, and decides once.
func TestAKillBetweenMessageAndAnswerAsksAndDecidesOnce(t *testing.T) {
	t.Parallel()
	harness.OnlyDirectory(t)
	w := newChatWorld(t, 1)
	run := w.run(t, pay("p", "5", nil))
	m := w.message(t)
	w.known(t, "U1", "ann@example.com", m)
	question := w.slack.Press("U1", m, "approve")
	id := w.approval(t, run).At("id").Text()
	w.Kill()
	w.Restart()
	asked := make(chan bool)
	once := sync.OnceFunc(func() { close(asked) })
	w.slack.Before("users.info", func() *slacktest.Answer { // who answers: asked before anything is decided
		once()
		return nil
	})
	answered := make(chan []string)
	go func() {
		var told []string
		for _, a := range w.submitTimes(question, "fine", 2) {
			told = append(told, w.slack.Told(question, a))
		}
		answered <- told
	}()
	<-asked
	w.Kill()
	w.Restart()
	decided := 0
	for _, told := range <-answered {
		if strings.Contains(told, "Approved. Recorded") {
			decided++
		} else {
			has(t, "an answer that decided nothing", told, "Nothing was changed")
		}
	}
	w.reaches(t, run, "COMPLETED")
	w.viewer.Get("/approvals/"+id).OK(t).Is(t, "decisions.0.by", "user:ann@example.com").Is(t, "decisions.1", harness.Absent)
	w.slack.Until("the end in the message", func() bool { return !w.message(t).Open() })
	if n := len(w.shop.Seen("POST", "/pay")); n != 1 || decided > 1 {
		t.Errorf("%d requests were sent, %d answers decided", n, decided)
	}
}

// TestAKillAfterItIsDecidedTellsTheEnd: the message is replaced by the next process, and the
// answer that is sent again changes nothing.
func TestAKillAfterItIsDecidedTellsTheEnd(t *testing.T) {
	t.Parallel()
	harness.OnlyDirectory(t)
	w := newChatWorld(t, 1)
	run := w.run(t, pay("p", "5", nil))
	m := w.message(t)
	w.known(t, "U1", "ann@example.com", m)
	question := w.slack.Press("U1", m, "approve")
	w.slack.Before("chat.update", func() *slacktest.Answer { return &slacktest.Answer{Status: 503} })
	w.submit(question, "fine")
	w.reaches(t, run, "COMPLETED")
	w.Kill()
	w.slack.Before("chat.update", nil)
	w.Restart()
	w.slack.Until("the end", func() bool { return !w.message(t).Open() })
	has(t, "the same answer again", w.submit(question, "fine"), "Nothing was changed")
	if n := len(w.shop.Seen("POST", "/pay")); n != 1 {
		t.Errorf("%d requests were sent", n)
	}
}

// says waits until the only message says all of it.
func (w *chatWorld) says(t *testing.T, parts ...string) {
	t.Helper()
	w.slack.Until(strings.Join(parts, " and "), func() bool {
		said := w.message(t).Says()
		return !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(said, part) })
	})
}

// TestTheMessageInSlackFollowsWhoMayDecide: after an escalation and a delegation.
func TestTheMessageInSlackFollowsWhoMayDecide(t *testing.T) {
	t.Parallel()
	w := newChatWorld(t, 1)
	w.person(t, "ann@example.com", "APPROVER")
	w.person(t, "bea@example.com", "APPROVER")
	w.person(t, "cem@example.com", "APPROVER")
	w.group(t, "finance", 0, "ann@example.com")
	w.group(t, "board", 0, "bea@example.com")
	w.Admin.Put("/projects/"+ruled, harness.With(payRules(w.shop.Origin(), "NONE", escalating("1s", "board")), "expectedRevision", 1)).OK(t)
	w.enable(t, ruled, 2)
	run := w.run(t, pay("p", "249.00", nil))
	w.says(t, "Members of finance decide.", "Escalated: since", "members of board may decide in place of finance.", "May decide now: ann@example.com, bea@example.com.")
	w.Admin.Put("/delegations/ann@example.com", standIn("cem@example.com")).OK(t)
	w.says(t, "cem@example.com (in place of ann@example.com)")
	w.known(t, "U3", "cem@example.com", w.message(t))
	has(t, "the delegate", w.submit(w.slack.Press("U3", w.message(t), "approve"), "while Ann is away"), "Approved. Recorded")
	w.reaches(t, run, "COMPLETED")
	w.says(t, "Approved by cem@example.com", "while Ann is away")
}

func TestSlackIsReachedAgainAfterEachEndOfAConnection(t *testing.T) {
	t.Parallel()
	w := newChatWorld(t, 1)
	limited := false
	w.slack.Before("chat.postMessage", func() *slacktest.Answer {
		if limited {
			return nil
		}
		limited = true
		return &slacktest.Answer{Status: 429, RetryAfter: "1"}
	})
	run := w.run(t, pay("p", "5", nil))
	m := w.message(t)
	if strings.Contains(m.Says(), "Sent again") {
		t.Error("a message that Slack did not take counts as sent")
	}
	w.known(t, "U1", "ann@example.com", m)
	w.slack.Refresh()
	question := w.slack.Press("U1", m, "reject")
	w.slack.Drop()
	w.slack.Until("a new connection", func() bool { return w.slack.Connections() > 0 })
	has(t, "the answer", w.submit(question, "no"), "Rejected. Recorded")
	w.reaches(t, run, "FAILED")
}

func TestDoctorAsksSlackAndShowsNoToken(t *testing.T) {
	t.Parallel()
	s := slacktest.Open(t)
	look := func(change ...harness.Setting) (state, out string) {
		t.Helper()
		env := map[string]string{"SVC_PLATFORM_STORE": t.TempDir(), "SVC_PLATFORM_LISTEN": "127.0.0.1:0"}
		for _, set := range append(slackSettings(s), change...) {
			set(env)
		}
		r := harness.Run(t, env, "doctor", "-o", "json")
		if strings.Contains(r.Out+r.Err, slacktest.BotToken) || strings.Contains(r.Out+r.Err, slacktest.AppToken) {
			t.Errorf("a token is shown:\n%s%s", r.Out, r.Err)
		}
		for _, f := range parsed(t, r.Out).Items() {
			if check := f.At("check").Text(); check == "slack" || check == "settings" && f.At("state").Text() == "BROKEN" {
				state, out = f.At("state").Text(), out+f.At("seen").Text()+"\n"
			}
		}
		return state, out
	}
	if state, seen := look(); state != "ok" || !strings.Contains(seen, "workspace Acme") {
		t.Errorf("%s: %s", state, seen)
	}
	for want, set := range map[string]harness.Setting{
		"auth.test: the chat service refused: invalid_auth": harness.Set("SLACK_BOT_TOKEN", "xoxb-0000000000-another"),
		"apps.connections.open":                             harness.Set("SLACK_APP_TOKEN", "xapp-1-A0COUNTER-another-one"),
		"begins with xoxb-":                                 harness.Set("SLACK_BOT_TOKEN", "xoxp-0000000000"),
		"begins with xapp-":                                 harness.Set("SLACK_APP_TOKEN", "0000000000"),
		"go together":                                       harness.Set("SLACK_CHANNELS", ""),
		"no tenant and channel id":                          harness.Set("SLACK_CHANNELS", "default=#approvals"),
		"two channels":                                      harness.Set("SLACK_CHANNELS", "default=C012,default=C034"),
		"no https address":                                  harness.Set("SLACK_URL", "http://slack.example/api/"),
	} {
		if state, seen := look(set); state != "BROKEN" || !strings.Contains(seen, want) {
			t.Errorf("%s: %s: %s", want, state, seen)
		}
	}
	s.Scopes = "chat:write"
	if state, seen := look(); state != "BROKEN" || !strings.Contains(seen, "users:read.email") {
		t.Errorf("%s: %s", state, seen)
	}
}

// TestAnApprovalThatMustBeSignedIsRejectedInSlackAndNotApproved: the press says so, before a reason
// is asked for.
func TestAnApprovalThatMustBeSignedIsRejectedInSlackAndNotApproved(t *testing.T) {
	t.Parallel()
	w := newChatWorld(t, 1, harness.Set("PUBLIC_URL", keyOrigin))
	w.Admin.Put("/settings", doc{"decisionAssertion": "PASSKEY", "reason": "policy 7.2"}).OK(t)
	run := w.run(t, pay("p", "5", nil))
	m := w.message(t)
	id := w.approval(t, run).At("id").Text()
	w.known(t, "U1", "ann@example.com", m)
	has(t, "a press", w.slack.Press("U1", m, "approve").Says(), "Nothing was changed", "passkey", keyOrigin+"/console/approvals/"+id)
	w.viewer.Get("/approvals/"+id).OK(t).Is(t, "status", "PENDING")
	if told := w.submit(w.slack.Press("U1", m, "reject"), "not agreed"); !strings.Contains(told, "Rejected.") {
		t.Errorf("told %q", told)
	}
	w.reaches(t, run, "FAILED")
}
