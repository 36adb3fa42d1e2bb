package projects

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/exactjson"
	"github.com/countersign/countersign/internal/rules/project"
	"github.com/countersign/countersign/internal/server/console/form"
	"github.com/countersign/countersign/internal/server/console/text"
	"github.com/countersign/countersign/internal/server/console/web"
)

// Forms that register a project and edit its connection. Capabilities have forms of
// their own; the JSON document edits everything.

type projectEditData struct {
	Project countersign.Project // the stored one; zero for a new project
	Prefix  string              // of a new project's id
	Key     form.Field          // the rest of a new project's id
	Fields  []form.Field
	Use     control.ProjectUse
	Problem *web.Problem
	Over    bool // revision conflict
}

func newProjectPage(v *web.Request) (*web.Page, error) {
	if err := v.May(access.WriteProject); err != nil {
		return nil, err
	}
	return projectForm(v, countersign.Project{}, nil), nil
}

func projectForm(v *web.Request, p countersign.Project, err error) *web.Page {
	s := form.Of(v, err, "")
	d := projectEditData{Project: p, Prefix: v.Actor.Tenant + "-", Over: countersign.ErrorCode(err) == countersign.CodeRevisionConflict}
	if p.ID == "" {
		d.Key = newProjectID(v, s)
	}
	d.Fields = connectionFields(s, p)
	d.Problem = s.Problem()
	out := &web.Page{Name: "project-edit", Title: "Register a project", Nav: "projects", Data: d}
	out.Crumbs = []web.Crumb{{Word: "Projects", Href: "/projects"}, {Word: "Register"}}
	if p.ID != "" {
		out.Title, out.Crumbs = "Edit "+p.Name, Crumbs(p.ID, web.Crumb{Word: "Edit"})
	}
	return out
}

// connectionFields are the fields of everything but the capabilities, named by their paths in
// the document.
func connectionFields(s *form.Form, p countersign.Project) []form.Field {
	fields := []form.Field{
		form.Must(s.Line("name", "Name", "", p.Name)),
		form.Must(s.Choose("radio", "adapter", "Adapter", "", p.Adapter,
			form.Choice{Value: countersign.AdapterHTTPJSON, Word: "HTTP, JSON", Note: "Calls go to the origin below, as JSON over HTTP."},
			form.Choice{Value: countersign.AdapterLocalEcho, Word: "Local echo", Note: "Nothing leaves this machine: each call answers 200 with its input. For trying things out."})),
		s.Mono("baseUrl", "Origin", "Scheme, host and port, without a path, such as https://api.example.com. The operator lists those that are allowed in SVC_PLATFORM_CONNECTION_ORIGINS.", p.BaseURL),
		s.Mono("healthPath", "Health path", "The path that a health check requests with GET. Default: /", p.HealthPath),
	}
	auths := authsToEdit(p)
	for i, a := range auths {
		which := ""
		if len(auths) > 1 {
			which = " " + strconv.Itoa(i+1) + " of " + strconv.Itoa(len(auths))
		}
		fields = append(fields, authFields(s, project.AuthPath(&p, i), which, a)...)
	}
	fields = append(fields, s.Document("headers", "Headers", "Sent with each call, one a line, such as X-Api-Version: 2026-01-01. They aren’t secret.", headerLines(p.Headers), 3))
	return append(fields, wordFields(s, p)...)
}

// authsToEdit has one for a project that has none yet.
func authsToEdit(p countersign.Project) []countersign.Auth {
	auths := p.EffectiveAuths()
	switch {
	case len(auths) > 0:
		return auths
	case p.ID == "":
		return []countersign.Auth{{}}
	default:
		return []countersign.Auth{{Type: countersign.AuthNone}}
	}
}

// authFields are the fields of one way to authenticate.
func authFields(s *form.Form, path, which string, a countersign.Auth) []form.Field {
	return []form.Field{
		form.Must(s.Choose("radio", path+".type", "Authentication"+which, "For an API that needs several keys at once, edit the project as JSON, with an array.", a.Type,
			form.Choice{Value: countersign.AuthHMAC, Word: "HMAC-SHA256 signature", Note: "Every call is signed with the secret."},
			form.Choice{Value: countersign.AuthBearer, Word: "Bearer token", Note: "The secret goes in the Authorization header."},
			form.Choice{Value: countersign.AuthAPIKey, Word: "API key", Note: "The secret goes in a header that you name."},
			form.Choice{Value: countersign.AuthBasic, Word: "User and password", Note: "HTTP Basic: the secret is the password."},
			form.Choice{Value: countersign.AuthNone, Word: "None", Note: "Only reads with GET can be registered."})),
		s.Mono(path+".credentialEnv", "Environment variable of the secret"+which, "Its name, never the secret. The operator lists the names that are allowed.", a.CredentialEnv),
		s.Mono(path+".headerName", "Header of the API key"+which, "For an API key only, such as X-Api-Key.", a.HeaderName),
		s.Mono(path+".user", "User"+which, "For user and password only.", a.User),
	}
}

// headerLines writes headers one a line.
func headerLines(h countersign.Headers) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(h)) {
		b.WriteString(name + ": " + h[name] + "\n")
	}
	return b.String()
}

// headersTyped reads them; what they may be is the service's rule.
func headersTyped(v *web.Request) (countersign.Headers, error) {
	var h countersign.Headers
	for line := range strings.Lines(v.Form("headers")) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		name, value, ok := strings.Cut(line, ":")
		name = strings.TrimSpace(name)
		if _, twice := h[name]; !ok || twice {
			return nil, web.Invalid("headers", "each line is a name, a colon and a value, and each name stands once")
		}
		if h == nil {
			h = countersign.Headers{}
		}
		h[name] = strings.TrimSpace(value)
	}
	return h, nil
}

