// Package gateway is the browser's only way out: one loopback port per lease, with exact bytes and evidence of who failed.
package gateway
