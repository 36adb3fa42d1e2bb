package conformance

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/credential"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/runtime/outbound"
)

// TestAnEffectThatHappensOnceNeedsThreeInputs: with one input, a refusal of the second effect
// shows nothing about keys, with whatever status the receiver refuses.
func TestAnEffectThatHappensOnceNeedsThreeInputs(t *testing.T) {
	for _, spent := range []int{http.StatusUnprocessableEntity, http.StatusConflict, http.StatusTooManyRequests} {
		cfg := against(serve(t, &books{oncePer: true, spent: spent}))
		cfg.Project.Capabilities[0].TimeoutMs = 100
		one := played(t, cfg)
		for _, rule := range []string{countersign.RuleSlowAnswer, countersign.RuleTwins} {
			if got := one.of(rule); got.Verdict != countersign.VerdictNotTried || !strings.Contains(got.Seen, strconv.Itoa(spent)) || !strings.Contains(got.Seen, "three times") {
				t.Errorf("%+v", got)
			}
		}
		if one.Proven || one.Broken() {
			t.Errorf("%+v", one)
		}
	}
	cfg := against(serve(t, &books{oncePer: true, spent: http.StatusConflict}))
	for _, account := range []string{`"a-2"`, `"a-3"`} {
		cfg.Inputs = append(cfg.Inputs, input("resourceId", account, "note", `"n"`, "amount", "1"))
	}
	compare(t, played(t, cfg), allHold)
}

func TestAOnceOnlyEffectWithoutKeysIsFoundOut(t *testing.T) {
	cfg := against(serve(t, &books{oncePer: true, forgetful: true}))
	r := played(t, cfg)
	for _, rule := range []string{countersign.RuleSameKeySameBody, countersign.RuleSameKeyOtherBody} {
		if got := r.of(rule); got.Verdict != countersign.VerdictBroken || !strings.Contains(got.Seen, "422") {
			t.Errorf("%+v", got)
		}
	}
}

func TestAProbeThatChangesByItselfShowsNothing(t *testing.T) {
	r := played(t, against(serve(t, &books{restless: true})))
	if got := r.of(countersign.RuleEffectOnce); got.Verdict != countersign.VerdictNotTried || !strings.Contains(got.Seen, "by itself") {
		t.Errorf("%+v", got)
	}
	if !r.Proven {
		t.Errorf("%+v", r)
	}
}

// TestARefusalAfterTheEffectIsBroken: the probe shows the effect of a refused request.
func TestARefusalAfterTheEffectIsBroken(t *testing.T) {
	b := &books{}
	r := played(t, against(serve(t, b.around(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Header.Get("X-Runtime-Signature") == "" {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.entries = append(b.entries, "unsigned")
			w.WriteHeader(http.StatusUnauthorized)
			return true
		}
		return false
	}))))
	if got := r.of(countersign.RuleRefusesUnsigned); got.Verdict != countersign.VerdictBroken || got.Seen != "401, but the probe shows an effect" {
		t.Errorf("%+v", got)
	}
}

// around gives each request to first, and to the receiver if first doesn't answer it.
func (b *books) around(first func(http.ResponseWriter, *http.Request) bool) http.Handler {
	b.first = map[string]kept{}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !first(w, r) {
			b.ServeHTTP(w, r)
		}
	})
}

// TestAKeyThatStaysTakenIsBroken: a receiver that reserves a key and doesn't release it when
// the caller disconnects answers 409 for ever: under that key alone, or for an input of its own.
func TestAKeyThatStaysTakenIsBroken(t *testing.T) {
	for name, c := range map[string]struct {
		free   string // the step whose key isn't taken
		inputs int
		steps  int
	}{
		"one input": {"2", 1, 2}, "two inputs": {"", 2, 1},
	} {
		cfg := against(serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("X-Runtime-Step-Id") != c.free {
				w.WriteHeader(http.StatusConflict)
			}
		})))
		for range c.inputs - 1 {
			cfg.Inputs = append(cfg.Inputs, input("resourceId", `"a-2"`, "note", `"n"`, "amount", "1"))
		}
		cfg.Project.Capabilities[0].TimeoutMs = 100
		check, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		p := &play{Check: check, ctx: t.Context(), report: newReport(nil)}
		if got := p.slow(); got != broken("hung up, then no answer but 409 for 200ms") || p.steps != c.steps {
			t.Errorf("%s: %+v under %d keys", name, got, p.steps)
		}
	}
}

