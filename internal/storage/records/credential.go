package records

import (
	"strings"
	"time"

	"github.com/countersign/countersign/internal/storage/store"
)

// Credential binds a credential variable to the tenant that registered it first.
type Credential struct {
	Name     string    `json:"name"`
	TenantID string    `json:"tenantId"`
	Since    time.Time `json:"since"`
}

// CredentialsBound says that the variables which were in use before there were
// bindings have been bound, and when.
type CredentialsBound struct {
	At time.Time `json:"at"`
}

// Both are kept under Realm.
var (
	Credentials     = store.Collection[Credential]{Table: store.Meta}
	CredentialMarks = store.Collection[CredentialsBound]{Table: store.Meta}
)

const firstCredential = "credential/"

// CredentialsBoundID is the id of the mark that the credentials were bound.
const CredentialsBoundID = "credentials-bound"

// UpgradeNoticedID is the id of the mark of a store of which the log has named what the third
// edition means otherwise.
const UpgradeNoticedID = "upgrade-noticed-3"

// RunsMarkedID is the id of the mark of a store whose unfinished runs have their marks.
const RunsMarkedID = "runs-marked"

// CredentialID is the id of a variable's binding.
func CredentialID(name string) string { return firstCredential + name }

// AllCredentials lists the bindings by the variable's name.
func AllCredentials(tx store.Tx) ([]Credential, error) {
	return Credentials.List(tx, store.Realm, store.Query{Where: idRange(firstCredential, strings.TrimSuffix(firstCredential, "/")+"0")}) // '0' follows '/'
}
