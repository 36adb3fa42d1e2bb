package cli

// The environment variables that say where the service is and who asks it.
const (
	envURL       = "COUNTERSIGN_URL"
	envToken     = "COUNTERSIGN_TOKEN"
	envTokenFile = "COUNTERSIGN_TOKEN_FILE"
	envProfile   = "COUNTERSIGN_PROFILE"
)
