//go:build !unix

package outbound

// isIdle can't be told here without waiting, so no connection is used again.
func (c *conn) isIdle() bool { return false }
