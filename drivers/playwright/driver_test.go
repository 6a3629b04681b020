package playwright_test

import (
	"testing"

	"github.com/limpet-dev/limpet/drivers/drivertest"
	"github.com/limpet-dev/limpet/drivers/playwright"
)

func TestDriver(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a browser")
	}
	drivertest.Run(t, playwright.New(playwright.Config{DriverDir: "node"}))
}