// connectionTyped reads the connection of a project from the form.
func connectionTyped(v *web.Request, w *countersign.ProjectWrite) (err error) {
	p := countersign.Project{Auth: w.Auth}
	auths := make([]countersign.Auth, max(1, len(w.Auth.List())))
	for i := range auths {
		path := project.AuthPath(&p, i)
		auths[i] = countersign.Auth{Type: v.Form(path + ".type"), CredentialEnv: v.Form(path + ".credentialEnv"), HeaderName: v.Form(path + ".headerName"), User: v.Form(path + ".user")}
		if err = v.Chosen("name", "adapter", path+".type"); err != nil {
			return err
		}
	}
	w.Name, w.Adapter, w.BaseURL, w.HealthPath = v.Form("name"), v.Form("adapter"), v.Form("baseUrl"), v.Form("healthPath")
	if w.Auth = countersign.OneAuth(auths[0]); p.Auth != nil && p.Auth.One == nil {
		w.Auth = &countersign.Auths{Several: auths}
	}
	w.AuthSecretEnv = ""
	wordTyped(v, w)
	w.Headers, err = headersTyped(v)
	return err
}

func registerProject(v *web.Request) (string, error) {
	if err := v.May(access.WriteProject); err != nil {
		return "", err
	}
	id, err := typedProjectID(v)
	if err = web.Together(err, v.Chosen("name", "adapter", "auth.type")); err == nil {
		w := countersign.ProjectWrite{Capabilities: []countersign.Capability{}}
		if err = connectionTyped(v, &w); err == nil {
			_, err = v.Control.PutProject(v.R.Context(), v.Actor, id, w)
		}
	}
	err = web.Taken(err, "project", id)
	if err != nil {
		return "", web.Answered(projectForm(v, countersign.Project{}, err), err)
	}
	return "/projects/" + id, nil
}

// projectToEdit reads the project if the visitor may edit it.
func projectToEdit(v *web.Request) (p countersign.Project, use control.ProjectUse, err error) {
	if err = v.May(access.WriteProject); err != nil {
		return p, use, err
	}
	if p, err = v.Control.Project(v.R.Context(), v.Actor, v.R.PathValue("id")); err != nil {
		return p, use, err
	}
	use, err = v.Control.ProjectUse(v.R.Context(), v.Actor, p.ID)
	return p, use, err
}

func editProjectPage(v *web.Request) (*web.Page, error) { return projectEditAgain(v, nil) }

func projectEditAgain(v *web.Request, err error) (*web.Page, error) {
	p, use, unread := projectToEdit(v)
	if unread != nil {
		return nil, unread
	}
	out := projectForm(v, p, err)
	d, _ := out.Data.(projectEditData)
	d.Use = use
	out.Data = d
	return out, nil
}

func saveProject(v *web.Request) (string, error) {
	p, _, err := projectToEdit(v)
	if err != nil {
		return "", err
	}
	w := projectWriteOf(p)
	if err = connectionTyped(v, &w); err == nil {
		w.ExpectedRevision = v.FormRevision()
		_, err = v.Control.PutProject(v.R.Context(), v.Actor, p.ID, w)
	}
	if err == nil {
		return "/projects/" + p.ID, nil
	}
	return "", v.FormAgain(err, projectEditAgain)
}

// projectWriteOf is the request that would store the project unchanged.
func projectWriteOf(p countersign.Project) (w countersign.ProjectWrite) {
	countersign.CopyContent(&w, p)
	return w
}

func projectDocumentPage(v *web.Request) (*web.Page, error) { return documentAgain(v, nil) }

// documentAgain is the form that edits the whole project as JSON.
func documentAgain(v *web.Request, err error) (*web.Page, error) {
	p, use, unread := projectToEdit(v)
	if unread != nil {
		return nil, unread
	}
	s := form.Of(v, nil, "")
	d := form.Document{
		Kind: "project", ID: p.ID, Name: p.Name, Back: "/projects/" + p.ID, To: "/projects/" + p.ID + "/document", Revision: p.Revision,
		Text:        form.Must(s.Document("document", "Project", "The body of PUT /projects/"+p.ID+". Ids, revisions and times in it are ignored.", text.Pretty(projectWriteOf(p)), 28)),
		Consequence: savingDisables(p.Revision), Problem: web.ProblemOf(err), Over: countersign.ErrorCode(err) == countersign.CodeRevisionConflict,
	}
	d.Blocked = use.Any()
	if d.Over {
		d.Stored = text.Pretty(projectWriteOf(p))
	}
	if d.Blocked || form.InUse(err) {
		d.Use = &use
	}
	return d.Page("projects", Crumbs(p.ID, web.Crumb{Word: "Edit", Href: "/projects/" + p.ID + "/edit"}, web.Crumb{Word: "As JSON"})), nil
}

func savingDisables(revision int64) string {
	return "Saving disables the project until it is checked and enabled again. Plans made of revision " + strconv.FormatInt(revision, 10) + " never run again."
}

func saveProjectDocument(v *web.Request) (string, error) {
	if err := v.May(access.WriteProject); err != nil {
		return "", err
	}
	id := v.R.PathValue("id")
	var w countersign.ProjectWrite
	err := exactjson.Decode([]byte(v.Form("document")), &w)
	if err == nil {
		w.ExpectedRevision = v.FormRevision()
		_, err = v.Control.PutProject(v.R.Context(), v.Actor, id, w)
	}
	if err == nil {
		return "/projects/" + id, nil
	}
	return "", v.FormAgain(err, documentAgain)
}
