package test

import (
	"crypto/rand"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/testing/pgtest"
	"github.com/countersign/countersign/test/harness"
)

// examined are doctor's findings about a database, by check: state, observation and advice.
func examined(t *testing.T, database string) map[string]string {
	t.Helper()
	r := harness.Run(t, map[string]string{"SVC_PLATFORM_STORE": database, "SVC_PLATFORM_LISTEN": "127.0.0.1:0"}, "doctor", "-o", "json")
	found := map[string]string{}
	broken := false
	for _, f := range parsed(t, r.Out).Items() {
		found[f.At("check").Text()] = f.At("state").Text() + ": " + f.At("seen").Text() + ": " + f.At("do").Text()
		broken = broken || f.At("state").Text() == "BROKEN"
	}
	if (r.Status == 1) != broken || r.Status > 1 {
		t.Errorf("status %d\n%s%s", r.Status, r.Out, r.Err)
	}
	return found
}

// TestDoctorLooksIntoADatabaseAndChangesNothing: it reports the content, the users and what a start would do.
func TestDoctorLooksIntoADatabaseAndChangesNothing(t *testing.T) {
	t.Parallel()
	database := pgtest.Database(t)
	look := func(when string, want map[string]string) {
		t.Helper()
		found := examined(t, database)
		for check, words := range want {
			for _, word := range strings.Split(words, "|") {
				if !strings.Contains(found[check], word) {
					t.Errorf("%s: %s is %q without %q", when, check, found[check], word)
				}
			}
		}
	}
	look("empty", map[string]string{"store": "warning|has no tables of ours", "database server": "encoding UTF8|synchronous_commit on"})
	look("still empty", map[string]string{"store": "warning|has no tables of ours"})

	settings := []harness.Setting{harness.Set("STORE", database), harness.Set("BOOTSTRAP_TOKEN", "bootstrap-of-the-doctor-0123456789")}
	one, two := harness.Start(t, settings...), harness.Start(t, settings...)
	admin := one.As("bootstrap-of-the-doctor-0123456789")
	one.Admin, two.Admin = admin, two.As("bootstrap-of-the-doctor-0123456789")
	look("two replicas", map[string]string{
		"store": "ok|schema |level 1", "replicas": fmt.Sprintf("ok|%[1]d alive: %[1]d of ", 2*harness.Replicas), "clock": "ok", "database connections": fmt.Sprint(2*harness.Replicas, " replicas and one more"),
	})
	two.Kill()
	look("one killed", map[string]string{"replicas": fmt.Sprintf("warning|%[1]d alive|%[1]d not heard", harness.Replicas)})
	one.Stop()
	two.Restart() // a running replica removes the record of the killed one
	two.Stop()

	pgtest.Exec(t, database, "UPDATE countersign_writer SET level = 99 WHERE id = 1")
	look("of a newer release", map[string]string{"store": "BROKEN|level 99"})
	pgtest.Exec(t, database, "UPDATE countersign_writer SET level = 1 WHERE id = 1")
	pgtest.Exec(t, database, `INSERT INTO meta (tenant, id, version, doc) VALUES ('', 'copy-incomplete', 1, '{}')`)
	look("part of a copy", map[string]string{"copy": "BROKEN: the database is the target of a copy that is not complete: let 'countersign store copy' end, or drop the database and copy again"})
	pgtest.Exec(t, database, `DELETE FROM meta WHERE id = 'copy-incomplete'; INSERT INTO meta (tenant, id, version, doc) VALUES ('', 'replica/one', 1, '[]')`)
	look("a replica's record that can't be read", map[string]string{"replicas": "BROKEN: |: look again"})

	owned, role := database, "limited_"+strings.ToLower(rand.Text())
	pgtest.Exec(t, database, "CREATE ROLE "+role+" LOGIN PASSWORD 'limited'; GRANT USAGE ON SCHEMA public TO "+role+"; GRANT SELECT ON goose_db_version, countersign_writer TO "+role)
	t.Cleanup(func() { pgtest.Exec(t, owned, "DROP OWNED BY "+role+"; DROP ROLE "+role) })
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword(role, "limited")
	database = u.String()
	look("a role without rights", map[string]string{"tables": "BROKEN: |permission denied for table meta|: let the role of the address own the tables, or grant it their use"})
}

// TestDoctorReadsProjectsThatWantSeveralKeys: each key of a project's array counts, those that
// are long enough too.
func TestDoctorReadsProjectsThatWantSeveralKeys(t *testing.T) {
	t.Parallel()
	harness.OnlyDirectory(t)
	w := keysWorld(t)
	w.Admin.Put("/projects/default-keys", threeKeys(w.shop.Origin())).OK(t)
	settings := w.Settings()
	w.Stop()
	r := harness.Run(t, settings, "doctor", "-o", "json")
	weak := ""
	for _, f := range parsed(t, r.Out).Items() {
		switch check := f.At("check").Text(); check {
		case "credential":
			weak += f.At("seen").Text() + "\n"
		case "credential owner", "credential owners":
			t.Errorf("%s", f)
		}
	}
	of := "project/default-keys of tenant default uses "
	if r.Status != 0 || strings.Count(weak, of) != 2 || !strings.Contains(weak, of+"DESK_PASSWORD, which is shorter than 16 bytes") || !strings.Contains(weak, of+harness.SecretEnv+", which is shorter than 32 bytes") {
		t.Errorf("%d: %s\n%s", r.Status, weak, r.Err)
	}
	for _, secret := range []string{appKey, deskPassword} {
		if strings.Contains(r.Out+r.Err, secret) {
			t.Errorf("it shows %s", secret)
		}
	}
	settings["SVC_PLATFORM_CREDENTIAL_ENV_ALLOWLIST"] = "acme/APP_KEY,DESK_PASSWORD"
	if r := harness.Run(t, settings, "doctor"); !strings.Contains(r.Out, "project/default-keys of tenant default uses APP_KEY, which is not its tenant's") {
		t.Errorf("a key in the array that is another tenant's:\n%s", r.Out)
	}
}

// TestDoctorWarnsOfASecretThatSignsAtTwoOrigins unless the list names both.
func TestDoctorWarnsOfASecretThatSignsAtTwoOrigins(t *testing.T) {
	t.Parallel()
	w, other := ownWorld(t), harness.NewReceiver(t)
	w.Stop()
	w.Restart(harness.Set("CONNECTION_ORIGINS", w.shop.Origin()+","+other.Origin()))
	warned := func() bool {
		t.Helper()
		r := harness.Run(t, w.Settings(), "doctor")
		return strings.Contains(r.Out, harness.SecretEnv+" signs at "+w.shop.Origin()+" and "+other.Origin()+": whoever holds it at one of them can sign for the others") &&
			strings.Contains(r.Out, "list "+harness.SecretEnv+"@https://origin for each")
	}
	if warned() {
		t.Error("warned of one origin")
	}
	w.Admin.Put("/projects/default-other", harness.Project(other.Origin())).OK(t)
	if !warned() {
		t.Error("not warned of two origins")
	}
	w.Stop()
	w.Restart(harness.Set("SIGNING_ENV_ALLOWLIST", harness.SecretEnv+"@"+w.shop.Origin()+","+harness.SecretEnv+"@"+other.Origin()))
	if warned() {
		t.Error("warned of what the list allows")
	}
}
