package records

import (
	"time"

	"github.com/countersign/countersign/internal/storage/store"
)

// ChatMessage is the message about one approval, or one change that weakens, in a chat service. It is
// kept from before the message is sent until the message has told how that ended.
type ChatMessage struct {
	TenantID   string `json:"tenantId"`
	ApprovalID string `json:"approvalId"`         // "" for a change's
	ChangeID   string `json:"changeId,omitempty"` // "" for an approval's
	Channel    string `json:"channel"`

	Ref   string   `json:"ref,omitempty"`   // the message, as the chat service names it; "" while it isn't known
	Also  []string `json:"also,omitempty"`  // other messages about the approval, of which a person answered one
	Told  string   `json:"told,omitempty"`  // digest of what the messages say
	Doubt bool     `json:"doubt,omitempty"` // a message was being sent, and nobody knows whether it arrived
	Again bool     `json:"again,omitempty"` // the message was sent when another one may have arrived

	By    string    `json:"by,omitempty"`    // the process that is sending
	Until time.Time `json:"until,omitzero"`  // by then it has ended that, or has ended itself
	Tries int       `json:"tries,omitempty"` // attempts since the last that arrived
	Next  time.Time `json:"next,omitzero"`   // when to try again
}

// ChatMessages are kept under Realm.
var ChatMessages = store.Collection[ChatMessage]{Table: store.Meta}

// ChatMessageID is the id of the message about an approval or a change at a chat service.
func ChatMessageID(service, tenant, about string) string {
	return "chat/" + service + "/" + tenant + "/" + about
}

// AllChatMessages narrows a listing to the messages at a chat service.
func AllChatMessages(service string) []store.Filter {
	return idRange("chat/"+service+"/", "chat/"+service+"0") // '0' follows '/'
}

// ChatLink says that an account at a chat service asked to decide as a user, and that the
// user has confirmed it.
type ChatLink struct {
	Service     string    `json:"service"`
	Workspace   string    `json:"workspace"`
	Account     string    `json:"account"`
	Name        string    `json:"name"`  // of the account, when it asked
	Email       string    `json:"email"` // of both, when it asked
	AskedAt     time.Time `json:"askedAt"`
	ConfirmedAt time.Time `json:"confirmedAt,omitzero"`
}

// ChatLinks are kept under Realm: an account is one, in however many tenants its user is.
var ChatLinks = store.Collection[ChatLink]{Table: store.Meta}

// ChatLinkID is the id of an account's link.
func ChatLinkID(service, workspace, account string) string {
	return "chatlink/" + service + "/" + workspace + "/" + account
}

// AllChatLinks narrows a listing to the links.
func AllChatLinks() []store.Filter { return idRange("chatlink/", "chatlink0") } // '0' follows '/'
