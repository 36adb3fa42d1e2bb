//go:build unix

package outbound

import "syscall"

// isIdle looks at the socket without waiting: an idle connection has nothing to
// read. An end means that the receiver closed it; bytes, that it said something
// nobody asked for, which would be taken for the next answer.
func (c *conn) isIdle() bool {
	s, ok := c.wire.Conn.(syscall.Conn)
	if !ok || c.reader.Buffered() > 0 {
		return false
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return false
	}
	silent := false
	err = raw.Read(func(fd uintptr) bool {
		var b [1]byte
		_, err := syscall.Read(int(fd), b[:])
		silent = err == syscall.EAGAIN
		return true
	})
	return err == nil && silent
}