func TestOneOfTwoAtOnceMayGet409(t *testing.T) {
	ok, other := answer{connected: true, status: 201, digest: strings.Repeat("a", 64)}, answer{connected: true, status: 201, digest: strings.Repeat("b", 64)}
	plain := func(status int) answer { return answer{connected: true, status: status} }
	for _, c := range []struct {
		a, b answer
		want string
	}{
		{ok, ok, "HOLDS"}, {ok, plain(409), "HOLDS"}, {plain(409), ok, "HOLDS"},
		{ok, other, "BROKEN"}, {ok, plain(422), "BROKEN"}, {ok, plain(500), "BROKEN"}, {ok, answer{flaw: "cut"}, "BROKEN"}, {plain(500), plain(500), "BROKEN"},
		{plain(422), plain(422), "NOT_TRIED"}, {plain(409), plain(409), "NOT_TRIED"},
	} {
		if got := judgeTwins(c.a, c.b); got.verdict != c.want {
			t.Errorf("%s and %s: %+v", c.a.words(), c.b.words(), got)
		}
	}
}

func TestCredentialsAreTriedWithoutAndWrong(t *testing.T) {
	for _, auth := range []countersign.Auth{{Type: countersign.AuthBearer}, {Type: countersign.AuthAPIKey, HeaderName: "X-Books-Key"}} {
		cfg := against(serve(t, &books{}))
		cfg.Project.Auth = countersign.OneAuth(auth)
		compare(t, played(t, cfg), `accepts-signed HOLDS
refuses-no-credential HOLDS
refuses-wrong-credential HOLDS
same-key-same-body HOLDS
same-key-other-body HOLDS
slow-answer HOLDS
twins HOLDS
effect-once HOLDS
`)
	}
}

func TestOfAReadOnlySignaturesAreTried(t *testing.T) {
	cfg := against(serve(t, &books{}))
	cfg.Capability, cfg.Inputs = "entries", []map[string]countersign.Value{input("resourceId", `"a-1"`)}
	r := played(t, cfg)
	if len(r.Rules) != 7 || r.Broken() || r.Proven {
		t.Errorf("%+v", r)
	}
	cfg = against(serve(t, &books{unchecked: true}))
	cfg.Capability, cfg.Inputs, cfg.Project.Auth, cfg.Secrets = "entries", cfg.Inputs[:1], nil, nil
	cfg.Inputs[0] = input("resourceId", `"a-1"`)
	compare(t, played(t, cfg), "accepts-signed HOLDS\n")
}

func TestWithoutABodyThereIsNoOtherPayload(t *testing.T) {
	cfg := against(serve(t, &books{}))
	cfg.Capability, cfg.Inputs = "close", []map[string]countersign.Value{input("resourceId", `"a-1"`)}
	if got := played(t, cfg).of(countersign.RuleSameKeyOtherBody); got.Verdict != countersign.VerdictNotTried || !strings.Contains(got.Seen, "give another input") {
		t.Errorf("%+v", got)
	}
	cfg.Other = input("resourceId", `"a-2"`)
	if got := played(t, cfg).of(countersign.RuleSameKeyOtherBody); got.Verdict != countersign.VerdictHolds {
		t.Errorf("%+v", got)
	}
}

func TestTheOtherInputChangesOneScalarOfTheBody(t *testing.T) {
	for _, c := range []struct{ input, want string }{
		{`{"a":12.50,"b":"x"}`, `{"a":12.51,"b":"x"}`}, {`{"a":9}`, `{"a":8}`}, {`{"a":-0}`, `{"a":-1}`}, {`{"a":1.9E+5}`, `{"a":1.8E+5}`},
		{`{"b":"x","c":true}`, `{"b":"x (other)","c":true}`}, {`{"c":true}`, `{"c":false}`}, {`{"c":false,"d":{}}`, `{"c":true,"d":{}}`},
		{`{"d":{"e":1}}`, ""}, {`{"d":null}`, ""},
	} {
		given := countersign.RawValue(c.input)
		fields, _ := given.Object()
		got, ok := otherInput(fields, given)
		if ok != (c.want != "") || ok && countersign.ObjectValue(got).Raw() != c.want {
			t.Errorf("%s: %v", c.input, got)
		}
	}
	if _, ok := otherInput(input("id", "1"), countersign.Value{}); ok {
		t.Error("an input of the path was changed")
	}
}

