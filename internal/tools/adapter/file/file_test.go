package file_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/tools/adapter/file"
)

const good = `listen: 127.0.0.1:8090
store: ./adapter-store
upstreams:
- name: files
  secretEnv: FILES_SECRET
  mcp:
    command: [server, /srv]
    env: [FILES_TOKEN]
    tools:
      read: {digest: "sha256:0000000000000000000000000000000000000000000000000000000000000000"}
- name: shop
  secretEnv: SHOP_SECRET
  answerKeyEnv: SHOP_SEED
  http:
    baseUrl: https://api.shop.example/v1
    encode: form
    auth: {type: oauth2, tokenUrl: "https://login.shop.example/token", clientIdEnv: ID, clientSecretEnv: PASSWORD}
    operations:
    - {method: POST, path: "/orders/{id}"}
    job: {statusPath: "/jobs/{id}", every: 2s, until: [{field: state, equals: done}], done: {field: ok, equals: true}}
`

func TestAFileInYAMLAndTheSameInJSON(t *testing.T) {
	f, problems := file.Read([]byte(good))
	if problems != nil {
		t.Fatal(problems)
	}
	if len(f.Upstreams) != 2 || f.Upstreams[1].HTTP.Job.Done.Equals.Raw() != "true" {
		t.Errorf("%+v", f)
	}
	if got := strings.Join(f.Variables(), " "); got != "FILES_SECRET FILES_TOKEN ID PASSWORD SHOP_SECRET SHOP_SEED" {
		t.Error(got)
	}
	inJSON := "{\n\t\"listen\": \"localhost:0\", \"store\": \"s\",\n\t\"keepAnswers\": \"90d\", \"upstreams\": [{\"name\": \"a\", \"secretEnv\": \"S\", \"http\": {\"baseUrl\": \"http://localhost:1\", \"operations\": [{\"method\": \"GET\", \"path\": \"/\"}]}}]}"
	if _, problems := file.Read([]byte(inJSON)); problems != nil {
		t.Error(problems)
	}
}

// TestEachMistakeIsNamedWithItsLine: each is made in the good file by replacing one text.
func TestEachMistakeIsNamedWithItsLine(t *testing.T) {
	for _, test := range []struct{ old, new, want string }{
		{"listen: 127.0.0.1:8090", "listen: nowhere", "1: listen: must be host:port, such as 127.0.0.1:8090"},
		{"listen:", "lisen:", `1: there is no field "lisen" here`},
		{"store: ./adapter-store", "store: ''", "2: store: must be the directory in which keys and answers are kept"},
		{"store:", "openapi: yes\nstore:", `2: openapi: must be "public" or left out`},
		{"store:", "keepAnswers: never\nstore:", `2: "never" must be a time such as 2s, 10m or 90d, more than none`},
		{"store:", "tls: {certFile: none.pem, keyFile: none.pem}\nstore:", "2: tls.certFile: must name a file in PEM that is there"},
		{"name: shop", "name: files", `11: upstreams[1].name: "files" is there already`},
		{"name: shop", "name: My Shop", "11: upstreams[1].name: must be small letters, digits and hyphens"},
		{"secretEnv: SHOP_SECRET", "secretEnv: 's3cr3t!'", "12: upstreams[1].secretEnv: must be the name of an environment variable, never a secret itself"},
		{"  http:\n", "  mcp: {}\n  http:\n", "11: upstreams[1]: must have either mcp or http"},
		{"command: [server, /srv]", "command: [server, /srv]\n    url: https://x.example", "6: upstreams[0].mcp: must have either command or url"},
		{"[server, /srv]", "['']", "7: upstreams[0].mcp.command: must begin with a program"},
		{"[FILES_TOKEN]", "[HOME]", "8: upstreams[0].mcp.env[0]: a command has a PATH and a HOME already"},
		{"[FILES_TOKEN]", "[PASSWORD_FILE]", "8: upstreams[0].mcp.env[0]: PASSWORD_FILE is a secret of the adapter, which no command gets"},
		{"env: [FILES_TOKEN]", "headers: {A: b}", "6: upstreams[0].mcp: headers and auth are for a url; a command gets what env names"},
		{"command: [server, /srv]", "url: https://x.example", "6: upstreams[0].mcp: env and user are for a command"},
		{"sha256:0", "sha256:x", "10: upstreams[0].mcp.tools.read: digest must be sha256: and 64 hex digits, as import mcp writes it"},
		{"tools:\n      read: {digest: \"sha256:0000000000000000000000000000000000000000000000000000000000000000\"}", "tools: {}", "9: upstreams[0].mcp.tools: there must be one at least: what isn't listed isn't offered"},
		{"https://api.shop.example/v1", "ftp://api.shop.example", "15: upstreams[1].http.baseUrl: must be an http or https address without user, query and fragment"},
		{"encode: form", "encode: xml", "16: upstreams[1].http.encode: must be json or form"},
		{"encode: form", `accept: "a\nb"`, "16: upstreams[1].http.accept: can't be sent in a header"},
		{"encode: form", "headers: {Host: x}", "16: upstreams[1].http.headers.Host: can't be sent: the adapter or HTTP itself writes it, or its value holds control characters"},
		{"encode: form", "headers: {X-Tenant: ''}", "16: upstreams[1].http.headers.X-Tenant: is a place for a value: fill it in"},
		{"encode: form", "encode: form\n    headers: {Content-Type: application/vnd.api+json}", "17: upstreams[1].http.headers.Content-Type: must be a media type of JSON, for a body that is encoded as json"},
		{"encode: form", "headers: {Content-Type: text/plain}", "16: upstreams[1].http.headers.Content-Type: must be a media type of JSON, for a body that is encoded as json"},
		{"encode: form", "key: {header: A, field: b}", "16: upstreams[1].http.key: must have either header or field"},
		{"encode: form", "key: {header: Host}", "16: upstreams[1].http.key.header: can't carry a key"},
		{"encode: form", "caFile: none.pem", "16: upstreams[1].http.caFile: must name a file of certificates in PEM that is there"},
		{"type: oauth2", "type: digest", "17: upstreams[1].http.auth.type: must be bearer, header, basic, oauth2 or mtls"},
		{", clientSecretEnv: PASSWORD", "", "17: upstreams[1].http.auth.clientSecretEnv: oauth2 needs it"},
		{"clientIdEnv: ID", "clientIdEnv: ID, user: me", "17: upstreams[1].http.auth.user: oauth2 has no such field"},
		{`oauth2, tokenUrl: "https://login.shop.example/token", clientIdEnv: ID, clientSecretEnv: PASSWORD`, "bearer, scheme: 'a b', credentialEnv: A", "17: upstreams[1].http.auth.scheme: must be one word, such as Bearer"},
		{`oauth2, tokenUrl: "https://login.shop.example/token", clientIdEnv: ID, clientSecretEnv: PASSWORD`, "header, name: Content-Type, credentialEnv: A", "17: upstreams[1].http.auth.name: can't carry a key"},
		{"method: POST", "method: HEAD", "19: upstreams[1].http.operations[0].method: must be GET, POST, PUT, PATCH or DELETE"},
		{"/orders/{id}", "/orders?id={id}", "19: upstreams[1].http.operations[0].path: must be a path from / on, with {places} and no query"},
		{"/orders/{id}", "/orders/../x", "19: upstreams[1].http.operations[0].path: no segment may be . or .."},
		{"/jobs/{id}", "/jobs", "20: upstreams[1].http.job.statusPath: must have the {field} of the first answer that names the job"},
		{"every: 2s, ", "", "20: upstreams[1].http.job.every: must say how often the status is asked for, such as 2s"},
		{"[{field: state, equals: done}]", "[]", "20: upstreams[1].http.job.until: there must be one condition at least"},
		{"done: {field: ok, equals: true}", "done: {field: ok}", "20: upstreams[1].http.job.done: must have field and equals"},
		{"encode: form", "encode: [form]", "16: it is of the wrong type: !!seq"},
		{good, "upstreams: []\nlisten: localhost:1\nstore: s", "1: upstreams: there must be one at least"},
		{good, "just a text", "1: it must be a mapping with listen, store and upstreams"},
		{good, "a: \xff", "1: it is not UTF-8"},
		{good, `{"listen": "a", "listen": "b"}`, "1: "},
		{good, "a: [", "1: "},
	} {
		if !strings.Contains(good, test.old) {
			t.Fatalf("nothing to replace: %s", test.old)
		}
		_, problems := file.Read([]byte(strings.Replace(good, test.old, test.new, 1)))
		found := false
		for _, p := range problems {
			found = found || strings.HasPrefix(p, test.want)
		}
		if !found {
			t.Errorf("%s: %q\nnot %s", test.new, problems, test.want)
		}
	}
}

