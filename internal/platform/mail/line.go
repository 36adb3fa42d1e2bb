package mail

import (
	"context"
	"crypto/tls"
	"net"
)

// line is the connection of one mail. It is held here because the client leaves it
// open when a server refuses, and because the end of the context must cut it: a
// server that stops talking is not waited for.
type line struct {
	server *Server
	whole  context.Context // of the mail
	conn   net.Conn
	forget func() bool
}

func (l *line) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := (&net.Dialer{Timeout: dialTimeout}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	l.conn = conn
	l.forget = context.AfterFunc(l.whole, func() { _ = conn.Close() }) // ctx is that of dialling alone
	if l.server.implicit {
		return tls.Client(conn, l.server.tls()), nil
	}
	return conn, nil
}

func (l *line) close() {
	if l.conn != nil {
		l.forget()
		_ = l.conn.Close() // closed already after a good-bye
	}
}
