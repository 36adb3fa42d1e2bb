package receiver_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strings"
)

const (
	newSecret = "vector-secret-of-2026"
	oldSecret = "vector-secret-of-2025"
	sentAt    = 1767225600 // 2026-01-01T00:00:00Z
)

const (
	keyHeader       = "Idempotency-Key"
	runHeader       = "X-Runtime-Run-Id"
	stepHeader      = "X-Runtime-Step-Id"
	timeHeader      = "X-Runtime-Timestamp"
	signatureHeader = "X-Runtime-Signature"
)

// sample is a call before it is signed.
type sample struct {
	method, target, key, run, step, at string
	body                               []byte
	secret                             string
}

func refund() sample {
	return sample{"POST", "/refunds?notify=true&note=a%20b", "run-1.refund", "run-1", "refund", "1767225600", []byte(`{"orderId":"A-48213","amount":249.00}`), newSecret}
}

// signed makes a vector of the call. It computes the signature with the standard library
// alone, so that the vectors don't repeat a mistake of the code that they test.
func (s sample) signed() vector {
	sum := sha256.Sum256(s.body)
	mac := hmac.New(sha256.New, []byte(s.secret))
	mac.Write([]byte(strings.Join([]string{s.method, s.target, s.at, s.key, s.run, s.step, hex.EncodeToString(sum[:])}, "\n")))
	return vector{
		Secrets: []string{newSecret}, Method: s.method, Target: s.target, Now: sentAt, Body: base64.StdEncoding.EncodeToString(s.body),
		Headers: map[string]any{
			keyHeader: s.key, runHeader: s.run, stepHeader: s.step, timeHeader: s.at,
			signatureHeader: "sha256=" + hex.EncodeToString(mac.Sum(nil)),
		},
	}
}

// vectors returns all vectors. Each is a valid call with one change, made before it is signed
// (as) or after (spoiled).
func vectors() []vector {
	var list []vector
	for _, group := range [][]vector{accepted(), rotated(), changed(), badSignatures(), timed(), missing(), broken(), ordered()} {
		list = append(list, group...)
	}
	return list
}

func as(name, reason string, change func(*sample)) vector {
	s := refund()
	change(&s)
	v := s.signed()
	v.Name, v.Reason, v.Valid = name, reason, reason == ""
	return v
}

func spoiled(name, reason string, change func(*vector)) vector {
	v := refund().signed()
	change(&v)
	v.Name, v.Reason, v.Valid = name, reason, reason == ""
	return v
}

