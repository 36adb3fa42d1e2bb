package browser

import (
	"regexp"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/countersign/countersign/test/harness"
)

var (
	setupLink = regexp.MustCompile(`/console(/setup\?link=[0-9a-f]{64})`)
	firstOne  = regexp.MustCompile(`csn_\w{49}`)
)

// TestFromAnEmptyStoreToACompletedRun is the main use by two people in their browsers: set up, register and enable
// a project, store a model, look at its simulation, compile a plan, rehearse it, start it LIVE; the other person
// approves, and the run's page shows it without a reload.
func TestFromAnEmptyStoreToACompletedRun(t *testing.T) {
	if !started(t) {
		return
	}
	r := harness.NewReceiver(t)
	r.On("POST", "/refunds", harness.Answering(201, `{"id":"re_1","state":"succeeded"}`))
	s := harness.StartPrinting(t, harness.Set("CONNECTION_ORIGINS", r.Origin()),
		harness.Set("SIGNING_ENV_ALLOWLIST", harness.SecretEnv), harness.Env(harness.SecretEnv, harness.Secret))
	s.Admin = s.As(firstOne.FindString(s.Log()))
	s.Keep(harness.Secret)
	ada := newTab(t, s)
	ada.open(setupLink.FindStringSubmatch(s.Log())[1])
	ada.fill("#email", "ada@example.com")
	ada.press("main", "Set up and sign in")
	ada.sees("Nothing is waiting for you")

	ada.registersTheShop(r.Origin())
	ada.storesTheModel()
	ada.compiles("DRY_RUN")
	ada.press("main", "Start the rehearsal")
	ada.at("/runs/run-")
	ada.sees("Rehearsed. Nothing was sent; 1 step will ask for approval.")
	ada.compiles("LIVE")
	ada.press("main", "Start the live run")
	ada.at("/runs/run-")
	ada.sees("Waiting for an approver’s decision")

	admin := newTab(t, s)
	admin.signIn("ada@example.com")
	mara := admin.invites("mara@example.com", "APPROVER")
	mara.press("main", "Review")
	mara.at("/approvals/")
	mara.sees("ord-7")
	mara.fill(`[name="reason"]`, "the item came back")
	js[bool](ada, `(window.stayed = true)`)
	mara.press("main", "Approve and send")
	mara.sees("Approved by you")
	ada.sees("Done.")
	ada.sees("Completed")
	if !js[bool](ada, `window.stayed === true`) {
		t.Error("the run's page was loaded anew")
	}
}

// registersTheShop registers a project, adds what a refund needs, checks its health and enables it.
func (p *tab) registersTheShop(origin string) {
	p.t.Helper()
	p.open("/projects/new")
	p.fill(`[name="id"]`, "default-shop")
	p.fill(`[name="name"]`, "Shop")
	p.choose("adapter", "HTTP_JSON")
	p.fill(`[name="baseUrl"]`, origin)
	p.fill(`[name="healthPath"]`, "/health")
	p.choose("auth.type", "HMAC")
	p.fill(`[name="auth.credentialEnv"]`, harness.SecretEnv)
	p.press("main", "Register")
	p.sees("No capabilities yet")
	p.adds("order.check", "GET", "/orders/{orderId}")
	p.adds("refund.create", "POST", "/refunds")
	p.press("main", "Check health")
	p.fill(`form[action$="/enable"] [name="reason"]`, "checked with the shop")
	p.press("main", "Enable")
	p.sees("Enabled")
}

func (p *tab) adds(name, method, path string) {
	p.t.Helper()
	p.press("main", "Add a capability")
	p.fill(`[name="name"]`, name)
	p.fill(`[name="method"]`, method)
	p.fill(`[name="path"]`, path)
	p.fill(`[name="input0name"]`, "orderId")
	p.tick(`[name="input0required"]`)
	p.press("main", "Add it")
	p.at("/projects/default-shop")
	p.sees(name)
}

func (p *tab) storesTheModel() {
	p.t.Helper()
	p.open("/models/new")
	p.fill(`[name="document"]`, encoded(p.t, harness.Model("refund")))
	p.press("main", "Store the model")
	p.at("/models/refund")
	p.sees("Passes")
	p.do(chromedp.KeyEvent(kb.ArrowRight))
	p.until("the player to move", `location.search.includes("at=2")`)
	p.sees("In review")
}

// compiles compiles the scenario in a mode, and waits for the plan's page.
func (p *tab) compiles(mode string) {
	p.t.Helper()
	p.open("/models/refund")
	p.press("main", "Compile a plan")
	p.fill(`[name="cap_check"]`, "default-shop/order.check")
	p.fill(`[name="cap_pay"]`, "default-shop/refund.create")
	p.press("main", "Show their fields")
	for _, action := range []string{"check", "pay"} {
		p.fill(`[name="input_`+action+`"]`, `{}`)
		p.fill(`[name="vars_`+action+`"]`, `{"orderId": "orderId"}`)
	}
	p.fill(`[name="field_pay"]`, "state")
	p.fill(`[name="equals_pay"]`, `"succeeded"`)
	p.choose("mode", mode)
	p.press("main", "Compile")
	p.at("/plans/")
}

// invites adds a user with a role, and returns their tab, signed in.
func (p *tab) invites(email, role string) *tab {
	p.t.Helper()
	p.open("/access/users/new")
	p.fill(`[name="email"]`, email)
	p.tick(`[name="roles"][value="` + role + `"]`)
	p.choose("reach", "all")
	p.press("main", "Add the user")
	p.at("/access")
	p.sees(email)
	other := newTab(p.t, p.server)
	other.signIn(email)
	return other
}
