package receiver_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/countersign/countersign/receiver"
)

var update = flag.Bool("update", false, "write testdata/signature-vectors.json anew")

var vectorFile = filepath.Join("testdata", "signature-vectors.json")

// vector is one request, and the result that the receiver kit of each language must give for
// it. The value of a header is a string, or a list of strings for a repeated header.
type vector struct {
	Name    string         `json:"name"`
	Secrets []string       `json:"secrets"`
	Method  string         `json:"method"`
	Target  string         `json:"target"`
	Headers map[string]any `json:"headers"`
	Body    string         `json:"bodyBase64"`
	Now     int64          `json:"now"`
	Valid   bool           `json:"valid"`
	Reason  string         `json:"reason"`
}

func (v vector) request(t *testing.T) (*http.Request, []byte) {
	t.Helper()
	body, err := base64.StdEncoding.DecodeString(v.Body)
	if err != nil {
		t.Fatal(err)
	}
	r := &http.Request{Method: v.Method, RequestURI: v.Target, Header: http.Header{}}
	for name, value := range v.Headers {
		switch value := value.(type) {
		case string:
			r.Header.Add(name, value)
		case []any:
			for _, each := range value {
				r.Header.Add(name, each.(string))
			}
		default:
			t.Fatalf("header %s is %T", name, value)
		}
	}
	return r, body
}

func (v vector) verifier() receiver.Verifier {
	secrets := make([][]byte, len(v.Secrets))
	for i, s := range v.Secrets {
		secrets[i] = []byte(s)
	}
	return receiver.Verifier{Secrets: secrets, Now: func() time.Time { return time.Unix(v.Now, 0) }}
}

func readVectors(t *testing.T) (list []vector) {
	t.Helper()
	text, err := os.ReadFile(vectorFile)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	return list
}

// TestVectorsAreTheGenerated checks that the file has exactly the vectors generated from the
// cases, so that it is not edited by hand.
func TestVectorsAreTheGenerated(t *testing.T) {
	var want bytes.Buffer
	e := json.NewEncoder(&want)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(vectors()); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(vectorFile, want.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(vectorFile)
	if err != nil || !bytes.Equal(got, want.Bytes()) {
		t.Errorf("%s is stale: go test ./receiver -update", vectorFile)
	}
}

func TestEachVectorIsJudgedAsItSays(t *testing.T) {
	seen := map[string]int{}
	for _, v := range readVectors(t) {
		t.Run(v.Name, func(t *testing.T) {
			r, body := v.request(t)
			call, err := v.verifier().Verify(r, body)
			if got := reasonOf(t, err); got != v.Reason || v.Valid != (err == nil) {
				t.Errorf("got %q (%v), want %q", got, err, v.Reason)
			}
			if v.Valid && (call.Method != v.Method || call.Target != v.Target || call.StepID != r.Header.Get("X-Runtime-Step-Id")) {
				t.Errorf("the call is %+v", call)
			}
		})
		seen[v.Reason]++
	}
	for _, reason := range []string{"", "no_secret", "missing_header", "line_break", "timestamp", "signature"} {
		if seen[reason] < 3 {
			t.Errorf("only %d vectors with reason %q", seen[reason], reason)
		}
	}
}

func reasonOf(t *testing.T, err error) string {
	t.Helper()
	var refused *receiver.RefusedError
	if err != nil && !errors.As(err, &refused) {
		t.Fatalf("%T: %v", err, err)
	}
	if refused == nil {
		return ""
	}
	return string(refused.Reason)
}
