package client_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/client"
)

// scripted is a service that gives these answers in order, and then repeats the last one.
func scripted(t *testing.T, answers ...http.HandlerFunc) (*client.Client, *atomic.Int64) {
	t.Helper()
	asked := &atomic.Int64{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := int(asked.Add(1))
		answers[min(n, len(answers))-1](w, r)
	}))
	t.Cleanup(s.Close)
	c, err := client.New(client.Config{BaseURL: s.URL, Token: "csn_test"})
	if err != nil {
		t.Fatal(err)
	}
	return c, asked
}

func hangUp(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

func says(status int, header, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if name, v, ok := strings.Cut(header, ": "); ok {
			w.Header().Set(name, v)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = fmt.Fprint(w, body)
	}
}

const refusedForNow = `{"error":"capacity","message":"4 runs are active","requestId":"r-12345678"}`

func TestOnlyWhatIsSafeIsSentAgainAfterALostConnection(t *testing.T) {
	ctx := t.Context()
	for name, c := range map[string]struct {
		ask  func(*client.Client) error
		sent int64
	}{
		"a read":      {func(c *client.Client) error { _, err := c.Project(ctx, "p"); return err }, 2},
		"a run start": {func(c *client.Client) error { _, err := c.StartRun(ctx, countersign.RunStart{}); return err }, 2},
		"one call": {func(c *client.Client) error {
			_, err := c.StartProjectRun(ctx, "p", countersign.ProjectRunStart{})
			return err
		}, 2},
		"an agent run start": {func(c *client.Client) error {
			_, err := c.StartAgentRun(ctx, "a", countersign.AgentRunStart{})
			return err
		}, 2},
		"a decision":  {func(c *client.Client) error { _, err := c.Decide(ctx, "a", countersign.Decision{}); return err }, 1},
		"a new token": {func(c *client.Client) error { _, err := c.CreateToken(ctx, countersign.TokenWrite{}); return err }, 1},
		"a project": {func(c *client.Client) error {
			_, err := c.SaveProject(ctx, "p", countersign.ProjectWrite{})
			return err
		}, 1},
		"a reconcile":         {func(c *client.Client) error { _, err := c.ReconcileRun(ctx, "r", countersign.Reconcile{}); return err }, 1},
		"the end of a member": {func(c *client.Client) error { _, err := c.DeleteUser(ctx, "a@example.com", ""); return err }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			sdk, asked := scripted(t, hangUp, says(200, "", `{}`))
			err := c.ask(sdk)
			var lost *client.ConnectionError
			if again := c.sent > 1; again != (err == nil) || !again && !errors.As(err, &lost) {
				t.Errorf("%v", err)
			}
			if asked.Load() != c.sent {
				t.Errorf("sent %d times; expected %d", asked.Load(), c.sent)
			}
		})
	}
}

func TestA503ThatSaysWhenIsAskedAgain(t *testing.T) {
	sdk, asked := scripted(t, says(503, "Retry-After: 0", refusedForNow), says(200, "", `{"id":"approval-1"}`))
	if a, err := sdk.Decide(t.Context(), "approval-1", countersign.Decision{}); err != nil || a.ID != "approval-1" || asked.Load() != 2 {
		t.Errorf("%v, %v, asked %d times", a, err, asked.Load())
	}
	sdk, asked = scripted(t, says(503, "Retry-After: 3600", refusedForNow))
	if _, err := sdk.Run(t.Context(), "r"); !errors.Is(err, client.ErrCapacity) || asked.Load() != 1 {
		t.Errorf("an hour is the caller's to wait for: %v, asked %d times", err, asked.Load())
	}
}

func TestARepeatedStartHasTheSameKey(t *testing.T) {
	var keys []string
	note := func(then http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			keys = append(keys, r.Header.Get("Idempotency-Key"))
			then(w, r)
		}
	}
	sdk, _ := scripted(t, note(hangUp), note(says(503, "Retry-After: 0", refusedForNow)), note(says(202, "", `{"id":"run-1"}`)))
	if _, err := sdk.StartRun(t.Context(), countersign.RunStart{}); err != nil {
		t.Fatal(err)
	}
	if len(keys) != 3 || keys[0] == "" || keys[0] != keys[1] || keys[1] != keys[2] {
		t.Errorf("sent under %q", keys)
	}
}

