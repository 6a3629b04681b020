package telemetry

import (
	"fmt"
	"io"
	"log/slog"
	"time"
)

// NewLogger makes a logger that writes text lines of level and above to w. Every string passes redact, error
// texts and messages included; nil leaves them as they are. It is safe for concurrent use if redact is; w is
// written by one goroutine at a time.
func NewLogger(w io.Writer, level slog.Level, redact func(string) string) *slog.Logger {
	if redact == nil {
		redact = func(s string) string { return s }
	}
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{
		Level:       level,
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr { return clean(a, redact) },
	}))
}

// clean makes an attribute fit to be written. The handler has resolved LogValuers before it asks.
func clean(a slog.Attr, redact func(string) string) slog.Attr {
	switch a.Value.Kind() {
	case slog.KindString:
		a.Value = slog.StringValue(redact(a.Value.String()))
	case slog.KindAny:
		a.Value = cleanAny(a.Value.Any(), redact)
	default: // numbers, times and durations hold no secret
	}
	return a
}

// cleanAny turns a value without a kind of its own into redacted text, as the text handler would print it.
func cleanAny(v any, redact func(string) string) slog.Value {
	switch v := v.(type) {
	case nil, slog.Level, *slog.Source, time.Time:
		return slog.AnyValue(v)
	case []byte:
		return slog.StringValue(redact(string(v)))
	default:
		return slog.StringValue(redact(fmt.Sprintf("%+v", v)))
	}
}