// TestJSONMayHaveAnotherName in an upstream whose bodies are JSON.
func TestJSONMayHaveAnotherName(t *testing.T) {
	for _, encode := range []string{"headers: {Content-Type: application/vnd.api+json}", "encode: json\n    headers: {content-type: application/merge-patch+json}"} {
		if _, problems := file.Read([]byte(strings.Replace(good, "encode: form", encode, 1))); problems != nil {
			t.Errorf("%s: %q", encode, problems)
		}
	}
}

func TestAllMistakesAreNamedAtOnce(t *testing.T) {
	_, problems := file.Read([]byte(strings.NewReplacer("127.0.0.1:8090", "x", "form", "xml", "POST", "LINK").Replace(good)))
	if len(problems) != 3 {
		t.Errorf("%q", problems)
	}
}

func TestWhatIsNoFileSaysSo(t *testing.T) {
	dir := t.TempDir()
	large := filepath.Join(dir, "large")
	if err := os.WriteFile(large, make([]byte, 1<<20+1), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		dir:                      "it is no plain file",
		large:                    "it is larger than 1048576 bytes",
		filepath.Join(dir, "no"): "no such file or directory",
	} {
		if _, err := file.Load(path); err == nil || err.Error() != path+": "+want {
			t.Errorf("%v\nnot %s", err, want)
		}
	}
	bad := filepath.Join(dir, "bad.yaml")
	if err := os.WriteFile(bad, []byte("listen: x\nstore: s\nupstreams: []\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := file.Load(bad); err == nil || strings.Count(err.Error(), bad+":") != 2 {
		t.Error(err)
	}
}

func TestBeyondThisMachineWithoutTLSIsExposed(t *testing.T) {
	for listen, want := range map[string]bool{"127.0.0.1:1": false, "localhost:1": false, "[::1]:1": false, "0.0.0.0:1": true, ":1": true, "10.0.0.1:1": true} {
		if got := (&file.File{Listen: listen}).Exposed(); got != want {
			t.Errorf("%s: %v", listen, got)
		}
	}
}
