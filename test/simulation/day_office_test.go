package simulation

import (
	"errors"
	"testing/synctest"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/slacktest"
)

// The first project's budgets. The first is exhausted in office hours and renewed as its window slides.
const (
	paysAtMost = 45
	paysWithin = 20 * time.Minute
	paidAtMost = "60000"
	escalates  = 10 * time.Minute
)

// must does what has to succeed before the day begins.
func (d *day) must(who person, what, main string, do func(a control.Actor) error) {
	d.t.Helper()
	d.play([]act{{who, what, func(a control.Actor) error {
		err := do(a)
		if err != nil {
			d.fail("%s: %v", what, err)
		}
		return err
	}, main, ""}})
	if d.failed {
		d.t.FailNow()
	}
}

// equip gives the tenants people, groups, projects, models, agents, a team and a webhook.
func (d *day) equip() {
	realm := person{access.Principal{ID: "user:realm@example.com", Tenant: countersign.DefaultTenant, Roles: []countersign.Role{admin}, Realm: true}, "realm"}
	for _, tenant := range tenants {
		if err := d.ownTenant(realm, tenant); err != nil {
			d.t.Fatal(err)
		}
		ada := d.who(tenant, "ada")
		for _, p := range d.people[tenant] {
			d.must(ada, "put user "+p.name, "", func(a control.Actor) error {
				_, err := d.process.control.PutUser(background(), a, p.Email, countersign.UserWrite{Roles: p.Roles})
				return err
			})
		}
		for group, members := range map[string][]string{"finance": {d.who(tenant, "fay").Email, d.who(tenant, "fred").Email}, "directors": {d.who(tenant, "dirk").Email}} {
			d.must(ada, "put group "+group, "", func(a control.Actor) error {
				_, err := d.process.control.PutGroup(background(), a, group, countersign.GroupWrite{Name: group, Members: members})
				return err
			})
		}
		for _, id := range []string{tenant + "-one", tenant + "-two"} {
			d.must(ada, "put project "+id, "projects.write", func(a control.Actor) error {
				_, err := d.process.control.PutProject(background(), a, id, d.shop(0))
				return err
			})
			d.must(ada, "enable project "+id, "", func(a control.Actor) error { return d.enable(a, id, 1) })
		}
		d.must(d.who(tenant, "ann"), "put model refund", "models.write", func(a control.Actor) error {
			_, err := d.process.control.PutModel(background(), a, "refund", countersign.ModelWrite{Document: startable(d.model("refund"))})
			return err
		})
		d.recruit(tenant)
		d.connect(tenant)
	}
}

func (d *day) ownTenant(realm person, tenant string) (err error) {
	a := control.Actor{Principal: realm.Principal, RequestID: "req-realm-" + tenant}
	w := countersign.TenantWrite{Name: tenant}
	if !d.shared {
		w.ExpectedRevision = 1 // it is in the earlier release's store
	}
	if _, err = d.process.control.PutTenant(background(), a, tenant, w); err != nil {
		return err
	}
	d.token[tenant], err = d.process.control.IssueToken(background(), tenant, admin)
	return err
}

// startable is a model that is valid, whatever was drawn.
func startable(m countersign.AgentModel) countersign.AgentModel {
	m.States[0].IsStart = true
	return m
}

// enable enables a revision of a project, whose health check fails now and then.
func (d *day) enable(a control.Actor, id string, revision int64) error {
	for range 3 {
		if check, err := d.process.control.CheckHealth(background(), a, id); err != nil || check.Healthy {
			break
		}
	}
	_, err := d.process.control.EnableProject(background(), a, id, countersign.Toggle{ExpectedRevision: revision})
	return err
}

// shop is the project's content; n tells one revision from the next.
func (d *day) shop(n int) countersign.ProjectWrite {
	is := func(operator, value string) countersign.Condition {
		return countersign.Condition{Predicate: &countersign.Predicate{Kind: "predicate", VariableID: "amount", Operator: operator, Value: countersign.Scalar{Value: countersign.RawValue(value)}}}
	}
	env := secret
	if n%2 == 1 {
		env = renewed
	}
	return countersign.ProjectWrite{
		Name: "Shop", Adapter: countersign.AdapterHTTPJSON, BaseURL: origin, HealthPath: "/health", Auth: countersign.OneAuth(countersign.Auth{Type: countersign.AuthHMAC, CredentialEnv: env}),
		Capabilities: []countersign.Capability{
			{Name: "look", Method: "GET", Path: "/orders/{order}", InputSchema: map[string]countersign.InputField{"order": field("string", true)}},
			{Name: "list", Method: "GET", Path: "/orders"},
			{Name: "note", Method: "POST", Path: "/notes", Approval: countersign.ApprovalNone, Idempotent: true},
			{Name: "ship", Method: "POST", Path: "/orders/{resourceId}/ship", Approval: countersign.ApprovalAlways},
			{
				Name: "pay", Method: "POST", Path: "/payments", Approval: countersign.ApprovalRiskBased, Probe: "list", Sensitive: []string{"iban"},
				InputSchema: map[string]countersign.InputField{"amount": field("number", true), "iban": field("string", true)},
				ApprovalRules: []countersign.ApprovalRule{
					{When: is("lte", small), Then: countersign.RuleAllow, Reason: "little"},
					{When: is("gt", large), Then: countersign.RuleAsk, Approvals: 2, Groups: []string{"finance"}, Reason: "much", Escalate: &countersign.Escalate{After: escalates.String(), Groups: []string{"directors"}}},
					{When: is("gt", tooLarge), Then: countersign.RuleDeny, Reason: "too much"},
				},
				Budgets: []countersign.Budget{
					{Count: paysAtMost, Window: paysWithin.String(), Then: countersign.BudgetDeny, Reason: "enough for now"},
					{Sum: "amount", Most: countersign.RawValue(paidAtMost), Window: "3h", Then: countersign.BudgetAsk, Reason: "much for three hours"},
				},
			},
		},
	}
}

