package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/platform/secretfile"
)

// observed names for each setting, and each file of a secret, the test that starts the service with
// a value other than the default and sees what that does.
var observed = map[string]string{
	"LISTEN":                           "test/startup_test.go TestAPortInUseIsSaidInOneLine",
	"STORE":                            "test/startup_test.go TestASecondProcessOnAStoreExitsAndHarmsNothing",
	"STORE_FILE":                       "test/settings_test.go TestSecretsOfTheSettingsAreReadFromFiles",
	"BOOTSTRAP_TOKEN":                  "test/startup_test.go TestAGivenBootstrapTokenIsNotPrinted",
	"BOOTSTRAP_TOKEN_FILE":             "test/settings_test.go TestSecretsOfTheSettingsAreReadFromFiles",
	"CONNECTION_ORIGINS":               "test/registration_test.go TestOnlyListedOriginsMayBeRegistered",
	"SIGNING_ENV_ALLOWLIST":            "test/registration_test.go TestCredentialsComeFromTheListForTheirType",
	"CREDENTIAL_ENV_ALLOWLIST":         "test/registration_test.go TestCredentialsComeFromTheListForTheirType",
	"MAX_ACTIVE_RUNS":                  "test/capacity_test.go TestAStartBeyondTheLimitIsRefusedUntilASlotIsFree",
	"MAX_ACTIVE_RUNS_PER_TENANT":       "test/fairness_test.go TestTheShareOfATenantIsASetting",
	"MAX_INSTANCES_PER_AGENT":          "test/fairness_test.go TestBoundsOfATenantAreSettings",
	"MAX_PENDING_APPROVALS_PER_AGENT":  "test/mcpasking_test.go TestAnAgentsWaitingRunsAreBounded",
	"MAX_PENDING_APPROVALS_PER_TENANT": "test/fairness_test.go TestBoundsOfATenantAreSettings",
	"MAX_WEBHOOKS_PER_TENANT":          "test/fairness_test.go TestBoundsOfATenantAreSettings",
	"MAX_MODEL_BYTES_PER_TENANT":       "test/fairness_test.go TestBoundsOfATenantAreSettings",
	"MAX_PROBES_PER_RUN":               "test/fairness_test.go TestBoundsOfATenantAreSettings",
	"APPROVAL_TTL":                     "test/approvals_test.go TestAnUndecidedApprovalExpires",
	"ALLOW_SELF_APPROVAL":              "test/foureyes_test.go TestAnInstallationOfOnePersonMayAllowSelfApproval",
	"FOUR_EYES":                        "test/makers_test.go TestUnderPeopleOnlyPersonsDecide",
	"PUBLIC_URL":                       "test/startup_test.go TestListeningBeyondThisMachineWithoutTLSWarns",
	"TLS_CERT_FILE":                    "test/settings_test.go TestTheServiceSpeaksTLSWithItsCertificate",
	"TLS_KEY_FILE":                     "test/settings_test.go TestTheServiceSpeaksTLSWithItsCertificate",
	"TRUSTED_PROXIES":                  "test/askforcode_test.go TestAStrangersAskingNeverRefusesTheUserNorSpoilsTheirCode",
	"SMTP_URL":                         "test/console_identity_test.go TestCodesComeByMail",
	"SMTP_URL_FILE":                    "test/settings_test.go TestSecretsOfTheSettingsAreReadFromFiles",
	"OIDC_ISSUER":                      "test/console_identity_test.go TestSigningInAtAnIdentityProvider",
	"OIDC_CLIENT_ID":                   "test/console_identity_test.go TestSigningInAtAnIdentityProvider",
	"OIDC_CLIENT_SECRET_ENV":           "test/console_identity_test.go TestSigningInAtAnIdentityProvider",
	"TOKEN_ISSUERS":                    "test/identities_test.go TestAnAgentComesInByItsOwnIdentity",
	"ADMIN_EMAIL":                      "test/console_access_test.go TestARealmAdministratorMakesATenantAndItsFirstAdmin",
	"STOP_GRACE":                       "test/crash_test.go TestAStopThatHasNoTimeLeavesTheSideEffectUncertain",
	"REDACT_AFTER":                     "test/redaction_test.go TestARunIsRedactedOnceItIsDue",
	"RETENTION":                        "test/archive_test.go TestAKeyFindsItsRunBeyondItsArchiving",
	"ARCHIVE_DIR":                      "test/archive_test.go TestAKeyFindsItsRunBeyondItsArchiving",
	"NOTIFY_ORIGINS":                   "test/webhooks_test.go TestNothingGoesToAnOriginOffTheList",
	"SLACK_APP_TOKEN":                  "test/slack_test.go TestAnApprovalIsDecidedInSlack",
	"SLACK_APP_TOKEN_FILE":             "test/settings_test.go TestSecretsOfTheSettingsAreReadFromFiles",
	"SLACK_BOT_TOKEN":                  "test/slack_test.go TestAnApprovalIsDecidedInSlack",
	"SLACK_BOT_TOKEN_FILE":             "test/settings_test.go TestSecretsOfTheSettingsAreReadFromFiles",
	"SLACK_CHANNELS":                   "test/slack_test.go TestAnApprovalIsDecidedInSlack",
	"SLACK_URL":                        "test/slack_test.go TestAnApprovalIsDecidedInSlack",
	"WITNESSES":                        "test/witness_test.go TestWitnessesCosignTheAuditLog",
	"METRICS_LISTEN":                   "test/figureslisten_test.go TestTheOperatorsListenerServesTheInstallationsFigures",
	"SIGN_IN":                          "test/signinby_test.go TestTheProviderAloneBeginsSessions",
	"LOG":                              "test/settings_test.go TestTheFormatOfTheLogIsASetting",
}

