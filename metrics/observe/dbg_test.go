package observe_test
import ("testing";"fmt";"os")
func TestDbg(t *testing.T){
	for _, n := range []string{"etcd-priority-queue","patroni-etcd3","python-etcd3-lock","taskflow-jobboard"} {
		item, r := readItem(t, "../../examples/observe/corpus/second/"+n)
		fmt.Fprintln(os.Stdout, n)
		for _, p := range item.Paths { fmt.Printf("   true %s: %d told, %d watch, most %d, wasted %d, %s\n", p.Path, p.Notifications, p.Sessions, p.MostWoken, p.Wasted, p.Verdict) }
		for _, p := range r.Places {
			w, f := "n/a", "unknown"
			if p.Wasted != nil { w = fmt.Sprint(*p.Useful,"+",*p.Wasted) }
			if p.Form != nil { f = p.Form.Name }
			fmt.Printf("   seen %s: %d told, %d watch, most %d, wasted %s, %s; req %d writes %d failed %d armed %d\n", p.Path, p.Notifications, p.Sessions, p.FanoutMax, w, f, p.Requests, p.Writes, p.FailedWrites, p.Armed)
		}
	}
}
