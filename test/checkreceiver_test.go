package test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/internal/evidence/signature"
	"github.com/countersign/countersign/internal/tools/sample"
	"github.com/countersign/countersign/receiver"
	"github.com/countersign/countersign/test/harness"
)

// shopAround starts the sample shop with a wrapped handler.
func shopAround(t *testing.T, around func(http.Handler) http.Handler) string {
	t.Helper()
	s, err := sample.StartShop(sample.Config{Secret: []byte(harness.Secret), Around: around})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s.URL()
}

// resigned signs each request again after change, so that the shop never gets an invalid signature.
func resigned(change func(*http.Request)) func(http.Handler) http.Handler {
	return func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			r.Body = io.NopCloser(bytes.NewReader(body))
			change(r)
			p := signature.Parts{
				Method: r.Method, PathAndQuery: r.RequestURI, Timestamp: strconv.FormatInt(time.Now().Unix(), 10),
				IdempotencyKey: r.Header.Get(signature.HeaderIdempotencyKey), RunID: r.Header.Get(signature.HeaderRunID),
				StepID: r.Header.Get(signature.HeaderStepID), BodySHA256: signature.BodyHash(body),
			}
			signed, _ := signature.Sign([]byte(harness.Secret), p)
			r.Header.Set(signature.HeaderTimestamp, p.Timestamp)
			r.Header.Set(signature.HeaderSignature, signed)
			h.ServeHTTP(w, r)
		})
	}
}

// notices are the arguments to check the shop's capability for notices, whose effect can happen any number of times.
func notices(origin string, more ...string) []string {
	return append([]string{
		"check-receiver", origin, "--project", filepath.Join("..", "docs", "example", "project.json"), "--capability", "notices.put",
		"--input", `{"orderId":"A-48213","text":"It is on its way."}`,
	}, more...)
}

var secretSet = map[string]string{harness.SecretEnv: harness.Secret}

// verdicts are the rules in the printed table.
func verdicts(out string) string {
	var b strings.Builder
	for _, line := range strings.Split(out, "\n") {
		if f := strings.Fields(line); len(f) > 1 && slices.Contains([]string{"HOLDS", "BROKEN", "NOT_TRIED"}, f[1]) {
			fmt.Fprintf(&b, "%s %s\n", f[0], f[1])
		}
	}
	return b.String()
}

const (
	signaturesHold = "refuses-unsigned HOLDS\nrefuses-wrong-signature HOLDS\nrefuses-changed-body HOLDS\nrefuses-changed-target HOLDS\nrefuses-old-timestamp HOLDS\nrefuses-future-timestamp HOLDS\n"
	repeatsHold    = "same-key-same-body HOLDS\nsame-key-other-body HOLDS\nslow-answer HOLDS\ntwins HOLDS\neffect-once HOLDS\n"
)

func TestCheckReceiverFindsOutWhatAReceiverDoes(t *testing.T) {
	t.Parallel()
	var keys atomic.Int64
	for name, c := range map[string]struct {
		around         func(http.Handler) http.Handler
		status         int
		want, conclude string
	}{
		"right": {nil, 0, "accepts-signed HOLDS\n" + signaturesHold + repeatsHold, "PROVEN to deduplicate"},
		"no deduplication": {
			resigned(func(r *http.Request) {
				r.Header.Set(signature.HeaderIdempotencyKey, fmt.Sprint("anew-", keys.Add(1)))
			}),
			1, "accepts-signed HOLDS\n" + strings.ReplaceAll(signaturesHold+repeatsHold, "HOLDS", "BROKEN"), "not proven to deduplicate",
		},
		"no signature check": {
			resigned(func(*http.Request) {}),
			1, "accepts-signed HOLDS\n" + strings.ReplaceAll(signaturesHold, "HOLDS", "BROKEN") + repeatsHold, "PROVEN to deduplicate",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := harness.Run(t, secretSet, notices(shopAround(t, c.around))...)
			if r.Status != c.status || !strings.Contains(r.Out, c.conclude) || strings.Contains(r.Out+r.Err, harness.Secret) {
				t.Errorf("%+v", r)
			}
			if diff := cmp.Diff(c.want, verdicts(r.Out)); diff != "" {
				t.Errorf("(-want +got):\n%s%s", diff, r.Out)
			}
		})
	}
}

func TestCheckReceiverSaysItInJSON(t *testing.T) {
	t.Parallel()
	r := harness.Run(t, secretSet, notices(shopAround(t, nil), "-o", "json")...)
	report, err := harness.Parse([]byte(r.Out))
	if err != nil || r.Status != 0 {
		t.Fatalf("%v %+v", err, r)
	}
	report.Is(t, "capability", "notices.put").Is(t, "proven", true).Is(t, "rules.0.name", "accepts-signed").Is(t, "rules.0.verdict", "HOLDS")
	if !strings.HasPrefix(report.At("runId").Text(), "check-") || report.At("rules.0.sentence").Text() == "" {
		t.Error(report)
	}
}

