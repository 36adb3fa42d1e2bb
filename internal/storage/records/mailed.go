package records

import (
	"time"

	"github.com/countersign/countersign/internal/storage/store"
)

// Mailed remembers when somebody was last mailed of what waits.
type Mailed struct {
	At    time.Time `json:"at"`
	Until time.Time `json:"until,omitzero"` // a mail is being sent, and by then the process has ended it or has ended itself
}

// Mails are kept under Realm: a mailbox is one, in however many tenants its user is.
var Mails = store.Collection[Mailed]{Table: store.Meta}

const firstMailed = "mailed/"

// MailedID is the id of an address.
func MailedID(email string) string { return firstMailed + email }

// FirstMailed is the id before all of these.
const FirstMailed = firstMailed

// MailedFrom narrows a listing to these records, from an id on.
func MailedFrom(id string) []store.Filter { return idRange(id, "mailed0") } // '0' follows '/'
