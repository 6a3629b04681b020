// Package provider describes proxy providers as data: how their routes are written and what their refusals mean.
package provider
