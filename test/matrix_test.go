package test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/test/harness"
)

// The authorization matrix: every operation of the document, requested by every kind of principal, about an object of each kind, under
// both prefixes. An operation without a row fails the test. Each answer is checked by its status and code, by the Error body (in the
// harness), and, if it is a refusal, by the store, which must not have changed.

// object is the object of a request.
type object string

const (
	own         object = "own"           // within every principal's projects, where it is of a project
	otherOne    object = "other project" // of the same tenant, beyond the limited principals' projects
	otherTenant object = "other tenant"
	missing     object = "missing"
)

var objects = []object{own, otherOne, otherTenant, missing}

// row says who may request an operation, and the answer.
type row struct {
	role   string // "" any; "public", "realm"
	tenant bool   // of the whole tenant: nothing for a project-limited principal
	kind   string // of the object in the path or body: project, plan, run, approval, model, token, tenant; "" none
	body   func(id string) any
	ok     string    // where all is well: "2xx" or the code of the conflict that the prepared object gives
	gone   string    // instead of not_found for what is missing or another tenant's
	live   bool      // a LIVE start or what belongs to one, which a DRY_RUN token may not ask for
	by     [3]string // codes that replace ok for other project, other tenant, missing
}

// theirSession replaces a role: the operation is for sessions and not for tokens.
const theirSession = "a browser's session"

// readersOnly replaces a role: the operation is for reading tokens and for nobody else.
const readersOnly = "a reading token"

