package conformance

import (
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/evidence/signature"
	"github.com/countersign/countersign/internal/rules/request"
)

// forgery is one way to falsify a call; the zero forgery changes nothing. The call sends a
// valid request of the capability, so a receiver that doesn't verify accepts it.
type forgery struct {
	rule    string // the rule by which a receiver refuses the call
	auth    int    // the way to authenticate that is wrong; the others are right
	without bool   // no signature, or no credential
	other   bool   // another secret
	shift   time.Duration
	signed  func(*signature.Parts) // changes what is signed, not what is sent
}

// far is well outside the window of ±5 minutes.
const far = 10 * time.Minute

// forgeries are the ones that a receiver with this authentication must refuse.
var forgeries = map[string][]forgery{
	countersign.AuthHMAC: {
		{rule: countersign.RuleRefusesUnsigned, without: true},
		{rule: countersign.RuleRefusesWrongSignature, other: true},
		{rule: countersign.RuleRefusesChangedBody, signed: func(p *signature.Parts) { p.BodySHA256 = signature.BodyHash([]byte(`{"other":true}`)) }},
		{rule: countersign.RuleRefusesChangedTarget, signed: func(p *signature.Parts) { p.PathAndQuery = otherTarget(p.PathAndQuery) }},
		{rule: countersign.RuleRefusesOldTimestamp, shift: -far},
		{rule: countersign.RuleRefusesFutureTimestamp, shift: far},
	},
	countersign.AuthBearer: credentialForgeries,
	countersign.AuthAPIKey: credentialForgeries,
	countersign.AuthBasic:  credentialForgeries,
}

// forgeriesOf are those of each way to authenticate.
func forgeriesOf(auths []countersign.Auth) (all []forgery) {
	for i, a := range auths {
		for _, f := range forgeries[a.Type] {
			f.auth = i
			all = append(all, f)
		}
	}
	return all
}

var credentialForgeries = []forgery{
	{rule: countersign.RuleRefusesNoCredential, without: true},
	{rule: countersign.RuleRefusesWrongCredential, other: true},
}

func otherTarget(target string) string {
	if strings.Contains(target, "?") {
		return target + "&other=1"
	}
	return target + "?other=1"
}

// otherSecret is a secret that no receiver has.
const otherSecret = "countersign-check-wrong-credential"

// message is one call to send.
type message struct {
	method, target, body string
	headers              http.Header
}

// message makes a call as the service does (contract 8), changed by the forgery. The step's
// id ends the idempotency key, so that each request can be found in the receiver's records.
func (c *Check) message(r countersign.Request, step string, f forgery) message {
	m := message{method: r.Method, target: strings.TrimPrefix(r.URL, c.target), body: request.BodyText(r), headers: http.Header{}}
	at := strconv.FormatInt(c.cfg.Now().Add(f.shift).Unix(), 10)
	parts := signature.Parts{
		Method: m.method, PathAndQuery: m.target, Timestamp: at, IdempotencyKey: c.cfg.RunID + "." + step,
		RunID: c.cfg.RunID, StepID: step, BodySHA256: signature.BodyHash([]byte(m.body)),
	}
	m.headers.Set("User-Agent", c.cfg.UserAgent)
	m.headers.Set("Accept", "application/json")
	m.headers.Set("Accept-Encoding", "identity")
	if m.body != "" {
		m.headers.Set("Content-Type", "application/json")
	}
	m.headers.Set(signature.HeaderIdempotencyKey, parts.IdempotencyKey)
	m.headers.Set(signature.HeaderRunID, parts.RunID)
	m.headers.Set(signature.HeaderStepID, parts.StepID)
	m.headers.Set(signature.HeaderTimestamp, at)
	for name, value := range c.cfg.Project.Headers {
		m.headers.Set(name, value)
	}
	for i, a := range c.auths {
		if i != f.auth {
			authenticate(m.headers, a, c.cfg.Secrets[i], parts, forgery{})
		} else if !f.without {
			authenticate(m.headers, a, c.cfg.Secrets[i], parts, f)
		}
	}
	return m
}

func authenticate(h http.Header, a countersign.Auth, secret string, parts signature.Parts, f forgery) {
	if f.other {
		secret = otherSecret
	}
	if f.signed != nil {
		f.signed(&parts)
	}
	switch a.Type {
	case countersign.AuthHMAC:
		value, err := signature.Sign([]byte(secret), parts)
		if err != nil { // impossible: New refuses an empty secret and a run id with line breaks
			panic("conformance: " + err.Error())
		}
		h.Set(signature.HeaderSignature, value)
	case countersign.AuthBearer:
		h.Set("Authorization", "Bearer "+secret)
	case countersign.AuthAPIKey:
		h.Set(a.HeaderName, secret)
	case countersign.AuthBasic:
		h.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(a.User+":"+secret)))
	}
}
