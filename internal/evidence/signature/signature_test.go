package signature

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestVector recomputes the published example with nothing but the standard
// library, and checks that our own functions agree with it.
func TestVector(t *testing.T) {
	v := Vector
	bodyHash := sha256.Sum256([]byte(v.Body))
	if got := hex.EncodeToString(bodyHash[:]); got != v.Parts.BodySHA256 || BodyHash([]byte(v.Body)) != got {
		t.Errorf("body hash %s", got)
	}
	mac := hmac.New(sha256.New, []byte(v.Secret))
	mac.Write([]byte(v.Canonical))
	if got := "sha256=" + hex.EncodeToString(mac.Sum(nil)); got != v.Signature {
		t.Errorf("signature %s", got)
	}
	if got, err := Canonical(v.Parts); err != nil || got != v.Canonical {
		t.Errorf("canonical %q, %v", got, err)
	}
	if got, err := Sign([]byte(v.Secret), v.Parts); err != nil || got != v.Signature {
		t.Errorf("signed %q, %v", got, err)
	}
	if err := Verify([]byte(v.Secret), v.Parts, v.Signature, time.Unix(1767225600, 0)); err != nil {
		t.Error(err)
	}
}

func TestTheHashOfNoBodyIsThatOfNoBytes(t *testing.T) {
	if got := BodyHash(nil); got != "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" {
		t.Error(got)
	}
}

// fields gives each signed part by name, to change one at a time.
func fields(p *Parts) map[string]*string {
	return map[string]*string{
		"method": &p.Method, "path": &p.PathAndQuery, "timestamp": &p.Timestamp, "key": &p.IdempotencyKey,
		"run": &p.RunID, "step": &p.StepID, "body": &p.BodySHA256,
	}
}

func TestLineBreaksAreRefused(t *testing.T) {
	for name := range fields(&Parts{}) {
		for _, bad := range []string{"\n", "\r", "a\nb", "a\r\nb"} {
			p := Vector.Parts
			*fields(&p)[name] = bad
			if _, err := Canonical(p); !errors.Is(err, ErrLineBreak) {
				t.Errorf("%s %q: %v", name, bad, err)
			}
			if _, err := Sign([]byte("s"), p); !errors.Is(err, ErrLineBreak) {
				t.Errorf("%s %q signed: %v", name, bad, err)
			}
		}
	}
}

