package nft

import (
	"bytes"
	"testing"

	"golang.org/x/sys/unix"
)

func TestRuleAsEncoded(t *testing.T) {
	for _, asked := range []rule{arrived("lab-a", unix.IPPROTO_UDP, seen), matching(3, 77), {counter}} {
		got, err := ruleIn([]attr{asked.encoded()})
		if err != nil {
			t.Fatal(err)
		}
		if !got.is(asked) {
			t.Errorf("%v comes back as %v", asked, got)
		}
	}
}

// TestRuleIsAnother: what the kernel might make of a rule is told from it.
func TestRuleIsAnother(t *testing.T) {
	asked := matching(3, 77)
	for _, other := range []rule{matching(2, 77), matching(3, 78), {counter}, nil, append(matching(3, 77), counter), {asked[1], asked[0], asked[2]}} {
		if other.is(asked) {
			t.Errorf("%v is taken for %v", other, asked)
		}
	}
	// It may have more in it, such as what was counted.
	more := matching(3, 77)
	more[2].data = []attr{{unix.NFTA_COUNTER_PACKETS, []byte{0, 0, 0, 0, 0, 0, 1, 2}}}
	if !more.is(asked) {
		t.Error("a rule that has counted is taken for another")
	}
	if n, ok := more.packets(); !ok || n != 258 {
		t.Errorf("packets: %d, %v", n, ok)
	}
	if n, ok := asked.packets(); ok {
		t.Errorf("a rule that the kernel has not told of has counted %d", n)
	}
}

func FuzzAnswers(f *testing.F) {
	f.Add(message{kind: of(unix.NFT_MSG_NEWRULE), attrs: []attr{matching(1, 2).encoded()}}.encode(1))
	f.Add(message{kind: unix.NLMSG_ERROR}.encode(2))
	f.Add([]byte{16, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		all, err := answers(b)
		if err != nil {
			return
		}
		for _, a := range all {
			if err := a.err(); err != nil && err.Error() == "" {
				t.Errorf("% x: an error that says nothing", b)
			}
			if len(a.body) < sizeofGenericMessage {
				continue
			}
			attrs, err := decode(a.body[sizeofGenericMessage:])
			if err != nil {
				continue
			}
			again, err := decode(encode(attrs))
			if err != nil || len(again) != len(attrs) {
				t.Fatalf("% x: %v, then %v, %v", b, attrs, again, err)
			}
			for i := range attrs {
				if again[i].kind != attrs[i].kind || !bytes.Equal(again[i].value, attrs[i].value) {
					t.Errorf("% x: %v, then %v", b, attrs[i], again[i])
				}
			}
			if r, err := ruleIn(attrs); err == nil {
				r.packets()
			}
		}
	})
}