// TestEverySettingIsObservedByATest: it has a line in observed, whose test exists and sets it, itself or
// with what it calls in its file.
func TestEverySettingIsObservedByATest(t *testing.T) {
	known := settings{}.byName()
	for _, name := range fromFiles {
		known[name+secretfile.Suffix] = ""
	}
	for name := range known {
		if observed[name] == "" {
			t.Errorf("no test is named that observes %s%s", prefix, name)
		}
	}
	for name, where := range observed {
		if _, is := known[name]; !is {
			t.Errorf("there is no setting %s", name)
		}
		file, test, _ := strings.Cut(where, " ")
		if texts := textsOf(t, file, test); texts == nil {
			t.Errorf("%s: there is no %s in %s", name, test, file)
		} else if !slices.Contains(texts, name) && !slices.Contains(texts, prefix+name) {
			t.Errorf("%s: %s does not set it", name, test)
		}
	}
}

// textsOf are the string literals of a function and of all functions and methods of its file that it
// names, nil if there is no such function.
func textsOf(t *testing.T, file, function string) (texts []string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", "..", file), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	declared := map[string]*ast.FuncDecl{}
	for _, d := range parsed.Decls {
		if f, is := d.(*ast.FuncDecl); is {
			declared[f.Name.Name] = f
		}
	}
	var look func(name string)
	look = func(name string) {
		f := declared[name]
		delete(declared, name)
		if f == nil {
			return
		}
		ast.Inspect(f.Body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Ident:
				look(n.Name)
			case *ast.BasicLit:
				if text, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING {
					texts = append(texts, text)
				}
			}
			return true
		})
	}
	look(function)
	return texts
}

// anyText are the settings that have no wrong value of their own.
var anyText = []string{"OIDC_CLIENT_ID", "ARCHIVE_DIR", "TLS_KEY_FILE"}

// TestEverySettingHasAWrongValueThatIsRefused in the table of messages.
func TestEverySettingHasAWrongValueThatIsRefused(t *testing.T) {
	said := map[string]bool{}
	for _, wrong := range wrongSettings {
		for _, name := range regexp.MustCompile(prefix+`([A-Z_]+): `).FindAllStringSubmatch(wrong.want, -1) {
			said[name[1]] = true
		}
	}
	for name := range (settings{}).byName() {
		if said[name] == slices.Contains(anyText, name) {
			t.Errorf("%s%s: a message about a wrong value is read: %v", prefix, name, said[name])
		}
	}
}
