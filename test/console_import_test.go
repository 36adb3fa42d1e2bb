package test

import (
	"bytes"
	"mime/multipart"
	"net/url"
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

const importForm = "/projects/+import"

// uploads sends the form of an upload with a file.
func uploads(t *testing.T, b *harness.Browser, fields url.Values, document string) *harness.Page {
	t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for name, values := range fields {
		if err := form.WriteField(name, values[0]); err != nil {
			t.Fatal(err)
		}
	}
	if document != "" {
		file, err := form.CreateFormFile("file", "openapi.yaml")
		if err == nil {
			_, err = file.Write([]byte(document))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := form.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Send(importForm, form.FormDataContentType(), body.Bytes())
}

// openapiOf is a document of a shop at an origin, with many reads.
func openapiOf(origin string, reads int) string {
	var b strings.Builder
	b.WriteString("openapi: 3.0.3\ninfo: {title: Shop <b>, version: '1'}\nservers: [{url: '" + origin + "'}]\ncomponents: {securitySchemes: {b: {type: http, scheme: bearer}}}\nsecurity: [{b: []}]\npaths:\n" +
		"  /refunds:\n    post:\n      operationId: refunds.create\n      summary: Pays \u202eback\n      requestBody: {required: true, content: {application/json: {schema: {type: object, required: [orderId], properties: {orderId: {type: string, enum: [a, b]}, amount: {type: number, maximum: 1000000000000000000000.50}}}}}}\n      responses: {'201': {description: OK, content: {application/json: {schema: {type: object}}}}}\n" +
		"  /photo:\n    put:\n      requestBody: {content: {image/png: {}}}\n      responses: {'204': {description: OK}}\n")
	for i := range reads {
		n := string(rune('a'+i/26%26)) + string(rune('a'+i%26))
		b.WriteString("  /things/" + n + ":\n    get:\n      operationId: read-" + n + "\n      responses: {'200': {description: OK, content: {application/json: {schema: {type: object}}}}}\n")
	}
	return b.String()
}

func TestAnOpenAPIDocumentIsUploadedChosenFromAndRegistered(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.person(t, "ada@example.com", "ADMIN")
	says(t, ada.Open("/projects/new"), 200, `href="/console/projects/+import"`)
	start := ada.Open(importForm)
	says(t, start, 200, `enctype="multipart/form-data"`, "Nothing is called and nothing is stored yet.")
	p := uploads(t, ada, sheetFields(start, "id", "api"), openapiOf(w.shop.Origin(), 120))
	says(t, p, 200, "0 of 121 chosen", "refunds.create", "100 of 121. Find narrows them.", "operation left out, and why", `Pays `, "Always asks")
	if n := len(p.Text); n > 150_000 {
		t.Errorf("the page has %d bytes", n)
	}
	mustNotHold(t, p, "\u202e")
	says(t, ada.Submit(importForm, asShown(p, "do", "connect")), 400, "Choose at least one.")
	p = ada.Submit(importForm, asShown(p, "kind", "changes", "do", "tick"))
	says(t, p, 200, "1 of 121 chosen")
	p = ada.Submit(importForm, asShown(p, "find", "read-b", "kind", "", "do", "tick"))
	says(t, p, 200, "27 of 121 chosen", `type="hidden" name="chosen" value="refunds.create"`)
	fewer := asShown(p, "find", "", "do", "find")
	fewer["chosen"] = []string{"refunds.create", "read-bb", "nowhere"}
	p = ada.Submit(importForm, fewer)
	says(t, p, 200, "2 of 121 chosen")
	p = ada.Submit(importForm, ticked(p, []string{"refunds.create", "read-bb"}, "do", "connect"))
	says(t, p, 200, "capabilities are registered", `value="`+w.shop.Origin()+`"`, `value="Shop <b>"`, `value="BEARER" checked`)
	form := func(p *harness.Page, typed ...string) url.Values {
		return ticked(p, nil, append(typed, "do", "register")...)
	}
	bad := form(p, "auth.credentialEnv", "HOME")
	bad["chosen"] = []string{"refunds.create", "read-bb"}
	refused := ada.Submit(importForm, bad)
	says(t, refused, 400, `id="auth.credentialEnv-e"`, `value="HOME"`)
	w.Admin.Get("/projects/default-api").Refused(t, "not_found")
	good := form(refused, "auth.credentialEnv", harness.SecretEnv, "name", "Shop API")
	good["chosen"] = []string{"refunds.create", "read-bb"}
	leads(t, ada.Submit(importForm, good), "/projects/default-api")
	made := w.Admin.Get("/projects/default-api").OK(t)
	made.Is(t, "capabilities.0.inputSchema.orderId.enum", []string{"a", "b"}).Is(t, "capabilities.0.inputSchema.amount.maximum", number("1000000000000000000000.50"))
	made.Is(t, "enabled", false).Is(t, "name", "Shop API").Is(t, "auth.type", "BEARER")
	if n := len(made.At("capabilities").Items()); n != 2 {
		t.Errorf("%d capabilities", n)
	}
	says(t, ada.Submit(importForm, good), 400, "There is a project default-api already")
}

// TestAnUploadTakesWhatTheDocumentLeavesOpen: headers and authentication, as the command does,
// and reasons name the fields of the form.
func TestAnUploadTakesWhatTheDocumentLeavesOpen(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.person(t, "ada@example.com", "ADMIN")
	const answer = "responses: {'200': {description: OK, content: {application/json: {schema: {type: object}}}}}"
	document := "openapi: 3.0.3\ninfo: {title: Shop, version: '1'}\nservers: [{url: '" + w.shop.Origin() + "'}]\ncomponents: {securitySchemes: {b: {type: http, scheme: bearer}, k: {type: apiKey, in: header, name: X-Key}}}\nsecurity: [{b: []}]\npaths:\n" +
		"  /a: {get: {operationId: read-a, " + answer + "}}\n  /b: {get: {operationId: read-b, " + answer + "}}\n  /d: {get: {operationId: read-d, " + answer + "}}\n" +
		"  /c: {get: {operationId: read-c, security: [{k: []}], parameters: [{name: X-Shop, in: header, required: true, schema: {type: string}}], " + answer + "}}\n" +
		"  /e: {get: {operationId: read-e, parameters: [{name: X-Shop, in: header, required: true, schema: {type: string}}], " + answer + "}}\n"
	start := ada.Open(importForm)
	says(t, start, 200, `name="headers"`, `name="auth"`)
	plain := uploads(t, ada, sheetFields(start, "id", "api"), document)
	says(t, plain, 200, "0 of 3 chosen", "import it as another project with Authentication k", "Headers: X-Shop=VALUE sends one with each call")
	mustNotHold(t, plain, "--auth", "--header")
	says(t, uploads(t, ada, sheetFields(start, "id", "api", "auth", "k", "headers", "X-Shop: 7"), document), 200, "0 of 1 chosen", "read-c")
	says(t, uploads(t, ada, sheetFields(start, "id", "api", "auth", "BEARER", "headers", "X-Shop: 7"), document), 200, "0 of 5 chosen")
	says(t, uploads(t, ada, sheetFields(start, "id", "api", "auth", "nobody"), document), 400, `id="auth-e"`, "is none of the document", `value="nobody"`)
	says(t, uploads(t, ada, sheetFields(start, "id", "api", "headers", "X-Shop"), document), 400, `id="headers-e"`, "ach line is a name, a colon and a value")
	says(t, uploads(t, ada, sheetFields(start, "id", "api", "headers", "Host: x"), document), 400, `id="headers-e"`, "Host=x can")
}

func TestAnUploadThatCanNotBeUsedSaysWhy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.person(t, "ada@example.com", "ADMIN")
	start := ada.Open(importForm)
	ok := sheetFields(start, "id", "api")
	says(t, uploads(t, ada, ok, ""), 400, `id="file-e"`, "Choose an OpenAPI 3.0 or 3.1 document")
	says(t, uploads(t, ada, ok, "{}"), 400, `id="file-e"`, "it must be a version 3.0 or 3.1")
	says(t, uploads(t, ada, ok, "openapi: 3.0.0\nx: ["), 400, `id="file-e"`)
	says(t, uploads(t, ada, ok, openapiOf("", 1)), 400, `id="file-e"`, "name the server with Server")
	says(t, uploads(t, ada, sheetFields(start, "id", "no id"), openapiOf(w.shop.Origin(), 1)), 400, `id="id-e"`)
	says(t, uploads(t, ada, ok, "openapi: 3.0.0\n#"+strings.Repeat("x", 4<<20)), 400, "A file here has at most 4194304 bytes; `countersign import openapi` takes larger ones")
	says(t, uploads(t, ada, ok, strings.Repeat("x", 5<<20)), 413)
	stranger := w.NewBrowser()
	says(t, uploads(t, stranger, ok, strings.Repeat("x", 16<<10)), 401)
	for _, text := range []string{"x", "H4sIAAAAAAAA", strings.Repeat("A", 200<<10)} {
		says(t, ada.Submit(importForm, sheetFields(start, "proposal", text, "do", "register")), 400, "choose the file again")
	}
	vic := w.person(t, "vic@example.com", "OPERATOR")
	says(t, vic.Open(importForm), 403)
	says(t, uploads(t, vic, sheetFields(vic.Open("/settings"), "id", "api"), openapiOf(w.shop.Origin(), 1)), 403, "role_required")
	says(t, uploads(t, vic, sheetFields(vic.Open("/settings"), "id", "api"), strings.Repeat("x", 5<<20)), 403, "role_required") // not read: else it were too large
	says(t, ada.Submit("/projects/new", sheetFields(start, "name", strings.Repeat("x", 2<<20))), 413)
}
