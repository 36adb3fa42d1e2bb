package issuer

import (
	"encoding/base64"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Bounds of a token.
const (
	MaxToken = 8 << 10
	maxLife  = 24 * time.Hour
	skew     = 60 * time.Second // between the issuer's clock and ours
)

// Token is what an accepted token says.
type Token struct {
	Issuer    string
	Tenant    string
	ExpiresAt time.Time         // when it is refused
	Subject   string            // its sub
	Email     string            // only where the issuer has verified it
	Texts     map[string]string // its claims that are texts, by name; act.sub among them
}

// members are those of a JSON object, by their exact names.
type members map[string]jsontext.Value

// parsed is a token of which nothing is verified yet.
type parsed struct {
	header, claims members
	signed         string // what its signature is over
	signature      []byte
}

// parse takes a token apart. The three parts are base64url in the one form that it has, and
// two of them objects without members of the same name.
func parse(raw string) (p parsed, err error) {
	if len(raw) > MaxToken {
		return p, refuse("size", "it has %d bytes; %d are the most", len(raw), MaxToken)
	}
	parts := strings.Split(raw, ".")
	if len(parts) != 3 {
		return p, refuse("form", "it has %d parts; a signed token has three", len(parts))
	}
	if p.header, err = object("header", parts[0]); err != nil {
		return p, err
	}
	if p.claims, err = object("claims", parts[1]); err != nil {
		return p, err
	}
	if p.signature, err = plain(parts[2]); err != nil {
		return p, refuse("signature", "it is no base64url")
	}
	p.signed = raw[:len(parts[0])+1+len(parts[1])]
	return p, nil
}

func object(what, part string) (m members, err error) {
	text, err := plain(part)
	if err != nil {
		return nil, refuse(what, "it is no base64url")
	}
	if json.Unmarshal(text, &m) != nil || m == nil { // v2: no member twice, valid UTF-8, nothing behind it
		return nil, refuse(what, "it is no JSON object with each member once")
	}
	return m, nil
}

// plain decodes base64url without padding, line feeds or bits that mean nothing.
func plain(text string) ([]byte, error) {
	if strings.ContainsAny(text, "\r\n") {
		return nil, base64.CorruptInputError(0)
	}
	return base64.RawURLEncoding.Strict().DecodeString(text)
}

// text is a member that is a text; false for any other.
func (m members) text(name string) (string, bool) { return textOf(m[name]) }

func textOf(v jsontext.Value) (text string, ok bool) {
	if v.Kind() != '"' || json.Unmarshal(v, &text) != nil {
		return "", false
	}
	return text, true
}

// moment is a member that is a NumericDate, rounded down to seconds.
func (m members) moment(name string) (t time.Time, is bool, err error) {
	v, is := m[name]
	if !is {
		return t, false, nil
	}
	const longest, latest = 32, 1e11
	seconds, failed := strconv.ParseFloat(string(v), 64)
	if v.Kind() != '0' || len(v) > longest || failed != nil || math.Abs(seconds) > latest {
		return t, true, refuse(name, "it is no time as a number of seconds")
	}
	return time.Unix(int64(math.Floor(seconds)), 0).UTC(), true, nil
}

// checkHeader gives the algorithm and the key's id. What a header asks for besides, nobody here
// understands.
func (p parsed) checkHeader() (alg, kid string, err error) {
	for _, name := range []string{"crit", "b64", "enc", "zip"} {
		if _, is := p.header[name]; is {
			return "", "", refuse(name, "a token with it is not taken")
		}
	}
	if alg, _ = p.header.text("alg"); !slices.Contains(algorithms, alg) {
		return "", "", refuse("alg", "%.40q; taken are %s", alg, strings.Join(algorithms, ", "))
	}
	if _, is := p.header["typ"]; is {
		if typ, _ := p.header.text("typ"); !strings.EqualFold(typ, "JWT") && !strings.EqualFold(typ, "at+jwt") {
			return "", "", refuse("typ", "%.40q is no access token; taken are JWT and at+jwt", typ)
		}
	}
	if _, is := p.header["kid"]; is {
		if kid, _ = p.header.text("kid"); kid == "" {
			return "", "", refuse("kid", "it is no text")
		}
	}
	return alg, kid, nil
}

// checkTimes gives when the token is refused.
func (p parsed) checkTimes(now time.Time) (time.Time, error) {
	exp, has, err := p.claims.moment("exp")
	switch {
	case err != nil:
		return exp, err
	case !has:
		return exp, refuse("exp", "it has none")
	}
	ends := exp.Add(skew)
	if !now.Before(ends) {
		return ends, refuse("exp", "it ended at %s", exp.Format(time.RFC3339))
	}
	if from, has, err := p.claims.moment("nbf"); err != nil {
		return ends, err
	} else if has && now.Add(skew).Before(from) {
		return ends, refuse("nbf", "it begins at %s", from.Format(time.RFC3339))
	}
	issued, has, err := p.claims.moment("iat")
	switch {
	case err != nil:
		return ends, err
	case has && now.Add(skew).Before(issued):
		return ends, refuse("iat", "it is of %s, which is still to come", issued.Format(time.RFC3339))
	case has && exp.Sub(issued) > maxLife:
		return ends, refuse("exp", "it is good for more than %d hours", int(maxLife.Hours()))
	case !has && exp.Sub(now) > maxLife+skew:
		return ends, refuse("exp", "it is good for more than %d hours, from now, since it has no iat", int(maxLife.Hours()))
	}
	return ends, nil
}

// checkAudience wants the service itself, or the door at which the token is shown. It compares
// exactly: no prefix, no other case, no slash at the end.
func (p parsed) checkAudience(resource, door string) error {
	list, ok := p.claims.texts("aud")
	switch {
	case !ok:
		return refuse("aud", "it is neither a text nor a list of texts")
	case slices.Contains(list, resource), door != "" && slices.Contains(list, resource+door):
		return nil
	}
	for _, aud := range list {
		if strings.HasPrefix(aud, resource+"/mcp/agents/") {
			return refuse("aud", "%.200q is good at that door alone", aud)
		}
	}
	return refuse("aud", "it has no %s", resource)
}

// texts is a member that is a text or a list of texts; false for any other.
func (m members) texts(name string) (list []string, ok bool) {
	v := m[name]
	if text, is := textOf(v); is {
		return []string{text}, true
	}
	var items []jsontext.Value
	if v.Kind() != '[' || json.Unmarshal(v, &items) != nil {
		return nil, false
	}
	for _, item := range items {
		text, is := textOf(item)
		if !is {
			return nil, false
		}
		list = append(list, text)
	}
	return list, true
}

// entryOf is the one entry that the token belongs to.
func (p parsed) entryOf(entries []Entry) (found Entry, err error) {
	n := 0
	for _, e := range entries {
		has, _ := p.claims.texts(e.Claim)
		if e.Claim == "" || slices.Contains(has, e.Value) {
			found = e
			n++
		}
	}
	switch n {
	case 0:
		return found, refuse("tenant", "its claims are those of no listed tenant")
	case 1:
		return found, nil
	}
	return found, refuse("tenant", "its claims are those of %d listed tenants", n)
}

// said is what the claims say, once they are verified.
func (p parsed) said() (t Token) {
	t.Texts = map[string]string{}
	for name, v := range p.claims {
		if text, is := textOf(v); is {
			t.Texts[name] = text
		}
	}
	delete(t.Texts, actor) // a claim of that very name is not the actor's
	var act members
	if v := p.claims["act"]; v.Kind() == '{' && json.Unmarshal(v, &act) == nil {
		if sub, is := act.text("sub"); is {
			t.Texts[actor] = sub
		}
	}
	t.Subject = t.Texts["sub"]
	if verified := p.claims["email_verified"]; string(verified) == "true" {
		t.Email = t.Texts["email"]
	}
	return t
}

// actor is the name of the claim that says who acts for the subject (RFC 8693).
const actor = "act.sub"
