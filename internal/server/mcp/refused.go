package mcp

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// What the protocol's library says of a message that it refuses names its own types and
// steps. Callers get sentences of ours, which say what would be right.

// envelope is what every message needs.
const envelope = `the message isn't one of MCP: it needs "jsonrpc": "2.0", a "method" that there is, an "id" (a string or a whole number) unless it is a notification, and "params" as an object where the method takes them`

// takes is what params have to be, by method.
var takes = map[string]string{
	"tools/call": `an object with "name", the tool's as tools/list gives it, and "arguments", an object`,
	"tools/list": `an object, with "cursor" where it is not the first page: the "nextCursor" of the page before, a string`,
	"initialize": `an object with "protocolVersion", "capabilities" and "clientInfo"`,
}

// sentence is the message of an error that the library made.
func sentence(code int64, m message) string {
	switch code {
	case jsonrpc.CodeInvalidParams:
		if what := takes[m.method]; what != "" {
			return "params: they must be " + what
		}
		return "params: they are not what the MCP specification says for this method"
	case jsonrpc.CodeMethodNotFound:
		return "this server has no such method; it has initialize, ping, tools/list and tools/call"
	case sdk.CodeHeaderMismatch:
		return "a header of the request doesn't say what its body says: compare Mcp-Protocol-Version, Mcp-Method and Mcp-Name with it"
	case sdk.CodeUnsupportedProtocolVersion:
		return "this server doesn't speak that version of the protocol; data names those that it does"
	case jsonrpc.CodeInternalError:
		return "something broke on our side"
	}
	return envelope
}

// plainly are the beginnings of what the library says in plain text that is about the
// request as HTTP, and may be passed on.
var plainly = []string{"Accept must contain", "Content-Type must be", "Bad Request: Unsupported protocol version"}

func inPlainText(said string) string {
	for _, begin := range plainly {
		if strings.HasPrefix(said, begin) {
			return said
		}
	}
	return envelope
}

// reworded is an answer whose error, if it is one of the library's, says what ours do.
// own is the error that the guard gave, nil for none.
func reworded(answer []byte, m message, own *jsonrpc.Error) []byte {
	var a struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id,omitempty"`
		Error   *struct {
			Code    int64           `json:"code"`
			Message string          `json:"message"`
			Data    json.RawMessage `json:"data,omitempty"`
		} `json:"error"`
	}
	if !bytes.Contains(answer, []byte(`"error"`)) || json.Unmarshal(answer, &a) != nil || a.Error == nil || own != nil {
		return answer
	}
	if a.Error.Code == 0 { // the library had none
		a.Error.Code = jsonrpc.CodeInvalidRequest
		if takes[m.method] != "" {
			a.Error.Code = jsonrpc.CodeInvalidParams
		}
	}
	if a.Error.Message = sentence(a.Error.Code, m); a.Error.Code != sdk.CodeUnsupportedProtocolVersion {
		a.Error.Data = nil
	}
	out, err := json.Marshal(a)
	if err != nil {
		return []byte(fmt.Sprintf(`{"jsonrpc":"2.0","error":{"code":%d,"message":"something broke on our side"}}`, jsonrpc.CodeInternalError))
	}
	return out
}

// refuse is an error of ours, kept so that it reaches the caller as it is.
func (v *toolRequest) refuse(code int64, format string, args ...any) *jsonrpc.Error {
	v.own = &jsonrpc.Error{Code: code, Message: fmt.Sprintf(format, args...)}
	return v.own
}

// A cursor is the last tool's name of the page before, in a form that nobody takes for
// a name to choose.
const cursorMark = "after:"

func cursorOf(name string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(cursorMark + name))
}

// after is the name in a cursor, which may be a tool's that is gone by now.
func (v *toolRequest) after(cursor string) (string, error) {
	if cursor == "" {
		return "", nil
	}
	text, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	name, found := strings.CutPrefix(string(text), cursorMark)
	if err != nil || !found || name != statusTool && !fits(name) {
		return "", v.refuse(jsonrpc.CodeInvalidParams, "cursor: it is none that this server gave; send the nextCursor of the page before as it was, or none for the first page")
	}
	return name, nil
}

// failed reports an answer of plain text.
func (a *answer) failed() bool {
	return a.status >= http.StatusBadRequest && !strings.HasPrefix(a.header.Get("Content-Type"), "application/json")
}
