package gateway_test

import (
	"net"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/limpet-dev/limpet/harness/gateway"
)

func TestAnotherUsersProcessMayNotUseThePort(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil || os.Getuid() != 0 {
		t.Skip("needs bash, and root to become somebody else")
	}
	u := newUpstream(t, echo)
	for uid, want := range map[uint32]string{0: "HTTP/1.1 200", 65534: ""} {
		p := openPort(t, gateway.Config{}, gateway.Grant{Route: route(t, u)})
		_, port, err := net.SplitHostPort(p.Addr())
		require.NoError(t, err)
		cmd := exec.CommandContext(t.Context(), bash, "-c",
			`exec 3<>/dev/tcp/127.0.0.1/`+port+` && printf 'CONNECT shop.test:443 HTTP/1.1\r\n\r\n' >&3 && head -c 12 <&3`)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
		out, _ := cmd.Output()
		require.Equal(t, want, string(out), "uid %d", uid)
	}
}
