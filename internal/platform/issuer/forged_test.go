package issuer_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/platform/issuer"
	"github.com/countersign/countersign/internal/testing/issuertest"
)

const (
	address  = "https://id.example.com/realms/a"
	resource = "https://cs.example.com"
	door     = "/mcp/agents/agt-1"
)

var noon = time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)

// made is a token that is wrong in one way.
type made struct {
	check  string // that fails; "" for a good one
	header map[string]any
	claims map[string]any
	raw    string // instead
}

func TestForgedTokensAreRefusedByTheCheckThatTheyFail(t *testing.T) {
	t.Parallel()
	b := newBed(t, "RS256", "PS256", "ES256", "EdDSA")
	es, rs := b.keys["ES256"], b.keys["RS256"]
	small := issuertest.Small(t, 1024, "small")
	b.also(small.Public(), map[string]any{"kty": "oct", "kid": "oct", "k": "c2VjcmV0"}, map[string]any{"kty": "OKP", "crv": "Ed25519", "kid": "order", "x": issuertest.Encode(append([]byte{1}, make([]byte, 31)...))})
	claims := func(more map[string]any) map[string]any { return issuertest.Claims(address, resource, noon, more) }
	with := func(more map[string]any) map[string]any {
		h := es.Header()
		maps.Copy(h, more)
		maps.DeleteFunc(h, func(_ string, v any) bool { return v == nil })
		return h
	}
	good := es.Sign(t, es.Header(), claims(nil))
	head, rest, _ := strings.Cut(good, ".")
	body, signature, _ := strings.Cut(rest, ".")
	public, err := json.Marshal(rs.Public())
	if err != nil {
		t.Fatal(err)
	}
	for name, m := range map[string]made{
		"good":                      {},
		"good, as JWT":              {header: with(map[string]any{"typ": "JWT"})},
		"good, without typ":         {header: with(map[string]any{"typ": nil})},
		"good, without kid":         {header: with(map[string]any{"kid": nil})},
		"good, for several":         {claims: claims(map[string]any{"aud": []string{"https://other.example", resource}})},
		"good, for its door":        {claims: claims(map[string]any{"aud": resource + door})},
		"good, a minute over":       {claims: claims(map[string]any{"iat": noon.Add(-time.Hour).Unix(), "exp": noon.Add(-59 * time.Second).Unix()})},
		"good for a day":            {claims: claims(map[string]any{"exp": noon.Add(24 * time.Hour).Unix()})},
		"good for a day, no iat":    {claims: claims(map[string]any{"iat": nil, "exp": noon.Add(24 * time.Hour).Unix()})},
		"good, times with fraction": {claims: claims(map[string]any{"exp": json.Number("1795867500.75")})},

		"alg none":                    {check: "alg", raw: issuertest.Encode([]byte(`{"alg":"none"}`)) + "." + body + "."},
		"alg none, signed":            {check: "alg", header: with(map[string]any{"alg": "none"})},
		"alg None":                    {check: "alg", header: with(map[string]any{"alg": "None"})},
		"alg missing":                 {check: "alg", header: with(map[string]any{"alg": nil})},
		"alg of a number":             {check: "alg", header: with(map[string]any{"alg": 256})},
		"alg es256":                   {check: "alg", header: with(map[string]any{"alg": "es256"})},
		"alg ES384":                   {check: "alg", header: with(map[string]any{"alg": "ES384"})},
		"alg RS384":                   {check: "alg", header: with(map[string]any{"alg": "RS384"})},
		"HMAC with the public key":    {check: "alg", raw: issuertest.HMAC(public, map[string]any{"alg": "HS256", "kid": rs.ID}, claims(nil))},
		"HMAC with a published":       {check: "alg", raw: issuertest.HMAC([]byte("secret"), map[string]any{"alg": "HS256", "kid": "oct"}, claims(nil))},
		"HMAC said to be RS256":       {check: "signature", raw: issuertest.HMAC(public, map[string]any{"alg": "RS256", "kid": rs.ID}, claims(nil))},
		"no signature":                {check: "signature", raw: head + "." + body + "."},
		"another signature":           {check: "signature", raw: head + "." + body + "." + issuertest.Encode(make([]byte, 64))},
		"an ECDSA signature in DER":   {check: "signature", raw: head + "." + body + "." + issuertest.Encode(append([]byte{0x30, 0x44}, make([]byte, 68)...))},
		"other claims":                {check: "signature", raw: head + "." + issuertest.Encode([]byte(`{"iss":"`+address+`","aud":"`+resource+`","exp":1795867800,"sub":"admin"}`)) + "." + signature},
		"another's key":               {check: "signature", raw: issuertest.NewKey(t, "ES256", es.ID).Sign(t, es.Header(), claims(nil))},
		"another's key, without kid":  {check: "signature", raw: issuertest.NewKey(t, "ES256", "").Sign(t, with(map[string]any{"kid": nil}), claims(nil))},
		"a key of another algorithm":  {check: "kid", header: with(map[string]any{"kid": rs.ID})},
		"a key that is not published": {check: "kid", header: with(map[string]any{"kid": "../../keys"})},
		"kid of a list":               {check: "kid", header: with(map[string]any{"kid": []string{es.ID}})},
		"kid empty":                   {check: "kid", header: with(map[string]any{"kid": ""})},
		"kid null":                    {check: "kid", header: with(map[string]any{"kid": json.RawMessage("null")})},
		"its own key":                 {check: "kid", raw: small.Sign(t, map[string]any{"alg": "RS256", "kid": "mine", "jwk": small.Public()}, claims(nil))},
		"a small RSA key":             {check: "kid", raw: small.Sign(t, small.Header(), claims(nil))},
		"a small-order key":           {check: "kid", raw: issuertest.Encode([]byte(`{"alg":"EdDSA","kid":"order"}`)) + "." + body + "." + issuertest.Encode(append([]byte{1}, make([]byte, 63)...))},
		"crit":                        {check: "crit", header: with(map[string]any{"crit": []string{"exp"}})},
		"crit empty":                  {check: "crit", header: with(map[string]any{"crit": []string{}})},
		"b64 false":                   {check: "crit", header: with(map[string]any{"crit": []string{"b64"}, "b64": false})},
		"b64 without crit":            {check: "b64", header: with(map[string]any{"b64": true})},
		"encrypted":                   {check: "enc", header: with(map[string]any{"enc": "A256GCM"})},
		"compressed":                  {check: "zip", header: with(map[string]any{"zip": "DEF"})},
		"typ of an ID token":          {check: "typ", header: with(map[string]any{"typ": "id+jwt"})},
		"typ of a logout token":       {check: "typ", header: with(map[string]any{"typ": "logout+jwt"})},
		"typ null":                    {check: "typ", header: with(map[string]any{"typ": json.RawMessage("null")})},
		"typ with spaces":             {check: "typ", header: with(map[string]any{"typ": " JWT"})},
		"an ID token":                 {check: "at_hash", claims: claims(map[string]any{"at_hash": "x"})},
		"alg twice":                   {check: "header", raw: issuertest.Encode([]byte(`{"alg":"none","alg":"ES256"}`)) + "." + body + "." + signature},
		"alg in two cases":            {check: "alg", raw: issuertest.Encode([]byte(`{"ALG":"ES256"}`)) + "." + body + "." + signature},
		"a header that is a list":     {check: "header", raw: issuertest.Encode([]byte(`[]`)) + "." + body + "." + signature},
		"a header that is null":       {check: "header", raw: issuertest.Encode([]byte(`null`)) + "." + body + "." + signature},
		"data behind the header":      {check: "header", raw: issuertest.Encode([]byte(`{"alg":"ES256"}{}`)) + "." + body + "." + signature},
		"padded":                      {check: "header", raw: head + "=." + body + "." + signature},
		"standard base64":             {check: "header", raw: "+" + head + "." + body + "." + signature},
		"bits that mean nothing":      {check: "header", raw: "e31." + body + "." + signature},
		"a signature with other bits": {check: "signature", raw: head + "." + body + "." + flipped(signature)},
		"a line feed":                 {check: "claims", raw: head + "." + body[:8] + "\n" + body[8:] + "." + signature},
		"two parts":                   {check: "form", raw: head + "." + body},
		"five parts":                  {check: "form", raw: good + ".a.b"},
		"over 8 KiB":                  {check: "size", claims: claims(map[string]any{"x": strings.Repeat("x", 8<<10)})},
		"exp twice":                   {check: "claims", raw: es.Sign(t, es.Header(), `{"iss":"`+address+`","aud":"`+resource+`","exp":1,"exp":1795867800}`)},
		"aud twice":                   {check: "claims", raw: es.Sign(t, es.Header(), `{"iss":"`+address+`","aud":"https://other.example","aud":"`+resource+`","exp":1795867800}`)},
		"a member below twice":        {check: "claims", raw: es.Sign(t, es.Header(), `{"iss":"`+address+`","aud":"`+resource+`","exp":1795867800,"act":{"sub":"a","sub":"b"}}`)},
		"data behind the claims":      {check: "claims", raw: es.Sign(t, es.Header(), `{"iss":"`+address+`","aud":"`+resource+`","exp":1795867800} x`)},
		"no UTF-8":                    {check: "claims", raw: es.Sign(t, es.Header(), "{\"iss\":\""+address+"\",\"x\":\"\xff\"}")},
		"a lone surrogate":            {check: "claims", raw: es.Sign(t, es.Header(), `{"iss":"`+address+`","x":"\ud800"}`)},
		"a token within":              {check: "claims", raw: es.Sign(t, with(map[string]any{"cty": "JWT"}), good)},
		"claims nested deep":          {check: "iss", raw: es.Sign(t, es.Header(), `{"x":`+strings.Repeat("[", 2500)+strings.Repeat("]", 2500)+`}`)},
		"iss with a slash":            {check: "iss", claims: claims(map[string]any{"iss": address + "/"})},
		"iss in another case":         {check: "iss", claims: claims(map[string]any{"iss": strings.ToUpper(address)})},
		"iss without TLS":             {check: "iss", claims: claims(map[string]any{"iss": strings.Replace(address, "https", "http", 1)})},
		"iss with the port":           {check: "iss", claims: claims(map[string]any{"iss": strings.Replace(address, ".com", ".com:443", 1)})},
		"iss of a list":               {check: "iss", claims: claims(map[string]any{"iss": []string{address}})},
		"iss missing":                 {check: "iss", claims: claims(map[string]any{"iss": nil})},
		"aud missing":                 {check: "aud", claims: claims(map[string]any{"aud": nil})},
		"aud null":                    {check: "aud", claims: claims(map[string]any{"aud": json.RawMessage("null")})},
		"aud nested":                  {check: "aud", claims: claims(map[string]any{"aud": []any{[]string{resource}}})},
		"aud of an object":            {check: "aud", claims: claims(map[string]any{"aud": map[string]any{resource: true}})},
		"aud with a number":           {check: "aud", claims: claims(map[string]any{"aud": []any{resource, 1}})},
		"aud with a slash":            {check: "aud", claims: claims(map[string]any{"aud": resource + "/"})},
		"aud in another case":         {check: "aud", claims: claims(map[string]any{"aud": strings.ToUpper(resource)})},
		"aud of a longer name":        {check: "aud", claims: claims(map[string]any{"aud": resource + ".evil.example"})},
		"aud of what it begins with":  {check: "aud", claims: claims(map[string]any{"aud": "https://cs.example"})},
		"aud of the API's prefix":     {check: "aud", claims: claims(map[string]any{"aud": resource + "/v1"})},
		"aud of another door":         {check: "aud", claims: claims(map[string]any{"aud": resource + "/mcp/agents/agt-2"})},
		"aud of the rehearsal":        {check: "aud", claims: claims(map[string]any{"aud": resource + door + "/rehearsal"})},
		"exp missing":                 {check: "exp", claims: claims(map[string]any{"exp": nil})},
		"exp over":                    {check: "exp", claims: claims(map[string]any{"iat": noon.Add(-time.Hour).Unix(), "exp": noon.Add(-60 * time.Second).Unix()})},
		"exp of a text":               {check: "exp", claims: claims(map[string]any{"exp": "1795867800"})},
		"exp null":                    {check: "exp", claims: claims(map[string]any{"exp": json.RawMessage("null")})},
		"exp huge":                    {check: "exp", claims: claims(map[string]any{"exp": json.Number("1e400")})},
		"exp far":                     {check: "exp", claims: claims(map[string]any{"exp": json.Number("1e18")})},
		"exp of many digits":          {check: "exp", claims: claims(map[string]any{"exp": json.Number("1795867800." + strings.Repeat("0", 100))})},
		"exp below nothing":           {check: "exp", claims: claims(map[string]any{"exp": json.Number("-1e10")})},
		"exp in more than a day":      {check: "exp", claims: claims(map[string]any{"exp": noon.Add(24*time.Hour + time.Second).Unix()})},
		"exp in two days, no iat":     {check: "exp", claims: claims(map[string]any{"iat": nil, "exp": noon.Add(48 * time.Hour).Unix()})},
		"iat long ago":                {check: "exp", claims: claims(map[string]any{"iat": 0})},
		"iat to come":                 {check: "iat", claims: claims(map[string]any{"iat": noon.Add(61 * time.Second).Unix()})},
		"iat of a text":               {check: "iat", claims: claims(map[string]any{"iat": "now"})},
		"nbf to come":                 {check: "nbf", claims: claims(map[string]any{"nbf": noon.Add(61 * time.Second).Unix()})},
		"nbf of a text":               {check: "nbf", claims: claims(map[string]any{"nbf": "now"})},
	} {
		raw := m.raw
		if raw == "" {
			header, body := m.header, m.claims
			if header == nil {
				header = es.Header()
			}
			if body == nil {
				body = claims(nil)
			}
			raw = es.Sign(t, header, body)
		}
		_, err := b.set.Verify(t.Context(), raw, door)
		if got := checkOf(err); got != m.check {
			t.Errorf("%s: failed %q (%v), want %q", name, got, err, m.check)
		}
	}
	for alg, k := range b.keys {
		if _, err := b.set.Verify(t.Context(), k.Sign(t, k.Header(), claims(nil)), ""); err != nil {
			t.Errorf("a good one by %s: %v", alg, err)
		}
		for other := range b.keys {
			if other != alg {
				h := k.Header()
				h["alg"] = other
				if _, err := b.set.Verify(t.Context(), k.Sign(t, h, claims(nil)), ""); err == nil {
					t.Errorf("a key for %s was taken for %s", alg, other)
				}
			}
		}
	}
}