func base64Of(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

func accepted() []vector {
	return []vector{
		as("a call with a body", "", func(*sample) {}),
		as("a read without a body", "", func(s *sample) { s.method, s.target, s.body = "GET", "/orders/A-48213", nil }),
		as("a side effect with an empty body", "", func(s *sample) { s.body = nil }),
		as("the root as target", "", func(s *sample) { s.target = "/" }),
		as("a target with an empty query", "", func(s *sample) { s.target = "/refunds?" }),
		as("escapes in the target stay as they are", "", func(s *sample) { s.target = "/orders/a%2Fb%20c/notice?text=%C3%A9+%26" }),
		as("lower-case escapes in the target stay as they are", "", func(s *sample) { s.target = "/orders/a%2fb" }),
		as("dots and slashes in the target stay as they are", "", func(s *sample) { s.target = "/orders/../orders//A-1/./notice" }),
		as("the query keeps its order and repeats", "", func(s *sample) { s.target = "/orders?b=2&a=1&b=1" }),
		as("unicode in the body", "", func(s *sample) { s.body = []byte(`{"reason":"größe 漢字 🙂"}`) }),
		as("a body that is not UTF-8", "", func(s *sample) { s.body = []byte{0x00, 0xff, 0xfe, 0x0d, 0x0a, 0x80, 0xc3, 0x28} }),
		as("a body with line breaks and blanks around", "", func(s *sample) { s.body = []byte("\r\n {\"a\":\t1}\r\n\n") }),
		as("a body of 16 KiB", "", func(s *sample) { s.body = bytes.Repeat([]byte("0123456789abcdef"), 1024) }),
		as("a call with PUT", "", func(s *sample) { s.method = "PUT" }),
		as("a call with DELETE", "", func(s *sample) { s.method, s.body = "DELETE", nil }),
		spoiled("header names in lower case", "", lowerNames),
		spoiled("headers of others beside them", "", func(v *vector) {
			v.Headers["Content-Type"], v.Headers["X-Request-Id"] = "application/json", []string{"1", "2"}
		}),
	}
}

func lowerNames(v *vector) {
	lower := map[string]any{}
	for name, value := range v.Headers {
		lower[strings.ToLower(name)] = value
	}
	v.Headers = lower
}

func rotated() []vector {
	both := []string{newSecret, oldSecret}
	signedWith := func(name, secret string, reason string, accepted ...string) vector {
		v := as(name, reason, func(s *sample) { s.secret = secret })
		v.Secrets = accepted
		return v
	}
	long := strings.Repeat("a secret longer than one block of the hash ", 4)
	return []vector{
		signedWith("rotation: signed with the new secret", newSecret, "", both...),
		signedWith("rotation: signed with the old secret", oldSecret, "", both...),
		signedWith("rotation: signed with neither", "vector-secret-of-2024", "signature", both...),
		signedWith("rotation is over: signed with the old secret", oldSecret, "signature", newSecret),
		signedWith("a secret with unicode and blanks", " geheim größe ", "", " geheim größe "),
		signedWith("a secret is not trimmed", "secret", "signature", "secret\n"),
		signedWith("a secret longer than a hash block", long, "", long),
		signedWith("no secret at all", newSecret, "no_secret", []string{}...),
		signedWith("an empty secret", "", "no_secret", ""),
		signedWith("an empty secret beside a good one", newSecret, "no_secret", newSecret, ""),
	}
}

func changed() []vector {
	const reason = "signature"
	header := func(name, value string) func(*vector) { return func(v *vector) { v.Headers[name] = value } }
	return []vector{
		spoiled("changed: method", reason, func(v *vector) { v.Method = "PUT" }),
		spoiled("changed: case of the method", reason, func(v *vector) { v.Method = "post" }),
		spoiled("changed: path", reason, func(v *vector) { v.Target = "/refunds/?notify=true&note=a%20b" }),
		spoiled("changed: value in the query", reason, func(v *vector) { v.Target = "/refunds?notify=false&note=a%20b" }),
		spoiled("changed: order of the query", reason, func(v *vector) { v.Target = "/refunds?note=a%20b&notify=true" }),
		spoiled("changed: escapes of the target decoded", reason, func(v *vector) { v.Target = "/refunds?notify=true&note=a b" }),
		spoiled("changed: another escape of the same", reason, func(v *vector) { v.Target = "/refunds?notify=true&note=a+b" }),
		spoiled("changed: query left out", reason, func(v *vector) { v.Target = "/refunds" }),
		spoiled("changed: origin before the path", reason, func(v *vector) { v.Target = "http://shop.example" + v.Target }),
		spoiled("changed: timestamp", reason, header(timeHeader, "1767225601")),
		spoiled("changed: idempotency key", reason, header(keyHeader, "run-1.refund2")),
		spoiled("changed: run id", reason, header(runHeader, "run-2")),
		spoiled("changed: step id", reason, header(stepHeader, "refunds")),
		spoiled("changed: run id and step id swapped", reason, func(v *vector) { v.Headers[runHeader], v.Headers[stepHeader] = "refund", "run-1" }),
		spoiled("changed: case of the step id", reason, header(stepHeader, "Refund")),
		spoiled("changed: one byte of the body", reason, func(v *vector) { v.Body = base64Of(`{"orderId":"A-48213","amount":249.01}`) }),
		spoiled("changed: body encoded anew", reason, func(v *vector) { v.Body = base64Of(`{"orderId":"A-48213","amount":249}`) }),
		spoiled("changed: line feed after the body", reason, func(v *vector) { v.Body = base64Of(string(refund().body) + "\n") }),
		spoiled("changed: body left out", reason, func(v *vector) { v.Body = "" }),
		spoiled("blanks around the key are not trimmed", reason, header(keyHeader, " run-1.refund ")),
	}
}

func badSignatures() []vector {
	const reason = "signature"
	replaced := func(name string, by func(hexadecimal string) string) vector {
		return spoiled(name, reason, func(v *vector) {
			hexadecimal := strings.TrimPrefix(v.Headers[signatureHeader].(string), "sha256=")
			v.Headers[signatureHeader] = by(hexadecimal)
		})
	}
	return []vector{
		replaced("signature in upper-case hex", func(h string) string { return "sha256=" + strings.ToUpper(h) }),
		replaced("signature without scheme", func(h string) string { return h }),
		replaced("signature with the scheme in upper case", func(h string) string { return "SHA256=" + h }),
		replaced("signature with another scheme", func(h string) string { return "sha512=" + h }),
		replaced("signature that is cut off", func(h string) string { return "sha256=" + h[:63] }),
		replaced("signature with more behind it", func(h string) string { return "sha256=" + h + "00" }),
		replaced("signature of no digits", func(string) string { return "sha256=" }),
		replaced("signature that is not hex", func(h string) string { return "sha256=" + strings.Repeat("z", len(h)) }),
		replaced("signature with a blank before it", func(h string) string { return " sha256=" + h }),
		replaced("two signatures in one header", func(h string) string { return "sha256=" + h + ",sha256=" + h }),
		replaced("signature in base64", func(h string) string {
			sum, _ := hex.DecodeString(h) // h was made by signed, so it is hex
			return "sha256=" + base64.StdEncoding.EncodeToString(sum)
		}),
	}
}
