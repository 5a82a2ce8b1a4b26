package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"netdelta/internal/ctl"
	"netdelta/internal/result"
)

// talker is a worker that tells of its trial.
type talker struct {
	Worker
	tell func([]byte)
}

func (w *talker) Report(tell func([]byte)) { w.tell = tell }

// What a worker tells goes to the client as it is, and in order. A client that
// does not read misses the oldest, and holds nobody up.
func TestIntervals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStable()
		var w *talker
		a := New(Config{Start: func() (Worker, error) {
			inner, err := st.start()
			w = &talker{Worker: inner}
			return w, err
		}})
		defer a.Close()
		ctx, leave := context.WithCancel(t.Context())
		defer leave()
		ids := make(chan string, 1)
		var got []string
		stuck := make(chan bool)
		go a.Open(ctx, ctl.Hold{}, func(e ctl.Event) error {
			if e.Session != "" {
				ids <- e.Session
			}
			if e.Interval != nil {
				if string(e.Interval) == "stop" {
					<-stuck
				}
				got = append(got, string(e.Interval))
			}
			return nil
		})
		h := &held{Agent: a, st: st, id: <-ids}
		h.bring(t, prepared)
		if w.tell == nil {
			t.Fatal("the worker was not asked to tell anything")
		}
		if err := h.call(t.Context(), "arm", result.Remote); err != nil {
			t.Fatal(err)
		}
		for i := range 3 {
			w.tell(fmt.Append(nil, i))
			synctest.Wait()
		}
		w.tell(nil)
		w.tell([]byte(strings.Repeat("x", maxInterval+1)))
		synctest.Wait()
		if want := []string{"0", "1", "2"}; !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}

		w.tell([]byte("stop"))
		synctest.Wait()
		for i := range 2 * maxIntervals {
			w.tell(fmt.Append(nil, i)) // and does not wait
		}
		close(stuck)
		synctest.Wait()
		if n := len(got); n != 4+maxIntervals || got[n-1] != fmt.Sprint(2*maxIntervals-1) {
			t.Errorf("got %v, want the last %d", got, maxIntervals)
		}
	})
}