// flipped sets a bit of the last character that encodes nothing.
func flipped(signature string) string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	at := strings.IndexByte(alphabet, signature[len(signature)-1])
	return signature[:len(signature)-1] + alphabet[at^1:at^1+1]
}

func checkOf(err error) string {
	var refused *issuer.RefusedError
	if errors.As(err, &refused) {
		return refused.Check
	}
	if err != nil {
		return fmt.Sprint(err)
	}
	return ""
}

func TestATokenForADoorIsGoodThereAlone(t *testing.T) {
	t.Parallel()
	b := newBed(t, "ES256")
	k := b.keys["ES256"]
	for aud, good := range map[string][]string{
		resource:                       {"", door, door + "/rehearsal", "/mcp/agents/agt-2"},
		resource + door:                {door},
		resource + door + "/rehearsal": {door + "/rehearsal"},
	} {
		token := k.Sign(t, k.Header(), issuertest.Claims(address, aud, noon, nil))
		for _, at := range []string{"", door, door + "/rehearsal", "/mcp/agents/agt-2"} {
			_, err := b.set.Verify(t.Context(), token, at)
			want := ""
			if !strings.Contains("\n"+strings.Join(good, "\n")+"\n", "\n"+at+"\n") {
				want = "aud"
			}
			if checkOf(err) != want {
				t.Errorf("%s at %q: %v", aud, at, err)
			}
		}
	}
}