func TestVerifyRefusesWhatWasChanged(t *testing.T) {
	now := time.Unix(1767225600, 0)
	for name := range fields(&Parts{}) {
		p := Vector.Parts
		*fields(&p)[name] += "1"
		if err := Verify([]byte(Vector.Secret), p, Vector.Signature, now); !errors.Is(err, ErrSignature) {
			t.Errorf("%s: %v", name, err)
		}
	}
	hexadecimal := strings.TrimPrefix(Vector.Signature, Scheme)
	for _, bad := range []string{"", hexadecimal, "sha256=", Scheme + strings.ToUpper(hexadecimal), Vector.Signature + "0", " " + Vector.Signature} {
		if err := Verify([]byte(Vector.Secret), Vector.Parts, bad, now); !errors.Is(err, ErrSignature) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if err := Verify([]byte("other"), Vector.Parts, Vector.Signature, now); !errors.Is(err, ErrSignature) {
		t.Error(err)
	}
}

func TestAnEmptySecretSignsNothing(t *testing.T) {
	if _, err := Sign(nil, Vector.Parts); !errors.Is(err, ErrNoSecret) {
		t.Error(err)
	}
	if err := Verify(nil, Vector.Parts, Vector.Signature, time.Unix(1767225600, 0)); !errors.Is(err, ErrNoSecret) {
		t.Error(err)
	}
}

// TestAnyOfTheSecretsFits, wherever it stands; an empty one beside them refuses all.
func TestAnyOfTheSecretsFits(t *testing.T) {
	now, right := time.Unix(1767225600, 0), []byte(Vector.Secret)
	for _, c := range []struct {
		secrets [][]byte
		want    error
	}{
		{[][]byte{right, []byte("other")}, nil},
		{[][]byte{[]byte("other"), right}, nil},
		{[][]byte{[]byte("other"), []byte("another")}, ErrSignature},
		{[][]byte{right, {}}, ErrNoSecret},
		{nil, ErrNoSecret},
	} {
		if err := VerifyAny(c.secrets, Vector.Parts, Vector.Signature, now, time.Minute); !errors.Is(err, c.want) {
			t.Errorf("%q: %v, want %v", c.secrets, err, c.want)
		}
	}
}

func TestTheWindowCanBeChosen(t *testing.T) {
	for late, ok := range map[time.Duration]bool{time.Minute: true, time.Minute + 1: false, -time.Minute: true, -time.Minute - 1: false} {
		err := VerifyAny([][]byte{[]byte(Vector.Secret)}, Vector.Parts, Vector.Signature, time.Unix(1767225600, 0).Add(late), time.Minute)
		if (err == nil) != ok || err != nil && !errors.Is(err, ErrTimestamp) {
			t.Errorf("%v late: %v", late, err)
		}
	}
}

func TestTheWindowIsFiveMinutesBothWays(t *testing.T) {
	sent := int64(1767225600)
	for offset, ok := range map[int64]bool{0: true, 300: true, -300: true, 301: false, -301: false, 1 << 40: false, -(1 << 33): false} {
		err := Verify([]byte(Vector.Secret), Vector.Parts, Vector.Signature, time.Unix(sent+offset, 0))
		if (err == nil) != ok || err != nil && !errors.Is(err, ErrTimestamp) {
			t.Errorf("%d s off: %v", offset, err)
		}
	}
}

// TestTimestampsAreUnixSeconds and nothing that only reads like them, even if the
// sender signed it.
func TestTimestampsAreUnixSeconds(t *testing.T) {
	now := time.Unix(1767225600, 0)
	for _, bad := range []string{"", "+1767225600", "01767225600", "1767225600.0", " 1767225600", "1767225600000", "9223372036854775807", "-9223372036854775808", "99999999999999999999", "2026-01-01T00:00:00Z"} {
		p := Vector.Parts
		p.Timestamp = bad
		signed, err := Sign([]byte("s"), p)
		if err != nil {
			t.Fatal(err)
		}
		if err := Verify([]byte("s"), p, signed, now); !errors.Is(err, ErrTimestamp) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// FuzzCanonical: two calls read the same only if they are the same, and what one
// signs the other verifies.
func FuzzCanonical(f *testing.F) {
	f.Add("POST", "/a?b=c", "1767225600", "run-1.s", "run-1", "s", "00", 3)
	f.Add("GET", "", "", "a\nb", "", "\r", "", 0)
	f.Fuzz(func(t *testing.T, method, path, timestamp, key, run, step, body string, cut int) {
		p := Parts{method, path, timestamp, key, run, step, body}
		text, err := Canonical(p)
		broken := strings.ContainsAny(method+path+timestamp+key+run+step+body, "\r\n")
		if (err != nil) != broken {
			t.Fatalf("%+v: %v", p, err)
		}
		if err != nil {
			return
		}
		split := strings.Split(text, "\n")
		if len(split) != 7 || (Parts{split[0], split[1], split[2], split[3], split[4], split[5], split[6]}) != p {
			t.Fatalf("%+v reads as %q", p, split)
		}
		shifted := p // the same letters, cut elsewhere
		joined := p.RunID + p.StepID
		at := max(0, min(cut, len(joined)))
		shifted.RunID, shifted.StepID = joined[:at], joined[at:]
		if other, err := Canonical(shifted); err == nil && (other == text) != (shifted == p) {
			t.Fatalf("%+v and %+v read the same", p, shifted)
		}
		signed, err := Sign([]byte("secret"), p)
		if err != nil {
			t.Fatal(err)
		}
		if seconds, err := strconv.ParseInt(timestamp, 10, 64); err == nil && strconv.FormatInt(seconds, 10) == timestamp {
			if err := Verify([]byte("secret"), p, signed, time.Unix(seconds, 0)); err != nil {
				t.Fatal(err)
			}
		}
	})
}
