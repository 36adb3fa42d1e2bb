package mail

import (
	"context"
	"crypto/tls"
	"net"
)

// line is the connection of one mail. It is kept here since the SMTP client leaves it open
// when a server refuses, and since the end of the context must close it: otherwise a
// server that stops answering would block Send.
type line struct {
	server *Server
	whole  context.Context // bounds the whole mail
	conn   net.Conn
	forget func() bool
}

func (l *line) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := (&net.Dialer{Timeout: dialTimeout}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	l.conn = conn
	l.forget = context.AfterFunc(l.whole, func() { _ = conn.Close() }) // ctx bounds only the dialing
	if l.server.implicit {
		return tls.Client(conn, l.server.tls()), nil
	}
	return conn, nil
}

func (l *line) close() {
	if l.conn != nil {
		l.forget()
		_ = l.conn.Close() // already closed after a QUIT
	}
}
