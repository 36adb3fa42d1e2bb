package project_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestAProjectThatIsRefusedSaysWhatWouldBeRight reads each message.
func TestAProjectThatIsRefusedSaysWhatWouldBeRight(t *testing.T) {
	auth := func(text string) map[string]string { return map[string]string{"auth": text} }
	headers := func(text string) map[string]string { return map[string]string{"headers": text} }
	var many []string
	for i := range 21 {
		many = append(many, fmt.Sprintf(`"X-%d":"1"`, i))
	}
	for _, test := range []struct {
		members map[string]string
		want    string
	}{
		{map[string]string{"authSecretEnv": `"SIGNING"`}, "invalid_request: authSecretEnv: it is legacy and can't stand beside auth; keep auth"},
		{auth(`[]`), "invalid_request: auth: an array has 1 to 3 objects, not 0; capabilities[1].method: without authentication (NONE) only GET is allowed"},
		{auth(`[{"type":"NONE"},{"type":"BEARER","credentialEnv":"CREDENTIAL"}]`), "invalid_request: auth[0].type: NONE stands alone, as an object"},
		{auth(`[{"type":"BEARER","credentialEnv":"CREDENTIAL"},{"type":"BASIC","credentialEnv":"CREDENTIAL","user":"shop"}]`), "invalid_request: auth[1]: BASIC would set the header Authorization, and so would auth[0] (BEARER)"},
		{map[string]string{"auth": `{"type":"NONE","credentialEnv":"CREDENTIAL"}`, "capabilities": reads}, "invalid_request: auth: NONE takes neither credentialEnv nor headerName nor user"},
		{auth(`{"type":"BEARER"}`), "invalid_request: auth.credentialEnv: BEARER needs the name of a server environment variable"},
		{auth(`{"type":"BASIC","credentialEnv":"CREDENTIAL","user":"a:b"}`), "invalid_request: auth.user: BASIC needs the user: 1 to 128 visible ASCII characters without a colon"},
		{auth(`{"type":"BEARER","credentialEnv":"CREDENTIAL","user":"shop"}`), "invalid_request: auth.user: only BASIC takes one"},
		{auth(`{"type":"API_KEY","credentialEnv":"CREDENTIAL"}`), "invalid_request: auth.headerName: API_KEY needs the header that carries the key"},
		{auth(`{"type":"BEARER","credentialEnv":"CREDENTIAL","headerName":"X-Key"}`), "invalid_request: auth.headerName: only API_KEY takes one"},
		{auth(`{"type":"API_KEY","credentialEnv":"CREDENTIAL","headerName":"Cookie"}`), "invalid_request: auth.headerName: Cookie is reserved or no header name; choose one such as X-Api-Key"},
		{auth(`{"type":"NONE"}`), "invalid_request: capabilities[1].method: without authentication (NONE) only GET is allowed"},
		{headers("{" + strings.Join(many, ",") + "}"), "invalid_request: headers: a project has at most 20"},
		{headers(`{"Host":"a"}`), "invalid_request: headers.Host: it is reserved or no header name; choose one such as X-Api-Version"},
		{headers(`{"accept":"text/html"}`), "invalid_request: headers.accept: it must be a JSON media type, such as application/vnd.example+json; the runtime reads nothing else"},
		{headers(`{"Accept":"application/json","accept":"application/json"}`), "invalid_request: headers.accept: headers.Accept is the same header"},
		{map[string]string{"capabilities": `[{"name":"send","method":"POST","path":"/send","inputSchema":{"sum":{"type":"number","required":true,"orTypes":["boolean"]}},"budgets":[{"sum":"sum","most":5,"window":"1h","then":"ASK","reason":"r"}]}]`}, "invalid_request: capabilities[0].budgets[0].sum: sum is no input that inputSchema declares as number"},
		{headers(`{"X-A":"1","x-a":"2"}`), "invalid_request: headers.x-a: headers.X-A is the same header"},
		{headers(`{"X-A":" 1"}`), "invalid_request: headers.X-A: its value must be 1 to 1024 visible ASCII characters and spaces between them"},
		{headers(`{"x-http-METHOD-override":"DELETE"}`), "invalid_request: headers.x-http-METHOD-override: it asks the receiver for another method than approvers see; make it a capability of that method"},
		{headers(`{"X-HTTP-Method":"PUT","X_Method_Override":"PUT"}`), "invalid_request: headers.X-HTTP-Method: it asks the receiver for another method than approvers see; make it a capability of that method; headers.X_Method_Override: it asks the receiver for another method than approvers see; make it a capability of that method"},
		{auth(`{"type":"API_KEY","credentialEnv":"CREDENTIAL","headerName":"X-Method-Override"}`), "invalid_request: auth.headerName: X-Method-Override is reserved or no header name; choose one such as X-Api-Key"},
		{map[string]string{"baseUrl": `"https://other.example.com"`}, "origin_not_allowed: baseUrl: https://other.example.com is not on the server's list SVC_PLATFORM_CONNECTION_ORIGINS"},
		{auth(`{"type":"BEARER","credentialEnv":"SIGNING"}`), "credential_not_allowed: auth.credentialEnv: SIGNING is not on the server's list of credential variables for BEARER"},
		{auth(`{"type":"BEARER","credentialEnv":"ELSEWHERE"}`), "credential_not_allowed: auth.credentialEnv: ELSEWHERE is listed for other tenants or origins only; the operator can list it per tenant: acme/ELSEWHERE, and likewise for each other tenant that uses it"},
	} {
		if _, err := put(t, test.members); err == nil || err.Error() != test.want {
			t.Errorf("\n got %v\nwant %s", err, test.want)
		}
	}
}
