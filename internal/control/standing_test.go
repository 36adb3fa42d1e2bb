package control_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/rerun"
)

// ending is a way in which a right ends, and what its owner is answered whose turn comes then.
type ending struct {
	name string
	end  func(g *gate, anns, tokens control.Actor)
	user countersign.Code // "": it takes nothing from the user's session
	bare countersign.Code // "": nor from the token
}

var endings = []ending{
	{"nothing ends", func(*gate, control.Actor, control.Actor) {}, "", ""},
	{"the token is revoked", func(g *gate, _, t control.Actor) {
		_, err := g.service.RevokeToken(background, g.admin(), strings.TrimPrefix(t.ID, "token:"), "")
		g.must(err)
	}, "", countersign.CodeUnauthenticated},
	{"the user is removed", func(g *gate, _, _ control.Actor) {
		_, err := g.service.DeleteUser(background, g.admin(), ann, "")
		g.must(err)
	}, countersign.CodeUnauthenticated, ""},
	{"the user is removed and added again", func(g *gate, _, _ control.Actor) {
		_, err := g.service.DeleteUser(background, g.admin(), ann, "")
		g.must(err)
		g.give(ann, nil, countersign.RoleAdmin)
	}, countersign.CodeUnauthenticated, ""},
	{"the user signs out", func(g *gate, a, _ control.Actor) { g.must(g.service.SignOut(background, a)) }, countersign.CodeUnauthenticated, ""},
	{"the user loses the role", func(g *gate, _, _ control.Actor) { g.give(ann, nil, countersign.RoleViewer) }, countersign.CodeRoleRequired, ""},
	{"the user gets another role", func(g *gate, _, _ control.Actor) {
		g.give(ann, nil, countersign.RoleViewer, countersign.RoleAdmin)
	}, "", ""},
	{"the user is limited to projects", func(g *gate, _, _ control.Actor) { g.give(ann, []string{"default-shop"}, countersign.RoleAdmin) }, countersign.CodeProjectScope, ""},
	{"time", func(g *gate, _, _ control.Actor) { g.now = g.now.Add(2 * 24 * time.Hour) }, countersign.CodeUnauthenticated, countersign.CodeUnauthenticated},
}

func (g *gate) give(email string, projects []string, roles ...countersign.Role) {
	g.t.Helper()
	_, err := g.service.PutUser(background, g.admin(), email, countersign.UserWrite{Roles: roles, ProjectIDs: projects})
	g.must(err)
}

// TestARightThatEndsBeforeItsTurnDoesNothing: it ends between the look at who asks and the
// transaction that writes. So nothing that it was for stands behind its end in the log.
func TestARightThatEndsBeforeItsTurnDoesNothing(t *testing.T) {
	for _, e := range endings {
		for who, want := range map[string]countersign.Code{"the user": e.user, "the token": e.bare} {
			g := openGate(t)
			g.must(g.store.Update(background, func(tx store.Tx) error {
				_, err := records.Projects.Put(tx, countersign.DefaultTenant, "default-shop", &records.ProjectHead{ID: "default-shop", Revision: 1}, 0)
				return err
			}))
			g.give(ann, nil, countersign.RoleAdmin)
			anns := g.actor(g.signIn(ann))
			made, err := g.service.CreateToken(background, g.admin(), countersign.TokenWrite{Name: "n", Roles: []countersign.Role{countersign.RoleAdmin}, ExpiresInDays: 1})
			g.must(err)
			p, err := g.service.Authenticate(background, made.Secret)
			g.must(err)
			tokens := control.Actor{Principal: p}
			actor := map[string]control.Actor{"the user": anns, "the token": tokens}[who]
			g.service.Close()

			behind := g.over(rerun.Meanwhile(g.store, func() { e.end(g, anns, tokens) }))
			_, err = behind.CreateToken(background, actor, countersign.TokenWrite{Name: "heir", Roles: []countersign.Role{countersign.RoleAdmin}})
			if countersign.ErrorCode(err) != want {
				t.Errorf("%s: %s makes a token: %v, want %q", e.name, who, err, want)
			}
			if n := g.done(actor.ID, access.CreateToken); (n > 0) != (want == "") {
				t.Errorf("%s: %d records of what %s has made", e.name, n, who)
			}
		}
	}
}

// done counts what somebody has done.
func (g *gate) done(actor string, op access.Operation) (n int) {
	g.t.Helper()
	g.must(g.store.View(background, func(tx store.Tx) error {
		rows, err := tx.List(store.Audit, countersign.DefaultTenant, store.Query{})
		n = 0
		for _, row := range rows {
			if rec := decoded[countersign.AuditRecord](g.t, row.Doc); rec.Actor == actor && rec.Action == string(op) && rec.Outcome == countersign.AuditDone {
				n++
			}
		}
		return err
	}))
	return n
}