func TestWhatCannotBeUsedIsRefusedBeforeAnythingIsSent(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Config)
		says   string
	}{
		"another adapter":    {func(c *Config) { c.Project.Adapter = countersign.AdapterLocalEcho }, "LOCAL_ECHO"},
		"a base with a path": {func(c *Config) { c.Project.BaseURL += "/v1" }, "the address"},
		"no such capability": {func(c *Config) { c.Capability = "pay" }, "no capability pay; it has book, entries"},
		"no secret":          {func(c *Config) { c.Secrets = []string{""} }, "give its secret"},
		"no authentication":  {func(c *Config) { c.Project.Auth = nil }, "only GET"},
		"a secret with a line": {func(c *Config) {
			c.Project.Auth, c.Secrets = countersign.OneAuth(countersign.Auth{Type: countersign.AuthBearer}), []string{"s\n"}
		}, "control characters"},
		"no input":             {func(c *Config) { c.Inputs = nil }, "give an input"},
		"a missing input":      {func(c *Config) { c.Inputs[0] = input("amount", "1") }, "input 1: input.resourceId"},
		"the same other input": {func(c *Config) { c.Other = c.Inputs[0] }, "same request"},
		"a wrong other input":  {func(c *Config) { c.Other = input("amount", "1") }, "the other input: "},
	} {
		cfg := against("http://127.0.0.1:1")
		c.change(&cfg)
		if _, err := New(cfg); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestACallIsTheOneThatTheServiceMakes compares the received requests with those of
// internal/runtime/outbound. Only the header Connection differs: this package closes the
// connection after each call.
func TestACallIsTheOneThatTheServiceMakes(t *testing.T) {
	type arrived struct {
		Method, Target, Host, Body string
		Length                     int64
		Header                     http.Header
	}
	var got []arrived
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Header.Del("Connection")
		got = append(got, arrived{r.Method, r.RequestURI, r.Host, string(body), r.ContentLength, r.Header})
	}))
	t.Cleanup(s.Close)
	now := func() time.Time { return time.Unix(1767225600, 0) }
	for _, capability := range []string{"book", "entries", "blind", "close"} {
		cfg := against(s.URL)
		cfg.Now, cfg.Capability = now, capability
		if capability != "book" {
			cfg.Inputs[0] = input("resourceId", `"a-1"`)
		}
		if capability == "blind" {
			cfg.Inputs[0] = input()
		}
		c, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		got = nil
		p := &play{Check: c, ctx: t.Context(), report: newReport(nil)}
		p.right(c.requests[0], "7")
		service := outbound.New(outbound.Config{
			Origins: []string{c.target}, MayUse: func(credential.Use, string) error { return nil }, Getenv: func(string) string { return secret },
			Now: now, UserAgent: "countersign/test",
		})
		service.Call(t.Context(), request.Call{RunID: "check-test", StepID: "7", IdempotencyKey: "check-test.7", Project: &c.cfg.Project, Request: c.requests[0]})
		service.Close()
		if len(got) != 2 {
			t.Fatalf("%s: %d calls arrived", capability, len(got))
		}
		if diff := cmp.Diff(got[1], got[0]); diff != "" {
			t.Errorf("%s (-service +check):\n%s", capability, diff)
		}
	}
}

func TestEveryKeyCanBeRecognised(t *testing.T) {
	b := &books{}
	played(t, against(serve(t, b)))
	for _, r := range b.seen {
		key, run, step := r.Header.Get("Idempotency-Key"), r.Header.Get("X-Runtime-Run-Id"), r.Header.Get("X-Runtime-Step-Id")
		if run != "check-test" || key != run+"."+step {
			t.Errorf("%s of run %s, step %s", key, run, step)
		}
	}
	if len(b.seen) > 35 {
		t.Errorf("%d calls", len(b.seen))
	}
	t.Logf("%d calls, of them %d reads", len(b.seen), strings.Count(strings.Join(methods(b.seen), " "), "GET"))
}

func methods(list []*http.Request) []string {
	out := make([]string, len(list))
	for i, r := range list {
		out[i] = r.Method
	}
	return out
}
