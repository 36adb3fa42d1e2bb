package harness

import (
	"fmt"
	"math/rand/v2"
	"net"
	"testing"
)

// UnusedAddress is an address of this machine where nothing listens. It lies below
// the ports that the system gives to those who ask for any, so that no other program
// takes it before the test does.
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
