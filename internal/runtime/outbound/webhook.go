package outbound

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/credential"
	"github.com/countersign/countersign/internal/rules/request"
)

// Headers of Standard Webhooks (https://www.standardwebhooks.com).
const (
	HeaderWebhookID        = "webhook-id"
	HeaderWebhookTimestamp = "webhook-timestamp"
	HeaderWebhookSignature = "webhook-signature"
)

// maxNoticeAnswer bounds how much of the answer to a notification is read; nothing
// of it is used.
const maxNoticeAnswer = 64 << 10

// Notify sends a notification once, by the rules of every outgoing call: to an origin
// on the list, no redirect followed. It gives the status of the answer, 0 for none,
// and why the notification can't be known to have arrived; that text may be shown.
func (c *Client) Notify(ctx context.Context, n request.Notice) (status int, problem string) {
	m, err := c.noticeMessage(n)
	if err != nil {
		return 0, causeOf(err)
	}
	a := c.perform(ctx, m, countersign.WebhookTimeout)
	switch {
	case !a.head:
		return 0, causeOf(a.err)
	case a.status < 200 || a.status > 299:
		return a.status, answered(a, masker{})
	}
	return a.status, ""
}

func (c *Client) noticeMessage(n request.Notice) (message, error) {
	base, target, err := request.SplitAddress(n.URL)
	if err != nil {
		return message{}, cause("the address " + err.Error())
	}
	o, err := parseOrigin(base)
	if err != nil {
		return message{}, err
	}
	m := message{origin: o, method: "POST", target: target, body: string(n.Body), maxAnswer: maxNoticeAnswer}
	switch {
	case !c.origins[o.text]:
		return m, cause("origin " + o.text + " is not on the server's list")
	case !isVisible(n.ID) || strings.Contains(n.ID, "."):
		return m, cause("the notification's id can't be sent")
	}
	key, err := c.credentials.webhookKey(credential.Use{Tenant: n.Tenant, Origin: o.text, Kind: countersign.AuthHMAC, Name: n.SecretEnv}, n.BoundTo)
	m.notice = &noticeHead{id: n.ID, key: key}
	return m, err
}

// webhookKey reads the secret: the bytes that whsec_ and base64 stand for, or any
// others as they are.
func (c credentials) webhookKey(u credential.Use, boundTo string) ([]byte, error) {
	if err := c.allowed(u, boundTo); err != nil {
		return nil, err
	}
	name := u.Name
	secret := c.getenv(name)
	if secret == "" {
		return nil, cause("credential variable " + name + " is not set")
	}
	encoded, standard := strings.CutPrefix(secret, "whsec_")
	if !standard {
		return []byte(secret), nil
	}
	key, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || len(key) == 0 {
		return nil, cause("the value of credential variable " + name + " begins with whsec_ and is not base64")
	}
	return key, nil
}

// noticeHead writes what identifies and signs a notification, instead of the
// headers of a step's call.
type noticeHead struct {
	id  string
	key []byte
}

func (n *noticeHead) append(b []byte, timestamp, body string) []byte {
	mac := hmac.New(sha256.New, n.key)
	mac.Write([]byte(n.id + "." + timestamp + "." + body))
	b = field(b, HeaderWebhookID, n.id)
	b = field(b, HeaderWebhookTimestamp, timestamp)
	return field(b, HeaderWebhookSignature, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
}