func TestCheckReceiverEndsWithWhatCameOfIt(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "input.json")
	if err := os.WriteFile(file, []byte(`{"orderId":"A-48213","text":"From a file."}`), 0o600); err != nil {
		t.Fatal(err)
	}
	origin := shopAround(t, nil)
	for name, c := range map[string]struct {
		settings map[string]string
		args     []string
		status   int
		says     string
	}{
		"an input from a file": {secretSet, notices(origin, "--other-input", "@"+file), 0, "up to 3 times"},
		"no secret":            {nil, notices(origin), 2, harness.SecretEnv + ": set it"},
		"another secret":       {map[string]string{harness.SecretEnv: "x", "OTHER": harness.Secret}, notices(origin, "--secret-env", "OTHER"), 0, ""},
		"not a sandbox":        {secretSet, notices("https://api.example.com"), 2, "--yes-this-is-a-sandbox"},
		"no origin":            {secretSet, notices(origin + "/v1"), 2, "the address"},
		"no such capability":   {secretSet, notices(origin, "--capability", "pay"), 2, "no capability pay"},
		"no such file":         {secretSet, notices(origin, "--other-input", "@none"), 2, "--other-input"},
		"no object":            {secretSet, notices(origin, "--other-input", "[]"), 2, "JSON object"},
		"two keys alike":       {secretSet, notices(origin, "--other-input", `{"a":1,"a":2}`), 2, "--other-input"},
		"nobody there":         {secretSet, notices("http://127.0.0.1:1"), 4, "can't be reached: connection refused"},
	} {
		if r := harness.Run(t, c.settings, c.args...); r.Status != c.status || !strings.Contains(r.Err, c.says) {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// TestCheckReceiverRecordsWhatItFound if the file has the service's definition.
func TestCheckReceiverRecordsWhatItFound(t *testing.T) {
	t.Parallel()
	origin := shopAround(t, nil)
	s := harness.Start(t, harness.Set("CONNECTION_ORIGINS", "http://127.0.0.1:9090,"+origin), harness.Set("SIGNING_ENV_ALLOWLIST", harness.SecretEnv))
	text, err := os.ReadFile(filepath.Join("..", "docs", "example", "project.json"))
	if err != nil {
		t.Fatal(err)
	}
	s.Admin.Put("/projects/default-marlow", string(text)).OK(t)
	made := s.Admin.Post("/tokens", doc{"name": "check", "roles": []string{"ADMIN"}}).OK(t)
	settings := map[string]string{harness.SecretEnv: harness.Secret, "COUNTERSIGN_URL": s.URL, "COUNTERSIGN_TOKEN": made.At("token").Text()}
	s.Keep(made.At("token").Text())
	check := func(project string) harness.Result {
		return harness.Run(t, settings, notices(origin, "--record", project)...)
	}
	if r := check("default-marlow"); r.Status != 0 || !strings.Contains(r.Err, "recorded at default-marlow, revision 1") {
		t.Fatalf("%+v", r)
	}
	p := s.Admin.Get("/projects/default-marlow").OK(t)
	p.Is(t, "conformance.0.capability", "notices.put").Is(t, "conformance.0.proven", true).Is(t, "conformance.0.target", origin)
	if r := check("default-none"); r.Status != 3 || !strings.Contains(r.Err, "not_found") || r.Out != "" {
		t.Errorf("%+v", r)
	}
	changed := strings.ReplaceAll(string(text), `"/orders/{orderId}/notice"`, `"/orders/{orderId}/notices"`)
	s.Admin.Put("/projects/default-marlow", strings.Replace(changed, `"name"`, `"expectedRevision":1,"name"`, 1)).OK(t)
	if r := check("default-marlow"); r.Status != 2 || !strings.Contains(r.Err, "revision 2 of default-marlow defines notices.put") || r.Out != "" {
		t.Errorf("%+v", r)
	}
}

// TestCheckReceiverTriesTheAPIsOwnWord on the sample shop, which signs, tells what became of a key and
// withdraws one; and on one that doesn't, of a project that says that it does.
func TestCheckReceiverTriesTheAPIsOwnWord(t *testing.T) {
	t.Parallel()
	key, err := receiver.ParseAnswerKey(answerSeed)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join("..", "docs", "example", "project.json"))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "project.json")
	signing := strings.Replace(string(text), "{", `{"answerKeys":["`+receiver.AnswerKeyText(key)+`"],"settlement":{"path":"/calls"},`, 1)
	if err := os.WriteFile(file, []byte(signing), 0o600); err != nil {
		t.Fatal(err)
	}
	for verdict, of := range map[string]sample.Config{"HOLDS": {Secret: []byte(harness.Secret), AnswerKey: key}, "BROKEN": {Secret: []byte(harness.Secret)}} {
		s, err := sample.StartShop(of)
		if err != nil {
			t.Fatal(err)
		}
		r := harness.Run(t, secretSet, append(notices(s.URL()), "--project", file)...)
		for _, rule := range []string{"signs-answers ", "tells-fate ", "withdraws "} {
			if !strings.Contains(verdicts(r.Out), rule+verdict+"\n") {
				t.Errorf("%s isn't %s:\n%s%s", rule, verdict, r.Out, r.Err)
			}
		}
		if (r.Status == 0) != (verdict == "HOLDS") {
			t.Errorf("%s: exit status %d", verdict, r.Status)
		}
		_ = s.Close() // nothing is kept of it
	}
}

func TestTheShopSaysWhatItsAnswerKeyIs(t *testing.T) {
	t.Parallel()
	for seed, says := range map[string]string{"": "SEED: set it to the seed of the shop's answer key, 64 hex digits", "5e": "64 hex digits"} {
		r := harness.Run(t, map[string]string{"SHOP_SECRET": harness.Secret, "SEED": seed}, "shop", "--listen", "127.0.0.1:0", "--answer-key-env", "SEED")
		if r.Status != 2 || !strings.Contains(r.Err, says) {
			t.Errorf("%q: %+v", seed, r)
		}
	}
}
