package test

import (
	"regexp"
	"testing"
)

// internalWords match names of the program's own types, packages and steps.
var internalWords = regexp.MustCompile(`(?i)\*?mcp\.[A-Z]|jsonrpc2|\bGo \b|unmarshal|json:|wire[A-Z]|\bstruct\b|\bmap\[|interface|\bnil\b|goroutine|\.go:|github\.com|version tag|encoding/`)

// TestAMalformedMessageIsRefusedInWordsOfTheProtocol: the library's errors contain the names of its types.
func TestAMalformedMessageIsRefusedInWordsOfTheProtocol(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.expects(t)
	id := w.admitted(t, agentItem("clerk", "note", "refund"))[0]
	rpc := func(rest string) string { return `{"jsonrpc":"2.0","id":1,` + rest + `}` }
	for body, code := range map[string]int{ // 0: refused as the API does
		rpc(`"method":"tools/list","params":{"cursor":"zzz"}`):                    -32602,
		rpc(`"method":"tools/list","params":{"cursor":"note"}`):                   -32602,
		rpc(`"method":"tools/list","params":{"cursor":" "}`):                      -32602,
		rpc(`"method":"tools/list","params":{"cursor":"YWZ0ZXI6"}`):               -32602, // after nothing
		rpc(`"method":"tools/list","params":{"cursor":5}`):                        -32602,
		rpc(`"method":"tools/list","params":{"cursor":{}}`):                       -32602,
		rpc(`"method":"tools/list","params":[]`):                                  -32602,
		rpc(`"method":"tools/list","params":"x"`):                                 -32602,
		rpc(`"method":"tools/list","params":{"_meta":5}`):                         -32602,
		rpc(`"method":"tools/call","params":5`):                                   -32602,
		rpc(`"method":"tools/call","params":[1]`):                                 -32602,
		rpc(`"method":"tools/call","params":{"name":5}`):                          -32602,
		rpc(`"method":"tools/call","params":{"name":"no_such","arguments":{}}`):   -32602,
		rpc(`"method":"tools/call","params":{}`):                                  -32602,
		rpc(`"method":"tools/call","params":{"name":"note","_meta":[]}`):          -32602,
		rpc(`"method":"tools/call","params":null`):                                -32600,
		rpc(`"method":"tools/call"`):                                              0,
		rpc(`"method":"initialize","params":{"protocolVersion":5}`):               -32602,
		rpc(`"method":"initialize","params":{"capabilities":[]}`):                 -32602,
		rpc(`"method":"initialize","params":{"clientInfo":"x"}`):                  -32602,
		rpc(`"method":"ping","params":[]`):                                        -32602,
		rpc(`"method":"no/such"`):                                                 0,
		rpc(`"method":5`):                                                         0,
		rpc(`"method":null`):                                                      0,
		rpc(`"method":""`):                                                        0,
		rpc(`"result":{}`):                                                        -1, // acknowledged, or refused
		rpc(`"error":5`):                                                          0,
		rpc(`"error":{"code":"x"}`):                                               0,
		`{"jsonrpc":"2.0","id":{},"method":"ping"}`:                               0,
		`{"jsonrpc":"2.0","id":[1],"method":"ping"}`:                              0,
		`{"jsonrpc":"2.0","id":true,"method":"ping"}`:                             0,
		`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`:                              -1,
		`{"jsonrpc":"2.0","method":"ping"}`:                                       0,
		`{"jsonrpc":"2.0","id":1,"method":"notifications/initialized"}`:           0,
		`{"jsonrpc":"1.0","id":1,"method":"ping"}`:                                0,
		`{"jsonrpc":2,"id":1,"method":"ping"}`:                                    0,
		`{"id":1,"method":"ping"}`:                                                0,
		`{}`:                                                                      0,
		rpc(`"method":"resources/read","params":{"uri":5}`):                       -1,
		rpc(`"method":"prompts/get","params":{"name":"x"}`):                       -1,
		rpc(`"method":"completion/complete","params":{"ref":{"type":"x"}}`):       -1,
		rpc(`"method":"logging/setLevel","params":{"level":5}`):                   -1,
		rpc(`"method":"subscriptions/listen","params":{"notifications":"x"}`):     -1,
		rpc(`"method":"tools/list","params":{"cursor":"\u0000"}`):                 -32602,
		rpc(`"method":"tools/call","params":{"name":"note","arguments":[]}`):      1, // the tool's own refusal
		rpc(`"method":"tools/call","params":{"name":"note","arguments":"x"}`):     1,
		rpc(`"method":"tools/call","params":{"name":"run_status","arguments":5}`): 1,
	} {
		res, answer := w.knock(t, "POST", id, body, "X-A: b")
		if found := internalWords.FindString(answer.String()); found != "" {
			t.Errorf("%s names %q: %s", body, found, answer)
		}
		switch {
		case code < -1:
			if answer.At("error.code").Int() != code || answer.At("error.message").Text() == "" {
				t.Errorf("%s: %d %s; expected the error %d", body, res.StatusCode, answer, code)
			}
		case code == 0 && (res.StatusCode != 400 || answer.At("error").Text() != "invalid_request" || answer.At("message").Text() == ""):
			t.Errorf("%s: %d %s; expected a refusal", body, res.StatusCode, answer)
		case code == 1 && !answer.At("result.isError").Exists():
			t.Errorf("%s: %d %s; expected an error of the tool", body, res.StatusCode, answer)
		}
	}
	w.nothingStored(t)
}
