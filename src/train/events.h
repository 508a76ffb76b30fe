/* events.h: TensorBoard's event records, as bytes.
 *
 * A file is a run of records: length (8 bytes), checksum of the length, an Event message, checksum
 * of that; checksums are masked CRC-32C. The format is TensorFlow's TFRecord; the messages are
 * event.proto and summary.proto, of which only numbers with a name are written.
 * SPDX-License-Identifier: MIT
 */
#ifndef HEED_TRAIN_EVENTS_H
#define HEED_TRAIN_EVENTS_H

#include "base/mem.h"

/* CRC-32C (Castagnoli; RFC 3720, appendix B.4) of n bytes. */
uint32_t heed_crc32c(const void *data, size_t n);

/* Appends the record that opens a file, or that of one number. `seconds`: wall time since 1970. */
bool heed_event_open(heed_buf *out, double seconds);
bool heed_event_scalar(heed_buf *out, double seconds, int64_t step, const char *tag, float value);

#endif