func TestATokenBelongsToTheOneEntryWhoseClaimItHas(t *testing.T) {
	t.Parallel()
	b := newBedOf(t, []issuer.Entry{
		{Tenant: "acme", Issuer: address, Claim: "org", Value: "1"}, {Tenant: "globex", Issuer: address, Claim: "org", Value: "2"},
	}, "ES256")
	k := b.keys["ES256"]
	for _, test := range []struct {
		org    any
		tenant string
	}{
		{"1", "acme"}, {"2", "globex"}, {[]string{"0", "2"}, "globex"},
		{"3", ""}, {nil, ""}, {[]string{"1", "2"}, ""}, {1, ""}, {[]any{"1", 2}, ""}, {map[string]any{"1": "1"}, ""},
	} {
		said, err := b.set.Verify(t.Context(), k.Sign(t, k.Header(), issuertest.Claims(address, resource, noon, map[string]any{"org": test.org})), "")
		if said.Tenant != test.tenant || (test.tenant == "") != (checkOf(err) == "tenant") {
			t.Errorf("%v: %q, %v", test.org, said.Tenant, err)
		}
	}
}

func TestWhatATokenSays(t *testing.T) {
	t.Parallel()
	b := newBed(t, "ES256")
	k := b.keys["ES256"]
	for _, test := range []struct {
		more    map[string]any
		actor   string
		subject string
		email   string
	}{
		{map[string]any{"sub": "s", "act": map[string]any{"sub": "a"}, "email": "a@b.example", "email_verified": true}, "a", "s", "a@b.example"},
		{map[string]any{"sub": "s", "email": "a@b.example"}, "", "s", ""},
		{map[string]any{"sub": "s", "email": "a@b.example", "email_verified": false}, "", "s", ""},
		{map[string]any{"sub": "s", "email": "a@b.example", "email_verified": "true"}, "", "s", ""},
		{map[string]any{"sub": 1, "act.sub": "a", "act": "a"}, "", "", ""},
		{map[string]any{"act": map[string]any{"sub": 1, "act": map[string]any{"sub": "b"}}}, "", "", ""},
	} {
		said, err := b.set.Verify(t.Context(), k.Sign(t, k.Header(), issuertest.Claims(address, resource, noon, test.more)), "")
		if err != nil || said.Texts["act.sub"] != test.actor || said.Subject != test.subject || said.Email != test.email || said.Tenant != "acme" || said.Issuer != address {
			t.Errorf("%v: %+v, %v", test.more, said, err)
		}
		if want := noon.Add(6 * time.Minute); !said.ExpiresAt.Equal(want) {
			t.Errorf("good until %s, want %s", said.ExpiresAt, want)
		}
	}
}
