package request

// Notice is one notification to a webhook, as it is sent (contract 10,
// NOTIFY_ORIGINS). ID stays the same over retries.
type Notice struct {
	Tenant    string // whose webhook it is
	URL, ID   string
	SecretEnv string // the variable that holds the signing secret
	BoundTo   string // the tenant that this variable is bound to; "" for none
	Body      []byte
}