// matrix has a row for each operationId. Objects are prepared so that an allowed request changes nothing: runs have ended, approvals are
// decided, and writes expect a revision that doesn't exist.
var matrix = map[string]row{
	"health":              {role: "public"},
	"openapi":             {role: "public"},
	"session":             {},
	"metrics":             {role: "ADMIN", tenant: true},
	"events":              {},
	"integrationContract": {},
	"listModels":          {},
	"getModel":            {kind: "model"},
	"putModel":            {role: "OPERATOR", kind: "model", body: modelBody, ok: "revision_conflict", gone: "revision_conflict"},
	"validateModel":       {kind: "model"},
	"simulateModel":       {kind: "model", body: always(doc{"scenarioId": "small"})},
	"compilePlan":         {role: "OPERATOR", kind: "model", body: always(doc{"scenarioId": "small", "actionBindings": doc{}})},
	"suspendModel":        {role: "ADMIN", kind: "idle model", body: always(doc{"reason": "r"})},
	"resumeModel":         {role: "ADMIN", kind: "idle model", body: always(doc{"reason": "r"})},
	"retireModel":         {role: "ADMIN", kind: "retired model", body: always(doc{"reason": "r"})},
	"restoreModel":        {role: "ADMIN", kind: "idle model", body: always(doc{"reason": "r"})},
	"listProjects":        {},
	"getProject":          {kind: "project"},
	"putProject":          {role: "ADMIN", kind: "project", body: projectBody, ok: "revision_conflict", by: [3]string{"revision_conflict", "invalid_request", "revision_conflict"}},
	"checkProjectHealth":  {role: "ADMIN", kind: "project", live: true},
	"recordConformance":   {role: "ADMIN", kind: "project", body: always(doc{"expectedRevision": 99, "capability": "refund", "target": "https://sandbox.example", "rules": []any{doc{"name": "twins", "verdict": "HOLDS"}}}), ok: "revision_conflict"},
	"putAnswerKeys":       {role: "ADMIN", kind: "project", body: always(doc{"answerKeys": []any{"none"}}), ok: "invalid_request"},
	"enableProject":       {role: "ADMIN", kind: "project", body: always(doc{"expectedRevision": 99}), ok: "revision_conflict"},
	"disableProject":      {role: "ADMIN", kind: "project", body: always(doc{"expectedRevision": 99}), ok: "revision_conflict"},
	"retireProject":       {role: "ADMIN", kind: "project", body: always(doc{"reason": "r"}), ok: "project_in_use"},
	"restoreProject":      {role: "ADMIN", kind: "project", body: always(doc{"reason": "r"})},
	"startProjectRun":     {role: "OPERATOR", kind: "project", body: always(doc{"capability": "none"}), ok: "invalid_request"},
	"createPlan":          {role: "OPERATOR"},
	"listPlans":           {},
	"getPlan":             {kind: "plan"},
	"planDrift":           {kind: "plan"},
	"startRun":            {role: "OPERATOR", kind: "plan", body: planBody, ok: "plan_invalid", live: true},
	"listRuns":            {},
	"getRun":              {kind: "run"},
	"runEvents":           {kind: "run"},
	"runRehearsal":        {kind: "run"},
	"runReceipt":          {kind: "run"},
	"search":              {},
	"cancelRun":           {role: "OPERATOR", kind: "run", body: always(doc{"reason": "r"}), live: true},
	"reconcileRun":        {role: "APPROVER", kind: "run", body: always(doc{"resolution": "ABANDON", "evidence": "e"}), ok: "state_conflict", live: true},
	"probeRun":            {role: "APPROVER", kind: "run", body: always(doc{"stepId": "r"}), ok: "state_conflict", live: true},
	"settleRun":           {role: "APPROVER", kind: "run", body: always(doc{"stepId": "r", "n": 1, "action": "CONFIRM", "reason": "r"}), ok: "state_conflict", live: true},
	"holdRun":             {role: "ADMIN", kind: "run", body: always(doc{"hold": true, "reason": "r"}), live: true},
	"redactRun":           {role: "ADMIN", kind: "run", body: always(doc{"reason": "r"}), ok: "state_conflict", live: true},
	"listApprovals":       {},
	"getApproval":         {kind: "approval"},
	"lookAgain":           {role: "APPROVER", kind: "approval", ok: "state_conflict", live: true},
	"decideApproval":      {role: "APPROVER", kind: "approval", body: always(doc{"decision": "APPROVED", "reason": "r"}), ok: "state_conflict", live: true},
	"syncAgents":          {role: "OPERATOR", kind: "project", body: always(doc{"schemaVersion": "1.0", "agents": []any{}})},
	"listAgents":          {},
	"getAgent":            {kind: "agent"},
	"admitAgent":          {role: "ADMIN", kind: "agent", body: always(doc{"reason": "r", "expectedRevision": 99}), ok: "revision_conflict"},
	"putAgentIdentities":  {role: "ADMIN", kind: "agent", body: always(doc{"identities": []doc{}, "expectedRevision": 99}), ok: "revision_conflict"},
	"suspendAgent":        {role: "ADMIN", kind: "agent", body: always(doc{"reason": "r", "expectedRevision": 99}), ok: "revision_conflict"},
	"retireAgent":         {role: "ADMIN", kind: "retired agent", body: always(doc{"reason": "r"})},
	"restoreAgent":        {role: "ADMIN", kind: "agent", body: always(doc{"reason": "r"})},
	"heartbeat":           {role: "OPERATOR", kind: "agent", body: always(doc{"instanceId": "i", "sequence": 0, "state": "IDLE", "timestamp": "2026-01-01T00:00:00Z"}), ok: "sequence_conflict"},
	"startAgentRun":       {role: "OPERATOR", kind: "agent", body: agentRunBody, ok: "revision_conflict", live: true},
	"listTeams":           {},
	"getTeam":             {kind: "team"},
	"putTeam":             {role: "OPERATOR", kind: "team", body: teamBody, by: [3]string{"", "invalid_request", "invalid_request"}, ok: "invalid_request"},
	"suspendTeam":         {role: "ADMIN", kind: "idle team", body: always(doc{"reason": "r"})},
	"resumeTeam":          {role: "ADMIN", kind: "idle team", body: always(doc{"reason": "r"})},
	"retireTeam":          {role: "ADMIN", kind: "retired team", body: always(doc{"reason": "r"})},
	"restoreTeam":         {role: "ADMIN", kind: "idle team", body: always(doc{"reason": "r"})},
	"startTeamRun":        {role: "OPERATOR", kind: "team", body: teamRunBody, ok: "revision_conflict", live: true},
	"listTenants":         {role: "realm", tenant: true},
	"putTenant":           {role: "realm", tenant: true, kind: "tenant", body: always(doc{"name": "n", "expectedRevision": 99}), ok: "revision_conflict", gone: "revision_conflict"},
	"listCredentials":     {role: "realm", tenant: true},
	"freeCredential":      {role: "realm", tenant: true, kind: "no credential", body: always(doc{"reason": "r"}), ok: "not_found"},
	"getSettings":         {},
	"putSettings":         {role: "ADMIN", tenant: true, kind: "no group", body: always(doc{"decisionAssertion": "NONE", "reason": "r", "expectedRevision": 99}), ok: "revision_conflict", gone: "revision_conflict"},
	"listChanges":         {role: "ADMIN"},
	"getChange":           {role: "ADMIN", kind: "no group", ok: "not_found"},
	"decideChange":        {role: "ADMIN", kind: "no group", body: always(doc{"decision": "APPROVED", "reason": "r"}), ok: "not_found"},
	"makeChange":          {kind: "no group", ok: "not_found"},
	"withdrawChange":      {kind: "no group", body: always(doc{}), ok: "not_found"},
	"stopState":           {},
	"stop":                {role: "ADMIN", tenant: true, body: always(doc{"reason": "r"})},
	"go":                  {role: "ADMIN", tenant: true, body: always(doc{"reason": "r"})},
	"listUsers":           {role: "ADMIN", tenant: true},
	"putUser":             {role: "ADMIN", tenant: true, kind: "user", body: always(doc{"roles": []string{"VIEWER"}}), gone: "2xx"},
	"deleteUser":          {role: "ADMIN", tenant: true, kind: "nobody", ok: "not_found"},
	"createSignInLink":    {role: "realm", tenant: true, kind: "nobody", body: always(doc{}), ok: "not_found"},
	"listTokens":          {role: "ADMIN", tenant: true},
	"createToken":         {role: "ADMIN", tenant: true, body: always(doc{"name": "n", "roles": []string{"VIEWER"}})},
	"revokeToken":         {role: "ADMIN", tenant: true, kind: "token"},
	"renewToken":          {role: readersOnly, ok: "state_conflict"}, // each was renewed once
	"confirmToken":        {role: theirSession, kind: "token", ok: "role_required"},
	"listWebhooks":        {role: "ADMIN", tenant: true},
	"getWebhook":          {role: "ADMIN", tenant: true, kind: "webhook"},
	"putWebhook":          {role: "ADMIN", tenant: true, kind: "webhook", body: webhookBody, ok: "revision_conflict", gone: "revision_conflict"},
	"deleteWebhook":       {role: "ADMIN", tenant: true, kind: "no webhook", ok: "not_found"},
	"listGroups":          {},
	"getGroup":            {kind: "no group", ok: "not_found"},
	"putGroup":            {role: "ADMIN", tenant: true, kind: "no group", body: always(doc{"name": "n", "members": []any{}, "expectedRevision": 99}), ok: "revision_conflict", gone: "revision_conflict"},
	"listDelegations":     {},
	"putDelegation":       {role: "ADMIN", tenant: true, kind: "nobody", body: always(doc{"delegate": "nobody@example.com", "until": "2099-01-01T00:00:00Z", "from": "2098-12-31T00:00:00Z", "reason": "r"}), ok: "not_found"},
	"endDelegation":       {role: "ADMIN", tenant: true, kind: "nobody", ok: "not_found"},
	"deleteGroup":         {role: "ADMIN", tenant: true, kind: "no group", ok: "not_found"},
	"validateProject":     {kind: "project"},
	"whatIf":              {kind: "project", body: always(doc{"capability": "refund", "last": 1})},
	"budgets":             {ok: "invalid_request"},
	"listAudit":           {role: "ADMIN", tenant: true},
	"verifyAudit":         {role: "ADMIN", tenant: true},
	"auditCheckpoint":     {role: "ADMIN", tenant: true, ok: "not_found"},
	"exportAudit":         {role: "ADMIN", tenant: true},
}

