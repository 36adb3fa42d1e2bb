package request

import (
	"strconv"

	"github.com/countersign/countersign"
)

// Digest is the requestDigest of an approval and a step (contract 6): the
// lowercase hex SHA-256 over what is sent and what it was approved as. Six texts
// are hashed, in this order:
//
//	method, url, body, project id, project revision, capability name
//
// each as a netstring: its length in bytes in decimal, a colon, the bytes, a
// comma. The url is the absolute one with its query, the body the exact bytes
// (no bytes when there is no body), the revision decimal. Lengths come first, so
// no two different requests are ever hashed as the same text. To recompute:
//
// Where the project has headers, or BASIC has a user, a seventh text follows: the JSON of
// the request's headers, as the approval shows it.
//
//	printf '4:POST,30:https://api.example.com/refund,12:{"amount":5},9:acme-shop,1:3,6:refund,' | sha256sum
func Digest(r countersign.Request, projectID string, revision int64, capability string) string {
	b := make([]byte, 0, len(r.URL)+len(r.Body.Raw())+128)
	texts := []string{r.Method, r.URL, BodyText(r), projectID, strconv.FormatInt(revision, 10), capability}
	if !r.Headers.IsZero() {
		texts = append(texts, r.Headers.Raw())
	}
	for _, text := range texts {
		b = strconv.AppendInt(b, int64(len(text)), 10)
		b = append(b, ':')
		b = append(b, text...)
		b = append(b, ',')
	}
	return countersign.SHA256Hex(b)
}

// BodyText is the exact body that is sent, "" when there is none. A request that
// was stored and read again says null where it had no body; a body itself is
// always an object, so null never means anything else.
func BodyText(r countersign.Request) string {
	if r.Body.IsNull() {
		return ""
	}
	return r.Body.Raw()
}
