package store

// The tables. A table's columns are what its documents are listed, counted and
// filtered by; everything else stays inside the document. Each engine's
// migrations must hold the same tables and an index for each list that the
// comments name.
var (
	// Tenants, ModelRevisions and ProjectRevisions are listed by id alone, Models and
	// Projects so too, or only those that are retired (1) or are not (0). Beside a
	// project's revision stands what is known of its receivers.
	Tenants          = table("tenants")
	Models           = table("models", integer("retired"))
	ModelRevisions   = table("model_revisions")
	Projects         = table("projects", integer("retired"))
	ProjectRevisions = table("project_revisions")

	// Users are listed by e-mail, which is their id.
	Users = table("users")

	// Sessions, kept under Realm, are looked up by their secret's hash and listed by
	// whose they are and by when they end; SignIns, sign-in links among them, by when they
	// end.
	Sessions = table("sessions", text("email"), integer("expires"))
	SignIns  = table("sign_ins", integer("expires"))
	// Tokens are listed by id; TokenHashes are looked up, never listed.
	Tokens      = table("tokens")
	TokenHashes = table("token_hashes")

	// Agents are listed by id: all of them, or those that agree in one column, retired
	// or not.
	Agents         = table("agents", text("project"), text("status"), text("model"), integer("retired"))
	AgentRevisions = table("agent_revisions")

	// Instances are listed by agent and state, the one heard last first.
	Instances = within("agent", table("instances", text("agent"), text("state"), integer("received")))

	// Teams are listed by id, all of them or those of one scope, retired or not.
	Teams         = table("teams", text("scope"), integer("retired"))
	TeamRevisions = table("team_revisions")

	// Plans, Runs and Approvals are listed newest first, all of them or those
	// that agree in one other column. A run's agent is "" where it is no agent's own.
	Plans     = table("plans", integer("created"), text("status"), text("model"), text("scope"))
	Runs      = table("runs", integer("created"), text("status"), text("plan"), text("scope"), text("agent"))
	Approvals = table("approvals", integer("created"), text("status"), text("run"), text("scope"), text("digest"), text("title"))

	// Steps are listed by id, which begins with their run's, in the run's order, and those
	// that were sent with the same request by it and the time. The run guards them.
	Steps = guarded(table("steps", text("run"), integer("idx"), sparse("sent")))

	// Rehearsals are looked up by the digest of their plan.
	Rehearsals = table("rehearsals")

	// Terms are listed by id: those of one text, or of what begins so.
	Terms = table("terms")

	// Archived runs are looked up by their id.
	Archived = table("archived")

	// Claims are looked up by idempotency key.
	Claims = table("claims")

	// Unfinished is the engine's work list, kept under Realm for all tenants: by
	// state in the order of arrival, and by the time when something is due.
	Unfinished = table("unfinished", text("tenant_id"), text("state"), integer("since"), integer("due"))

	// Audit is listed by sequence number: all of it by id, which orders as that does,
	// or what agrees in actor, action or subject. AuditHeads has a row of each log that guards it,
	// and hashes of its complete subtrees, which are looked up.
	Audit      = log(guarded(table("audit", integer("seq"), integer("at"), text("actor"), text("action"), text("subject"))))
	AuditHeads = table("audit_heads")

	// Meta holds what the installation knows about itself.
	Meta = table("meta")
)

// Tables returns every table that an engine must provide.
func Tables() []*Table {
	return []*Table{
		Tenants, Users, Sessions, SignIns, Tokens, TokenHashes, Models, ModelRevisions, Projects, ProjectRevisions,
		Agents, AgentRevisions, Instances, Teams, TeamRevisions,
		Plans, Runs, Steps, Approvals, Rehearsals, Terms, Archived, Claims, Unfinished, Audit, AuditHeads, Meta,
	}
}

func table(name string, columns ...Column) *Table { return &Table{Name: name, Columns: columns} }

func guarded(t *Table) *Table {
	t.Guarded = true
	return t
}

func within(column string, t *Table) *Table {
	t.Within = column
	return t
}

func log(t *Table) *Table {
	t.Log = true
	return t
}

func text(name string) Column { return Column{Name: name} }

func sparse(name string) Column { return Column{Name: name, Sparse: true} }

func integer(name string) Column { return Column{Name: name, Integer: true} }