func always(body doc) func(string) any { return func(string) any { return body } }
func modelBody(id string) any          { return doc{"document": harness.Model(id), "expectedRevision": 99} }
func webhookBody(string) any {
	return doc{"url": "https://hooks.example.com/x", "events": []string{"run.ended"}, "secretEnv": harness.SecretEnv, "enabled": false, "expectedRevision": 99}
}
func teamBody(string) any    { return doc{"name": "n", "members": []any{}, "steps": []any{}} }
func teamRunBody(string) any { return doc{"expectedRevision": 99, "mode": "LIVE"} }
func agentRunBody(string) any {
	return doc{"expectedRevision": 99, "mode": "LIVE", "capability": "note", "expectation": doc{"field": "ok", "equals": true}}
}
func planBody(id string) any { return doc{"planId": id} }
func projectBody(string) any {
	return doc{"name": "n", "adapter": "LOCAL_ECHO", "capabilities": []any{}, "expectedRevision": 99}
}

// who is one kind of principal.
type who struct {
	name    string
	client  *harness.Client
	invalid bool // no valid token
	roles   string
	realm   bool
	limited bool // to the own project
	foreign bool // of the other tenant, in which own and other objects of this one don't exist
	dry     bool
	headers []harness.Header // headers of a browser's session
	session bool
	crossed bool   // a session without its CSRF token
	agents  bool   // an agent token, for the own agent
	linked  bool   // a session that a sign-in link began
	reads   string // a reading token's: what it reads
}

