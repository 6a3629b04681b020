package identity

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestEveryTimeZoneExists(t *testing.T) {
	for country, zone := range timeZones {
		_, err := time.LoadLocation(zone)
		require.NoError(t, err, country)
		require.NotEmpty(t, localeOf(country), country)
	}
}
