package main

import (
	"net/url"
	"regexp"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/background/slack"
	"github.com/countersign/countersign/internal/rules/request"
)

// The settings for approvals in Slack.

// slackConfig is a Slack app, and the channel of each tenant.
type slackConfig struct {
	URL, AppToken, BotToken string
	Channels                map[string]string
}

var (
	slackAppToken = regexp.MustCompile(`^xapp-[A-Za-z0-9-]{10,}$`)
	slackBotToken = regexp.MustCompile(`^xoxb-[A-Za-z0-9-]{10,}$`)
	slackChannel  = regexp.MustCompile(`^[CG][A-Z0-9]{2,63}$`)
)

// slack is the app, nil for none. Its three settings must be given together. Errors contain
// nothing of a token.
func (r *settingReader) slack() *slackConfig {
	c := &slackConfig{URL: r.text("SLACK_URL", slack.DefaultURL), AppToken: r.text("SLACK_APP_TOKEN", ""), BotToken: r.text("SLACK_BOT_TOKEN", "")}
	channels := r.list("SLACK_CHANNELS")
	if c.AppToken == "" && c.BotToken == "" && len(channels) == 0 {
		return nil
	}
	if c.AppToken == "" || c.BotToken == "" || len(channels) == 0 {
		r.bad("SLACK_APP_TOKEN", "it, %sSLACK_BOT_TOKEN and %sSLACK_CHANNELS go together", prefix, prefix)
		return nil
	}
	if !slackAppToken.MatchString(c.AppToken) {
		r.bad("SLACK_APP_TOKEN", "it is no app-level token, which begins with xapp-; see Basic Information of the app")
	}
	if !slackBotToken.MatchString(c.BotToken) {
		r.bad("SLACK_BOT_TOKEN", "it is no bot token, which begins with xoxb-; see OAuth & Permissions of the app")
	}
	u, err := url.Parse(c.URL)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.Scheme != "https" && (u.Scheme != "http" || !request.IsLoopback(u.Hostname())) {
		r.bad("SLACK_URL", "it is no https address such as %s", slack.DefaultURL)
	}
	c.Channels = r.slackChannels(channels)
	return c
}

func (r *settingReader) slackChannels(items []string) map[string]string {
	out := map[string]string{}
	for _, item := range items {
		tenant, channel, _ := strings.Cut(item, "=")
		switch {
		case !countersign.ValidTenantID(tenant) || !slackChannel.MatchString(channel):
			r.bad("SLACK_CHANNELS", "%q is no tenant and channel id such as default=C0123ABCD; the id stands at the end of the channel's details", item)
		case out[tenant] != "":
			r.bad("SLACK_CHANNELS", "tenant %s has two channels; keep one", tenant)
		default:
			out[tenant] = channel
		}
	}
	return out
}