// forRehearsals are the operations beside reads that a token limited to DRY_RUN may request; a new route is not in the list unless the
// contract says so. notByLink are those that a session by a sign-in link may not.
var (
	forRehearsals = []string{
		"validateModel", "simulateModel", "validateProject", "whatIf", "compilePlan", "createPlan", "putModel", "putProject", "startProjectRun", "startRun", "startAgentRun", "startTeamRun",
		"cancelRun", "heartbeat",
	}
	notByLink = []string{"confirmToken", "putDelegation"}
	// forReaders is all that a reading token may request, besides to renew itself, by what it reads.
	forReaders = map[string][]string{"metrics": {"metrics"}, "audit": {"listAudit", "verifyAudit", "auditCheckpoint", "exportAudit"}}
)

func (w who) has(role string) bool { return role == "" || strings.Contains(w.roles, role) }

// stage is a world with an object of each kind in each place.
type stage struct {
	*world
	ids     map[string]string // by kind and object
	cast    []who
	expired *harness.Client
	kept    *harness.Kept
	rows    string // content of the store
	cells   int
}

func newStage(t *testing.T) *stage {
	t.Helper()
	s := &stage{world: newWorld(t, harness.Set("ADMIN_EMAIL", "root@example.com"), harness.Set("NOTIFY_ORIGINS", "https://hooks.example.com"),
		listedFor("default", "acme")), ids: map[string]string{}}
	s.expired = s.expire(t, doc{"roles": []string{"ADMIN", "OPERATOR", "APPROVER"}})
	s.register(t, "default-two", harness.Project(s.shop.Origin()))
	s.Admin.Put("/tenants/acme", doc{"name": "Acme"}).OK(t)
	all := doc{"roles": []string{"ADMIN", "OPERATOR", "APPROVER"}}
	here, _ := s.token(t, all)
	there, _ := s.token(t, harness.With(all, "tenantId", "acme"))
	s.fill(t, here, own, shop)
	s.fill(t, here, otherOne, "default-two")
	there.Put("/projects/acme-shop", harness.Project(s.shop.Origin())).OK(t)
	there.Post("/projects/acme-shop/health-check", nil).OK(t)
	there.Post("/projects/acme-shop/enable", doc{"expectedRevision": 1}).OK(t)
	s.fill(t, there, otherTenant, "acme-shop")
	for _, kind := range []string{"model", "idle model", "retired model", "plan", "run", "approval", "token", "tenant", "agent", "retired agent", "team", "idle team", "retired team", "webhook"} {
		s.ids[kind+string(missing)] = "nothing"
	}
	for _, o := range objects {
		s.ids["user"+string(o)], s.ids["nobody"+string(o)] = "ann@example.com", "nobody@example.com"
		s.ids["no webhook"+string(o)], s.ids["no credential"+string(o)], s.ids["no group"+string(o)] = "no-webhook", "NO_CREDENTIAL", "no-group"
	}
	s.ids["project"+string(missing)] = "default-nothing"
	s.ids["tenant"+string(own)], s.ids["tenant"+string(otherOne)], s.ids["tenant"+string(otherTenant)] = "default", "acme", "acme"
	s.call(t)
	s.Admin.Get("/runs/" + s.ids["run"+string(own)] + "/receipt").OK(t) // the first one makes the key that signs them
	return s
}

