package records

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// lasting are the collections of records that may be used as often as wanted, or by nobody
// outside. Sessions are ended by a restore too, and tokens if that is asked for.
var lasting = strings.Fields(`
	Tenants Users Sessions Notices Tokens TokenHashes Models ModelTexts ModelRevisions Projects ProjectRevisions
	ProjectConnections Conformances Agents AgentRevisions Instances Teams TeamRevisions Plans Runs Approvals Claims
	UnfinishedRuns Steps Probes Credentials CredentialMarks ChatMessages Replicas Mails Limits Rehearsals Passkeys PasskeyRefs
	Settings ArchivedRuns ArchivedApprovals AllReceiptKeys tokenNames agentNames Groups Stops Webhooks WebhookProgresses Delegations
	SentRequests SpentParts Marks RejectedCalls Terms Indexing ModelSizes copied LogKeys CosignedHeads Rewinds
	IdentityOwners SignIdentities Subjects Redactings Changes AllOpenChanges BreakGlassTold LooksOfAgents`)

// TestARestoreKnowsEveryRecordThatWorksOnce: each collection says whether its records do, so
// that a new kind can't be forgotten.
func TestARestoreKnowsEveryRecordThatWorksOnce(t *testing.T) {
	var ended []string
	for _, kind := range worksOnce {
		ended = append(ended, kind.collections...)
	}
	found := collections(t)
	if len(found) < 40 {
		t.Fatalf("only %v are found", found)
	}
	for _, name := range found {
		if slices.Contains(ended, name) == slices.Contains(lasting, name) {
			t.Errorf("the collection %s must be either in worksOnce, so that a restore ends its records, or in this test's lasting", name)
		}
	}
	for _, name := range slices.Concat(ended, lasting) {
		if !slices.Contains(found, name) {
			t.Errorf("there is no collection %s", name)
		}
	}
}

// collections are the names of the variables and functions of this package that give a
// collection.
func collections(t *testing.T) (names []string) {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil && d.Type.Results != nil && isCollection(d.Type.Results.List[0].Type) {
					names = append(names, d.Name.Name)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					v, is := spec.(*ast.ValueSpec)
					if !is {
						continue
					}
					for i, value := range v.Values {
						if made, is := value.(*ast.CompositeLit); is && isCollection(made.Type) {
							names = append(names, v.Names[i].Name)
						}
					}
				}
			}
		}
	}
	return names
}

func isCollection(e ast.Expr) bool {
	of, is := e.(*ast.IndexExpr)
	if !is {
		return false
	}
	name, is := of.X.(*ast.SelectorExpr)
	return is && name.Sel.Name == "Collection"
}
