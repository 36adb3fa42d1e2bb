{{/* What would go wrong later is refused here, in words. */}}
{{- define "countersign.refusals" -}}
{{- if and (gt (int .Values.replicas) 1) (not .Values.store.postgres.secret) }}
{{- fail "replicas: more than 1 wants a PostgreSQL store: name its Secret in store.postgres.secret. The embedded store belongs to one process." }}
{{- end }}
{{- if lt (int .Values.stopGraceSeconds) 1 }}
{{- fail "stopGraceSeconds: at least 1" }}
{{- end }}
{{- range list "SVC_PLATFORM_LISTEN" "SVC_PLATFORM_STORE" "SVC_PLATFORM_STOP_GRACE" }}
{{- if or (hasKey $.Values.settings .) (hasKey $.Values.secretEnv .) }}
{{- fail (printf "%s is the chart's to set: see store and stopGraceSeconds" .) }}
{{- end }}
{{- end }}
{{- range list "SVC_PLATFORM_BOOTSTRAP_TOKEN" "SVC_PLATFORM_SMTP_URL" }}
{{- if hasKey $.Values.settings . }}
{{- fail (printf "settings.%s holds a secret: keep it in a Secret and name that in secretEnv.%s" . .) }}
{{- end }}
{{- end }}
{{- range $name, $from := .Values.secretEnv }}
{{- if not (and $from.secret $from.key) }}
{{- fail (printf "secretEnv.%s: name a secret and a key" $name) }}
{{- end }}
{{- end }}
{{- end }}