func TestALostStartNamesItsKey(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(hangUp))
	t.Cleanup(s.Close)
	sdk, err := client.New(client.Config{BaseURL: s.URL, Retries: -1})
	if err != nil {
		t.Fatal(err)
	}
	_, err = sdk.StartRun(t.Context(), countersign.RunStart{})
	var lost *client.ConnectionError
	if !errors.As(err, &lost) || lost.IdempotencyKey == "" {
		t.Errorf("%#v", err)
	}
}

func TestWhatIsNoAnswerOfTheServiceIsNoRefusal(t *testing.T) {
	for name, c := range map[string]http.HandlerFunc{
		"a proxy's page":     says(403, "", `<html>blocked</html>`),
		"half a document":    says(200, "", `{"id":`),
		"a redirect":         says(307, "Location: https://elsewhere.example/", ``),
		"an error unmarked":  says(404, "", `{"detail":"nothing here"}`),
		"a list for a thing": says(200, "", `[1,2]`),
	} {
		sdk, _ := scripted(t, c)
		_, err := sdk.Run(t.Context(), "r")
		var lost *client.ConnectionError
		if !errors.As(err, &lost) {
			t.Errorf("%s: %#v", name, err)
		}
	}
}

func TestTheTokenGoesToNoOtherAddress(t *testing.T) {
	var leaked atomic.Int64
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { leaked.Add(1) }))
	t.Cleanup(elsewhere.Close)
	for _, status := range []int{301, 302, 303, 307, 308} {
		sdk, _ := scripted(t, says(status, "Location: "+elsewhere.URL, ""))
		_, _ = sdk.CreateToken(t.Context(), countersign.TokenWrite{})
		_, _ = sdk.Run(t.Context(), "r")
	}
	if leaked.Load() != 0 {
		t.Error("a redirect was followed")
	}
}

func TestAnAddressThatWouldShowTheTokenIsRefused(t *testing.T) {
	for address, ok := range map[string]bool{
		"https://countersign.example.com": true, "https://example.com/countersign/": true, "http://localhost:8080": true, "http://127.0.0.1:8080": true, "http://[::1]:1": true,
		"http://countersign.example.com": false, "http://10.0.0.7": false, "countersign.example.com": false, "ftp://a": false, "https://u:p@a": false, "https://a?b": false, "": false,
	} {
		_, err := client.New(client.Config{BaseURL: address, Token: "t"})
		if (err == nil) != ok {
			t.Errorf("%q: %v", address, err)
		}
	}
	if _, err := client.New(client.Config{BaseURL: "http://countersign:8080", Token: "t", AllowInsecure: true}); err != nil {
		t.Error(err)
	}
}

func TestNoPrintShowsTheToken(t *testing.T) {
	const token = "csn_very-secret"
	c, err := client.New(client.Config{BaseURL: "http://127.0.0.1:1", Token: token, Retries: -1})
	if err != nil {
		t.Fatal(err)
	}
	_, lost := c.Run(t.Context(), "r")
	for _, print := range []string{fmt.Sprint(c), fmt.Sprintf("%v %+v %#v %+v", c, c, c, *c), lost.Error(), fmt.Sprintf("%#v", lost)} {
		if strings.Contains(print, token) {
			t.Errorf("%s", print)
		}
	}
}

// TestNumbersKeepTheirDigits: a float would lose some.
func TestNumbersKeepTheirDigits(t *testing.T) {
	sdk, _ := scripted(t, says(200, "", `{"id":"r","steps":[{"id":"s","output":{"big":9007199254740993,"paid":12.50}}]}`))
	r, err := sdk.Run(t.Context(), "r")
	if err != nil || r.Steps[0].Output.Raw() != `{"big":9007199254740993,"paid":12.50}` {
		t.Errorf("%v, %v", r, err)
	}
}

// TestIdsCannotLeaveTheirPath: every character of an id is escaped.
func TestIdsCannotLeaveTheirPath(t *testing.T) {
	var seen string
	sdk, _ := scripted(t, func(w http.ResponseWriter, r *http.Request) { seen = r.RequestURI; says(200, "", `{}`)(w, r) })
	_, _ = sdk.Run(t.Context(), "../users?x=#")
	if seen != client.PrefixAlias+"/runs/..%2Fusers%3Fx=%23" {
		t.Errorf("asked for %q", seen)
	}
}
