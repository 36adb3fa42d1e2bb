package console

import (
	"strconv"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/exactjson"
)

// Forms that register a project and edit its connection. Capabilities have forms of
// their own; the JSON document edits everything.

type projectEditData struct {
	Project countersign.Project // the stored one; zero for a new project
	Prefix  string              // of a new project's id
	Key     field               // the rest of a new project's id
	Fields  []field
	Use     control.ProjectUse
	Problem *problem
	Over    bool // revision conflict
}

func newProjectPage(v *pageRequest) (*page, error) {
	if err := v.may(access.WriteProject); err != nil {
		return nil, err
	}
	return v.projectForm(countersign.Project{}, nil), nil
}

func (v *pageRequest) projectForm(p countersign.Project, err error) *page {
	s := v.formOf(err, "")
	d := projectEditData{Project: p, Prefix: v.actor.Tenant + "-", Over: countersign.ErrorCode(err) == countersign.CodeRevisionConflict}
	if p.ID == "" {
		d.Key = must(s.mono("id", "Id", "It stands in every plan and run, and never changes. It begins with "+d.Prefix+".", ""))
	}
	d.Fields = s.connection(p)
	d.Problem = s.problem()
	out := &page{name: "project-edit", Title: "Register a project", Nav: "projects", Data: d}
	out.Crumbs = []crumb{{Word: "Projects", Href: "/projects"}, {Word: "Register"}}
	if p.ID != "" {
		out.Title, out.Crumbs = "Edit "+p.Name, projectCrumbs(p.ID, crumb{Word: "Edit"})
	}
	return out
}

// connection are the fields of everything but the capabilities, named by their paths in
// the document.
func (s *form) connection(p countersign.Project) []field {
	auth := p.EffectiveAuth()
	if p.ID == "" {
		auth.Type = ""
	}
	return []field{
		must(s.line("name", "Name", "", p.Name)),
		must(s.choose("radio", "adapter", "Adapter", "", p.Adapter,
			choice{Value: countersign.AdapterHTTPJSON, Word: "HTTP, JSON", Note: "Calls go to the origin below, as JSON over HTTP."},
			choice{Value: countersign.AdapterLocalEcho, Word: "Local echo", Note: "Nothing leaves this machine: each call answers 200 with its input. For trying things out."})),
		s.mono("baseUrl", "Origin", "Scheme, host and port, without a path, such as https://api.example.com. The operator lists those that are allowed in SVC_PLATFORM_CONNECTION_ORIGINS.", p.BaseURL),
		s.mono("healthPath", "Health path", "What a check asks for with GET. Default /", p.HealthPath),
		must(s.choose("radio", "auth.type", "Authentication", "", auth.Type,
			choice{Value: countersign.AuthHMAC, Word: "HMAC-SHA256 signature", Note: "Every call is signed with the secret."},
			choice{Value: countersign.AuthBearer, Word: "Bearer token", Note: "The secret goes in the Authorization header."},
			choice{Value: countersign.AuthAPIKey, Word: "API key", Note: "The secret goes in a header that you name."},
			choice{Value: countersign.AuthBasic, Word: "User and password", Note: "HTTP Basic: the secret is the password."},
			choice{Value: countersign.AuthNone, Word: "None", Note: "Only reads with GET can be registered."})),
		s.mono("auth.credentialEnv", "Environment variable of the secret", "Its name, never the secret. The operator lists the names that are allowed.", auth.CredentialEnv),
		s.mono("auth.headerName", "Header of the API key", "For an API key only, such as X-Api-Key.", auth.HeaderName),
		s.mono("auth.user", "User", "For user and password only.", auth.User),
	}
}

// connectionTyped reads the connection from the form.
func (v *pageRequest) connectionTyped(w *countersign.ProjectWrite) {
	w.Name, w.Adapter, w.BaseURL, w.HealthPath = v.form("name"), v.form("adapter"), v.form("baseUrl"), v.form("healthPath")
	w.Auth = &countersign.Auth{Type: v.form("auth.type"), CredentialEnv: v.form("auth.credentialEnv"), HeaderName: v.form("auth.headerName"), User: v.form("auth.user")}
	w.AuthSecretEnv = ""
}

