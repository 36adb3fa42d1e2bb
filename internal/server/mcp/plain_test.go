package mcp

import (
	"net/http"
	"testing"

	"github.com/countersign/countersign"
)

// TestWhatIsPlain: nothing but a call of a tool that there is, in the form in which clients send it.
func TestWhatIsPlain(t *testing.T) {
	const usual = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run_status","arguments":{"runId":"run-1"}}}`
	headers := func(more ...string) http.Header {
		h := http.Header{"Mcp-Protocol-Version": {"2025-06-18"}, "Accept": {"application/json, text/event-stream"}, "Content-Type": {"application/json"}}
		for i := 0; i < len(more); i += 2 {
			h.Add(more[i], more[i+1])
		}
		return h
	}
	without := func(name string) http.Header {
		h := headers()
		h.Del(name)
		return h
	}
	for name, c := range map[string]struct {
		headers http.Header
		body    string
		want    bool
	}{
		"usual":                     {headers(), usual, true},
		"without arguments":         {headers(), `{"jsonrpc":"2.0","id":0,"method":"tools/call","params":{"name":"run_status"}}`, true},
		"in another order":          {headers(), ` {"params": {"arguments": {}, "name": "run_status"}, "id": -7, "method": "tools/call", "jsonrpc": "2.0"}`, true},
		"another revision":          {headers("Mcp-Protocol-Version", "2025-11-25"), usual, false}, // two of them
		"no revision":               {without("Mcp-Protocol-Version"), usual, false},
		"no type":                   {without("Content-Type"), usual, false},
		"another Accept":            {headers("Accept", "*/*"), usual, false},
		"an event":                  {headers("Last-Event-Id", "1"), usual, false},
		"a client with addresses":   {http.Header{"Mcp-Protocol-Version": {"2025-11-25"}, "Accept": headers()["Accept"], "Content-Type": headers()["Content-Type"], sessionHeader: {sessionElicits}}, usual, false},
		"another method":            {headers(), `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"name":"run_status"}}`, false},
		"no such tool":              {headers(), `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"none"}}`, false},
		"a name in escapes":         {headers(), `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run\u005fstatus"}}`, false},
		"a name that is no text":    {headers(), `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":5}}`, false},
		"more than a call":          {headers(), `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run_status","_meta":{}}}`, false},
		"arguments that are a list": {headers(), `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run_status","arguments":[]}}`, false},
		"a task":                    {headers(), `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run_status","task":{}}}`, false},
		"an id that is text":        {headers(), `{"jsonrpc":"2.0","id":"1","method":"tools/call","params":{"name":"run_status"}}`, false},
		"an id with a fraction":     {headers(), `{"jsonrpc":"2.0","id":1.0,"method":"tools/call","params":{"name":"run_status"}}`, false},
		"an id of too many digits":  {headers(), `{"jsonrpc":"2.0","id":9007199254740993,"method":"tools/call","params":{"name":"run_status"}}`, false},
		"a notification":            {headers(), `{"jsonrpc":"2.0","method":"tools/call","params":{"name":"run_status"}}`, false},
		"another protocol":          {headers(), `{"jsonrpc":"1.0","id":1,"method":"tools/call","params":{"name":"run_status"}}`, false},
		"a member more":             {headers(), `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run_status"},"x":1}`, false},
	} {
		m, params, err := readMessage(c.headers, []byte(c.body))
		if err != nil {
			t.Fatal(name, err)
		}
		v := offering(1)
		v.msg, v.mode = m, countersign.ModeLive
		if _, is := v.plain(c.headers, params); is != c.want {
			t.Errorf("%s: %t", name, is)
		}
	}
}
