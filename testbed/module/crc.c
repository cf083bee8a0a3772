// SPDX-License-Identifier: GPL-2.0
/*
 * vqib: the two CRCs of a packet (IBA 7.8). Both cover the octets in the order of sending, least
 * significant bit first, start with all ones and are inverted at the end.
 */
#include <linux/crc32.h>

#include "vqib.h"

#define VCRC_POLY	0xD008	/* 0x100B, reflected */

static u16 vcrc_table[256];

void vqib_crc_init(void)
{
	unsigned int i, bit;

	for (i = 0; i < 256; i++) {
		u16 crc = i;

		for (bit = 0; bit < 8; bit++)
			crc = crc & 1 ? crc >> 1 ^ VCRC_POLY : crc >> 1;
		vcrc_table[i] = crc;
	}
}

/* VCRC over all octets from LRH to ICRC */
static u16 vcrc(const struct vqib_pkt *p)
{
	const u8 *at = p->data, *end = at + p->len + 4;
	u16 crc = 0xffff;

	while (at < end)
		crc = crc >> 8 ^ vcrc_table[(crc ^ *at++) & 0xff];
	return ~crc;
}

/*
 * ICRC over all octets from LRH to payload and pad. Bits that can change on the way count as ones:
 * with a GRH the whole LRH, and in the GRH TClass, FlowLabel and HopLimit; without one the LRH's
 * VL; in the BTH the octet with FECN and BECN.
 */
static u32 icrc(const struct vqib_pkt *p)
{
	u8 head[VQIB_LRH + VQIB_GRH + VQIB_BTH];
	u32 bth = vqib_bth_at(p);
	u32 headlen = min_t(u32, p->len, bth + VQIB_BTH);
	u32 crc;

	memcpy(head, p->data, headlen);
	if (vqib_lnh(p) == QIB_LRH_GRH) {
		memset(head, 0xff, VQIB_LRH);
		head[VQIB_LRH] |= 0x0f;
		memset(head + VQIB_LRH + 1, 0xff, 3);
		head[VQIB_LRH + 7] = 0xff;
	} else {
		head[0] |= 0xf0;
	}
	head[bth + 4] = 0xff;
	crc = crc32_le(~0, head, headlen);
	return ~crc32_le(crc, p->data + headlen, p->len - headlen);
}

/* adds ICRC and VCRC if the packet has none */
void vqib_seal(struct vqib_pkt *p)
{
	if (p->sealed)
		return;
	put_unaligned_le32(icrc(p), p->data + p->len);
	vqib_put_vcrc(p);
	p->sealed = true;
}

void vqib_put_vcrc(struct vqib_pkt *p)
{
	put_unaligned_le16(vcrc(p), p->data + p->len + 4);
}

bool vqib_vcrc_ok(const struct vqib_pkt *p)
{
	return !p->sealed || get_unaligned_le16(p->data + p->len + 4) == vcrc(p);
}

bool vqib_icrc_ok(const struct vqib_pkt *p)
{
	return !p->sealed || get_unaligned_le32(p->data + p->len) == icrc(p);
}
