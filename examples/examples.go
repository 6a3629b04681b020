// Package examples holds the job files that the documentation and the demo use.
package examples

import _ "embed" // for Shop

// Shop is shop.yaml: six identities at work in the shop of the fixtures.
//
//go:embed shop.yaml
var Shop []byte
