package dialing_test

import (
	"net/netip"
	"testing"

	"github.com/countersign/countersign/internal/platform/dialing"
)

func TestMayDial(t *testing.T) {
	t.Parallel()
	tests := []struct {
		ip, host string
		want     bool
	}{
		{"93.184.216.34", "api.example.com", true},
		{"2606:2800:220:1::1", "api.example.com", true},
		{"10.0.0.7", "api.internal", true}, // the listed name is the trust decision
		{"192.168.1.9", "api.internal", true},
		{"100.64.0.1", "api.internal", true},
		{"fd12:3456::1", "api.internal", true},

		{"127.0.0.1", "localhost", true},
		{"::1", "localhost", true},
		{"127.0.0.1", "127.0.0.1", true},
		{"127.0.0.1", "::ffff:127.0.0.1", true},
		{"::ffff:127.0.0.1", "127.0.0.1", true},
		{"127.0.0.2", "127.0.0.1", false},
		{"127.0.0.1", "api.example.com", false},
		{"127.9.9.9", "api.example.com", false},
		{"::1", "api.example.com", false},
		{"::ffff:127.0.0.1", "api.example.com", false},
		{"64:ff9b::7f00:1", "localhost", false},

		{"169.254.169.254", "api.example.com", false},
		{"169.254.169.254", "169.254.169.254", true}, // listed as it is
		{"169.254.169.253", "169.254.169.254", false},
		{"169.254.1.1", "api.example.com", false},
		{"fe80::1", "api.example.com", false},
		{"fe80::1%eth0", "api.example.com", false},
		{"fd00:ec2::254", "api.example.com", false},
		{"fd00:ec2::254", "fd00:ec2::254", true},
		{"fd00:ec2::253", "api.example.com", true},
		{"fd20:ce::254", "api.example.com", false},
		{"fd00:c1::a9fe:a9fe", "api.example.com", false},
		{"100.100.100.200", "api.example.com", false},
		{"168.63.129.16", "api.example.com", false},
		{"192.0.0.192", "api.example.com", false},
		{"0.0.0.0", "api.example.com", false},
		{"0.1.2.3", "api.example.com", false},
		{"::", "api.example.com", false},
		{"224.0.0.251", "api.example.com", false},
		{"255.255.255.255", "api.example.com", false},
		{"250.1.1.1", "api.example.com", false},
		{"ff02::1", "api.example.com", false},

		{"::ffff:169.254.169.254", "api.example.com", false},
		{"::ffff:10.0.0.1", "api.example.com", true},
		{"64:ff9b::a9fe:a9fe", "api.example.com", false},
		{"64:ff9b::7f00:1", "api.example.com", false},
		{"64:ff9b::808:808", "api.example.com", true},
		{"64:ff9b:1::a9fe:a9fe", "api.example.com", false},
		{"2002:a9fe:a9fe::1", "api.example.com", false},
		{"2002:7f00:1::", "api.example.com", false},
		{"2002:e000:1::", "api.example.com", false},
		{"2002:808:808::1", "api.example.com", true},
		{"::7f00:1", "api.example.com", false},
		{"::a9fe:a9fe", "api.example.com", false},
	}
	for _, tt := range tests {
		if got := dialing.Allowed(netip.MustParseAddr(tt.ip), tt.host); got != tt.want {
			t.Errorf("%s for %s: got %v", tt.ip, tt.host, got)
		}
	}
}