// fill creates an object of each kind for a project: an ended run with a decided approval, an invalid LIVE plan, a model and a revoked
// token.
func (s *stage) fill(t *testing.T, c *harness.Client, o object, project string) {
	t.Helper()
	name := strings.ReplaceAll(string(o), " ", "-")
	for _, kind := range []string{"model", "idle model", "retired model"} {
		id := strings.ReplaceAll(kind, " ", "-") + "-" + name
		c.Put("/models/"+id, doc{"document": harness.Model(id)}).OK(t)
		s.ids[kind+string(o)] = id
	}
	s.ids["project"+string(o)] = project
	s.fillAgents(t, c, o, project)
	refund := harness.With(step("r", "refund", doc{"orderId": "o"}), "projectId", project)
	good := harness.With(harness.With(planOf(refund), "modelId", s.ids["model"+string(o)]), "id", "good-"+name)
	c.Post("/plans", good).OK(t).Is(t, "status", "READY")
	s.ids["plan"+string(o)] = c.Post("/plans", harness.With(harness.With(good, "id", "bad-"+name), "steps.0.input", doc{})).OK(t).Is(t, "status", "INVALID").At("id").Text()
	run := c.Post("/runs", doc{"planId": "good-" + name}, key()).OK(t).At("id").Text()
	s.ids["run"+string(o)] = run
	harness.Until(t, "the approval", func() bool { return c.Get("/runs/" + run).OK(t).At("approvalId").Exists() })
	s.ids["approval"+string(o)] = c.Get("/runs/" + run).OK(t).At("approvalId").Text()
	c.Post("/runs/"+run+"/cancel", doc{"reason": "r"}).OK(t)
	waits := c.Post("/runs", doc{"planId": "good-" + name}, key()).OK(t).At("id").Text()
	harness.Until(t, "a run that keeps its project in use", func() bool { return c.Get("/runs/" + waits).OK(t).At("approvalId").Exists() })
	token := c.Post("/tokens", doc{"name": "n", "roles": []string{"VIEWER"}}).OK(t).At("id").Text()
	c.Delete("/tokens/" + token).OK(t)
	s.ids["token"+string(o)] = token
	s.ids["webhook"+string(o)] = "webhook-" + name
	c.Put("/webhooks/webhook-"+name, harness.Without(webhookBody("").(doc), "expectedRevision")).OK(t)
}

// fillAgents creates three admitted agents, of which one has sent a heartbeat and one is retired in the end, and three teams of them. The
// teams stay suspended, so that no request changes them.
func (s *stage) fillAgents(t *testing.T, c *harness.Client, o object, project string) {
	t.Helper()
	var members []any
	manifest := doc{"schemaVersion": "1.0", "agents": []any{
		agentItem("one", "note", s.ids["model"+string(o)]), agentItem("two", "note", s.ids["model"+string(o)]), agentItem("three", "note", s.ids["model"+string(o)]),
	}}
	for _, a := range c.Post("/systems/"+project+"/agents/sync", manifest).OK(t).At("items").Items() {
		id := a.At("id").Text()
		c.Post("/agents/"+id+"/admit", doc{"reason": "r"}).OK(t)
		members = append(members, doc{"agentId": id, "role": "r"})
		s.ids["agent"+string(o)], s.ids["retired agent"+string(o)] = s.ids["retired agent"+string(o)], id
	}
	c.Post("/agents/"+s.ids["agent"+string(o)]+"/heartbeat", beat("i", 5, "IDLE")).OK(t)
	for _, kind := range []string{"team", "idle team", "retired team"} {
		id := strings.ReplaceAll(kind+" "+string(o), " ", "-")
		c.Put("/teams/"+id, doc{"name": "n", "members": members, "steps": []any{teamStep("note", members[0].(doc)["agentId"].(string), "note", doc{})}}).OK(t)
		s.ids[kind+string(o)] = id
	}
	for _, path := range []string{"/models/" + s.ids["retired model"+string(o)], "/agents/" + s.ids["retired agent"+string(o)], "/teams/" + s.ids["retired team"+string(o)]} {
		c.Post(path+"/retire", doc{"reason": "r"}).OK(t)
	}
}

