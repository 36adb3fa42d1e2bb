package console

import (
	"github.com/countersign/countersign"
)

// stopped is the banner that stands on every page while LIVE steps are stopped.
func (v *pageRequest) stopped() []banner {
	state, err := v.control.StopState(v.r.Context(), v.actor)
	if err != nil || !state.Stopped {
		return nil
	}
	stop := state.Stops[0]
	whose := "LIVE steps are stopped"
	if stop.TenantID == countersign.AllTenants {
		whose = "LIVE steps of all tenants are stopped"
	}
	return []banner{{Text: whose + ", " + v.agoWord(stop.Since) + " by " + called(stop.By, stop.ByName) + ": " + stop.Reason, Href: Prefix + "/settings#stop", Word: "See"}}
}

func stopLive(v *pageRequest) (string, error) {
	_, err := v.control.Stop(v.r.Context(), v.actor, countersign.StopWrite{Reason: v.form("reason"), TenantID: v.form("tenant")})
	return "/settings#stop", err
}

func letGo(v *pageRequest) (string, error) {
	_, err := v.control.Go(v.r.Context(), v.actor, countersign.StopWrite{Reason: v.form("reason"), TenantID: v.form("tenant")})
	return "/settings#stop", err
}

func (c *callout) waitsForGo(r *countersign.Run) {
	c.Class, c.Icon, c.Follows = "call--wait", "s-waiting", true
	c.Sentence = "LIVE steps are stopped. The run continues when an administrator lifts the stop."
	if r.Status == countersign.RunWaitingApproval {
		c.Sentence = "Approved. LIVE steps are stopped; the run goes on when an administrator lets it."
	}
	c.Href, c.Word = Prefix+"/settings#stop", "See the stop"
}
