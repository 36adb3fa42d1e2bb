package access

import (
	"testing"

	"github.com/countersign/countersign"
)

// TestRefusalsSayWhatIsMissing reads the text of each refusal.
func TestRefusalsSayWhatIsMissing(t *testing.T) {
	viewer := Principal{ID: "user:vic@example.com", Roles: []countersign.Role{countersign.RoleViewer}}
	rehearser := Principal{ID: "token:dry", Roles: admin, Modes: []string{countersign.ModeDryRun}}
	clerk := Principal{ID: "token:clerk", Roles: operator, Agents: []string{"acme-shop.clerk"}}
	six := Principal{ID: "token:six", Roles: operator, Agents: []string{"a", "b", "c", "d", "e", "f"}}
	linked := Principal{ID: "user:ada@example.com", Email: "ada@example.com", Lineage: []string{"token:root"}}
	person := Principal{ID: "token:confirmed", Email: "ada@example.com", Person: "ada@example.com"}
	_, notUTF8 := CanonicalEmail("ad\xffa@example.com")
	_, otherScript := CanonicalEmail("\u212aate@example.com")
	for _, test := range []struct {
		name string
		err  error
		want string
	}{
		{"an operation without a rule", Allow(viewer, "runs.forge"), "role_required: nobody may ask for runs.forge"},
		{"a tenant's ADMIN at the tenants", Allow(Principal{Roles: admin}, WriteTenant), "role_required: this needs a realm administrator"},
		{"nobody's role", Allow(Principal{}, ReadRuns), "role_required: you have no role in this tenant"},
		{"another role", Allow(viewer, StartRun), "role_required: this needs the role OPERATOR; you have VIEWER"},
		{"projects at the whole tenant", Allow(Principal{Roles: admin, Projects: []string{"acme-shop"}}, ReadAudit), "project_scope: this covers the whole tenant; you are limited to projects"},
		{"one mode at users", Allow(Principal{ID: "token:live", Roles: admin, Modes: []string{countersign.ModeLive}}, WriteUser), "role_required: a user has both modes, and this token is limited to LIVE: it adds, changes, invites and signs in none"},
		{"a rehearser at groups", Allow(rehearser, WriteGroup), "role_required: this token is limited to DRY_RUN: it reads, validates, simulates, compiles, makes DRY_RUN plans and runs, and sends heartbeats; anything else needs another token"},
		{"a rehearser at what exists", Replace(rehearser), "role_required: this token is limited to DRY_RUN: it makes a model or project that doesn't exist yet, and changes none"},
		{"an agent's token at plans", Allow(clerk, CreatePlan), "role_required: this token is for acme-shop.clerk; it starts and reads its agents' own runs, cancels those that it started and sends heartbeats; anything else needs another token"},
		{"another agent", ActsFor(clerk, "acme-shop.boss"), "role_required: this token is for acme-shop.clerk; agent acme-shop.boss is none of them"},
		{"another agent's run", InRun(six, "g"), "role_required: this token is for 6 agents; this run is no run of theirs"},
		{"another's run to cancel", Cancel(clerk, Requester{ID: "token:other"}), "role_required: this token is for acme-shop.clerk; it cancels only the runs that it started itself"},
		{"another project", InScope(Principal{Projects: []string{"acme-shop"}}, "acme-crm"), "project_scope: this is outside the projects you may see"},
		{"a realm administrator", OverRealm(viewer), "role_required: this is a realm administrator, or a token of one; only a realm administrator changes or removes it"},
		{"the other mode", Mode(rehearser, countersign.ModeLive), "role_required: this token is limited to DRY_RUN"},
		{"one's own run", FourEyes(ada, ada.Requester()), "self_approval: you asked for this run, so someone else must decide"},
		{"a run by a link's session", FourEyes(root, linked.Requester()), "self_approval: who asked for this run and you may be one person, since a session counts as whoever made the sign-in link that began it, and so does a token that was made in one; someone else must decide, or sign in another way"},
		{"a link's session at what the link's maker asked for", FourEyes(linked, root.Requester()), "self_approval: you signed in by a link of token:root, so you count as token:root, who asked for this run; sign in by a code or your provider to decide"},
		{"a link's session at what a token of the link's maker asked for", EyesOfPeople.MayJudge(Principal{ID: linked.ID, Email: linked.Email, Person: linked.Email, Lineage: linked.Lineage}, Requester{ID: "token:agent", Makers: []string{"token:root"}}), "self_approval: you signed in by a link of token:root, so you count as token:root, who made the token that asked for this run; sign in by a code or your provider to decide"},
		{"a token that is not confirmed", EyesOfPeople.MayJudge(adas, bob.Requester()), "role_required: people decide here, and ada@example.com has not confirmed that this token is theirs; they do so in the console's settings, or sign in and decide there"},
		{"a token of nobody", EyesOfPeople.MayJudge(bare, bob.Requester()), "role_required: people decide here, and no user stands behind this token; sign in as a user, or use a token that its user has confirmed"},
		{"a token that one made", EyesOfPeople.MayJudge(person, bare.Requester()), "self_approval: you made the token that asked for this run, so someone else must decide"},
		{"a user who lost the role", MayThemselves(Principal{Email: "ada@example.com"}, DecideApproval), "role_required: people decide here, and ada@example.com, for whom this token stands, may not do this themselves; their roles and projects bound what it decides"},
		{"a token that is not confirmed, of a group", AsMember(adas, []string{"finance", "legal"}, nil), "role_required: members of finance and legal decide this, and ada@example.com has not confirmed that this token is theirs; they do so in the console's settings, or sign in and decide there"},
		{"a token of nobody, of a group", AsMember(bare, []string{"finance"}, nil), "role_required: members of finance decide this, and no user stands behind this token; sign in as a user, or use a token that its user has confirmed"},
		{"no member", AsMember(person, []string{"finance"}, nil), "role_required: members of finance decide this, and you are in none of them"},
		{"who made the other decider", EyesOfPrincipals.MayJoin(second.Requester(), bare.Requester()), "self_approval: token:bare has decided this already, and one person may be both of you, who made the token or the sign-in link of the other; someone else must decide"},
		{"an address of other bytes", notUTF8, "it is not UTF-8"},
		{"a sign that becomes a letter", otherScript, "it has a sign that would be read as a letter of another script; write the plain letter"},
		{"an address with a hidden character", MistakableEmail("ada\u200b@example.com"), `it has characters that nobody sees: ada\u200b@example.com; write it without them`},
		{"an address with a space", MistakableEmail("ada lovelace@example.com"), "it has a space; write it without one"},
		{"an address of two scripts", MistakableEmail("\u0430da@example.com"), "it mixes scripts within a word; write each word in the letters of one script"},
	} {
		if test.err == nil || test.err.Error() != test.want {
			t.Errorf("%s: %v\nnot %s", test.name, test.err, test.want)
		}
	}
}
