package receiver_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/evidence/signature"
	"github.com/countersign/countersign/receiver"
)

// answerVectors is what the kit of each language must agree on, byte for byte.
type answerVectors struct {
	Seed      string            `json:"seed"`
	PublicKey string            `json:"publicKey"`
	KeyID     string            `json:"keyId"`
	Answers   []answerVector    `json:"answers"`
	Fates     []fateVector      `json:"fates"`
	Said      []statementVector `json:"statements"`
}

// answerVector is an answer to a request, the header that signs it, and whether that holds.
type answerVector struct {
	Name      string   `json:"name"`
	Key       string   `json:"idempotencyKey"`
	Timestamp string   `json:"timestamp"`
	Method    string   `json:"method"`
	Target    string   `json:"target"`
	Body      string   `json:"bodyBase64"`
	Status    int      `json:"status"`
	Answer    string   `json:"answerBase64"`
	At        int64    `json:"at"`
	Headers   []string `json:"headers"`
	Valid     bool     `json:"valid"`
}

// fateVector is what a Receiver with an answer key does with the handler's answer to a side
// effect.
type fateVector struct {
	Status int    `json:"status"`
	Kept   bool   `json:"kept"`
	Signed bool   `json:"signed"`
	State  string `json:"state"` // of the key afterwards, where the effect is elsewhere
}

// statementVector is what a memory knows of a key, in milliseconds, and the statement.
type statementVector struct {
	Name      string `json:"name"`
	Key       string `json:"key"`
	State     string `json:"state"`
	Status    int    `json:"status"`
	Body      string `json:"bodyBase64"`
	At        int64  `json:"at"`
	Since     int64  `json:"since"`
	Statement string `json:"statement"`
}

const vectorAt = 1767225603

func answerVectorOf(name string, change func(*answerVector)) answerVector {
	v := answerVector{
		Name: name, Key: "run-1.refund", Timestamp: "1767225600", Method: "POST", Target: "/refunds?notify=true&note=a%20b",
		Body: base64Of(`{"orderId":"A-48213","amount":249.00}`), Status: 201, Answer: base64Of(`{"id":"rf-1","status":"succeeded"}`), At: vectorAt, Valid: true,
	}
	change(&v)
	// By the standard library alone, so that the vectors don't repeat a mistake of the code.
	hash := func(text string) string {
		raw, _ := base64.StdEncoding.DecodeString(text)
		sum := sha256.Sum256(raw)
		return hex.EncodeToString(sum[:])
	}
	seed, _ := hex.DecodeString(answerSeed)
	lines := []string{"countersign-answer/1", v.Key, v.Timestamp, v.Method, v.Target, hash(v.Body), strconv.Itoa(v.Status), hash(v.Answer), strconv.FormatInt(v.At, 10)}
	signed := ed25519.Sign(ed25519.NewKeyFromSeed(seed), []byte(strings.Join(lines, "\n")))
	v.Headers = []string{"v1 " + strconv.FormatInt(v.At, 10) + " " + hex.EncodeToString(signed)}
	return v
}

func spoiledAnswer(name string, change func(*answerVector)) answerVector {
	v := answerVectorOf(name, func(*answerVector) {})
	change(&v)
	v.Valid = false
	return v
}

