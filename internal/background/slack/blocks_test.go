package slack

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/background/chat"
	"github.com/countersign/countersign/internal/testing/slacktest"
)

// hostile are texts that Slack would read as something else, or that are longer than it takes.
var hostile = []string{
	"", " ", "\n\n", "<!channel> & <@U1> <https://evil.example|https://good.example>", "&amp;lt;", "*bold* _it_ ~no~ `code` ```pre```",
	strings.Repeat("&", 5000), strings.Repeat("é", 2999) + "<>", strings.Repeat("line\n", 3000), strings.Repeat("𝒳", 4001), `\u202e`, ":smile:",
}

func message(text string, open bool) chat.Message {
	return chat.Message{
		Ref: chat.Ref{Tenant: "acme", Approval: "apr-1", Digest: strings.Repeat("0f", 32)}, Title: text, Facts: []chat.Fact{{Name: "note", Value: text}, {Name: text, Value: "x"}},
		More: 2, State: []string{text, "Waits."}, Open: open, Again: true, Link: "https://countersign.example/console/approvals/apr-1",
	}
}

func TestEachMessageIsWithinSlacksLimitsWhateverItSays(t *testing.T) {
	for _, text := range hostile {
		for _, open := range []bool{true, false} {
			blocks, fallback := messageBlocks(message(text, open))
			for _, p := range slacktest.Judge(blocks, false) {
				t.Errorf("%.20q: %s", text, p)
			}
			if n := utf8.RuneCountInString(fallback); n < 1 || n > maxFallback {
				t.Errorf("%.20q: a fallback of %d characters", text, n)
			}
		}
	}
}

func question(request string, d countersign.ApprovalStatus) chat.Question {
	return chat.Question{
		Ref: chat.Ref{Tenant: "acme", Approval: "apr-1", Digest: strings.Repeat("0f", 32)}, Decision: d, Title: "Refund", Facts: []chat.Fact{{Name: "amount", Value: "5"}},
		Notes: []string{"Exactly this request was in run r."}, Request: request, Link: "https://countersign.example/console/approvals/apr-1",
	}
}

func TestEachQuestionIsWithinSlacksLimitsWhateverItShows(t *testing.T) {
	for _, text := range append(hostile, strings.Repeat("x", 500_000)) {
		for _, d := range []countersign.ApprovalStatus{countersign.ApprovalApproved, countersign.ApprovalRejected} {
			q := question(text, d)
			q.Title, q.Notes = text, []string{text}
			for _, p := range slacktest.Judge(questionView(q, chat.Place{Channel: "C1", Message: "1.2"}), true) {
				t.Errorf("%.20q: %s", text, p)
			}
		}
	}
}

// TestWhatIsApprovedIsShownWhole: a request that doesn't fit can be rejected in Slack, but
// not approved.
func TestWhatIsApprovedIsShownWhole(t *testing.T) {
	text := func(v object) string {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	fits, long := strings.Repeat("0123456789", 20_000), strings.Repeat("0123456789", 40_000)
	shown := questionView(question(fits, countersign.ApprovalApproved), chat.Place{})
	var whole strings.Builder
	for _, b := range shown["blocks"].([]object) {
		if o, is := b["text"].(object); is {
			whole.WriteString(o["text"].(string))
		}
	}
	if !strings.Contains(whole.String(), fits) || shown["callback_id"] != callback {
		t.Error("a request that fits isn't shown whole")
	}
	if v := questionView(question(long, countersign.ApprovalApproved), chat.Place{}); v["callback_id"] != nil || !strings.Contains(text(v), "too long") {
		t.Error("a request that doesn't fit can be approved")
	}
	if v := questionView(question(long, countersign.ApprovalRejected), chat.Place{}); v["callback_id"] != callback || !strings.Contains(text(v), "It goes on") {
		t.Error("a request that doesn't fit can't be rejected")
	}
}

func TestAnEndedMessageHasNoButtonThatDecides(t *testing.T) {
	b, err := json.Marshal(func() []object { blocks, _ := messageBlocks(message("x", false)); return blocks }())
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(b), `"action_id":"approve"`) || strings.Contains(string(b), `"action_id":"reject"`) {
		t.Errorf("%s", b)
	}
}

func TestPartsAreTheTextAndNoneIsTooLong(t *testing.T) {
	for _, text := range hostile {
		for _, most := range []int{6, 7, 50, 3000} {
			got := parts(text, most)
			if strings.Join(got, "") != escaped(text) {
				t.Errorf("%.20q in parts of %d is another text", text, most)
			}
			for _, part := range got {
				if n := utf8.RuneCountInString(part); n > most {
					t.Errorf("%.20q: a part of %d characters, at most %d", text, n, most)
				}
			}
		}
	}
}

// press is the payload of a press with these parts replaced.
func press(edits ...string) string {
	v := value{Tenant: "acme", Approval: "apr-1", Digest: "d"}.text()
	text := fmt.Sprintf(`{"type":"block_actions","api_app_id":"A1","trigger_id":"t","team":{"id":"T1"},"user":{"id":"U1","team_id":"T1"},
		"container":{"type":"message","message_ts":"1.2","channel_id":"C1"},"actions":[{"action_id":"approve","value":%q}]}`, v)
	return strings.NewReplacer(edits...).Replace(text)
}

