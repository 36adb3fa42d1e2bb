package records

import (
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/access"
)

// User is a stored user. A realm administrator is one in the tenant `default`.
type User struct {
	countersign.User
	Realm  bool      `json:"realm,omitempty"`
	UsedAt time.Time `json:"usedAt,omitzero"`  // when a session was last begun in this tenant
	Link   string    `json:"link,omitempty"`   // the id of their sign-in link; another one is good no more
	Claims []string  `json:"claims,omitempty"` // of those that groups name, what the identity provider said when they last signed in
}

// Session is a browser's sign-in; its id is the hash of its secret. It is deleted
// when it ends, and when it is seen expired.
type Session struct {
	TenantID  string    `json:"tenantId"` // the one it acts in
	Email     string    `json:"email"`
	CreatedAt time.Time `json:"createdAt"`
	SeenAt    time.Time `json:"seenAt"` // coarsely
	ExpiresAt time.Time `json:"expiresAt"`

	Makers []string `json:"makers,omitempty"` // of the sign-in link that it began with, nearest first: it may be theirs
	Bound  bool     `json:"bound,omitempty"`  // began with what belongs to a tenant, and stays there

	Way access.Way `json:"way,omitempty"` // how it began; "" of one that an earlier release began
}

// SignInLink signs a user in once; its id is the hash of its secret. It is good while its
// user's record names it. It stands beside sign-ins by code, which are swept likewise.
type SignInLink struct {
	TenantID  string    `json:"tenantId"`
	Email     string    `json:"email"`
	Makers    []string  `json:"makers"` // nearest first
	ExpiresAt time.Time `json:"expiresAt"`
}

// SignIn is a sign-in that waits for its code; its id is the hash of the secret
// that the browser keeps. One for an address that nobody has is kept likewise, so
// that the two can't be told apart.
type SignIn struct {
	Email     string    `json:"email"`
	CodeHash  string    `json:"codeHash"`
	Tries     int       `json:"tries"`
	ExpiresAt time.Time `json:"expiresAt"`
}

// SetupLink is the one-time link of a new store, SetupID its id.
type SetupLink struct {
	Hash      string    `json:"hash"`
	ExpiresAt time.Time `json:"expiresAt"`
}

// Notice remembers of an approval which mails about it were sent; its id is NoticeID.
type Notice struct {
	ExpiresAt time.Time `json:"expiresAt"` // of the approval
	Asked     bool      `json:"asked,omitempty"`
	Expiring  bool      `json:"lapsing,omitempty"` // told that it expires soon
	Escalated bool      `json:"escalated,omitempty"`

	// Of what is being sent, or is to be tried again:
	Told  []string  `json:"told,omitempty"`  // who has it already
	Tries int       `json:"tries,omitempty"` // how often it was begun
	Next  time.Time `json:"next,omitzero"`   // when somebody else may begin it
}

// Notices share a table with what else the installation knows about itself; these
// two ids stand before and behind all of them.
const (
	FirstNotice = "notice/"
	AfterNotice = "notice0"
)

// NoticeID is the id of an approval's notice.
func NoticeID(tenant, approvalID string) string { return FirstNotice + tenant + "/" + approvalID }

// SetupID is the id of the only set-up link.
const SetupID = "setup"

func sessionKeys(s *Session) []any { return []any{s.Email, micros(s.ExpiresAt)} }

func signInKeys(s *SignIn) []any { return []any{micros(s.ExpiresAt)} }

func signInLinkKeys(l *SignInLink) []any { return []any{micros(l.ExpiresAt)} }