func answersOf() []answerVector {
	header := func(by func(string) []string) func(*answerVector) {
		return func(v *answerVector) { v.Headers = by(v.Headers[0]) }
	}
	return []answerVector{
		answerVectorOf("an answer with a body", func(*answerVector) {}),
		answerVectorOf("an answer without a body", func(v *answerVector) { v.Status, v.Answer = 204, "" }),
		answerVectorOf("a read", func(v *answerVector) { v.Method, v.Target, v.Body = "GET", "/orders/A-48213", "" }),
		answerVectorOf("a refusal", func(v *answerVector) { v.Status, v.Answer = 422, base64Of(`{"error":"limit"}`) }),
		answerVectorOf("a statement", func(v *answerVector) {
			v.Method, v.Target, v.Body, v.Key, v.Status = "GET", "/settlement/run-1.refund?sent=1767225600", "", "run-1.refund~settle-1", 200
			v.Answer = base64Of(`{"key":"run-1.refund","state":"UNSEEN","at":"2026-01-01T00:00:03.000Z","since":"2025-01-01T00:00:00.000Z"}`)
		}),
		answerVectorOf("bytes that are no text", func(v *answerVector) { v.Body, v.Answer = base64Of("\x00\xff\r\n"), base64Of("\xfe\x00") }),
		spoiledAnswer("changed: key", func(v *answerVector) { v.Key = "run-1.refund~settle-1" }),
		spoiledAnswer("changed: timestamp", func(v *answerVector) { v.Timestamp = "1767225601" }),
		spoiledAnswer("changed: method", func(v *answerVector) { v.Method = "PUT" }),
		spoiledAnswer("changed: target", func(v *answerVector) { v.Target = "/refunds" }),
		spoiledAnswer("changed: body of the request", func(v *answerVector) { v.Body = "" }),
		spoiledAnswer("changed: status", func(v *answerVector) { v.Status = 200 }),
		spoiledAnswer("changed: body of the answer", func(v *answerVector) { v.Answer = base64Of(`{"id":"rf-2","status":"succeeded"}`) }),
		spoiledAnswer("changed: seconds", header(func(h string) []string { return []string{strings.Replace(h, "1767225603", "1767225604", 1)} })),
		spoiledAnswer("no header", header(func(string) []string { return []string{} })),
		spoiledAnswer("the header twice", header(func(h string) []string { return []string{h, h} })),
		spoiledAnswer("another version", header(func(h string) []string { return []string{"v2" + h[2:]} })),
		spoiledAnswer("upper-case hex", header(func(h string) []string { return []string{"v1 " + strings.ToUpper(h[3:])} })),
		spoiledAnswer("a blank behind it", header(func(h string) []string { return []string{h + " "} })),
		spoiledAnswer("a line feed behind it", header(func(h string) []string { return []string{h + "\n"} })),
		spoiledAnswer("cut off", header(func(h string) []string { return []string{h[:len(h)-1]} })),
		spoiledAnswer("seconds with a zero before them", header(func(h string) []string { return []string{strings.Replace(h, "v1 ", "v1 0", 1)} })),
	}
}

func fates() []fateVector {
	list := []fateVector{}
	for _, status := range []int{200, 201, 202, 204, 301, 303, 400, 401, 403, 404, 408, 409, 410, 413, 422, 424, 429, 500, 502, 503, 504} {
		never := status == 400 || status == 401 || status == 408 || status == 413 || status >= 500
		v := fateVector{Status: status, Kept: status != 408 && status < 500, Signed: !never, State: "DONE"}
		if !v.Kept {
			v.State = "UNKNOWN"
		}
		list = append(list, v)
	}
	return list
}

func statements() []statementVector {
	const at, since = int64(1767225603007), int64(1735689600000)
	of := func(name, state string, status int, body, statement string) statementVector {
		return statementVector{name, "run-1.refund", state, status, base64Of(body), at, since,
			`{"key":"run-1.refund","state":"` + state + `"` + statement + `,"at":"2026-01-01T00:00:03.007Z","since":"2025-01-01T00:00:00.000Z"}`}
	}
	return []statementVector{
		of("done", "DONE", 201, `{"id":"rf-1","amount":249.00}`, `,"statusCode":201,"body":{"id":"rf-1","amount":249.00}`),
		of("done, byte for byte", "DONE", 200, " {\"b\": 1.0,\n\t\"a\":\"\\u00e9<>&\u2028\"}\r\n", ",\"statusCode\":200,\"body\": {\"b\": 1.0,\n\t\"a\":\"\\u00e9<>&\u2028\"}\r\n"),
		of("done, a number of many digits", "DONE", 200, strings.Repeat("9", 5000), `,"statusCode":200,"body":`+strings.Repeat("9", 5000)),
		of("done, null", "DONE", 200, "null", `,"statusCode":200,"body":null`),
		of("done without a body", "DONE", 204, "", `,"statusCode":204`),
		of("done, text", "DONE", 200, "größe\n\"\\/ <\x01\x1f\x7f\b\f\r\t\u2028", ",\"statusCode\":200,\"text\":\"größe\\n\\\"\\\\/ <\\u0001\\u001f\x7f\\b\\f\\r\\t\u2028\""),
		of("done, blanks", "DONE", 200, "  ", `,"statusCode":200,"text":"  "`),
		of("done, a byte order mark", "DONE", 200, "\ufeff{}", ",\"statusCode\":200,\"text\":\"\ufeff{}\""),
		of("done, no JSON", "DONE", 200, "NaN", `,"statusCode":200,"text":"NaN"`),
		of("done, JSON and more", "DONE", 200, "{} {}", `,"statusCode":200,"text":"{} {}"`),
		of("done, no UTF-8", "DONE", 200, "\"\xff\xfe\"", ",\"statusCode\":200,\"text\":\"\\\"\ufffd\ufffd\\\"\""),
		of("done, a refusal", "DONE", 422, `{"error":"limit"}`, `,"statusCode":422,"body":{"error":"limit"}`),
		of("in progress", "IN_PROGRESS", 0, "", ""),
		of("unknown", "UNKNOWN", 0, "", ""),
		of("unseen", "UNSEEN", 0, "", ""),
		of("withdrawn", "WITHDRAWN", 0, "", ""),
	}
}

