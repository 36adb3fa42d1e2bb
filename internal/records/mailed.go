package records

import (
	"time"

	"github.com/countersign/countersign/internal/store"
)

// Mailed remembers when somebody was last mailed of what waits.
type Mailed struct {
	At time.Time `json:"at"`
}

// Mails are kept under Realm: a mailbox is one, in however many tenants its user is.
var Mails = store.Collection[Mailed]{Table: store.Meta}

const firstMailed = "mailed/"

// MailedID is the id of an address.
func MailedID(email string) string { return firstMailed + email }

// AllMailed narrows a listing to these records.
func AllMailed() []store.Filter { return idRange(firstMailed, "mailed0") } // '0' follows '/'
