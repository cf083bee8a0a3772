/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where lib/wire finds the packet in frames of the link types. */
#include "tests/unit/unit.h"
#include "tests/unit/wire_bytes.h"

#include "wire/encap.h"
#include "wire/ib.h"
#include "wire/link_frame.h"

static void link_types(void **state)
{
    (void)state;
    struct link_frame c;
    uint8_t erf[16 + 8 + sizeof ud] = {[8] = 0x80 | 21, 4,       0, 16 + 8 + sizeof ud, 0, 0, 0,
                                       sizeof ud,       [16] = 3};
    memcpy(erf + 24, ud, sizeof ud);
    assert_int_equal(link_frame_locate(LINKTYPE_ERF, whole(erf, sizeof erf), &c), WIRE_OK);
    assert_int_equal(c.kind, LINK_FRAME_IB);
    assert_ptr_equal(c.inner.p, erf + 24);
    assert_int_equal(c.inner.len, sizeof ud);
    erf[8] = 2; /* Ethernet */
    assert_int_equal(link_frame_locate(LINKTYPE_ERF, whole(erf, sizeof erf), &c), WIRE_OK);
    assert_int_equal(c.kind, LINK_FRAME_NONE);
    uint8_t sll[20] = {0, 4, 0, 32, 0, 20, [14] = 0x08, 0x06};
    assert_int_equal(link_frame_locate(LINKTYPE_LINUX_SLL, whole(sll, 20), &c), WIRE_OK);
    assert_int_equal(c.kind, LINK_FRAME_COOKED);
    assert_int_equal(c.type, TYPE_ARP);
    sll[3] = 1;
    assert_int_equal(link_frame_locate(LINKTYPE_LINUX_SLL, whole(sll, 20), &c), WIRE_OK);
    assert_int_equal(c.kind, LINK_FRAME_NONE);
}

enum { PLAIN, TAGGED, TAGGED_TWICE, TAG_FORMS };

/*
 * Writes an Ethernet header to p up to its type, with the tags of the form. Returns the offset of
 * the payload.
 */
static uint32_t put_ethernet(uint8_t *p, unsigned form, uint16_t type)
{
    static const uint16_t tags[TAG_FORMS][3] = {{0}, {0x8100}, {0x88a8, 0x8100}};
    uint32_t at = 12;
    for (const uint16_t *tag = tags[form]; *tag; tag++, at += 4) {
        p[at] = (uint8_t)(*tag >> 8);
        p[at + 1] = (uint8_t)*tag;
        p[at + 2] = 0;
        p[at + 3] = 7;
    }
    p[at] = (uint8_t)(type >> 8);
    p[at + 1] = (uint8_t)type;
    return at + 2;
}

/* IEEE 802.1Q: a customer tag, and a second tag in a service provider's network. */
static void roce_after_vlan_tags(void **state)
{
    (void)state;
    for (unsigned form = PLAIN; form < TAG_FORMS; form++) {
        uint8_t p[64] = {0};
        struct link_frame c;
        uint32_t at = put_ethernet(p, form, 0x8915);
        assert_int_equal(link_frame_locate(LINKTYPE_ETHERNET, whole(p, sizeof p), &c), WIRE_OK);
        assert_int_equal(c.kind, LINK_FRAME_IB);
        assert_int_equal(c.start, IB_START_GRH);
        assert_ptr_equal(c.inner.p, p + at);
        assert_int_equal(c.outer.length, 0);
        assert_int_equal(link_frame_locate(LINKTYPE_ETHERNET, view_make(p, at - 1, sizeof p), &c),
                         WIRE_TRUNCATED);
    }
}