var answerVectorFile = filepath.Join("testdata", "answer-vectors.json")

func TestAnswerVectorsAreTheGenerated(t *testing.T) {
	seed, _ := hex.DecodeString(answerSeed)
	public := ed25519.NewKeyFromSeed(seed).Public().(ed25519.PublicKey)
	id := sha256.Sum256(public)
	var want bytes.Buffer
	e := json.NewEncoder(&want)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(answerVectors{answerSeed, "ed25519:" + hex.EncodeToString(public), hex.EncodeToString(id[:]), answersOf(), fates(), statements()}); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(answerVectorFile, want.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(answerVectorFile)
	if err != nil || !bytes.Equal(got, want.Bytes()) {
		t.Errorf("%s is stale: go test ./receiver -update", answerVectorFile)
	}
}

func readAnswerVectors(t *testing.T) (list answerVectors) {
	t.Helper()
	text, err := os.ReadFile(answerVectorFile)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	return list
}

func TestEachAnswerVectorIsJudgedAsItSays(t *testing.T) {
	list := readAnswerVectors(t)
	private, err := receiver.ParseAnswerKey(list.Seed)
	if err != nil {
		t.Fatal(err)
	}
	public, err := signature.ParseAnswerKey(list.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range list.Answers {
		body, _ := base64.StdEncoding.DecodeString(v.Body)
		answer, _ := base64.StdEncoding.DecodeString(v.Answer)
		parts := signature.Answer{
			IdempotencyKey: v.Key, Timestamp: v.Timestamp, Method: v.Method, PathAndQuery: v.Target,
			BodySHA256: signature.BodyHash(body), Status: v.Status, AnswerSHA256: signature.BodyHash(answer),
		}
		by, err := signature.VerifyAnswer([]ed25519.PublicKey{make([]byte, 32), public}, parts, v.Headers)
		if v.Valid != (err == nil) || err == nil && (by.KeyID != list.KeyID || by.At.Unix() != v.At) {
			t.Errorf("%s: %+v, %v", v.Name, by, err)
		}
		if signed, err := signature.SignAnswer(private, parts, time.Unix(v.At, 0)); v.Valid && (err != nil || signed != v.Headers[0]) {
			t.Errorf("%s: signed %s, %v", v.Name, signed, err)
		}
	}
	broken := signature.Answer{IdempotencyKey: "a\nb"}
	if _, err := signature.SignAnswer(private, broken, time.Unix(vectorAt, 0)); !errors.Is(err, signature.ErrLineBreak) {
		t.Error(err)
	}
}

func TestEachStatementVectorIsWrittenAsItSays(t *testing.T) {
	for _, v := range readAnswerVectors(t).Said {
		body, _ := base64.StdEncoding.DecodeString(v.Body)
		s := receiver.Statement{Key: v.Key, State: receiver.Known(v.State), Answer: receiver.Answer{Status: v.Status, Body: body}, At: time.UnixMilli(v.At), Since: time.UnixMilli(v.Since)}
		if got := string(s.JSON()); got != v.Statement {
			t.Errorf("%s: %s\nnot %s", v.Name, got, v.Statement)
		}
		if !json.Valid([]byte(v.Statement)) {
			t.Errorf("%s is no JSON", v.Name)
		}
	}
}
