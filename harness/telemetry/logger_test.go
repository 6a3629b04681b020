package telemetry_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/limpet-dev/limpet/harness/telemetry"
)

func TestEveryStringOfALineIsRedacted(t *testing.T) {
	var out bytes.Buffer
	redact := func(s string) string { return strings.ReplaceAll(s, "hunter2", "[redacted]") }
	log := telemetry.NewLogger(&out, slog.LevelInfo, redact)

	log.LogAttrs(context.Background(), slog.LevelWarn, "said hunter2",
		slog.String(telemetry.KeyURL, "http://shop.test/?p=hunter2"),
		slog.Any(telemetry.KeyError, errors.New("dial u:hunter2@gate: refused")),
		slog.Any(telemetry.KeyTarget, []byte("hunter2")),
		slog.Any(telemetry.KeyExit, struct{ Name string }{"hunter2"}),
		slog.Group("lease", slog.String(telemetry.KeyLease, "hunter2")),
		slog.Duration(telemetry.KeyDuration, time.Second))

	require.NotContains(t, out.String(), "hunter2")
	require.Equal(t, 6, strings.Count(out.String(), "[redacted]"))
	require.Contains(t, out.String(), "level=WARN")
	require.Contains(t, out.String(), "duration=1s")
}

func TestLinesBelowTheLevelAreDropped(t *testing.T) {
	var out bytes.Buffer
	log := telemetry.NewLogger(&out, slog.LevelWarn, nil)
	log.LogAttrs(context.Background(), slog.LevelInfo, "lease granted")
	require.Empty(t, out.String())
}
