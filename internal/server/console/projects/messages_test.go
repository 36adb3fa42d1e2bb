package projects

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/server/console/web"
	"github.com/countersign/countersign/internal/server/console/web/webtest"
)

// TestAFieldOfACapabilityThatCannotBeReadSaysWhatWouldBe reads the message beside each.
func TestAFieldOfACapabilityThatCannotBeReadSaysWhatWouldBe(t *testing.T) {
	schema := func(v *web.Request) error { _, err := typedSchema(v, countersign.Capability{}); return err }
	timeout := func(v *web.Request) error { _, err := typedTimeout(v); return err }
	capability := func(v *web.Request) error { _, err := typedCapability(v, countersign.Capability{}); return err }
	carried := func(*web.Request) error {
		p := proposal{}
		for i := range 6000 {
			p.Project.Capabilities = append(p.Project.Capabilities, countersign.Capability{Name: fmt.Sprintf("%x", sha256.Sum256([]byte{byte(i), byte(i >> 8)}))})
		}
		_, err := pack(p)
		return err
	}
	webtest.Read(t, []webtest.Refused{
		{Read: schema, Fields: "input0required=1", Want: "invalid_request: inputSchema: row 1 has no name"},
		{Read: schema, Fields: "input0name=a&input0type=string&input1name=a&input1type=string", Want: "invalid_request: inputSchema: a is there twice"},
		{Read: schema, Fields: "input0name=a&input0type=date", Want: "invalid_request: inputSchema: a needs a type"},
		{Read: timeout, Fields: "timeoutMs=soon", Want: "invalid_request: timeoutMs: a whole number from 100 to 60000"},
		{Read: capability, Fields: "name=refund&outputs=" + strings.Repeat("a,", countersign.MaxOutputs) + "b", Want: "invalid_request: outputs: 201 are too many; at most 200"},
		{Read: capability, Fields: "name=refund&precondition.capability=&precondition.fields=state", Want: "invalid_request: precondition.capability: choose the read, or leave its fields empty"},
		{Read: capability, Fields: "name=refund&precondition.capability=order&precondition.fields=state&precondition.when=[]", Want: "invalid_request: precondition.when: must be an object of kind predicate or group, not an array"},
		{Read: carried, Fields: "", Want: "invalid_request: only: the document proposes 6000 capabilities, which are too many for a form; choose some by a text, or use `countersign import openapi`"},
	})
}
