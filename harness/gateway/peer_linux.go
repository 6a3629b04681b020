package gateway

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strconv"
)

// ownPeer reports whether the process at the other end of a loopback connection belongs to our own user. A loopback
// port is open to every process of the machine, and whoever speaks to it uses the lease.
//
// It reads the uid column of the kernel's TCP table: about 0.1 ms for a few hundred sockets, once a connection. Where
// the table cannot be read, or has no such line any more, the peer passes: this keeps a neighbour out, and is no wall
// against root or against a process of the same user.
func ownPeer(conn *net.TCPConn) bool {
	local, peer := addrPort(conn.LocalAddr()), addrPort(conn.RemoteAddr())
	if !local.IsValid() || !peer.IsValid() {
		return true
	}
	f, err := os.Open("/proc/net/tcp")
	if err != nil {
		return true
	}
	defer f.Close()
	// In the table the peer's socket has the peer's address as its local one.
	uid, ok := uidOf(bufio.NewScanner(f), procAddr(peer), procAddr(local))
	return !ok || uid == os.Getuid()
}

// uidOf finds the owner of the socket with the given addresses.
func uidOf(table *bufio.Scanner, local, remote string) (uid int, ok bool) {
	want := []byte(" " + local + " " + remote + " ")
	for table.Scan() {
		if !bytes.Contains(table.Bytes(), want) {
			continue
		}
		// sl local remote st tx:rx tr:when retrnsmt uid ...
		fields := bytes.Fields(table.Bytes())
		if len(fields) < 8 {
			return 0, false
		}
		uid, err := strconv.Atoi(string(fields[7]))
		return uid, err == nil
	}
	return 0, false
}

// procAddr writes an IPv4 address as the table does: the bytes in the order of a little-endian machine, in hex.
func procAddr(a netip.AddrPort) string {
	ip := a.Addr().As4()
	b := []byte{ip[3], ip[2], ip[1], ip[0]}
	return fmt.Sprintf("%s:%04X", bytes.ToUpper([]byte(hex.EncodeToString(b))), a.Port())
}

func addrPort(a net.Addr) netip.AddrPort {
	tcp, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.AddrPort{}
	}
	ap := tcp.AddrPort()
	ap = netip.AddrPortFrom(ap.Addr().Unmap(), ap.Port())
	if !ap.Addr().Is4() {
		return netip.AddrPort{}
	}
	return ap
}
