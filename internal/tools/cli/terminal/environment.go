package terminal

// The environment variables that say where the service is and who asks it.
const (
	EnvURL       = "COUNTERSIGN_URL"
	EnvToken     = "COUNTERSIGN_TOKEN"
	EnvTokenFile = "COUNTERSIGN_TOKEN_FILE"
	EnvProfile   = "COUNTERSIGN_PROFILE"
)
