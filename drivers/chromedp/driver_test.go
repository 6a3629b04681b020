package chromedp_test

import (
	"flag"
	"testing"

	"github.com/limpet-dev/limpet/drivers"
	"github.com/limpet-dev/limpet/drivers/chromedp"
	"github.com/limpet-dev/limpet/drivers/drivertest"
)

var executable = flag.String("browser", "", "browser to test with: a kind or a path, as drivers.FindExecutable takes it")

func TestDriver(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser")
	}
	drivertest.RunWith(t, chromedp.New(), drivers.LaunchOptions{Executable: *executable})
}