func TestOnlyPayloadsOfOurWorkspaceAndAppAreRead(t *testing.T) {
	me := self{team: "T1", app: "A1"}
	in, wanted, problem := read([]byte(press()), me)
	want := intent{user: "U1", trigger: "t", ref: chat.Ref{Tenant: "acme", Approval: "apr-1", Digest: "d"}, decision: countersign.ApprovalApproved, at: chat.Place{Channel: "C1", Message: "1.2"}}
	if in != want || !wanted || problem != "" {
		t.Errorf("%+v, %v, %q", in, wanted, problem)
	}
	for name, c := range map[string]struct {
		text   string
		wanted bool
		is     chat.Result
	}{
		"of another app":           {press(`"A1"`, `"A2"`), true, chat.Foreign},
		"without an app":           {press(`"api_app_id":"A1",`, ``), true, chat.Foreign},
		"of another workspace":     {press(`"team":{"id":"T1"}`, `"team":{"id":"T2"}`), true, chat.Foreign},
		"without a workspace":      {press(`"team":{"id":"T1"}`, `"team":null`), true, chat.Foreign},
		"by a member of another":   {press(`"team_id":"T1"`, `"team_id":"T2"`), true, chat.Foreign},
		"a value of others":        {press(`{\"t\"`, `[`), true, chat.Malformed},
		"no approval":              {press(`\"apr-1\"`, `\"\"`), true, chat.Malformed},
		"no user":                  {press(`"id":"U1"`, `"id":""`), true, chat.Malformed},
		"a link":                   {press(`"action_id":"approve"`, `"action_id":"open"`), false, ""},
		"a shortcut":               {press(`block_actions`, `shortcut`), false, ""},
		"a modal of others":        {`{"type":"view_submission","api_app_id":"A1","team":{"id":"T1"},"user":{"id":"U1"},"view":{"callback_id":"x"}}`, false, ""},
		"a decision that is none":  {`{"type":"view_submission","api_app_id":"A1","team":{"id":"T1"},"user":{"id":"U1"},"view":{"callback_id":"decide","private_metadata":"{\"t\":\"acme\",\"a\":\"b\",\"v\":\"PENDING\"}"}}`, true, chat.Malformed},
		"a modal without metadata": {`{"type":"view_submission","api_app_id":"A1","team":{"id":"T1"},"user":{"id":"U1"},"view":{"callback_id":"decide"}}`, true, chat.Malformed},
		"no JSON":                  {`{`, true, chat.Malformed},
	} {
		if _, wanted, problem := read([]byte(c.text), me); wanted != c.wanted || problem != c.is {
			t.Errorf("%s: %v, %q", name, wanted, problem)
		}
	}
}

func TestOnlyFullMembersWithAConfirmedAddressCount(t *testing.T) {
	const good = `{"user":{"id":"U1","team_id":"T1","name":"ann","is_email_confirmed":true,"profile":{"email":"ann@example.com","real_name":"Ann"}}}`
	account := func(edits ...string) (string, string) {
		var m member
		if err := json.Unmarshal([]byte(strings.NewReplacer(edits...).Replace(good)), &m); err != nil {
			t.Fatal(err)
		}
		c, why := m.account(self{team: "T1"}, "U1")
		return c.Email, why
	}
	if email, why := account(); email != "ann@example.com" || why != "" {
		t.Errorf("%q %q", email, why)
	}
	for name, edit := range map[string][2]string{
		"unconfirmed": {`"is_email_confirmed":true`, `"is_email_confirmed":false`}, "not said": {`"is_email_confirmed":true,`, ``}, "no address": {`ann@example.com`, ``},
		"deactivated": {`"name"`, `"deleted":true,"name"`}, "a bot": {`"name"`, `"is_bot":true,"name"`}, "a guest": {`"name"`, `"is_restricted":true,"name"`},
		"a guest of one channel": {`"name"`, `"is_ultra_restricted":true,"name"`}, "of another workspace": {`"T1"`, `"T2"`}, "a stranger": {`"name"`, `"is_stranger":true,"name"`},
		"invited": {`"name"`, `"is_invited_user":true,"name"`}, "somebody else": {`"U1"`, `"U2"`},
	} {
		if email, why := account(edit[0], edit[1]); email != "" || why == "" {
			t.Errorf("%s: %q %q", name, email, why)
		}
	}
}

// TestTheManualsManifestHasTheScopesThatTheAppNeeds, and no others.
func TestTheManualsManifestHasTheScopesThatTheAppNeeds(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "how-to", "approve-in-slack.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(page), "```yaml\n")
	text, _, _ = strings.Cut(text, "```")
	var manifest struct {
		Auth struct {
			Scopes struct{ Bot []string }
		} `yaml:"oauth_config"`
		Settings struct {
			Socket        bool `yaml:"socket_mode_enabled"`
			Interactivity struct {
				Enabled bool `yaml:"is_enabled"`
			}
		}
	}
	if err := yaml.Unmarshal([]byte(text), &manifest); err != nil {
		t.Fatal(err)
	}
	if m := manifest; !slices.Equal(m.Auth.Scopes.Bot, scopes) || !m.Settings.Socket || !m.Settings.Interactivity.Enabled {
		t.Errorf("%+v", m)
	}
}
