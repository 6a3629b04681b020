package script_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/limpet-dev/limpet/drivers"
	"github.com/limpet-dev/limpet/drivers/script"
)

func TestArgumentsCannotBreakOutOfTheScript(t *testing.T) {
	const nasty = "a\"]'`</script>\u2028${x}\\"
	for name, js := range map[string]string{
		"settle":   script.Settle(drivers.SettleOptions{Marker: nasty}),
		"fill":     script.Fill("#f", nasty, 0),
		"wait url": script.WaitURL(nasty, 0),
		"storage":  script.WriteStorage(map[string]string{"k": nasty}),
	} {
		t.Run(name, func(t *testing.T) {
			require.Contains(t, js, `a\"]'`+"`"+`\u003c/script\u003e\u2028${x}\\`)
		})
	}
}

func TestDefaults(t *testing.T) {
	require.Contains(t, script.Settle(drivers.SettleOptions{}), `{"capMs":10000,"marker":"","quietMs":300}`)
	require.Contains(t, script.Snapshot(0), `"maxBytes":4194304`)
}

func TestBudgetEndsBeforeTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		require.Zero(t, script.Budget(t.Context()))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.Equal(t, 800*time.Millisecond, script.Budget(ctx))
		time.Sleep(990 * time.Millisecond) //nolint:forbidigo // in a bubble it takes no time
		require.Equal(t, time.Millisecond, script.Budget(ctx))
	})
}