// call creates the principals.
func (s *stage) call(t *testing.T) {
	t.Helper()
	revoked, record := s.token(t, doc{"roles": []string{"ADMIN"}})
	s.Admin.Delete("/tokens/" + record.At("id").Text()).OK(t)
	played := func(name, roles string, more doc) who {
		write := doc{"roles": strings.Fields(roles)}
		for k, v := range more {
			write[k] = v
		}
		c, _ := s.token(t, write)
		return who{name: name, client: c, roles: roles}
	}
	limitedOperator := played("project-limited OPERATOR", "OPERATOR", doc{"projectIds": []string{shop}})
	limitedAdmin := played("project-limited ADMIN", "ADMIN", doc{"projectIds": []string{shop}})
	limitedApprover := played("project-limited APPROVER", "APPROVER", doc{"projectIds": []string{shop}})
	limitedOperator.limited, limitedAdmin.limited, limitedApprover.limited = true, true, true
	dry := played("DRY_RUN-only OPERATOR", "OPERATOR", doc{"modes": []string{"DRY_RUN"}})
	dryJudge := played("DRY_RUN-only ADMIN and APPROVER", "ADMIN APPROVER", doc{"modes": []string{"DRY_RUN"}})
	dry.dry, dryJudge.dry = true, true
	s.cast = nil
	for _, reads := range []string{"metrics", "audit", "metrics audit realm"} {
		reader, _ := s.token(t, doc{"reads": strings.Fields(reads)})
		reader.Post("/tokens/renew", nil).OK(t)
		s.cast = append(s.cast, who{name: "reads " + reads, client: reader, reads: reads})
	}
	foreign := played("all roles in another tenant", "ADMIN OPERATOR APPROVER", doc{"tenantId": "acme"})
	foreign.foreign = true
	agents := played("an agent's", "OPERATOR", doc{"agentIds": []string{s.ids["agent"+string(own)]}})
	agents.agents = true
	s.cast = append(s.cast, []who{
		{name: "none", client: s.As(""), invalid: true},
		{name: "garbage", client: s.As("garbage"), invalid: true},
		{name: "revoked", client: revoked, invalid: true},
		{name: "expired", client: s.expired, invalid: true},
		played("VIEWER", "VIEWER", nil), played("OPERATOR", "OPERATOR", nil), played("APPROVER", "APPROVER", nil), played("ADMIN", "ADMIN", nil),
		limitedOperator, limitedAdmin, limitedApprover, dry, dryJudge, foreign, agents,
		{name: "realm administrator", client: s.Admin, roles: "ADMIN", realm: true},
	}...)
	s.cast = append(s.cast, s.sessions(t)...)
	for _, p := range s.cast { // the first use of a principal may write to the store
		p.client.Do("GET", "/models", nil, p.headers...)
	}
}

// expire makes an expired token. It changes the stopped store, since a request can't ask for less than a day.
func (s *stage) expire(t *testing.T, write doc) *harness.Client {
	t.Helper()
	c, record := s.token(t, write)
	s.Stop()
	s.rewriteToken(t, record.At("id").Text(), func(r *records.Token) { r.ExpiresAt = r.CreatedAt })
	s.Restart()
	c.Get("/models").Refused(t, "unauthenticated")
	return c
}

