package outbound

import (
	"context"
	"syscall"
)

// DialGuard refuses, for a net.Dialer that connects to this host, every address that calls never
// go to, after the name was resolved. It is for programs that speak to an API by other means
// than a Client, by the same rules.
func DialGuard(host string) func(ctx context.Context, network, address string, c syscall.RawConn) error {
	return guard(host)
}

// Masker takes secrets out of what an API answers, as a Client does.
type Masker struct{ m masker }

// NewMasker makes a Masker of the secrets that are long enough to tell.
func NewMasker(secrets ...string) Masker {
	var m masker
	for _, s := range secrets {
		m.add(s)
	}
	return Masker{m}
}

// JSON masks a valid JSON text, which is another text of JSON then.
func (m Masker) JSON(text string) string { return m.m.mask(text) }

// Text masks a text of any kind: one that holds a secret only after some decoding, whole.
func (m Masker) Text(text string) string { return m.m.without(text, true) }

// Begin is the beginning of a text, masked, of which the rest is left out.
func (m Masker) Begin(body []byte, whole bool) string { return said(body, m.m, whole) }
