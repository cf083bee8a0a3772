# SPDX-License-Identifier: GPL-2.0-or-later
# loss [LOST_PPM]: two HCAs back to back in connected mode with packets of 2048 octets; after both are
# connected, 3 % of all packets are lost. The capture has the packets that arrive; the lost packets are not in it.
# Expected: First/Middle/Last with gaps, NAKs (PSN sequence error), and the reaction of Linux: its REQ requests
# no retries, so it closes the connection (DREQ) and opens a new one (REQ).
fabric_up ibmtu=4 cap_lost=0 && fabric_sm && fabric_nets connected:65520 || return 1
fabric_capture loss.pcap
fabric_on 0 ping -c 1 10.0.0.2 || return 1
fabric_set loss_ppm "${1:-30000}"
fabric_on 0 ping -c 3 -i 0.5 -W 1 -s 40000 10.0.0.2
fabric_set loss_ppm 0
sleep 1; fabric_on 0 ping -c 4 -i 0.5 10.0.0.2 || return 1
fabric_capture_end