// sessions are principals with browser sessions: one of each role, limited, foreign and of the realm, and one with every role but without
// its CSRF token.
func (s *stage) sessions(t *testing.T) []who {
	t.Helper()
	played := func(name, roles string, more doc) who {
		email := strings.ReplaceAll(strings.ToLower(name), " ", "-") + "@example.com"
		if roles != "" {
			s.Admin.Put("/users/"+email, with(doc{"roles": strings.Fields(roles)}, more)).OK(t)
		} else {
			email, roles = "root@example.com", "ADMIN OPERATOR APPROVER"
		}
		b := s.NewBrowser()
		b.SignIn(email)
		s.Keep(b.Session())
		return who{name: "session of " + name, client: s.As(""), roles: roles, session: true, headers: []harness.Header{b.Cookie(), s.csrf(t, b)}}
	}
	limited := played("a limited ADMIN", "ADMIN OPERATOR APPROVER", doc{"projectIds": []string{shop}})
	limited.limited = true
	foreign := played("another tenant", "ADMIN OPERATOR APPROVER", doc{"tenantId": "acme"})
	foreign.foreign = true
	realm := played("the realm", "", nil)
	realm.realm = true
	left := played("somebody who signed out", "ADMIN OPERATOR APPROVER", nil)
	s.Admin.Delete("/users/somebody-who-signed-out@example.com").OK(t)
	left.invalid = true
	crossed := realm
	crossed.name, crossed.crossed, crossed.headers = "session without CSRF", true, realm.headers[:1]
	return []who{
		s.linked(t), played("a VIEWER", "VIEWER", nil), played("an OPERATOR", "OPERATOR", nil), played("an APPROVER", "APPROVER", nil), played("an ADMIN", "ADMIN", nil),
		limited, foreign, realm, left, crossed,
	}
}

// linked is the session of a user of all roles that began with a sign-in link.
func (s *stage) linked(t *testing.T) who {
	t.Helper()
	const email = "linked@example.com"
	s.Admin.Put("/users/"+email, doc{"roles": []string{"ADMIN", "OPERATOR", "APPROVER"}}).OK(t)
	b := s.byLink(t, s.Admin, email)
	return who{name: "session by a sign-in link", client: s.As(""), roles: "ADMIN OPERATOR APPROVER", session: true, linked: true, headers: []harness.Header{b.Cookie(), s.csrf(t, b)}}
}

// expected is the expected code for a principal, an operation and an object; "2xx" for success.
func expected(op harness.Operation, r row, p who, o object) string {
	switch {
	case r.role == "public":
		return "2xx"
	case p.invalid:
		return "unauthenticated"
	case p.reads != "" && slices.ContainsFunc(strings.Fields(p.reads), func(word string) bool { return slices.Contains(forReaders[word], op.ID) }):
		return cmp.Or(r.ok, "2xx")
	case p.reads != "" && r.role != readersOnly, r.role == readersOnly && p.reads == "" && !p.crossed:
		return "role_required"
	case r.role == readersOnly && p.reads != "":
		return r.ok
	case p.crossed && op.Method != "GET":
		return "csrf"
	case p.agents && (!slices.Contains(forAgentTokens, op.ID) || r.kind == "agent" && o != own || r.kind == "run" && (o == own || o == otherOne)):
		return "role_required" // the runs here are plans'
	case p.linked && slices.Contains(notByLink, op.ID):
		return "role_required"
	case r.role == theirSession && p.session && r.kind == "":
		return "2xx"
	case r.role == theirSession && p.session:
		return r.about(p, seenFrom(p, o))
	case r.role == "realm" && !p.realm, r.role != "realm" && !p.has(r.role):
		return "role_required"
	case r.tenant && p.limited:
		return "project_scope"
	case p.dry && op.Method != "GET" && !slices.Contains(forRehearsals, op.ID):
		return "role_required"
	case p.dry && (op.ID == "putModel" || op.ID == "putProject") && (o == own || o == otherOne):
		return "role_required" // it exists
	case p.dry && (op.ID == "startAgentRun" || op.ID == "startTeamRun"):
		return "role_required" // LIVE is refused before anybody looks for what it is about
	case r.kind == "" && r.ok != "":
		return r.ok
	case r.kind == "":
		return "2xx"
	case op.ID == "putModel" && p.limited && o == otherOne:
		return "project_scope" // the other project has a plan of it
	}
	if seen := seenFrom(p, o); op.ID == "redactRun" && (p.linked || p.realm && !p.session) && (seen == own || seen == otherOne) {
		return "self_approval" // of whoever made the token that asked
	}
	return r.about(p, seenFrom(p, o))
}

// seenFrom is an object from a principal's view: for a principal of the other tenant the own objects here are another tenant's.
func seenFrom(p who, o object) object {
	switch {
	case !p.foreign || o == missing:
		return o
	case o == otherTenant:
		return own
	default:
		return otherTenant
	}
}