// approverToken is a token that decides.
func (f *fixture) approverToken() (id string, a control.Actor) {
	f.t.Helper()
	boss := as("acme")
	boss.Roles = append(boss.Roles, countersign.RoleApprover)
	made, err := f.service.CreateToken(background, boss, countersign.TokenWrite{Name: "approver", Roles: []countersign.Role{countersign.RoleApprover, countersign.RoleOperator}})
	f.must(err)
	door := f.on(f.store)
	p, err := door.Authenticate(background, made.Secret)
	f.must(err)
	door.Close() // so that noting the token's use is no commit of what comes
	return made.ID, control.Actor{Principal: p}
}

// TestARevokedTokenDecidesNothing, though it was good when the decision was sent: the approval
// stays as it is.
func TestARevokedTokenDecidesNothing(t *testing.T) {
	h := open(t)
	asked := h.oneWaits()
	id, a := h.approverToken()
	a.Lineage = nil // that its maker has asked is another matter
	behind := h.on(rerun.Meanwhile(h.store, func() {
		_, err := h.service.RevokeToken(background, as("acme"), id, "")
		h.must(err)
	}))
	_, err := behind.Decide(background, a, asked, countersign.Decision{Decision: countersign.ApprovalApproved, Reason: "r"})
	wantCode(t, err, countersign.CodeUnauthenticated)
	left, err := h.service.Approval(background, as("acme"), asked)
	if h.must(err); left.Status != countersign.ApprovalPending || len(left.Decisions) > 0 {
		t.Errorf("%+v", left)
	}
}

// TestARevokedTokenStartsNothing, also where a start looks for its key before its turn.
func TestARevokedTokenStartsNothing(t *testing.T) {
	eachWay(t, func(t *testing.T, h *fixture, ids []string) {
		id, a := h.approverToken()
		h.store.before = func() {
			_, err := h.service.RevokeToken(background, as("acme"), id, "")
			h.must(err)
		}
		_, err := h.service.StartAgentRun(background, a, ids[0], pinging(countersign.ModeLive), "k")
		wantCode(t, err, countersign.CodeUnauthenticated)
	})
}

// TestWhatABodyIsReadForIsNoRight: another replica has revoked the token.
func TestWhatABodyIsReadForIsNoRight(t *testing.T) {
	g := openGate(t)
	replica := g.over(struct{ store.Store }{g.store})
	made, err := g.service.CreateToken(background, g.admin(), countersign.TokenWrite{Name: "n", Roles: []countersign.Role{countersign.RoleViewer}})
	g.must(err)
	_, err = replica.Authenticate(background, made.Secret)
	g.must(err)
	_, err = g.service.RevokeToken(background, g.admin(), made.ID, "")
	g.must(err)
	if _, err := replica.Expect(background, made.Secret, ""); err != nil {
		t.Errorf("it asks the store: %v", err)
	}
	_, err = replica.Authenticate(background, made.Secret)
	wantCode(t, err, countersign.CodeUnauthenticated)
	replica.Close()
}

// begunWithoutALook are the functions that write for an actor whose rights they don't ask for.
var begunWithoutALook = []string{
	"UpdateAs",            // looks
	"end", "SwitchTenant", // of sessions: ask for the session itself, in the transaction
	"SignIn", "SignInClaiming", "SignInByLink", "SignInByPasskey", "SetUp", // by what they use up there
}

// TestWhoWritesForAnActorLooksAgain: every function that has an actor and begins a transaction.
func TestWhoWritesForAnActorLooksAgain(t *testing.T) {
	var found []string
	for _, f := range functions(t) {
		if takesActor(f) && beginsUpdate(f) {
			found = append(found, f.Name.Name)
		}
	}
	slices.Sort(found)
	want := slices.Sorted(slices.Values(begunWithoutALook))
	if !slices.Equal(found, want) {
		t.Errorf("transactions for an actor without a look at its rights:\n got %v\nwant %v", found, want)
	}
}

// functions are those of the product in this package and in the rooms below it.
func functions(t *testing.T) (all []*ast.FuncDecl) {
	t.Helper()
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			return err
		}
		for _, d := range file.Decls {
			if f, is := d.(*ast.FuncDecl); is {
				all = append(all, f)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// nameOf is the name that an expression ends in, without the package or value before it.
func nameOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}

func takesActor(f *ast.FuncDecl) bool {
	return slices.ContainsFunc(f.Type.Params.List, func(p *ast.Field) bool { return nameOf(p.Type) == "Actor" })
}

// beginsUpdate reports a function that calls the store's Update.
func beginsUpdate(f *ast.FuncDecl) (does bool) {
	ast.Inspect(f, func(n ast.Node) bool {
		call, is := n.(*ast.SelectorExpr)
		if is && call.Sel.Name == "Update" && nameOf(call.X) == "Store" {
			does = true
		}
		return true
	})
	return does
}
