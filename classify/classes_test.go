package classify_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/limpet-dev/limpet/classify"
)

// TestClassesAreThoseOfTheDesign holds the table against the design's, section 5, line by line. Scripts, rules
// and metrics rely on every word here.
func TestClassesAreThoseOfTheDesign(t *testing.T) {
	design := []struct {
		stage   classify.Stage
		blamed  classify.Blamed
		classes []classify.Class
	}{
		{"navigation", "endpoint", []classify.Class{"gateway_unreachable"}},
		{"navigation", "credential", []classify.Class{"credential_rejected"}},
		{"navigation", "account", []classify.Class{"provider_limit"}},
		{"navigation", "policy", []classify.Class{"provider_policy", "policy_denied"}},
		{"navigation", "segment", []classify.Class{"no_exit", "tunnel_failed"}},
		{"navigation", "exit", []classify.Class{"exit_lost", "exit_changed"}},
		{"navigation", "origin", []classify.Class{"dns", "connect", "tls", "reset", "redirect_loop", "timeout"}},
		{"navigation", "worker", []classify.Class{"browser_crashed", "launch_failed", "unresponsive", "driver_lost"}},
		{"navigation", "job", []classify.Class{"download", "unsupported_content", "budget_exhausted"}},
		{"navigation", "nobody", []classify.Class{"cancelled"}},
		{"http", "pace", []classify.Class{"rate_limited"}},
		{"http", "job", []classify.Class{"unauthorized", "gone", "bad_request"}},
		{"http", "exit_origin", []classify.Class{"forbidden"}},
		{"http", "origin", []classify.Class{"server_error"}},
		{"challenge", "exit_origin", []classify.Class{"interstitial", "captcha", "block_page"}},
		{"output", "exit", []classify.Class{"wrong_geo"}},
		{"output", "session", []classify.Class{"login_wall", "session_ended"}},
		{"output", "origin", []classify.Class{
			"consent_wall", "paywall", "maintenance", "soft_404", "unhydrated", "truncated", "missing", "invalid", "empty",
		}},
		{"output", "job", []classify.Class{"script_error"}},
		{"output", "nobody", []classify.Class{"unknown"}},
		{"ok", "nobody", []classify.Class{"useful", "useful_empty"}},
	}
	var named []classify.Class
	for _, row := range design {
		for _, c := range row.classes {
			require.Equal(t, row.stage, classify.StageOf(c), c)
			require.Equal(t, row.blamed, classify.Blames(c), c)
			require.True(t, classify.Known(c), c)
		}
		named = append(named, row.classes...)
	}
	require.ElementsMatch(t, named, classify.All())
}

func TestNoSuchClassIsNeverASuccess(t *testing.T) {
	require.False(t, classify.Known("great"))
	require.Equal(t, classify.StageOutput, classify.StageOf("great"))
	require.Equal(t, classify.BlameNobody, classify.Blames("great"))
}