/* RoCE v2: only the IP header contains the sender's and the receiver's addresses. */
static void roce2_has_the_ports_of_udp(void **state)
{
    (void)state;
    for (unsigned form = PLAIN; form < TAG_FORMS; form++) {
        uint8_t p[128] = {0};
        struct link_frame c;
        uint32_t at = put_ethernet(p, form, 0x0800);
        p[at] = 0x46; /* one word of options */
        p[at + 9] = 17;
        p[at + 24 + 2] = 4791 >> 8;
        p[at + 24 + 3] = 4791 & 0xff;
        p[at + 24 + 5] = 8 + 40;
        assert_int_equal(link_frame_locate(LINKTYPE_ETHERNET, whole(p, sizeof p), &c), WIRE_OK);
        assert_int_equal(c.kind, LINK_FRAME_IB);
        assert_int_equal(c.start, IB_START_BTH);
        assert_ptr_equal(c.inner.p, p + at + 24 + 8);
        assert_int_equal(c.inner.len, 40);
        assert_ptr_equal(c.outer.src, p + at + 12);
        assert_ptr_equal(c.outer.dst, p + at + 16);
        assert_int_equal(c.outer.length, 4);
        memset(p, 0, sizeof p);
        at = put_ethernet(p, form, 0x86dd);
        p[at + 6] = 17;
        p[at + 40 + 2] = 4791 >> 8;
        p[at + 40 + 3] = 4791 & 0xff;
        p[at + 40 + 5] = 8 + 16;
        assert_int_equal(link_frame_locate(LINKTYPE_ETHERNET, whole(p, sizeof p), &c), WIRE_OK);
        assert_int_equal(c.kind, LINK_FRAME_IB);
        assert_ptr_equal(c.inner.p, p + at + 48);
        assert_ptr_equal(c.outer.src, p + at + 8);
        assert_ptr_equal(c.outer.dst, p + at + 24);
        assert_int_equal(c.outer.length, 16);
    }
}

/* RFC 791 section 3.1: More Fragments is 0x2000, the fragment offset has 13 bits; 0x4000 is DF. */
static void fragments_are_no_roce2(void **state)
{
    (void)state;
    static const struct {
        uint16_t field;
        enum link_frame_kind kind;
    } forms[] = {{0, LINK_FRAME_IB},
                 {0x4000, LINK_FRAME_IB},
                 {0x2000, LINK_FRAME_NONE},
                 {1, LINK_FRAME_NONE}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        uint8_t p[128] = {0};
        struct link_frame c;
        uint32_t at = put_ethernet(p, PLAIN, 0x0800);
        p[at] = 0x45;
        p[at + 6] = (uint8_t)(forms[i].field >> 8);
        p[at + 7] = (uint8_t)forms[i].field;
        p[at + 9] = 17;
        p[at + 20 + 2] = 4791 >> 8;
        p[at + 20 + 3] = 4791 & 0xff;
        p[at + 20 + 5] = 8 + 40;
        assert_int_equal(link_frame_locate(LINKTYPE_ETHERNET, whole(p, sizeof p), &c), WIRE_OK);
        assert_int_equal(c.kind, forms[i].kind);
    }
}

/*
 * DLT 242: old memory before the destination address is not a GRH. A real GRH has version 6 and
 * next header IBA.
 */
static void dlt_ipoib_grh(void **state)
{
    (void)state;
    uint8_t p[60] = {0x60, 0, 0, 0, 0, 60, 0x1b, 0xff};
    assert_true(dlt_ipoib_has_grh(whole(p, 60)));
    p[6] = 0;
    assert_false(dlt_ipoib_has_grh(whole(p, 60)));
    memset(p, 0, sizeof p);
    assert_false(dlt_ipoib_has_grh(whole(p, 60)));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(link_types),
        cmocka_unit_test(roce_after_vlan_tags),
        cmocka_unit_test(roce2_has_the_ports_of_udp),
        cmocka_unit_test(fragments_are_no_roce2),
        cmocka_unit_test(dlt_ipoib_grh),
    };
    return cmocka_run_group_tests_name("wire_links", tests, NULL, NULL);
}