// chosen refuses a form that lacks required choices; for the API, the schema does this.
func (v *pageRequest) chosen(names ...string) error {
	var wrong []string
	for _, name := range names {
		if v.form(name) == "" {
			wrong = append(wrong, name+": it is needed")
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	return countersign.Errorf(countersign.CodeInvalidRequest, "%s", strings.Join(wrong, "; "))
}

func registerProject(v *pageRequest) (string, error) {
	if err := v.may(access.WriteProject); err != nil {
		return "", err
	}
	id := v.form("id")
	if own := v.actor.Tenant + "-"; !strings.HasPrefix(id, own) {
		id = own + id
	}
	err := v.chosen("id", "name", "adapter", "auth.type")
	if err == nil && !countersign.ValidID(id) {
		err = invalid("id", "letters, digits, dots, underscores and hyphens, at most 128")
	}
	if err == nil {
		w := countersign.ProjectWrite{Capabilities: []countersign.Capability{}}
		v.connectionTyped(&w)
		_, err = v.control.PutProject(v.r.Context(), v.actor, id, w)
	}
	if countersign.ErrorCode(err) == countersign.CodeRevisionConflict {
		err = invalid("id", "there is a project %s already", id)
	}
	if err != nil {
		return "", answered(v.projectForm(countersign.Project{}, err), err)
	}
	return "/projects/" + id, nil
}

// projectToEdit reads the project if the visitor may edit it.
func (v *pageRequest) projectToEdit() (p countersign.Project, use control.ProjectUse, err error) {
	if err = v.may(access.WriteProject); err != nil {
		return p, use, err
	}
	if p, err = v.control.Project(v.r.Context(), v.actor, v.r.PathValue("id")); err != nil {
		return p, use, err
	}
	use, err = v.control.ProjectUse(v.r.Context(), v.actor, p.ID)
	return p, use, err
}

func editProjectPage(v *pageRequest) (*page, error) { return v.projectEditAgain(nil) }

func (v *pageRequest) projectEditAgain(err error) (*page, error) {
	p, use, unread := v.projectToEdit()
	if unread != nil {
		return nil, unread
	}
	out := v.projectForm(p, err)
	d, _ := out.Data.(projectEditData)
	d.Use = use
	out.Data = d
	return out, nil
}

func saveProject(v *pageRequest) (string, error) {
	p, _, err := v.projectToEdit()
	if err != nil {
		return "", err
	}
	if err = v.chosen("name", "adapter", "auth.type"); err == nil {
		w := projectWriteOf(p)
		v.connectionTyped(&w)
		w.ExpectedRevision = v.formRevision()
		_, err = v.control.PutProject(v.r.Context(), v.actor, p.ID, w)
	}
	if err == nil {
		return "/projects/" + p.ID, nil
	}
	return "", formAgain(err, v.projectEditAgain)
}

// projectWriteOf is the request that would store the project unchanged.
func projectWriteOf(p countersign.Project) countersign.ProjectWrite {
	return countersign.ProjectWrite{
		Name: p.Name, Adapter: p.Adapter, BaseURL: p.BaseURL, HealthPath: p.HealthPath,
		Auth: p.Auth, AuthSecretEnv: p.AuthSecretEnv, Headers: p.Headers, Capabilities: p.Capabilities,
	}
}

func projectDocumentPage(v *pageRequest) (*page, error) { return v.documentAgain(nil) }

// documentAgain is the form that edits the whole project as JSON.
func (v *pageRequest) documentAgain(err error) (*page, error) {
	p, use, unread := v.projectToEdit()
	if unread != nil {
		return nil, unread
	}
	s := v.formOf(nil, "")
	d := documentData{
		Kind: "project", ID: p.ID, Name: p.Name, Back: "/projects/" + p.ID, To: "/projects/" + p.ID + "/document", Revision: p.Revision,
		Text:        must(s.document("document", "Project", "The body of PUT /projects/"+p.ID+". Ids, revisions and times in it are ignored.", pretty(projectWriteOf(p)), 28)),
		Consequence: savingDisables(p.Revision), Problem: problemOf(err), Over: countersign.ErrorCode(err) == countersign.CodeRevisionConflict,
	}
	d.Blocked = use.Any()
	if d.Over {
		d.Stored = pretty(projectWriteOf(p))
	}
	if d.Blocked || inUse(err) {
		d.Use = &use
	}
	return d.page("projects", projectCrumbs(p.ID, crumb{Word: "Edit", Href: "/projects/" + p.ID + "/edit"}, crumb{Word: "As JSON"})), nil
}

func savingDisables(revision int64) string {
	return "Saving disables the project until it is checked and enabled again. Plans made of revision " + strconv.FormatInt(revision, 10) + " never run again."
}

func saveProjectDocument(v *pageRequest) (string, error) {
	if err := v.may(access.WriteProject); err != nil {
		return "", err
	}
	id := v.r.PathValue("id")
	var w countersign.ProjectWrite
	err := exactjson.Decode([]byte(v.form("document")), &w)
	if err == nil {
		w.ExpectedRevision = v.formRevision()
		_, err = v.control.PutProject(v.r.Context(), v.actor, id, w)
	}
	if err == nil {
		return "/projects/" + id, nil
	}
	return "", formAgain(err, v.documentAgain)
}
