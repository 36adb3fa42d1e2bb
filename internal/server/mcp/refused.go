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

// The library's errors name its own types and steps. Clients get our own texts, which
// say what would be valid.

const envelope = `the message isn't one of MCP: it needs "jsonrpc": "2.0", a "method" that there is, an "id" (a string or a whole number) unless it is a notification, and "params" as an object where the method takes them`

// takes is what params must be, by method.
var takes = map[string]string{
	"tools/call": `an object with "name", the tool's as tools/list gives it, and "arguments", an object`,
	"tools/list": `an object, with "cursor" where it is not the first page: the "nextCursor" of the page before, a string`,
	"initialize": `an object with "protocolVersion", "capabilities" and "clientInfo"`,
}

// sentence is our text for one of the library's errors.
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

// plainly are the beginnings of the library's plain-text errors about HTTP, which are
// passed on.
var plainly = []string{"Accept must contain", "Content-Type must be", "Bad Request: Unsupported protocol version"}

func inPlainText(said string) string {
	for _, begin := range plainly {
		if strings.HasPrefix(said, begin) {
			return said
		}
	}
	return envelope
}

// reworded is a response in which an error of the library has our text. own is our own
// error, nil if none.
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
	if a.Error.Code == 0 { // the library set no code
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

// refuse keeps our own error so that it reaches the client unchanged.
func (v *toolRequest) refuse(code int64, format string, args ...any) *jsonrpc.Error {
	v.own = &jsonrpc.Error{Code: code, Message: fmt.Sprintf(format, args...)}
	return v.own
}

// A cursor encodes the last tool's name of the page before, so that clients don't take
// it for a tool name.
const cursorMark = "after:"

func cursorOf(name string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(cursorMark + name))
}

// after decodes a cursor's name; the tool may no longer exist.
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

// failed reports a plain-text response.
func (a *answer) failed() bool {
	return a.status >= http.StatusBadRequest && !strings.HasPrefix(a.header.Get("Content-Type"), "application/json")
}
