package server

import (
	"encoding/asn1"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/drivers/server/certificates"
	"github.com/stampede-bench/stampede/drivers/server/tree"
	"github.com/stampede-bench/stampede/drivers/wire"
	"github.com/stampede-bench/stampede/internal/testenv"
)

var (
	commonName   = asn1.ObjectIdentifier{2, 5, 4, 3}
	organization = asn1.ObjectIdentifier{2, 5, 4, 10}
	email        = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 1}
)

// An attribute is one part of a distinguished name, a set those at one position.
type attribute struct {
	Type  asn1.ObjectIdentifier
	Value asn1.RawValue
}

type attributeSET []attribute // asn1 treats types whose names end in SET as sets

func part(id asn1.ObjectIdentifier, tag int, value string) attribute {
	return attribute{id, asn1.RawValue{Tag: tag, Bytes: []byte(value)}}
}

func utf8(value string) []attributeSET {
	return []attributeSET{{part(commonName, asn1.TagUTF8String, value)}}
}

// subjects are distinguished names and their text form.
var subjects = []struct {
	sets []attributeSET
	want string
}{
	{utf8("alice"), "CN=alice"},
	{[]attributeSET{{part(organization, asn1.TagPrintableString, "Example")}, {part(commonName, asn1.TagUTF8String, "alice")}}, "CN=alice,O=Example"},
	{[]attributeSET{{part(commonName, asn1.TagUTF8String, "a"), part(organization, asn1.TagUTF8String, "b")}}, "CN=a+O=b"},
	{utf8(`a,b+c"d\e<f>g;h=i#j`), `CN=a\,b\+c\"d\\e\<f\>g\;h\=i\#j`},
	{utf8("  two spaces  "), `CN=\ \ two spaces\ \ `},
	{utf8(" "), `CN=\ `},
	{utf8("Zoë\x00"), `CN=Zoë\00`},
	{utf8(""), "CN="},
	{[]attributeSET{{part(email, asn1.TagIA5String, "a@b")}}, "1.2.840.113549.1.9.1=#1603614062"},
	{[]attributeSET{}, ""},
}

// texts are valid and invalid subjects in an ACL.
var texts = map[string]bool{
	"CN=alice": true, "": true, "cn = alice , O=x": true, "CN=a+O=b;L=c": true, "1.2.3.4=x": true, "OID.2.5.4.3=x": true,
	`CN="a,b"`: true, `CN=a\,b`: true, "CN=": true,
	"alice": false, "XY=alice": false, "CN=alice,": false, ",CN=alice": false, `CN="a`: false, `CN=a\`: false,
}

func encoded(t *testing.T, sets []attributeSET) []byte {
	der, err := asn1.Marshal(sets)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

func TestSubjectNames(t *testing.T) {
	for _, x := range subjects {
		if got, err := certificates.Subject(encoded(t, x.sets)); got != x.want || err != nil {
			t.Errorf("got %q, %v; want %q", got, err, x.want)
		}
	}
	if got, err := certificates.Subject([]byte("no name")); err == nil {
		t.Errorf("no DER gave %q", got)
	}
}

// An ACL accepts the subjects that Java accepts, and no others.
func TestSubjectsInAccessLists(t *testing.T) {
	s := newServer(t)
	r := openRaw(t, s)
	xid := int32(0)
	for text, valid := range texts {
		want := wire.ErrInvalidACL
		if valid {
			want = wire.OK
		}
		xid++
		create := open(fmt.Sprint("/", xid), 0)
		create.ACL = []wire.ACL{{Perms: wire.PermAll, Scheme: tree.X509, ID: text}}
		if got := r.ask(xid, wire.OpCreate, create); got.Err != want {
			t.Errorf("%q: error %d, want %d", text, got.Err, want)
		}
	}
}

// Java agrees with the tables of the tests above.
func TestSubjectsAreJavas(t *testing.T) {
	testenv.SkipIfShort(t)
	java, err := exec.LookPath("java")
	if err != nil {
		t.Skip("no java is installed: apt-get install default-jdk-headless")
	}
	var asked strings.Builder
	var want []string
	for _, x := range subjects {
		fmt.Fprintf(&asked, "d%x\n", encoded(t, x.sets))
		want = append(want, x.want)
	}
	for text, valid := range texts {
		fmt.Fprintf(&asked, "t%x\n", text)
		want = append(want, map[bool]string{true: "valid", false: "invalid"}[valid])
	}
	c := exec.CommandContext(t.Context(), java, "-XX:-UsePerfData", "testdata/subjects/Subjects.java")
	c.Stdin = strings.NewReader(asked.String())
	out, err := c.Output()
	if err != nil {
		t.Skipf("no Java compiler is installed: apt-get install default-jdk-headless (%v)", err)
	}
	got := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(got) != len(want) {
		t.Fatalf("%d answers, want %d: %q", len(got), len(want), got)
	}
	lines := strings.Split(asked.String(), "\n")
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%s: Java says %q, want %q", lines[i], got[i], want[i])
		}
	}
}