// Amounts at which the rules of pay begin to hold.
const (
	small    = "100"
	large    = "1000"
	tooLarge = "10000"
)

// recruit makes two agents, admits them, and makes a team of them.
func (d *day) recruit(tenant string) {
	m := countersign.Manifest{SchemaVersion: countersign.ManifestSchemaVersion}
	for _, name := range []string{"reader", "payer"} {
		m.Agents = append(m.Agents, countersign.ManifestAgent{ExternalAgentID: name, SourceRevision: 1, Name: name, Role: "clerk", Goal: "help", Capabilities: []string{"look", "pay", "note"}, ModelID: "refund"})
	}
	d.must(d.who(tenant, "ann"), "sync the agents", "", func(a control.Actor) error {
		_, err := d.process.control.SyncAgents(background(), a, tenant+"-one", m)
		return err
	})
	var w countersign.TeamWrite
	w.Name = "desk"
	for i, h := range d.look(tenant).agents {
		d.must(d.who(tenant, "ada"), "admit "+h.ID, "agents.admit", func(a control.Actor) error {
			_, err := d.process.control.AdmitAgent(background(), a, h.ID, countersign.Admission{Reason: "known"})
			return err
		})
		w.Members = append(w.Members, countersign.TeamMember{AgentID: h.ID, Role: "member"})
		st := countersign.TeamStep{ID: []string{"read", "note"}[i], Name: "step", AgentID: h.ID, Capability: []string{"look", "note"}[i], Expectation: done}
		if i == 0 {
			st.Input = map[string]countersign.Value{"order": countersign.String("o-7")}
		} else {
			st.DependsOn = []string{"read"}
		}
		w.Steps = append(w.Steps, st)
	}
	d.must(d.who(tenant, "ann"), "put the team", "teams.write", func(a control.Actor) error {
		_, err := d.process.control.PutTeam(background(), a, "desk", w)
		return err
	})
}

// connect makes the tenant's webhook, and the first tenant's people members of the Slack workspace.
func (d *day) connect(tenant string) {
	d.must(d.who(tenant, "ada"), "put the webhook", "webhooks.write", func(a control.Actor) error {
		_, err := d.process.control.PutWebhook(background(), a, "hook", countersign.WebhookWrite{
			URL: hookURL + "/" + tenant, Events: []string{countersign.EventRunEnded, countersign.EventApprovalRequested}, SecretEnv: secret,
		})
		return err
	})
	if tenant != tenants[0] {
		return
	}
	bob := d.who(tenant, "bob")
	d.slack.Join(slacktest.Member{ID: slackBob, Email: bob.Email, Name: "Bob"})
	account := control.ChatAccount{Service: "slack", Workspace: slacktest.Team, ID: slackBob, Name: "Bob", Email: bob.Email}
	if _, err := d.process.control.ChatActor(background(), tenant, account, "req-chat"); !errors.Is(err, control.ErrChatUnconfirmed) {
		d.t.Fatalf("an account that nobody has confirmed: %v", err)
	}
	d.must(bob, "confirm the account", "", func(a control.Actor) error {
		a.Session = "s-bob"
		began := &records.Session{TenantID: tenant, Email: bob.Email, CreatedAt: d.now(), SeenAt: d.now(), ExpiresAt: d.now().Add(time.Hour)}
		if err := d.replicas[0].store.Update(background(), func(tx store.Tx) error {
			_, err := records.Sessions.Put(tx, store.Realm, a.Session, began, 0)
			return err
		}); err != nil {
			return err
		}
		return d.process.control.ConfirmChatAccount(background(), a, account.Service, account.Workspace, account.ID)
	})
	synctest.Wait()
}

const slackBob = "U1"
