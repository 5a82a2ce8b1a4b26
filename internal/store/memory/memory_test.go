package memory

import (
	"testing"

	"netdelta/internal/store"
	"netdelta/internal/store/storetest"
)

func TestConformance(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store { return New() })
}