func (r row) about(p who, o object) string {
	ofProject := slices.Contains([]string{"", "project", "plan", "run", "approval", "agent", "retired agent", "team", "idle team", "retired team"}, r.kind)
	at := map[object]int{otherOne: 0, otherTenant: 1, missing: 2}
	hereIs := o == own || o == otherOne || r.kind == "tenant" && o == otherTenant
	switch {
	case p.limited && ofProject && o == otherOne:
		return "project_scope"
	case o != own && r.by[at[o]] != "":
		if p.limited && ofProject && r.by[at[o]] == "revision_conflict" {
			return "project_scope" // a PUT of a new record
		}
		return r.by[at[o]]
	case !hereIs && r.gone != "":
		return r.gone
	case !hereIs:
		return "not_found"
	case r.live && p.dry:
		return "role_required"
	case r.ok != "":
		return r.ok
	default:
		return "2xx"
	}
}

func TestTheAuthorizationMatrix(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.kept = s.Kept()
	defer s.kept.Close()
	s.rows = s.kept.Rows()
	for _, op := range s.Document().Operations {
		r, ok := matrix[op.ID]
		if !ok {
			t.Errorf("%s %s has no row in the matrix", op.Method, op.Path)
			continue
		}
		for _, p := range s.cast {
			for _, o := range objects {
				if r.kind == "" && o != own || testing.Short() && p.invalid && o != own {
					continue // -short: an unauthenticated principal is refused before the object is read
				}
				s.check(t, op, r, p, o)
			}
		}
		s.unchanged(t, op)
	}
	t.Logf("the matrix: %d cells, of %d operations, %d principals, %d objects and 2 prefixes", s.cells, len(s.Document().Operations), len(s.cast), len(objects))
}

func (s *stage) check(t *testing.T, op harness.Operation, r row, p who, o object) {
	t.Helper()
	id := s.ids[r.kind+string(o)]
	if r.kind == "project" && o == missing && p.foreign {
		id = "acme-nothing"
	}
	var body any
	switch {
	case r.body != nil:
		body = r.body(id)
	case op.ID == "createPlan" && p.dry:
		body = harness.With(planOf(), "mode", "DRY_RUN")
	case op.ID == "createPlan":
		body = planOf()
	}
	path := op.About(id)
	want := expected(op, r, p, o)
	for _, c := range s.prefixes(p.client) {
		s.cells++
		writes := want == "2xx" && op.Method != "GET"
		if writes {
			s.unchanged(t, op)
		}
		if op.ID == "events" && want == "2xx" { // it has no end: that it begins is the answer
			c.Events(t, path, p.headers...).Close()
			continue
		}
		answer := c.Do(op.Method, path, body, append([]harness.Header{key()}, p.headers...)...)
		got := answer.At("error").Text()
		if answer.Status < 300 {
			got = "2xx"
		}
		if got != want {
			t.Errorf("%s, %s, %s: %s; expected %s\n%s", op.ID, p.name, o, got, want, fmt.Sprintf("%.300s", answer))
		}
		if writes {
			s.rows = s.kept.Rows()
		}
	}
}

// prefixes are the client with both prefixes. With -short it is one of them, in turn, so that every operation and every principal uses both:
// the implementation behind them is the same.
func (s *stage) prefixes(c *harness.Client) []*harness.Client {
	both := []*harness.Client{c, c.Aliased()}
	if testing.Short() {
		return both[s.cells%2:][:1]
	}
	return both
}

// unchanged checks that the operation's requests since the last check, which were refused or only read, have not changed the store. A changed
// row has a higher version for ever.
func (s *stage) unchanged(t *testing.T, op harness.Operation) {
	t.Helper()
	before := s.rows
	if s.rows = s.kept.Rows(); s.rows != before {
		t.Errorf("%s was refused or only read, and the store changed:\n%s", op.ID, gocmp.Diff(strings.Split(before, "\n"), strings.Split(s.rows, "\n")))
	}
}

// with adds fields to a body.
func with(body, more doc) doc {
	for name, v := range more {
		body[name] = v
	}
	return body
}
