package harness

import (
	"fmt"
	"math/rand/v2"
	"net"
	"testing"
)

// UnusedAddress is an address of this machine where nobody listens. It lies below
// the ports that the system gives to whoever asks for any, so that nobody takes it
// before whom it is for.
func UnusedAddress(t testing.TB) string {
	t.Helper()
	for range 100 {
		address := fmt.Sprintf("127.0.0.1:%d", 10_000+rand.N(22_000))
		if l, err := net.Listen("tcp", address); err == nil {
			_ = l.Close()
			return address
		}
	}
	t.Fatal("no port is free")
	return ""
}
