/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes classic pcap files. See pcapfile.h. */
#include "pcapio/pcapfile.h"

#include <string.h>

#include "pcapio/bytes.h"

void pcapfile_put_file_header(uint8_t out[PCAPFILE_HEADER_LEN], bool nano, uint32_t linktype,
                              uint32_t snaplen)
{
    memset(out, 0, PCAPFILE_HEADER_LEN); /* bytes 8-15: time zone and accuracy, always 0 */
    put_le32(out, nano ? 0xa1b23c4d : 0xa1b2c3d4);
    put_le16(out + 4, 2); /* version 2.4 */
    put_le16(out + 6, 4);
    put_le32(out + 16, snaplen);
    put_le32(out + 20, linktype);
}
